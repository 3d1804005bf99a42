// SPDX-License-Identifier: GPL-2.0-only
#include "attention-fit.h"

#include <algorithm>
#include <ostream>

namespace ns3
{
namespace echo
{

AttentionTable::AttentionTable(const std::vector<Row>& rows, const std::string& gpu, double peak)
{
    for (const Row& row : rows)
    {
        if (row.at("gpu").rfind(gpu, 0) == 0)
        {
            m_shares[{row.at("kernel") + " " + row.at("pass"),
                      {row.at("causal"),
                       {static_cast<int>(Number(row, "head_dim")),
                        static_cast<int>(Number(row, "seq"))}}}] =
                Number(row, "tflops") * 1e12 / peak;
        }
    }
}

double AttentionTable::Get(const std::string& kernel, bool causal, int head, int sequence) const
{
    const auto found = m_shares.find({kernel, {causal ? "1" : "0", {head, sequence}}});
    return found == m_shares.end() ? 0 : found->second;
}

void WriteAttention(std::ostream& out, const AttentionTable& table, const AttentionTable& reference)
{
    out << "    attention:\n";
    for (const bool causal : {false, true})
    {
        for (const int head : {64, 128, 256})
        {
            for (const int sequence : {512, 1024, 2048, 4096, 8192, 16384})
            {
                const double forward = reference.Get("FA2 fwd", causal, head, sequence);
                const double both = reference.Get("FA2 fwd+bwd", causal, head, sequence);
                const double ratio =
                    forward > 0 && both > 0 ? 2.5 / (3.5 / both - 1 / forward) / forward : 0.85;
                const auto write = [&](const char* kernel, double share) {
                    if (share > 0)
                    {
                        out << "      - {kernel: " << kernel << ", head: " << head
                            << ", causal: " << (causal ? "true" : "false")
                            << ", sequence: " << sequence << ", forward: " << Format("%.3f", share)
                            << ", backward: " << Format("%.3f", share * ratio) << "}\n";
                    }
                };
                const double ownBoth = table.Get("FA2 fwd+bwd", causal, head, sequence);
                const double own = table.Get("FA2 fwd", causal, head, sequence);
                const double flash = own > 0 ? own : ownBoth * (1 + 2.5 / ratio) / 3.5;
                const double fused = std::max(table.Get("FA3 fwd", causal, head, sequence),
                                              table.Get("cuDNN fwd", causal, head, sequence));
                write("flash", flash);
                write("cudnn", fused > 0 ? fused : flash);
            }
        }
    }
}

} // namespace echo
} // namespace ns3
