// SPDX-License-Identifier: GPL-2.0-only

#include "error-message.h"

#include "ns3/echo-compute-profile-reader.h"
#include "ns3/echo-roofline-compute-model.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

const std::string NAMES = "type,rows,columns,inner,us\n";

/** A profile of one architecture, R1, whose measured products are a file of that content. */
ComputeProfile Read(const std::string& points)
{
    const std::string path = testing::TempDir() + "gemm-points.csv";
    std::ofstream(path) << points;
    return ReadComputeProfile(YamlNode::LoadText(R"(
echo_compute_profile: 1
architectures:
  - name: r
    gpus: [R1]
    launch_overhead: 5us
    gemm: [{ideal: 10us, efficiency: 0.4}]
    gemm_points: )" + path + R"(
    gemm_fp32: 0.5
    gemm_memory: 0.5
    gemm_epilogue: 1
    attention: 0.25
    elementwise: 0.8
    normalization: 0.4
    embedding: 0.1
    other: 0.2
)",
                                                 "r.yaml"));
}

TEST(MeasuredProducts, AreRead)
{
    const ComputeProfile profile = Read("# mine\n" + NAMES + "bf16,256,512,1024,12.5\n");
    const std::vector<GemmPoint>& points = profile.architectures[0].gemmPoints;
    ASSERT_EQ(points.size(), 1u);
    EXPECT_EQ(points[0].columns, 512u);
    EXPECT_EQ(points[0].time, NanoSeconds(12500));
    EXPECT_EQ(points[0].line, 3u);
    // The same line twice says nothing new.
    EXPECT_NO_THROW(Read(NAMES + "fp16,256,512,1024,9\nfp16,256,512,1024,9.0\n"));
}

TEST(MeasuredProducts, AreRefusedWithFileAndLine)
{
    const auto message = [](const std::string& lines) {
        return MessageOf([&] { Read("# mine\n" + NAMES + lines + "\n"); });
    };
    EXPECT_THAT(
        message("half,256,512,1024,12.5"),
        HasSubstr("gemm-points.csv:3: column type: found 'half', expected a number format"));
    EXPECT_THAT(message("fp16,0,512,1024,12.5"), HasSubstr("gemm-points.csv:3: column rows"));
    EXPECT_THAT(message("fp16,256,512,1024,0"), HasSubstr("gemm-points.csv:3: column us"));
    EXPECT_THAT(message("fp16,256,4096.5,1024,9"),
                HasSubstr(":3: column columns: found '4096.5', expected a whole number"));
    EXPECT_THAT(message("fp16,256,512,1024,9\nbf16,256,512,1024,8\nfp16,256,512,1024,8"),
                HasSubstr(":5: column us: found another time than in line 3 for the same product"));
    // Spreadsheets put a byte order mark before UTF-8.
    EXPECT_EQ(MessageOf([] { Read("\xEF\xBB\xBF" + NAMES + "fp16,256,512,1024,9\n"); }), "");
}

TEST(MeasuredProducts, TakeNoLessThanTheirOperationsAtThePeak)
{
    GpuSpec gpu;
    gpu.name = "R1-80GB";
    gpu.peakFlops = {{DataType::BF16, 100e12}};
    gpu.memoryBandwidthBytesPerSecond = 1e12;
    const auto message = [&](const std::string& line) {
        const ComputeProfile profile = Read(NAMES + line + "\n");
        return MessageOf([&] { CreateObject<RooflineComputeModel>()->Configure(gpu, profile); });
    };
    // 2 x 1000^3 operations at 100 TFLOP/s are 20 us.
    EXPECT_EQ(message("bf16,1000,1000,1000,20"), "");
    EXPECT_THAT(message("bf16,1000,1000,1000,19.9"),
                HasSubstr("gemm-points.csv:2: column us: found 19.9 us for a product of 1000 x "
                          "1000 x 1000, expected at least 20 us, its operations over the bf16 "
                          "peak of R1-80GB"));
    EXPECT_EQ(message("fp16,1000,1000,1000,1"), ""); // the GPU has no peak to hold it against
}

} // namespace
