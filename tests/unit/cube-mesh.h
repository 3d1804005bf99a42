// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CUBE_MESH_H
#define ECHO_CUBE_MESH_H

#include <cstdint>
#include <vector>

/** @return NVLinks between the GPUs of a DGX-1 with V100 (scenarios/clusters/dgx1-v100.yaml) */
inline std::vector<std::vector<uint32_t>> CubeMesh()
{
    const uint32_t links[][3] = {{0, 1, 1},
                                 {0, 2, 1},
                                 {0, 3, 2},
                                 {0, 4, 2},
                                 {1, 2, 2},
                                 {1, 3, 1},
                                 {1, 5, 2},
                                 {2, 3, 2},
                                 {2, 6, 1},
                                 {3, 7, 1},
                                 {4, 5, 1},
                                 {4, 6, 1},
                                 {4, 7, 2},
                                 {5, 6, 2},
                                 {5, 7, 1},
                                 {6, 7, 2}};
    std::vector<std::vector<uint32_t>> mesh(8, std::vector<uint32_t>(8, 0));
    for (const auto& link : links)
    {
        mesh[link[0]][link[1]] = mesh[link[1]][link[0]] = link[2];
    }
    return mesh;
}

#endif /* ECHO_CUBE_MESH_H */
