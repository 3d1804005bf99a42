// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PROGRAM_PARSER_H
#define ECHO_PROGRAM_PARSER_H

#include "echo-yaml.h"

#include "ns3/echo-workload-graph.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** One send or receive as written. */
struct ParsedMessage
{
    explicit ParsedMessage(const YamlNode& written) : node(written)
    {
    }

    YamlNode node; //!< for messages to the user
    bool isSend{true};
    bool isRelative{false}; //!< the peer is an offset in the group's order, else a rank
    int64_t peer{0};
    uint64_t bytes{0};
    int32_t tag{0};
};

/** One operator as written. */
struct ParsedOperator
{
    explicit ParsedOperator(const YamlNode& written) : node(written)
    {
    }

    YamlNode node; //!< for messages to the user
    OperatorType type{OperatorType::MARKER};
    std::string stream;
    std::string name;
    uint32_t repeat{1};
    Time duration;
    double flops{0};
    double memoryBytes{0};
    bool hasCounters{false};
    KernelCounters counters;
    uint32_t slot{0};
    CollectiveSpec spec;
    std::vector<ParsedMessage> messages;
    std::vector<YamlNode> after;
};

/** One entry of `programs`. */
struct ParsedProgram
{
    std::vector<ParsedOperator> operators;
    std::vector<std::string> groups; //!< names, by slot
};

/** Reads the streams of one entry of `programs`, not yet for any rank. */
class ProgramParser
{
  public:
    /** @param groups names that operators may use */
    explicit ProgramParser(std::set<std::string> groups);

    /** @throws InputError */
    ParsedProgram Read(const YamlNode& streams);

  private:
    void ReadOperator(const YamlNode& node, const std::string& stream);
    void ReadCollective(const YamlNode& node, ParsedOperator& op);
    void ReadMessages(const YamlNode& node, const std::string& type, ParsedOperator& op);
    /** @return the slot of the group that the node names */
    uint32_t GetSlot(const YamlNode& node);

    std::set<std::string> m_groups;
    ParsedProgram m_program;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_PROGRAM_PARSER_H */
