// SPDX-License-Identifier: GPL-2.0-only
#include "gemm-points-accuracy.h"

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-compute-profile-reader.h"
#include "ns3/echo-roofline-compute-model.h"
#include "ns3/echo-text-table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

namespace ns3
{
namespace echo
{

namespace
{

/** Predicts products from some of the measured ones. */
class Predictor
{
  public:
    Predictor(const GpuSpec& gpu, const ComputeProfile& profile) : m_gpu(gpu)
    {
        bool isMeasured = false;
        m_profile.architectures = {profile.Find(gpu.name, isMeasured)};
        m_profile.architectures[0].sustained = 1; // the products ran in short bursts
    }

    const std::vector<GemmPoint>& GetPoints() const
    {
        return m_profile.architectures[0].gemmPoints;
    }

    /** @return the prediction over the measured time, from those points that @p isKnown keeps */
    double GetRatio(const GemmPoint& asked,
                    const std::function<bool(const GemmPoint&)>& isKnown) const
    {
        ComputeProfile known = m_profile;
        auto& points = known.architectures[0].gemmPoints;
        points.erase(std::remove_if(points.begin(),
                                    points.end(),
                                    [&](const GemmPoint& point) { return !isKnown(point); }),
                     points.end());
        const Ptr<RooflineComputeModel> model = CreateObject<RooflineComputeModel>();
        model->Configure(m_gpu, known);
        return model->GetSeconds(RooflineComputeModel::MakeProduct(asked)) /
               asked.time.GetSeconds();
    }

  private:
    GpuSpec m_gpu;
    ComputeProfile m_profile; //!< with one architecture
};

std::string MeanError(const Predictor& predictor,
                      const std::function<bool(const GemmPoint&, const GemmPoint&)>& isKnown)
{
    double sum = 0;
    for (const GemmPoint& asked : predictor.GetPoints())
    {
        sum += std::abs(predictor.GetRatio(asked, [&](const GemmPoint& point) {
            return isKnown(point, asked);
        }) - 1);
    }
    return FormatFixed(100 * sum / double(predictor.GetPoints().size()), 1);
}

} // namespace

void WriteGemmPointAccuracy(std::ostream& out,
                            const std::string& profile,
                            const std::vector<MeasuredProducts>& gpus)
{
    const ComputeProfile all = ReadComputeProfile(YamlNode::LoadFile(profile));
    out << "## Matrix products\n\nMean absolute error in percent of each measured product of the "
           "profile that was left out: by the curve of efficiency, tiles and waves alone; with all "
           "other products; with the products of other matrices (other columns or inner size) "
           "only.\n\n| GPU | products | curve alone | other products | other matrices "
           "|\n|---|---:|---:|---:|---:|\n";
    for (const MeasuredProducts& gpu : gpus)
    {
        const Predictor predictor(ReadCluster(YamlNode::LoadFile(gpu.cluster), 0).gpu, all);
        const auto isOther = [](const GemmPoint& point, const GemmPoint& asked) {
            return point.type != asked.type || point.columns != asked.columns ||
                   point.inner != asked.inner;
        };
        out << "| " << gpu.gpu << " | " << predictor.GetPoints().size() << " | "
            << MeanError(predictor, [](const GemmPoint&, const GemmPoint&) { return false; })
            << " | "
            << MeanError(predictor,
                         [&](const GemmPoint& point, const GemmPoint& asked) {
                             return isOther(point, asked) || point.rows != asked.rows;
                         })
            << " | " << MeanError(predictor, isOther) << " |\n";
    }
    out << "\n";
}

} // namespace echo
} // namespace ns3
