// SPDX-License-Identifier: GPL-2.0-only
// GoogleTest's main with ns-3 counting in picoseconds before anything else.

#include "ns3/echo-units.h"

#include <gtest/gtest.h>

int main(int argc, char* argv[])
{
    ns3::echo::UsePicoseconds();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
