// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/echo-error.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-workload-health.h"
#include "ns3/echo-workload-reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

WorkloadGraphPtr Read(const std::string& text, uint32_t ranks)
{
    return ReadWorkload(YamlNode::LoadText(text, "w.yaml"), ranks);
}

std::string MessageOf(const std::string& text, uint32_t ranks)
{
    try
    {
        Read(text, ranks);
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "no error";
}

/** A rank's operators as "stream: name(group ...) ...; ..." with what matters of each. */
std::string Describe(const WorkloadGraph& workload, uint32_t rank)
{
    const ExecutionGraph& program = *workload.GetProgram(RankId(rank));
    std::ostringstream text;
    for (uint32_t s = 0; s < program.GetStreamCount(); ++s)
    {
        text << (s > 0 ? "; " : "") << program.GetStreamName(StreamId(s)) << ":";
        for (OperatorId id : program.GetStream(StreamId(s)))
        {
            const Operator& op = program.GetOperator(id);
            text << ' ' << program.GetName(op);
            if (op.type == OperatorType::COLLECTIVE || op.type == OperatorType::POINT_TO_POINT)
            {
                const auto& communication = program.GetCommunication(op);
                const CommGroup& group = *workload.GetGroup(RankId(rank), communication.groupSlot);
                text << '(' << group.GetName();
                if (op.type == OperatorType::COLLECTIVE)
                {
                    text << ' ' << communication.spec.bytes;
                }
                for (const auto& element : communication.elements)
                {
                    text << (element.isSend ? " to " : " from ") << group.GetRank(element.peerIndex)
                         << ' ' << element.bytes << " tag " << element.tag;
                }
                text << ')';
            }
            else if (!op.duration.IsZero())
            {
                text << '(' << op.duration.GetNanoSeconds() << "ns)";
            }
            for (uint32_t i = 0; i < op.dependencyCount; ++i)
            {
                const auto& dependency = program.GetOperator(program.GetDependencies(op)[i]);
                text << '<' << program.GetName(dependency);
            }
        }
    }
    return text.str();
}

// ---------------------------------------------------------------------- lists of collectives

TEST(CollectiveList, RunsOneAfterAnotherOnAllRanks)
{
    WorkloadGraphPtr workload = Read(R"(
collectives:
  - {op: all-reduce, bytes: 64MiB, repeat: 2, algorithm: tree, protocol: ll128, channels: 4,
     type: bf16}
  - {op: broadcast, bytes: 1MB, root: 3, name: weights, compute: 2us}
  - {op: barrier}
)",
                                     4);
    for (uint32_t rank = 0; rank < 4; ++rank)
    {
        EXPECT_EQ(Describe(*workload, rank),
                  "communication: all-reduce(world 67108864) all-reduce(world 67108864) "
                  "compute(2000ns) weights(world 1000000) barrier(world 0)");
        EXPECT_EQ(workload->GetProgram(RankId(rank)), workload->GetProgram(RankId(0)));
    }
    const ExecutionGraph& program = *workload->GetProgram(RankId(0));
    const CollectiveSpec& spec = program.GetCommunication(program.GetOperator(OperatorId(0))).spec;
    EXPECT_EQ(spec.algorithm, CollectiveAlgorithmKind::TREE);
    EXPECT_EQ(spec.protocol, CollectiveProtocol::LL128);
    EXPECT_EQ(spec.channels, 4u);
    EXPECT_EQ(spec.dataType, DataType::BF16);
    EXPECT_EQ(program.GetOperator(OperatorId(0)).line, 3u);
    EXPECT_EQ(program.GetCommunication(program.GetOperator(OperatorId(3))).spec.root, 3u);
    EXPECT_EQ(workload->GetGroups().size(), 1u);
    EXPECT_EQ(workload->GetGroups()[0]->GetKind(), GroupKind::WORLD);
}

TEST(CollectiveList, TakesRanksAndGroups)
{
    WorkloadGraphPtr workload = Read(R"(
collectives:
  - {op: all-gather, bytes: 1KiB, ranks: [2, 0-1]}
  - {op: all-reduce, bytes: 2KiB, groups: [[0, 4], [1, 5]]}
  - {op: all-reduce, bytes: 3KiB, groups: {size: 2, stride: 4}}
  - {op: all-to-all, bytes: 4KiB, ranks: 1-7/3}
)",
                                     8);
    EXPECT_EQ(Describe(*workload, 0),
              "communication: all-gather(group0 1024) all-reduce(group1 2048) "
              "all-reduce(group1 3072)");
    EXPECT_EQ(Describe(*workload, 1),
              "communication: all-gather(group0 1024) all-reduce(group2 2048) "
              "all-reduce(group2 3072) all-to-all(group5 4096)");
    EXPECT_EQ(Describe(*workload, 3), "communication: all-reduce(group4 3072)");
    EXPECT_THAT(workload->GetGroups()[0]->GetRanks(), ElementsAre(RankId(2), RankId(0), RankId(1)));
    EXPECT_THAT(workload->GetGroups()[5]->GetRanks(), ElementsAre(RankId(1), RankId(4), RankId(7)));
    // Ranks that take part alike share a program: 0; 1; 2; 3, 6; 4, 7 apart; 5.
    EXPECT_EQ(workload->GetProgram(RankId(3)), workload->GetProgram(RankId(6)));
    EXPECT_NE(workload->GetProgram(RankId(4)), workload->GetProgram(RankId(3)));
}

TEST(CollectiveList, ConcurrentEntriesHaveStreamsAndGroupsOfTheirOwn)
{
    WorkloadGraphPtr workload = Read(R"(
concurrent: true
collectives:
  - {op: all-reduce, bytes: 1KiB, repeat: 2}
  - {op: all-gather, bytes: 2KiB}
)",
                                     2);
    EXPECT_EQ(Describe(*workload, 1),
              "communication0: all-reduce(world 1024) all-reduce(world 1024); communication1: "
              "all-gather(world 2048)");
    EXPECT_NE(workload->GetGroup(RankId(0), 0), workload->GetGroup(RankId(0), 1));
}

// Case 5: sends from i to (i + 4) mod 8 at once.
TEST(CollectiveList, ReadsPairs)
{
    WorkloadGraphPtr workload = Read(
        "collectives: [{op: send-recv, bytes: 64MiB, pairs: [[0, 4], [1, 5], [4, 0], [1, 2]]}]", 6);
    EXPECT_EQ(Describe(*workload, 0),
              "communication: send-recv(world to 4 67108864 tag 0 from 4 67108864 tag 0)");
    EXPECT_EQ(Describe(*workload, 1),
              "communication: send-recv(world to 5 67108864 tag 0 to 2 67108864 tag 0)");
    EXPECT_EQ(Describe(*workload, 3), "");
    EXPECT_EQ(WorkloadHealth(*workload).GetUses().at(0).instances, 4u);
}

TEST(CollectiveList, ReadsSplits)
{
    WorkloadGraphPtr workload =
        Read("collectives: [{op: all-to-all-v, ranks: [1, 0], splits: [[0, 1KiB], [5, 6]]}]", 2);
    EXPECT_EQ(Describe(*workload, 1), "communication: all-to-all-v(group0 1024)");
    EXPECT_EQ(Describe(*workload, 0), "communication: all-to-all-v(group0 11)");
    const ExecutionGraph& program = *workload->GetProgram(RankId(0));
    EXPECT_THAT(program.GetCommunication(program.GetOperator(OperatorId(0))).spec.sendBytes,
                ElementsAre(5u, 6u));
}

TEST(CollectiveList, RefusesWhatIsWrong)
{
    auto one = [](const std::string& entry) {
        return MessageOf("collectives:\n  - " + entry + "\n", 4);
    };
    EXPECT_EQ(one("{op: all-reduce, bytes: 1KiB}"), "no error");
    EXPECT_EQ(one("{op: all-reduce, bytes: 1023}"), "no error");
    EXPECT_EQ(one("{op: all-reduce, bytes: 1024, type: fp32}"), "no error");
    EXPECT_THAT(
        one("{op: all-reduce, bytes: 1023, type: fp32}"),
        HasSubstr("w.yaml:2: collectives[0].bytes: found 1023 B of fp32, expected a multiple "
                  "of its 4 B, or no type"));
    EXPECT_THAT(one("{op: all-to-all-v, ranks: [0, 1], type: bf16, splits: [[2, 4], [6, 3]]}"),
                HasSubstr("splits: found 3 B of bf16"));
    EXPECT_THAT(one("{op: all-reduce}"),
                HasSubstr("w.yaml:2: collectives[0]: found no key 'bytes'"));
    EXPECT_THAT(one("{bytes: 1KiB}"), HasSubstr("no key 'op'"));
    EXPECT_THAT(one("{op: allreduce, bytes: 1KiB}"),
                HasSubstr("collectives[0].op: found 'allreduce'"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1kb}"), HasSubstr("collectives[0].bytes"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, rank: 3}"), HasSubstr("unknown key 'rank'"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, ranks: [0, 4]}"),
                HasSubstr("ranks[1]: found rank 4, expected 0 to 3"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, ranks: [0, 0-1]}"), HasSubstr("rank 0 twice"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, ranks: []}"), HasSubstr("no ranks"));
    for (const std::string bad : {"x", "-1", "3-1", "0-3/0", "0-", "1/2/3", "99999999999"})
    {
        EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, ranks: '" + bad + "'}"),
                    HasSubstr("ranks: found"))
            << bad;
    }
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, ranks: all, groups: [[0]]}"),
                HasSubstr("'ranks' beside 'groups'"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, groups: [[0, 1], [1, 2]]}"),
                HasSubstr("rank 1 twice in these groups"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, groups: {size: 3}}"),
                HasSubstr("divides 4 ranks"));
    EXPECT_THAT(one("{op: broadcast, bytes: 1KiB, root: 2, ranks: [0, 1]}"),
                HasSubstr("root: found root 2, expected a member, 0 to 1"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, root: 2}"), HasSubstr("unknown key 'root'"));
    EXPECT_THAT(one("{op: barrier, bytes: 1KiB}"), HasSubstr("bytes of a barrier"));
    EXPECT_THAT(one("{op: send-recv, bytes: 1KiB}"), HasSubstr("no key 'pairs'"));
    EXPECT_THAT(one("{op: send-recv, bytes: 1KiB, pairs: [[0]]}"), HasSubstr("1 entries"));
    EXPECT_THAT(one("{op: send-recv, bytes: 1KiB, pairs: [[0, 1]], protocol: simple}"),
                HasSubstr("found 'protocol' of send-recv, expected none"));
    EXPECT_THAT(one("{op: all-to-all, bytes: 1KiB, algorithm: tree}"),
                HasSubstr("algorithm: found 'tree' for all-to-all, expected auto or pairwise"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, algorithm: pat}"),
                HasSubstr("expected auto, ring, tree, nvls or nvls-tree"));
    EXPECT_THAT(one("{op: send-recv, bytes: 1KiB, pairs: [[0, 4]]}"), HasSubstr("'4'"));
    EXPECT_THAT(one("{op: send-recv, bytes: 1KiB, pairs: []}"), HasSubstr("no pairs"));
    EXPECT_THAT(one("{op: all-to-all-v, splits: [[1]]}"), HasSubstr("do not fit a group of 4"));
    EXPECT_THAT(one("{op: all-to-all-v, bytes: 4, splits: [[1]]}"), HasSubstr("all-to-all-v"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, repeat: 0}"), HasSubstr("repeat"));
    EXPECT_THAT(one("{op: all-reduce, bytes: 1KiB, compute: -1us}"), HasSubstr("compute"));
    EXPECT_THAT(one("3"), HasSubstr("w.yaml:2"));
    EXPECT_THAT(MessageOf("collectives: []", 4), HasSubstr("an empty list"));
    EXPECT_THAT(MessageOf("collectives: 3", 4), HasSubstr("w.yaml:1"));
    EXPECT_THAT(MessageOf("x: 3", 4), HasSubstr("neither 'collectives' nor 'programs'"));
    EXPECT_THAT(MessageOf("collectives: []\nprograms: []", 4), HasSubstr("both"));
    EXPECT_THAT(MessageOf("parallel: true\ncollectives: [{op: barrier}]", 4),
                HasSubstr("unknown key 'parallel'"));
}

// -------------------------------------------------------------------------------- programs

TEST(Programs, ReadStreamsGroupsAndDependencies)
{
    WorkloadGraphPtr workload = Read(R"(
groups:
  tp: [[0, 1], [2, 3]]
  dp: {size: 2, stride: 2}
  pair: {ranks: [1, 2], kind: pp}
programs:
  - ranks: [0, 3]
    start: 5us
    streams:
      "7":
        - {compute: 100us, name: K1, flops: 1e12, memory: 2MiB}
        - {copy: 1us}
        - {compute: 50us, name: K3, after: [AR, G]}
      "20":
        - {collective: all-reduce, bytes: 64MiB, group: tp, name: AR, after: K1}
        - {collective: all-gather, bytes: 1KiB, group: dp, name: G, repeat: 2}
      cpu:
        - {host: 3us}
        - {marker: sync, after: K3}
  - ranks: 1-2
    streams:
      "20":
        - {collective: all-reduce, bytes: 64MiB, group: tp}
        - {collective: all-gather, bytes: 1KiB, group: dp, repeat: 2}
        - {collective: broadcast, bytes: 8, group: pair, root: 1}
)",
                                     4);
    EXPECT_EQ(Describe(*workload, 0),
              "7: K1(100000ns) copy(1000ns) K3(50000ns)<G; 20: AR(tp0 67108864)<K1 G(dp0 1024) "
              "G(dp0 1024); cpu: host(3000ns) sync<K3");
    EXPECT_EQ(Describe(*workload, 2),
              "20: all-reduce(tp1 67108864) all-gather(dp0 1024) all-gather(dp0 1024) "
              "broadcast(pair 8)");
    EXPECT_EQ(workload->GetProgram(RankId(0)), workload->GetProgram(RankId(3)));
    EXPECT_EQ(workload->GetGroup(RankId(3), 0)->GetName(), "tp1");
    EXPECT_EQ(workload->GetGroup(RankId(3), 0)->GetKind(), GroupKind::TENSOR);
    EXPECT_EQ(workload->GetGroup(RankId(1), 2)->GetKind(), GroupKind::PIPELINE);
    EXPECT_THAT(workload->GetGroup(RankId(3), 1)->GetRanks(), ElementsAre(RankId(1), RankId(3)));
    EXPECT_EQ(workload->GetStartTime(RankId(0)), MicroSeconds(5));
    EXPECT_EQ(workload->GetStartTime(RankId(1)), Time());
    const ExecutionGraph& program = *workload->GetProgram(RankId(0));
    const Operator& k1 = program.GetOperator(OperatorId(0));
    EXPECT_EQ(k1.flops, 1e12);
    EXPECT_EQ(k1.memoryBytes, 2097152);
    EXPECT_EQ(program.GetLocation(OperatorId(0)).ToString(), "w.yaml:11: operator 'K1'");
    EXPECT_EQ(WorkloadHealth(*workload).GetWarnings().size(), 0u);
}

TEST(Programs, ReadMessages)
{
    WorkloadGraphPtr workload = Read(R"(
groups:
  pp: [[0, 2, 4], [1, 3, 5]]
programs:
  - ranks: 0-1
    streams:
      s: [{send: 1MiB, to: +1, group: pp, tag: 7}, {receive: 2MiB, from: 5}]
  - ranks: 2-3
    streams:
      s: [{receive: 1MiB, from: -1, group: pp, tag: 7}]
  - ranks: 4-5
    streams:
      s: [{batch: [{send: 2MiB, to: 1}, {receive: 3, from: 0}, {send: 4, to: 5}], name: B}]
)",
                                     6);
    EXPECT_EQ(Describe(*workload, 0),
              "s: send(pp0 to 2 1048576 tag 7) receive(world from 5 2097152 tag 0)");
    EXPECT_EQ(Describe(*workload, 1),
              "s: send(pp1 to 3 1048576 tag 7) receive(world from 5 2097152 tag 0)");
    EXPECT_EQ(Describe(*workload, 3), "s: receive(pp1 from 1 1048576 tag 7)");
    EXPECT_EQ(Describe(*workload, 4), "s: B(world to 1 2097152 tag 0 from 0 3 tag 0 to 5 4 tag 0)");
    // Peers in the group are alike, so the programs are the same.
    EXPECT_EQ(workload->GetProgram(RankId(0)), workload->GetProgram(RankId(1)));
    EXPECT_EQ(workload->GetProgram(RankId(2)), workload->GetProgram(RankId(3)));
}

TEST(Programs, ReadUnevenAllToAll)
{
    WorkloadGraphPtr workload = Read(R"(
programs:
  - ranks: 0
    streams: {s: [{collective: all-to-all-v, send_bytes: [1, 2], receive_bytes: [1, 3]}]}
  - ranks: 1
    streams: {s: [{collective: all-to-all-v, send_bytes: [3, 4]}]}
)",
                                     2);
    EXPECT_EQ(Describe(*workload, 1), "s: all-to-all-v(world 7)");
}

TEST(Programs, RefuseWhatIsWrong)
{
    auto one = [](const std::string& op) {
        return MessageOf("groups: {tp: [0, 1]}\nprograms:\n  - ranks: all\n    streams:\n      s:\n"
                         "        - " +
                             op + "\n",
                         3);
    };
    EXPECT_EQ(one("{compute: 1us}"), "no error");
    EXPECT_THAT(one("{computes: 1us}"), HasSubstr("w.yaml:6"));
    EXPECT_THAT(one("{compute: 1us, copy: 1us}"), HasSubstr("both 'compute' and 'copy'"));
    EXPECT_THAT(one("{compute: 1}"), HasSubstr("compute: found '1'"));
    EXPECT_THAT(one("{compute: 1us, bytes: 3}"), HasSubstr("unknown key 'bytes'"));
    EXPECT_THAT(one("{compute: 1us, flops: -1}"), HasSubstr("flops"));
    EXPECT_THAT(
        one("{compute: 1us, after: X}"),
        HasSubstr("w.yaml:6: programs[0].streams.s[0].after: found 'X', expected the name of "
                  "an operator of this program"));
    EXPECT_THAT(one("{collective: all-reduce, bytes: 8, group: dp}"),
                HasSubstr("found 'dp', expected one of the groups tp, world"));
    EXPECT_THAT(one("{collective: all-reduce, bytes: 8, group: tp}"),
                HasSubstr("group 'tp', which does not hold rank 2"));
    EXPECT_THAT(one("{collective: send-recv, bytes: 8}"), HasSubstr("send, receive or batch"));
    EXPECT_THAT(one("{collective: broadcast, bytes: 8, root: 3}"), HasSubstr("peer or root 3"));
    EXPECT_THAT(one("{collective: all-to-all-v, send_bytes: [1, 2]}"),
                HasSubstr("bytes for 2 members"));
    EXPECT_THAT(one("{send: 8}"), HasSubstr("no key 'to'"));
    EXPECT_THAT(one("{send: 8, to: 3}"), HasSubstr("a peer of rank 0 that is not in group world"));
    EXPECT_THAT(one("{send: 8, to: +1}"), HasSubstr("a peer of rank 2 that is not in group world"));
    EXPECT_THAT(one("{send: 8, to: next}"), HasSubstr("to: found 'next'"));
    EXPECT_THAT(one("{send: 8, to: 1, from: 1}"), HasSubstr("unknown key 'from'"));
    EXPECT_THAT(one("{receive: 8, from: 1, tag: -1}"), HasSubstr("tag"));
    EXPECT_THAT(one("{batch: []}"), HasSubstr("an empty batch"));
    EXPECT_THAT(one("{batch: [{send: 8, receive: 8, to: 1}]}"), HasSubstr("both 'send'"));
    EXPECT_THAT(one("{batch: [{to: 1}]}"), HasSubstr("neither 'send'"));
    EXPECT_THAT(one("{batch: [{send: 8, to: 1, group: tp}]}"), HasSubstr("unknown key 'group'"));
    EXPECT_THAT(one("{marker: m, name: x}"), HasSubstr("unknown key 'name'"));
}

TEST(Programs, RefuseWrongRanksAndGroups)
{
    const std::string streams = "\n    streams: {s: [{compute: 1us, name: K}]}\n";
    // Case 11: a missing rank is named.
    EXPECT_THAT(MessageOf("programs:\n  - ranks: 0-6" + streams + "  - ranks: 8" + streams, 9),
                HasSubstr("no program for rank 7"));
    EXPECT_THAT(
        MessageOf("programs:\n  - ranks: all" + streams + "  - ranks: 1" + streams, 2),
        HasSubstr("w.yaml:4: programs[1].ranks: found rank 1, which has a program at line 2"));
    EXPECT_THAT(MessageOf("programs:\n  - ranks: 2" + streams, 2), HasSubstr("rank 2"));
    EXPECT_THAT(MessageOf("programs: []", 2), HasSubstr("no programs for ranks 0, 1"));
    EXPECT_THAT(MessageOf("programs:\n  - streams: {}\n", 2), HasSubstr("no key 'ranks'"));
    EXPECT_THAT(MessageOf("groups: {tp: {ranks: [0], kinds: tp}}\nprograms: []", 2),
                HasSubstr("unknown key 'kinds'"));
    EXPECT_THAT(MessageOf("groups: {tp: {ranks: [0], kind: xp}}\nprograms: []", 2),
                HasSubstr("groups.tp.kind: found 'xp'"));
    EXPECT_THAT(MessageOf("groups: {tp: [[0, 1], [1]]}\nprograms: []", 2),
                HasSubstr("rank 1 twice"));
    EXPECT_THAT(MessageOf("programs: []\nconcurrent: true", 2),
                HasSubstr("unknown key 'concurrent'"));
}

// Case 13: a cycle of three is printed with lines; an edge to what is not there is named.
TEST(Case13, BadGraphsAreRefusedBeforeTimeZero)
{
    EXPECT_EQ(
        MessageOf("programs:\n  - ranks: all\n    streams:\n"
                  "      a: [{compute: 1us, name: k1, after: [k3]}]\n"
                  "      b: [{compute: 1us, name: k2, after: [k1]}]\n"
                  "      c: [{compute: 1us, name: k3, after: [k2]}]\n",
                  1),
        "w.yaml:4: found a cycle of 3 operators: 'k1' (line 4) waits for 'k3' (line 6), which "
        "waits for 'k2' (line 5), which waits for 'k1' (line 4), expected operators that can "
        "run in some order");
    const std::string two = "programs:\n  - ranks: all\n    streams:\n      a: [{compute: 1us}, "
                            "{compute: 1us}]\n      b: [{marker: m, after: compute}]\n";
    EXPECT_THAT(MessageOf(two, 1), HasSubstr("'compute', the name of 2 operators"));
}

TEST(WorkloadReader, ComposedStepsNameTheirOwnKey)
{
    const std::string file =
        std::string(ECHO_SOURCE_DIR) + "/scenarios/traced-gpt-interleaved-4.yaml";
    const auto message = [&file](const std::string& schedule) -> std::string {
        ScenarioOverrides overrides;
        overrides.sets = {"workload.compose.schedule=" + schedule};
        try
        {
            ReadScenario(YamlNode::LoadFile(file), overrides);
        }
        catch (const InputError& error)
        {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message("1f1b"),
                HasSubstr("workload.compose.schedule: found a schedule of one chunk a stage for "
                          "2, expected one for several, as interleaved"));
    EXPECT_THAT(message("combined"), // a pair, which the composer finds
                HasSubstr("--set: workload.compose.schedule: found pass F3& of a pair, expected "));
}

} // namespace
