// SPDX-License-Identifier: GPL-2.0-only
#include "echo-workload-reader.h"

#include "echo-collective-list-reader.h"
#include "echo-program-reader.h"

namespace ns3
{
namespace echo
{

WorkloadGraphPtr ReadWorkload(const YamlNode& node, uint32_t ranks)
{
    node.RequireMap();
    const bool hasCollectives = node.Has("collectives");
    if (hasCollectives == node.Has("programs"))
    {
        node.Fail(hasCollectives ? "both 'collectives' and 'programs'"
                                 : "neither 'collectives' nor 'programs'",
                  "one of them");
    }
    return hasCollectives ? ReadCollectiveList(node, ranks) : ReadPrograms(node, ranks);
}

} // namespace echo
} // namespace ns3
