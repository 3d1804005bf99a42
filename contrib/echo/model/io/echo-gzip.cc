// SPDX-License-Identifier: GPL-2.0-only
// Compiled where Boost.Iostreams and zlib are there; else echo-gzip-missing.cc.
#include "echo-input-file.h"

#include "ns3/echo-error.h"

#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cstdint>
#include <limits>

namespace ns3
{
namespace echo
{

std::string DecompressGzip(const std::string& bytes, const std::string& path)
{
    // The readers of JSON index 32 bits.
    const size_t limit = std::numeric_limits<uint32_t>::max();
    std::string text;
    try
    {
        boost::iostreams::filtering_istream in;
        in.push(boost::iostreams::gzip_decompressor());
        in.push(boost::iostreams::array_source(bytes.data(), bytes.size()));
        in.exceptions(std::ios::badbit);
        std::string block(1 << 20, '\0');
        while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0)
        {
            text.append(block, 0, static_cast<size_t>(in.gcount()));
            if (text.size() >= limit)
            {
                throw InputError({path, 0, ""}, "a file of 4 GiB or more", "less");
            }
        }
    }
    catch (const std::ios_base::failure&) // boost's gzip_error is one
    {
        throw InputError({path, 0, ""}, "a damaged gzip file", "a whole one");
    }
    return text;
}

} // namespace echo
} // namespace ns3
