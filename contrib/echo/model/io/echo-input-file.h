// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_INPUT_FILE_H
#define ECHO_INPUT_FILE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Bytes of a file, from front to back. */
class ByteSource
{
  public:
    virtual ~ByteSource() = default;
    /**
     * Reads up to @p size bytes; @return how many, 0 at the end
     * @throws InputError if the file cannot be read or is a damaged gzip file
     */
    virtual size_t Read(char* to, size_t size) = 0;
};

/**
 * Opens a plain or gzipped file (told apart by the first bytes, not the name).
 * @throws InputError if the file cannot be read
 * @throws UnsupportedError if it is gzipped and Echo was built without Boost.Iostreams
 */
std::unique_ptr<ByteSource> OpenInputFile(const std::string& path);

/** Most that a file may hold of which the whole is read: readers of JSON index 32 bits. */
constexpr uint64_t LARGEST_FILE = 0xffffffff;
/** The same of a file whose lines are written by hand or by a small tool. */
constexpr uint64_t LARGEST_TEXT = 64 << 20;

/** @return whether a text ends so */
bool HasEnding(const std::string& text, const std::string& ending);

/** @return length of the mark that some editors put before UTF-8, if text starts with it; else 0 */
size_t SkipByteOrderMark(const std::string& text);

/**
 * @param largest bytes (unpacked) that it may hold
 * @return the contents of a plain or gzipped file, without the mark of UTF-8
 * @throws InputError as OpenInputFile(), or if it holds more
 * @throws UnsupportedError as OpenInputFile()
 */
std::string ReadInputFile(const std::string& path, uint64_t largest = LARGEST_FILE);

/**
 * Finds the files that a user means.
 * @param paths files; folders (every file in them whose name ends in one of @p endings); patterns
 *        with * and ? in the last part
 * @return the files, sorted by name, each once
 * @throws InputError for a path that is not there or holds no such file
 */
std::vector<std::string> FindInputFiles(const std::vector<std::string>& paths,
                                        const std::vector<std::string>& endings);

/**
 * @return the decompressed bytes of a gzip file
 * @throws InputError, UnsupportedError as OpenInputFile()
 */
std::unique_ptr<ByteSource> OpenGzipFile(const std::string& path);

} // namespace echo
} // namespace ns3

#endif /* ECHO_INPUT_FILE_H */
