// SPDX-License-Identifier: GPL-2.0-only
#include "echo-output-folder.h"

#include "ns3/echo-error.h"

#include <signal.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace ns3
{
namespace echo
{

namespace
{

InputError CannotWrite(const std::string& directory, const std::string& reason)
{
    return InputError({directory, 0, ""},
                      "a folder that cannot be written (" + reason + ")",
                      "one that can be made or written");
}

const std::string STAGING = ".echo-partial-";

/** @return the folders of a path that are not there, the outermost first */
std::vector<std::string> MissingFolders(const std::string& directory)
{
    namespace fs = std::filesystem;
    std::vector<std::string> missing;
    std::error_code error;
    fs::path path = fs::absolute(directory, error).lexically_normal();
    while (!error && !path.empty() && !fs::exists(path, error) && path != path.parent_path())
    {
        missing.insert(missing.begin(), path.string());
        path = path.parent_path();
    }
    return missing;
}

/** Removes what killed runs of this machine left. */
void RemoveLeftovers(const std::string& directory)
{
    namespace fs = std::filesystem;
    std::error_code error;
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(directory, error))
    {
        const std::string name = entry.path().filename().string();
        const std::string process =
            name.substr(0, STAGING.size()) == STAGING ? name.substr(STAGING.size()) : std::string();
        const bool isNumber = !process.empty() && process.size() < 10 &&
                              process.find_first_not_of("0123456789") == std::string::npos;
        if (isNumber && kill(std::stoi(process), 0) != 0 && errno == ESRCH)
        {
            left.push_back(entry.path());
        }
    }
    for (const auto& path : left)
    {
        fs::remove_all(path, error);
    }
}

} // namespace

OutputFile::OutputFile(const std::string& path, std::string shownPath)
    : m_file(std::fopen(path.c_str(), "wb")), m_shownPath(std::move(shownPath))
{
    if (!m_file)
    {
        Fail(errno);
    }
    std::setvbuf(m_file, nullptr, _IOFBF, 1 << 17);
}

OutputFile::~OutputFile()
{
    if (m_file)
    {
        std::fclose(m_file);
    }
}

void OutputFile::Write(std::string_view text)
{
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), m_file) != text.size())
    {
        Fail(errno);
    }
    m_bytes += text.size();
}

void OutputFile::Close()
{
    errno = 0;
    std::FILE* file = m_file;
    m_file = nullptr;
    if (file && std::fclose(file) != 0)
    {
        Fail(errno);
    }
}

void OutputFile::Fail(int error) const
{
    throw InputError({m_shownPath, 0, ""},
                     std::string("a file that cannot be written (") + std::strerror(error) + ")",
                     "a writable folder with room for it");
}

OutputFolder::OutputFolder(std::string directory) : m_directory(std::move(directory))
{
    namespace fs = std::filesystem;
    if (m_directory.empty())
    {
        throw InputError({}, "an empty folder name", "a folder to write to");
    }
    std::error_code error;
    m_made = MissingFolders(m_directory);
    fs::create_directories(m_directory, error);
    if (error || !fs::is_directory(m_directory, error))
    {
        const std::string reason = error ? error.message() : std::strerror(ENOTDIR);
        RemoveMade();
        throw CannotWrite(m_directory, reason);
    }
    // The process id keeps two runs that are told the same folder apart.
    m_staging = (fs::path(m_directory) / (STAGING + std::to_string(getpid()))).string();
    RemoveLeftovers(m_directory);
    fs::remove_all(m_staging, error);
    error.clear();
    if (!fs::create_directory(m_staging, error))
    {
        RemoveMade();
        throw CannotWrite(m_directory, error ? error.message() : std::strerror(EEXIST));
    }
}

/** Removes the folders that were made and hold nothing, the innermost first. */
void OutputFolder::RemoveMade()
{
    std::error_code isNotEmpty;
    for (auto made = m_made.rbegin(); made != m_made.rend(); ++made)
    {
        std::filesystem::remove(*made, isNotEmpty);
    }
    m_made.clear();
}

OutputFolder::~OutputFolder()
{
    m_entries.clear();
    std::error_code ignored;
    std::filesystem::remove_all(m_staging, ignored);
    RemoveMade();
}

OutputFile& OutputFolder::Create(const std::string& name)
{
    const std::filesystem::path shown = std::filesystem::path(m_directory) / name;
    const std::filesystem::path path = std::filesystem::path(m_staging) / name;
    m_entries.push_back({name, std::make_unique<OutputFile>(path.string(), shown.string())});
    return *m_entries.back().file;
}

void OutputFolder::Drop(const std::string& name)
{
    for (auto& entry : m_entries)
    {
        if (entry.name == name)
        {
            entry.file.reset();
        }
    }
}

void OutputFolder::Commit()
{
    namespace fs = std::filesystem;
    for (auto& entry : m_entries)
    {
        if (entry.file)
        {
            entry.file->Close();
        }
    }
    std::error_code error;
    if (!m_entries.empty())
    {
        fs::remove(fs::path(m_directory) / m_entries.back().name, error);
    }
    for (const auto& entry : m_entries)
    {
        const fs::path target = fs::path(m_directory) / entry.name;
        error.clear();
        if (entry.file)
        {
            fs::rename(fs::path(m_staging) / entry.name, target, error);
        }
        else
        {
            fs::remove(target, error);
        }
        if (error)
        {
            throw InputError({target.string(), 0, ""},
                             "a file that cannot be replaced (" + error.message() + ")",
                             "a name that is free or a file");
        }
    }
    m_entries.clear();
    m_made.clear();
}

} // namespace echo
} // namespace ns3
