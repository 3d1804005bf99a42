// SPDX-License-Identifier: GPL-2.0-only
#include "echo-foreign-import.h"

#include "echo-chakra-importer.h"
#include "echo-layer-importer.h"
#include "echo-tracer-importer.h"

#include "ns3/echo-error.h"

namespace ns3
{
namespace echo
{

const std::vector<std::string>& GetForeignFormats()
{
    static const std::vector<std::string> formats{"chakra", "simai", "astra-sim", "echo-tracer"};
    return formats;
}

ImportedJob ImportForeign(const std::string& format,
                          const std::vector<std::string>& paths,
                          const ForeignOptions& options)
{
    if (format == "chakra")
    {
        return ImportChakra(paths,
                            {options.groups, options.system, options.replicate, options.ranks});
    }
    if (format == "echo-tracer")
    {
        return ImportTracer(paths, options.ranks, options.defaultRanks);
    }
    if (format == "simai" || format == "astra-sim")
    {
        LayerOptions layers;
        layers.isGatheredSize = format == "simai";
        layers.ranks = options.ranks;
        layers.defaultRanks = options.defaultRanks;
        layers.firstDimension = options.firstDimension;
        layers.passes = options.passes;
        return ImportLayers(paths, layers);
    }
    throw InputError({"", 0, "from"}, "'" + format + "'", "a format that Echo imports");
}

} // namespace echo
} // namespace ns3
