// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PIECE_PROGRAM_H
#define ECHO_PIECE_PROGRAM_H

#include "echo-collective-algorithm.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{
namespace echo
{

/**
 * Cuts bytes into messages of at most `chunkBytes` (0: one message). No bytes give no message, on
 * both sides of a connection alike.
 */
class PieceCutter
{
  public:
    PieceCutter(uint64_t bytes, uint64_t chunkBytes)
        : m_left(bytes), m_chunk(chunkBytes == 0 ? bytes : chunkBytes)
    {
    }

    /** @return the next message's bytes; 0 after the last */
    uint64_t Next()
    {
        const uint64_t piece = std::min(m_left, m_chunk);
        m_left -= piece;
        return piece;
    }

  private:
    uint64_t m_left;
    uint64_t m_chunk;
};

/** The same step over and over, a piece each time: a node of a chain or a tree, or one message. */
class PieceProgram : public RankProgram
{
  public:
    /** @param step peers and whether to reduce; its bytes are not used */
    PieceProgram(const ProgramStep& step, uint64_t bytes, uint64_t chunkBytes)
        : m_step(step), m_pieces(bytes, chunkBytes)
    {
    }

    bool Next(ProgramStep& step) override
    {
        m_step.bytes = m_pieces.Next();
        step = m_step;
        return step.bytes > 0;
    }

  private:
    ProgramStep m_step;
    PieceCutter m_pieces;
};

/** Adds a peer to receive from. */
inline void AddReceive(ProgramStep& step, uint32_t member)
{
    step.receiveFrom.at(step.receives++) = member;
}

/** Adds a peer to send to. */
inline void AddSend(ProgramStep& step, uint32_t member)
{
    step.sendTo.at(step.sends++) = member;
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_PIECE_PROGRAM_H */
