// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COMMUNICATION_RECORD_H
#define ECHO_COMMUNICATION_RECORD_H

#include "ns3/echo-collective-spec.h"
#include "ns3/echo-error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Where the sizes of a recorded communication come from, best first. */
enum class RecordSource : uint8_t
{
    KERNEL,          //!< arguments of the NCCL kernel
    PROFILER,        //!< arguments of the profiler's record_param_comms
    EXECUTION_TRACE, //!< record_param_comms of the PyTorch execution trace
    ANNOTATION,      //!< input shape of the profiler's "nccl:" annotation
    OPERATOR,        //!< input shape of the operator that communicates without NCCL
    NONE,            //!< nothing recorded but the kernel's name
};

/**
 * One communication as PyTorch records it (ParamCommsUtils.hpp of PyTorch), in elements; what was
 * not recorded is negative or empty.
 */
struct CommunicationRecord
{
    RecordSource source{RecordSource::NONE};
    std::string name; //!< as recorded: "allreduce", "_allgather_base", "nccl:all_to_all", "wait"
    int64_t inElements{-1};
    int64_t outElements{-1};
    std::string dataType;            //!< as recorded: "Float", "BFloat16", "float", "long int"
    std::vector<uint64_t> inSplits;  //!< what this rank sends to each member, in units of splits
    std::vector<uint64_t> outSplits; //!< what this rank receives from each member
    std::vector<uint32_t> ranks;     //!< members
    std::string groupName;           //!< the process group's name or id
    int64_t groupSize{-1};
    int64_t rankStart{-1};   //!< first member, where members are evenly spaced
    int64_t rankStride{-1};  //!< distance of members
    int64_t root{-1};        //!< index in the group (broadcast, reduce)
    int64_t peer{-1};        //!< the other side of a send or receive
    bool isPeerGlobal{true}; //!< peer is a rank of the job, else an index in the group
    int64_t sequence{-1};    //!< number that a later "wait" names
    std::string unreadable;  //!< a size that is none, as recorded: "In msg nelems -5"
    int64_t functionId{-1};  //!< joins profiler and execution trace, where both have it
    uint32_t line{0};        //!< node id in an execution trace

    bool HasSizes() const
    {
        return inElements >= 0 || outElements >= 0;
    }

    bool IsWait() const
    {
        return name == "wait";
    }
};

/** What the name of a communication or of its kernel says. */
struct RecordedKind
{
    bool isSend{false};                 //!< a send
    bool isReceive{false};              //!< a receive
    std::optional<CollectiveKind> kind; //!< a collective; SEND_RECV for sends and receives
};

/**
 * @return the kind that a recorded name means ("allreduce", "nccl:_all_gather_base",
 *         "all_to_allv", "send"); no kind if it is none that Echo knows
 */
RecordedKind ParseRecordedKind(const std::string& name);

/** What NCCL or RCCL kernels say by their names. */
struct KernelHint
{
    bool isCommunication{false};        //!< NCCL, RCCL, MSCCL
    std::optional<CollectiveKind> kind; //!< SEND_RECV: also all-to-all
    CollectiveAlgorithmKind algorithm{CollectiveAlgorithmKind::AUTO};
    CollectiveProtocol protocol{CollectiveProtocol::AUTO};
};

/**
 * Reads names such as "ncclKernel_AllReduce_RING_LL_Sum_float(...)" (NCCL up to 2.18),
 * "ncclDevKernel_AllGather_RING_LL(...)" (since 2.19) and "ncclDevKernel_Generic(...)".
 *
 * Algorithm and protocol are hints only: NCCL compiles few kernels and calls one for other
 * algorithms and protocols too (src/device/generate.py: only the most used functions have kernels
 * of their own), so "RING_LL" also stands on trees and on the Simple protocol.
 */
KernelHint ParseKernelName(const std::string& name);

/**
 * @return whether a kernel that is not NCCL's or RCCL's seems to communicate: collectives in
 *         symmetric memory ("multimem_all_reduce_kernel"), of inference engines
 *         ("cross_device_reduce_1stage"), NVSHMEM, DeepEP. Nothing records their sizes.
 */
bool LooksLikeCommunication(const std::string& kernel);

/**
 * @return the element type that PyTorch's name means ("Float", "float", "BFloat16", "c10::Half",
 *         "long int", "Bool", ...); types that only differ in meaning map on one of their size
 */
std::optional<DataType> ParseRecordedDataType(const std::string& name);

/**
 * Converts a record to what Echo asks of a collective. CollectiveSpec::bytes is nccl-tests' size;
 * records hold input and output elements of one rank:
 *
 * | kind | bytes from both sizes | from one size |
 * | --- | --- | --- |
 * | all-reduce, broadcast, reduce | the buffer: both must be equal | that size |
 * | all-gather | output; must be members x input | input alone: times members; output alone: as is
 * | | reduce-scatter | input; must be members x output | output alone: times members | | all-to-all
 * | input, must equal output | that size | | all-to-all with splits | input, spread as the splits
 * are; their sum must divide it | the same |
 *
 * Example: all-gather, 16 ranks, input 4,194,304 and output 67,108,864 bf16 elements: 134,217,728
 * B, of which each rank sends 15/16 = 125,829,120 B in a ring.
 *
 * @param kind of the record, not SEND_RECV
 * @param groupSize members
 * @param where for messages
 * @throws InputError for sizes that contradict each other, an unknown element type, no sizes
 */
CollectiveSpec ToCollectiveSpec(const CommunicationRecord& record,
                                CollectiveKind kind,
                                uint32_t groupSize,
                                const SourceLocation& where);

/** @return bytes of an all-gather in which each member gives @p bytes; @throws InputError if that
 * is no size */
uint64_t GatheredBytes(uint64_t bytes, uint64_t members, const SourceLocation& where);

/** @return bytes of a recorded send or receive; @throws InputError as ToCollectiveSpec() */
uint64_t ToMessageBytes(const CommunicationRecord& record, const SourceLocation& where);

} // namespace echo
} // namespace ns3

#endif /* ECHO_COMMUNICATION_RECORD_H */
