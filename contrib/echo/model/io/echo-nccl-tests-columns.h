// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NCCL_TESTS_COLUMNS_H
#define ECHO_NCCL_TESTS_COLUMNS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Which column of a table of nccl-tests holds what. */
struct NcclTestsColumns
{
    static constexpr uint32_t NONE = ~0u;

    uint32_t count{0};      //!< of all columns
    uint32_t size{NONE};    //!< bytes
    uint32_t time{NONE};    //!< out of place, us
    uint32_t rate{NONE};    //!< algbw: bytes over the time out of place, GB/s
    uint32_t bus{NONE};     //!< busbw: algbw times what the operation asks of a link, GB/s
    uint32_t inPlace{NONE}; //!< in place, us
    uint32_t wrong{NONE};   //!< elements
    uint32_t op{NONE};      //!< CSV: operation
    uint32_t ranks{NONE};   //!< CSV
    uint32_t hosts{NONE};   //!< CSV
    uint32_t perHost{NONE}; //!< CSV: ranks a host
    uint32_t thread{NONE};  //!< CSV: whether one thread issued all kernels
    uint32_t single{NONE};  //!< CSV: whether each call was timed alone
    uint32_t release{NONE}; //!< CSV: release of NCCL that the row ran
    bool csv{false};        //!< cells are parted by commas

    /** @param names words of the header line as printed */
    static NcclTestsColumns OfTable(const std::vector<std::string>& names);
    /** @param names cells of the header of a CSV file */
    static NcclTestsColumns OfCsv(const std::vector<std::string>& names);
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_TESTS_COLUMNS_H */
