// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_ADOPTION_H
#define ECHO_KINETO_ADOPTION_H

#include "echo-kineto-trace.h"

#include <string>

namespace ns3
{
namespace echo
{

/**
 * @return the collective that an operator of a library with kernels of its own performs:
 *         "symm_mem::two_shot_all_reduce_", "_C_custom_ar::all_reduce", "vllm::all_gather";
 *         empty if it is none, or one of torch.distributed, whose record_param_comms says more
 */
std::string OperatorKind(const std::string& name);

/**
 * Makes communications of kernels outside NCCL and RCCL that an operator launched whose input shape
 * is recorded, where the group is known: all process groups of more than one rank that the file
 * names have the same members. Others stay kernels of their recorded time
 * (LooksLikeCommunication()).
 */
void AdoptCommunications(KinetoTrace& trace);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_ADOPTION_H */
