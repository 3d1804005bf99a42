// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_OUTPUT_FOLDER_H
#define ECHO_OUTPUT_FOLDER_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ns3
{
namespace echo
{

/** A file being written: bytes in order, through a buffer; failures are errors, never silence. */
class OutputFile
{
  public:
    /**
     * @param path where to write
     * @param shownPath its name in messages
     * @throws InputError if it cannot be opened
     */
    OutputFile(const std::string& path, std::string shownPath);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /** @throws InputError if the bytes cannot be written (no room left, for example) */
    void Write(std::string_view text);
    /** Ends the file. @throws InputError as Write */
    void Close();

    uint64_t GetBytes() const
    {
        return m_bytes;
    }

  private:
    [[noreturn]] void Fail(int error) const;

    std::FILE* m_file{nullptr};
    std::string m_shownPath; //!< for messages
    uint64_t m_bytes{0};     //!< written so far
};

/**
 * The folder that a run's files go to. Files are written in a hidden folder inside it and appear
 * under their names only when all are whole (Commit): a run that fails leaves what was there, and
 * no folder that was not.
 */
class OutputFolder
{
  public:
    /**
     * Makes the folder, with its parents, if it is missing.
     * @throws InputError if it cannot be made or written
     */
    explicit OutputFolder(std::string directory);
    /** Removes what was not committed, with the folders that were made for it. */
    ~OutputFolder();
    OutputFolder(const OutputFolder&) = delete;
    OutputFolder& operator=(const OutputFolder&) = delete;

    /** @return a new file that will be called @p name; owned by this folder */
    OutputFile& Create(const std::string& name);
    /** Forgets a file that Create made; an earlier run's file of that name goes at Commit. */
    void Drop(const std::string& name);
    /**
     * Closes all files and moves them to their names, in order of Create. The last one is removed
     * first, so that where it is there, all are there and of one run.
     */
    void Commit();

    const std::string& GetDirectory() const
    {
        return m_directory;
    }

  private:
    struct Entry
    {
        std::string name;
        std::unique_ptr<OutputFile> file; //!< null: dropped
    };

    void RemoveMade();

    std::string m_directory;         //!< as the user gave it
    std::string m_staging;           //!< the hidden folder
    std::vector<std::string> m_made; //!< folders that were not there, until Commit
    std::vector<Entry> m_entries;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_OUTPUT_FOLDER_H */
