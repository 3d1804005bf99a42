// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/echo-error.h"
#include "ns3/echo-units.h"
#include "ns3/test.h"

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** TxTime is exact where ns-3's own 32-bit function wraps. */
class TxTimeTestCase : public TestCase
{
  public:
    TxTimeTestCase() : TestCase("TxTime is 64-bit and rounds up")
    {
    }

  private:
    void DoRun() override
    {
        UsePicoseconds();
        // 400 Gb/s = 20 ps a byte.
        NS_TEST_ASSERT_MSG_EQ(TxTime(64, DataRate("400Gbps")), PicoSeconds(1280), "64 B");
        // 512 MiB x 20 ps = 10,737,418,240 ps; ns-3's function gives 0.
        NS_TEST_ASSERT_MSG_EQ(
            TxTime(536870912, DataRate("400Gbps")), PicoSeconds(10737418240), "512 MiB");
        // 1 B at 3 b/s = 2.666... s, rounded up to a picosecond.
        NS_TEST_ASSERT_MSG_EQ(TxTime(1, DataRate(3)), PicoSeconds(2666666666667), "rounds up");
    }
};

/** The suite of the base room. */
class EchoUnitsTestSuite : public TestSuite
{
  public:
    EchoUnitsTestSuite() : TestSuite("echo-units", static_cast<TestSuite::Type>(UnitType()))
    {
        AddTestCase(new TxTimeTestCase, static_cast<TestCase::TestDuration>(0));
    }

  private:
    static int UnitType()
    {
        return 1;
    }
};

EchoUnitsTestSuite g_echoUnitsTestSuite; //!< registers itself

} // namespace
