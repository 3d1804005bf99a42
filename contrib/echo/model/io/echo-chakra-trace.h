// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CHAKRA_TRACE_H
#define ECHO_CHAKRA_TRACE_H

#include "ns3/echo-enums.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace echo
{

/** Types of nodes, numbered as in Chakra's schema. */
enum class ChakraNodeType : uint8_t
{
    INVALID = 0,
    METADATA = 1,
    MEMORY_LOAD = 2,
    MEMORY_STORE = 3,
    COMPUTE = 4,
    SEND = 5,
    RECEIVE = 6,
    COLLECTIVE = 7,
};

/** One node, as far as Echo uses it. */
struct ChakraNode
{
    uint64_t id{0};
    uint32_t name{0}; //!< in ChakraTrace::names
    ChakraNodeType type{ChakraNodeType::INVALID};
    bool isOnCpu{false};
    bool hasCommunicationSize{false};
    CollectiveKind kind{CollectiveKind::ALL_REDUCE}; //!< COLLECTIVE
    Time duration;                                   //!< recorded; zero: none
    double operations{0};                            //!< "num_ops"
    uint64_t tensorBytes{0};                         //!< "tensor_size"
    uint64_t communicationBytes{0};                  //!< "comm_size", as the file counts it
    uint32_t group{0};                               //!< COLLECTIVE: in ChakraTrace::groupNames
    uint32_t peer{0};                                //!< SEND: to; RECEIVE: from
    int32_t tag{0};                                  //!< SEND, RECEIVE
    int64_t stream{-1};                              //!< of the GPU, if recorded; else -1
    uint32_t firstDependency{0};
    uint32_t dependencyCount{0};
};

/** One file. */
struct ChakraTrace
{
    std::string file;
    std::string version;
    std::vector<ChakraNode> nodes;
    std::vector<uint64_t> dependencies; //!< ids, of all nodes
    std::vector<bool> isControl;        //!< of each of them: by control, else by data
    bool isConverted{false};            //!< of PyTorch's: not all nodes that it names are there
    std::vector<std::string> names;
    std::vector<std::string> groupNames;                 //!< of "pg_name"; "": the default group
    std::map<std::string, std::vector<uint32_t>> groups; //!< members that metadata nodes name
    std::map<std::string, uint64_t> ignored;             //!< what is not used, by reason
    uint64_t parents{0}; //!< of a converted trace: control dependencies, on enclosing operators
    uint64_t issuers{0}; //!< CPU operators that issue a communication: CPU time
};

/** Collects nodes of one file; protobuf and JSON readers share it, so both check alike. */
class ChakraTraceBuilder
{
  public:
    /** An attribute of a node: a whole number, a number, text or a list of booleans. */
    struct Attribute
    {
        std::string name;
        std::optional<int64_t> integer; //!< a whole number (or boolean) that fits
        std::optional<double> number;   //!< any number
        std::string text;
        std::vector<bool> booleans;
    };

    explicit ChakraTraceBuilder(const std::string& file);

    void SetVersion(const std::string& version);
    /**
     * Starts a node.
     * @param type as the schema numbers it
     * @throws InputError if there is a node of that id already, or for an unknown type
     */
    void BeginNode(uint64_t id, const std::string& name, int64_t type);
    void AddDependency(uint64_t id, bool isControl);
    /** @throws InputError for times that cannot be */
    void SetDuration(double microseconds);
    /** The values of a node's inputs; of a metadata node they may define process groups. */
    void SetInputValues(const std::string& values);
    /** @throws InputError for values that cannot be */
    void AddAttribute(const Attribute& attribute);
    /** @throws InputError if the node lacks what its type needs */
    void EndNode();
    /** @throws InputError if there were no nodes */
    ChakraTrace Build();

  private:
    uint32_t IndexOf(const std::string& text,
                     std::unordered_map<std::string, uint32_t>& index,
                     std::vector<std::string>& texts);
    uint64_t Count(const Attribute& attribute) const;
    void SetCollective(const Attribute& attribute);
    [[noreturn]] void Fail(const std::string& found, const std::string& expected) const;

    ChakraTrace m_trace;
    ChakraNode m_node; //!< that is being read
    std::string m_name;
    std::string m_group;
    bool m_hasPeer{false};
    bool m_hasKind{false};
    std::unordered_map<uint64_t, bool> m_ids; //!< looked up only
    std::unordered_map<std::string, uint32_t> m_nameIndex;
    std::unordered_map<std::string, uint32_t> m_groupIndex;
};

/**
 * Reads a protobuf execution trace (".et"): messages behind their lengths, the first of them the
 * file's metadata. Plain or gzipped, of any length.
 * @throws InputError if it is no such file or is cut off
 * @throws UnsupportedError if Echo was built without protobuf
 */
ChakraTrace ReadChakraProtobuf(const std::string& file);

/** @return the number that stands before the endings of a file's name: "w.10.et.gz" -> 10 */
std::optional<uint32_t> ChakraRankOf(const std::string& path);

/** What a JSON file beside Chakra traces holds. */
struct ChakraJson
{
    std::optional<ChakraTrace> trace;
    std::map<std::string, std::vector<uint32_t>> groups; //!< if it is a file of process groups
    bool isGroups{false};
};

/**
 * Reads JSON: nodes as chakra_jsonizer writes them (one object after the other), the list
 * "workload_graph" of Chakra's feeder, or process groups {"name": [ranks]}.
 * @throws InputError if it is none of these
 * @throws UnsupportedError if Echo was built without simdjson
 */
ChakraJson ReadChakraJson(const std::string& file);

} // namespace echo
} // namespace ns3

#endif /* ECHO_CHAKRA_TRACE_H */
