// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_UNITS_H
#define ECHO_UNITS_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Makes ns-3 count in picoseconds: one byte at 400 Gb/s is exactly 20 ps. To be called before any
 * Time is made; later calls do nothing.
 */
void UsePicoseconds();

/**
 * @return the time that @p bytes take at @p rate, rounded up to a picosecond
 *
 * The only place where bytes meet rates: ns-3's DataRate::CalculateBytesTxTime multiplies in 32
 * bits and wraps at 512 MiB. Exact for all 64-bit inputs whose result fits Time, else Time::Max.
 * A zero rate is a programming error (asserts).
 */
Time TxTime(uint64_t bytes, DataRate rate);

/** @return bytes per second of @p rate */
double BytesPerSecond(DataRate rate);

/** @return @p rate in GB/s (1e9 bytes per second) */
double GigabytesPerSecond(DataRate rate);

/**
 * @return the bytes written as "64MiB", "4 MB", "1024", "8B", "1.5GiB"; KiB = 2^10, KB = 10^3
 * @throws InputError if the text is not such a size, is negative or not a whole number of bytes
 */
uint64_t ParseBytes(const std::string& text);

/**
 * @return the sizes written as "64MiB", "1KiB,1MiB" or a sweep "1KiB:1GiB:2" (begin, end inclusive,
 *         factor of 2 or more), as nccl-tests' -b, -e and -f
 * @throws InputError if the text is none of these
 */
std::vector<uint64_t> ParseByteSizes(const std::string& text);

/**
 * @return the rate written as "400Gbps", "3.6Tbps", "50GB/s", "46.5GiB/s", "100Mb/s"
 * @throws InputError if the text is not such a rate or the rate is zero
 */
DataRate ParseRate(const std::string& text);

/**
 * @return the time written as "500ns", "1.5us", "10 ms", "2s", "20ps"
 * @throws InputError if the text is not such a time or is negative
 */
Time ParseTime(const std::string& text);

/** @return @p bytes as "64 MiB", "1.50 GiB" or "1000 B" */
std::string FormatBytes(uint64_t bytes);

/** @return @p rate as "400 Gb/s", "2.4 Tb/s" or "1.5 Mb/s" (bits, decimal) */
std::string FormatRate(DataRate rate);

/** @return @p time in the unit that suits it, three digits after the point: "12.345 ms" */
std::string FormatTime(Time time);

/** @return @p time in microseconds as a decimal with six digits (exact to the picosecond) */
std::string Microseconds(Time time);

} // namespace echo
} // namespace ns3

#endif /* ECHO_UNITS_H */
