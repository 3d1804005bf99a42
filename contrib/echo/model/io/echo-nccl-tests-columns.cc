// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-tests-columns.h"

#include <algorithm>
#include <initializer_list>

namespace ns3
{
namespace echo
{

NcclTestsColumns NcclTestsColumns::OfTable(const std::vector<std::string>& names)
{
    NcclTestsColumns columns;
    columns.count = static_cast<uint32_t>(names.size());
    for (uint32_t i = 0; i < columns.count; ++i)
    {
        if (names[i] == "size")
        {
            columns.size = i;
        }
        else if (names[i] == "time")
        {
            (columns.time == NONE ? columns.time : columns.inPlace) = i;
        }
        else if (names[i] == "algbw" && columns.rate == NONE)
        {
            columns.rate = i;
        }
        else if (names[i] == "busbw" && columns.bus == NONE)
        {
            columns.bus = i;
        }
        else if ((names[i] == "#wrong" || names[i] == "wrong") && columns.wrong == NONE)
        {
            columns.wrong = i;
        }
    }
    return columns;
}

NcclTestsColumns NcclTestsColumns::OfCsv(const std::vector<std::string>& names)
{
    const auto column = [&names](std::initializer_list<const char*> known) {
        for (const char* name : known)
        {
            const auto it = std::find(names.begin(), names.end(), name);
            if (it != names.end())
            {
                return static_cast<uint32_t>(it - names.begin());
            }
        }
        return NONE;
    };
    NcclTestsColumns columns;
    columns.csv = true;
    columns.count = static_cast<uint32_t>(names.size());
    columns.size = column({"size_bytes"});
    columns.time = column({"time_us", "time_us_median"});
    columns.inPlace = column({"time_us_inplace"});
    columns.wrong = column({"wrong"});
    columns.op = column({"op"});
    columns.ranks = column({"ranks", "ngpus", "num_workers"});
    columns.hosts = column({"hosts", "nodes"});
    columns.perHost = column({"gpus_per_node", "devices_per_node"});
    columns.thread = column({"one_thread"});
    columns.single = column({"single_call"});
    columns.release = column({"nccl"});
    return columns;
}

} // namespace echo
} // namespace ns3
