// SPDX-License-Identifier: GPL-2.0-only
// Compiled where Boost.Iostreams and zlib are there; else echo-gzip-missing.cc.
#include "echo-input-file.h"

#include "ns3/echo-error.h"

#include <boost/iostreams/device/file.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

namespace ns3
{
namespace echo
{

namespace
{

class GzipFile : public ByteSource
{
  public:
    explicit GzipFile(const std::string& path) : m_path(path)
    {
        m_in.push(boost::iostreams::gzip_decompressor());
        m_in.push(boost::iostreams::file_source(path, std::ios::binary));
        m_in.exceptions(std::ios::badbit);
    }

    size_t Read(char* to, size_t size) override
    {
        try
        {
            m_in.read(to, static_cast<std::streamsize>(size));
        }
        catch (const std::ios_base::failure&) // boost's gzip_error is one
        {
            throw InputError({m_path, 0, ""}, "a damaged gzip file", "a whole one");
        }
        return static_cast<size_t>(m_in.gcount());
    }

  private:
    std::string m_path; //!< for messages
    boost::iostreams::filtering_istream m_in;
};

} // namespace

std::unique_ptr<ByteSource> OpenGzipFile(const std::string& path)
{
    return std::make_unique<GzipFile>(path);
}

} // namespace echo
} // namespace ns3
