// SPDX-License-Identifier: GPL-2.0-only
#include "echo-input-file.h"

#include "ns3/echo-error.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <filesystem>
#include <fnmatch.h>
#include <fstream>

namespace ns3
{
namespace echo
{

namespace
{

namespace fs = std::filesystem;

/** Appends the regular files of a folder that @p matches accepts; @return how many. */
template <typename Matches>
size_t AppendFiles(const fs::path& folder, Matches matches, std::vector<std::string>& files)
{
    size_t found = 0;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
    {
        std::error_code ignored;
        if (entry->is_regular_file(ignored) && matches(entry->path().filename().string()))
        {
            files.push_back((folder / entry->path().filename()).string());
            ++found;
        }
    }
    if (error)
    {
        throw InputError(
            {folder.string(), 0, ""}, "a folder that cannot be read", "readable files");
    }
    return found;
}

class PlainFile : public ByteSource
{
  public:
    explicit PlainFile(const std::string& path) : m_path(path), m_in(path, std::ios::binary)
    {
        if (!m_in)
        {
            throw InputError({path, 0, ""}, "no readable file", "one");
        }
    }

    size_t Read(char* to, size_t size) override
    {
        m_in.read(to, static_cast<std::streamsize>(size));
        if (m_in.bad())
        {
            throw InputError(
                {m_path, 0, ""}, "a file that cannot be read to its end", "a readable file");
        }
        return static_cast<size_t>(m_in.gcount());
    }

    /** @return whether it starts as gzip files do (RFC 1952); nothing has been read yet */
    bool IsGzip()
    {
        char start[2] = {};
        m_in.read(start, 2);
        const bool isGzip = m_in.gcount() == 2 && start[0] == '\x1f' && start[1] == '\x8b';
        m_in.clear();
        m_in.seekg(0);
        return isGzip;
    }

  private:
    std::string m_path; //!< for messages
    std::ifstream m_in;
};

std::string Join(const std::vector<std::string>& words)
{
    std::string text;
    for (const auto& word : words)
    {
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

} // namespace

bool HasEnding(const std::string& text, const std::string& ending)
{
    return text.size() >= ending.size() &&
           text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

size_t SkipByteOrderMark(const std::string& text)
{
    return text.compare(0, 3, "\xef\xbb\xbf") == 0 ? 3 : 0;
}

std::unique_ptr<ByteSource> OpenInputFile(const std::string& path)
{
    std::error_code ignored;
    auto file = std::make_unique<PlainFile>(path);
    if (fs::is_directory(path, ignored))
    {
        throw InputError({path, 0, ""}, "no readable file", "one");
    }
    if (file->IsGzip())
    {
        return OpenGzipFile(path);
    }
    return file;
}

std::string ReadInputFile(const std::string& path, uint64_t largest)
{
    const std::unique_ptr<ByteSource> source = OpenInputFile(path);
    std::string text;
    std::string block(1 << 20, '\0');
    while (const size_t read = source->Read(block.data(), block.size()))
    {
        text.append(block, 0, read);
        if (text.size() > largest)
        {
            throw InputError({path, 0, ""}, "a file of more than " + FormatBytes(largest), "less");
        }
    }
    text.erase(0, SkipByteOrderMark(text));
    return text;
}

std::vector<std::string> FindInputFiles(const std::vector<std::string>& paths,
                                        const std::vector<std::string>& endings)
{
    std::vector<std::string> files;
    for (const auto& text : paths)
    {
        const fs::path path(text);
        const std::string name = path.filename().string();
        std::error_code ignored;
        if (fs::is_directory(path, ignored))
        {
            auto hasEnding = [&endings](const std::string& file) {
                return std::any_of(endings.begin(), endings.end(), [&file](const auto& ending) {
                    return HasEnding(file, ending);
                });
            };
            if (AppendFiles(path, hasEnding, files) == 0)
            {
                throw InputError({text, 0, ""},
                                 "a folder without files that end in " + Join(endings),
                                 "at least one");
            }
        }
        else if (fs::exists(path, ignored))
        {
            files.push_back(text);
        }
        else if (name.find_first_of("*?") != std::string::npos)
        {
            const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
            auto fits = [&name](const std::string& file) {
                return fnmatch(name.c_str(), file.c_str(), FNM_PERIOD) == 0;
            };
            if (!fs::is_directory(folder, ignored) || AppendFiles(folder, fits, files) == 0)
            {
                throw InputError({text, 0, ""}, "no file that fits", "at least one");
            }
        }
        else
        {
            throw InputError({text, 0, ""}, "no such file or folder", "one");
        }
    }
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    return files;
}

} // namespace echo
} // namespace ns3
