// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NCCL_TUNER_TABLES_H
#define ECHO_NCCL_TUNER_TABLES_H

#include <cstdint>

namespace ns3
{
namespace echo
{

/** Numbers of NCCL's src/graph/tuning.cc, for NcclTuner only. */
namespace tuner
{

/** The numbers of one release of tuning.cc; [0] tree, [1] ring; [protocol]: LL, LL128, Simple. */
struct Tables
{
    uint32_t since;        //!< 100 * major + minor
    double base[2][3];     //!< baseLat, us
    double nvlink[2][3];   //!< hwLat of NVLink, us
    double pci[2][3];      //!< hwLat of PCIe, us
    double net[2][3];      //!< hwLat of the network, us
    double nvls;           //!< hwLat of NVLink SHARP, us
    double nvlsTreeNet;    //!< hwLat of its tree's network, us
    double llHopper[3];    //!< llMaxBws of Hopper for 1, 2, more hosts, GB/s
    double ringLl;         //!< LL's part of the ring's bandwidth in all-reduce and between hosts
    double intraLlBetween; //!< factor on LL's latency inside hosts when there are several
    double ringPlateau;    //!< latency factor of ring with Simple between hosts, sm80
    double plateauHopper;  //!< the same, sm90
    bool capped;           //!< 235 GB/s for sm80 and 370 GB/s for sm90
    bool netOverhead;      //!< the proxy's time to post is a lower bound of a ring's step
};

constexpr Tables TABLES[] = {{208,
                              {{4.4, 4.4, 0}, {3.6, 10.0, 8.4}},
                              {{.52, 1.25, 28}, {.47, 1.9, 3.4}},
                              {{1.0, 1.9, 28}, {1.0, 2.5, 5.7}},
                              {{5.0, 8.5, 28}, {2.7, 4.0, 9.6}},
                              23,
                              14,
                              {87.7, 22.5, 19.0},
                              .25,
                              1.8,
                              1.9,
                              1.5,
                              true,
                              false},
                             {218,
                              {{6.8, 14.0, 0}, {6.6, 14.0, 8.4}},
                              {{.6, 1.25, 4}, {.6, 1.9, 3.4}},
                              {{1.0, 1.9, 4}, {1.0, 2.5, 5.7}},
                              {{5.0, 8.5, 14}, {2.7, 4.0, 14.0}},
                              23,
                              14,
                              {87.7, 22.5, 19.0},
                              .25,
                              1,
                              1.4,
                              1.4,
                              false,
                              true},
                             {219,
                              {{6.8, 14.0, 0}, {6.6, 14.0, 8.4}},
                              {{.6, 1.25, 28}, {.6, 1.9, 3.4}},
                              {{1.0, 1.9, 28}, {1.0, 2.5, 5.7}},
                              {{5.0, 8.5, 28}, {2.7, 4.0, 14.0}},
                              23,
                              14,
                              {87.7, 22.5, 19.0},
                              .25,
                              1,
                              1.4,
                              1.4,
                              false,
                              true},
                             {222,
                              {{6.8, 14.0, 0}, {6.6, 14.0, 8.4}},
                              {{.6, 1.25, 28}, {.6, 1.9, 3.4}},
                              {{1.0, 1.9, 28}, {1.0, 2.5, 5.7}},
                              {{5.0, 8.5, 28}, {2.7, 4.0, 14.0}},
                              25,
                              14,
                              {141.0, 45.0, 35.0},
                              .5,
                              1,
                              1.4,
                              1.4,
                              false,
                              true},
                             {223,
                              {{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}},
                              {{.6, 1.25, 4}, {.6, 1.9, 3.4}},
                              {{1.0, 1.9, 4}, {1.0, 2.5, 5.7}},
                              {{5.0, 8.5, 14}, {2.7, 4.0, 14.0}},
                              25,
                              14,
                              {141.0, 45.0, 35.0},
                              .5,
                              1,
                              1.4,
                              1.4,
                              false,
                              true},
                             {228,
                              {{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}},
                              {{.6, 1.25, 4}, {.6, 1.9, 3.4}},
                              {{1.0, 1.9, 4}, {1.0, 2.5, 5.7}},
                              {{5.0, 8.5, 14}, {2.7, 4.0, 14.0}},
                              25,
                              20.9,
                              {141.0, 45.0, 35.0},
                              .5,
                              1,
                              1.4,
                              1.4,
                              false,
                              true}};

// By generation and by 1, 2, more hosts, GB/s. llMaxBws looks at the GPU inside one host and at
// the processor between hosts (row 1 for AMD, row 0 else).
constexpr double LL_LARGEST[2][3] = {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}};
constexpr double TREE_CHANNEL[4][3] = {{26.5, 18.5, 10.0},
                                       {24.0, 23.6, 17.8},
                                       {38.7, 41.4, 36.0},
                                       {77.4, 82.8, 72.0}};
constexpr double RING_LL128_CHANNEL[4] = {20.0, 20.0, 36.7, 73.4};
constexpr double TREE_LL128_CHANNEL[4][3] = {{20.0, 20.0, 20.0},
                                             {20.0, 20.0, 20.0},
                                             {36.7, 36.7, 29.0},
                                             {73.4, 73.4, 58.0}};

// Blackwell's rows from 2.28 on.
constexpr double NEWER_TREE_CHANNEL[3] = {70.0, 42.8, 24.0};
constexpr double NEWER_RING_LL128_CHANNEL = 34.5;
constexpr double NEWER_TREE_LL128_CHANNEL[3] = {55.6, 31.67, 20.0};
// NVLink SHARP from 2.28 on: nvlsEfficiency and perChMaxNVLSTreeBws (2, more hosts), Hopper and
// Blackwell.
constexpr double NVLS_EFFICIENCY[2] = {0.85, 0.74};
constexpr double NVLS_TREE_CHANNEL[2][2] = {{57.7, 45.5}, {96.0, 43.8}};

// treeCorrectionFactor: by protocol and by log2(bytes / 64).
constexpr double TREE_CORRECTION[3][23] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}};

} // namespace tuner
} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_TUNER_TABLES_H */
