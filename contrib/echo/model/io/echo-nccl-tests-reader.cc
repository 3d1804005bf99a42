// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-tests-reader.h"

#include "echo-nccl-tests-parser.h"

#include "ns3/echo-error.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ns3
{
namespace echo
{

std::vector<Measurement> ReadNcclTestsText(const std::string& text,
                                           const std::string& name,
                                           const NcclTestsHints& hints,
                                           std::vector<std::string>* notes)
{
    return NcclTestsParser(name, hints, notes).Parse(text);
}

std::vector<Measurement> ReadNcclTests(const std::string& path,
                                       const NcclTestsHints& hints,
                                       std::vector<std::string>* notes)
{
    std::error_code ignored;
    std::ifstream in(path);
    if (!in || std::filesystem::is_directory(path, ignored))
    {
        throw InputError({path, 0, ""}, "no readable file", "output of an nccl-tests program");
    }
    std::ostringstream text;
    text << in.rdbuf();
    return ReadNcclTestsText(text.str(), path, hints, notes);
}

} // namespace echo
} // namespace ns3
