// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLLECTIVE_TABLE_H
#define ECHO_COLLECTIVE_TABLE_H

#include "echo-report-column.h"

#include "ns3/echo-enums.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** One point of a sweep over sizes. */
struct CollectivePoint
{
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    uint32_t ranks{1};
    uint64_t bytes{0}; //!< size as nccl-tests defines it
    DataType dataType{DataType::FP32};
    Time time;
    CollectiveAlgorithmKind algorithm{CollectiveAlgorithmKind::AUTO};
    CollectiveProtocol protocol{CollectiveProtocol::AUTO};
    uint32_t channels{0};
    double linkUtilization{0}; //!< largest, 0..1; 0 if unknown
    bool extrapolated{false};
};

/**
 * A sweep as nccl-tests prints it (size, count, type, redop, root, time, algbw, busbw; same widths
 * and digits), with how it was carried out beside. Lines that are no rows begin with '#'.
 */
std::string FormatCollectiveHeader();
std::string FormatCollectiveRow(const CollectivePoint& point);

/** The same as CSV: size_bytes, time_us, algbw_GBps, busbw_GBps, algorithm, protocol, channels,
 *  max_link_utilisation, extrapolated. */
const ReportColumns<CollectivePoint>& GetCollectivePointColumns();
std::string CollectiveCsvHeader();
std::string CollectiveCsvRow(const CollectivePoint& point);

/** Writes the CSV to @p path, whole or not at all. @throws InputError if it cannot be written */
void WriteCollectiveCsv(const std::string& path, const std::vector<CollectivePoint>& points);

/** @return bytes over time in GB/s */
double AlgorithmBandwidth(const CollectivePoint& point);
/** @return AlgorithmBandwidth times the factor of the operation */
double BusBandwidth(const CollectivePoint& point);

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLLECTIVE_TABLE_H */
