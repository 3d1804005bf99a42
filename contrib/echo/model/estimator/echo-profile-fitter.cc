// SPDX-License-Identifier: GPL-2.0-only
#include "echo-profile-fitter.h"

#include "echo-nccl-tuner.h"
#include "echo-profile-residuals.h"
#include "echo-white-box-terms.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <ceres/ceres.h>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

constexpr double NOTHING = 1e-9;   //!< stands for a constant that is 0
constexpr double ROW_ERROR = 0.05; //!< what a row is believed to be off by, and the loss's knee

/** One row's log error as a function of the logarithms of the constants. */
class RowCost : public ceres::CostFunction
{
  public:
    /** @param workspace structure of the machine; its constants are overwritten */
    RowCost(MachineProfile& workspace, const Measurement& row)
        : m_profile(workspace),
          m_shape(EvenShape(row.ranks, row.hosts, workspace.nicsPerHost)),
          m_singleCall(row.singleCall),
          m_logTime(std::log(TimeOf(row)))
    {
        m_query.kind = row.kind;
        m_query.bytes = static_cast<double>(row.bytes);
        m_query.betweenHosts = row.hosts > 1;
        m_query.oneThread = row.oneThread;
        m_query.backToBack = !row.singleCall;
        const bool pairwise =
            row.kind == CollectiveKind::ALL_TO_ALL || row.kind == CollectiveKind::SEND_RECV;
        m_query.how = pairwise ? AlgorithmProtocol{CollectiveAlgorithmKind::PAIRWISE,
                                                   CollectiveProtocol::SIMPLE}
                               : NcclTuner(EnvironmentOf(workspace.nccl, row), m_shape)
                                     .Choose(row.kind, row.bytes);
        mutable_parameter_block_sizes()->push_back(static_cast<int>(GetConstantInfos().size()));
        set_num_residuals(1);
    }

    bool Evaluate(double const* const* logs, double* residual, double** jacobians) const override
    {
        // Central differences; wide enough for the formulas' kinks not to matter.
        constexpr double STEP = 1e-4;
        const auto& infos = GetConstantInfos();
        MachineConstants& constants = m_profile.constants;
        for (size_t i = 0; i < infos.size(); ++i)
        {
            infos[i].access(constants) = std::exp(logs[0][i]);
        }
        residual[0] = LogTime() - m_logTime;
        if (jacobians && jacobians[0])
        {
            for (size_t i = 0; i < infos.size(); ++i)
            {
                double& value = infos[i].access(constants);
                const double centre = value;
                value = centre * (1 + STEP);
                const double above = LogTime();
                value = centre * (1 - STEP);
                jacobians[0][i] = (above - LogTime()) / (2 * STEP);
                value = centre;
            }
        }
        return std::isfinite(residual[0]);
    }

  private:
    double LogTime() const
    {
        double time = EvaluateWhiteBox(m_profile, m_shape, m_query).GetTotal();
        if (m_query.how.algorithm == CollectiveAlgorithmKind::PAIRWISE && m_shape.hosts == 1)
        {
            CostQuery low = m_query; // as NcclSelector, the cheaper of the two
            low.how.protocol = CollectiveProtocol::LL;
            time = std::min(time, EvaluateWhiteBox(m_profile, m_shape, low).GetTotal());
        }
        return std::log(time + (m_singleCall ? m_profile.constants.launchUs : 0));
    }

    MachineProfile& m_profile; //!< shared by all rows: one thread
    GroupShape m_shape;
    CostQuery m_query;
    bool m_singleCall;
    double m_logTime; //!< of the measurement
};

/** Each constant's distance from its prior, in spreads. */
class PriorResidual
{
  public:
    PriorResidual(std::vector<double> logs) : m_logs(std::move(logs))
    {
    }

    bool operator()(double const* const* logs, double* residuals) const
    {
        const auto& infos = GetConstantInfos();
        for (size_t i = 0; i < infos.size(); ++i)
        {
            residuals[i] = ROW_ERROR * (logs[0][i] - m_logs[i]) / infos[i].spread;
        }
        return true;
    }

  private:
    std::vector<double> m_logs; //!< of the prior
};

ceres::CostFunction* MakePriorCost(const std::vector<double>& logs)
{
    auto* cost = new ceres::DynamicNumericDiffCostFunction<PriorResidual, ceres::CENTRAL>(
        new PriorResidual(logs));
    cost->AddParameterBlock(static_cast<int>(logs.size()));
    cost->SetNumResiduals(static_cast<int>(logs.size()));
    return cost;
}

/**
 * @return of each operation and scale at most one row in each quarter of a doubling of bytes, the
 *         one of median time: so that a dense sweep counts no more than one that doubles
 */
std::vector<Measurement> ThinOut(const std::vector<Measurement>& rows)
{
    using Bin = std::tuple<CollectiveKind, uint32_t, uint32_t, int64_t>;
    std::map<Bin, std::vector<const Measurement*>> bins;
    for (const Measurement& row : rows)
    {
        const auto quarter =
            static_cast<int64_t>(std::floor(4 * std::log2(static_cast<double>(row.bytes)) + 1e-9));
        bins[{row.kind, row.hosts, row.ranks, quarter}].push_back(&row);
    }
    std::vector<Measurement> thin;
    for (auto& [bin, members] : bins)
    {
        const auto middle = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
        std::nth_element(members.begin(), middle, members.end(), [](auto* a, auto* b) {
            return std::make_pair(TimeOf(*a), a->bytes) < std::make_pair(TimeOf(*b), b->bytes);
        });
        thin.push_back(**middle);
    }
    return thin;
}

/** @return the value with four significant digits */
double RoundConstant(double value)
{
    if (value <= 0)
    {
        return 0;
    }
    const double scale = std::pow(10.0, 3 - std::floor(std::log10(value)));
    return std::round(value * scale) / scale;
}

/** Reducing shows only where the rows have operations that reduce and such that do not. */
bool TellReduction(const std::vector<Measurement>& rows)
{
    std::set<bool> reduces;
    for (const Measurement& row : rows)
    {
        reduces.insert(row.kind == CollectiveKind::ALL_REDUCE ||
                       row.kind == CollectiveKind::REDUCE_SCATTER ||
                       row.kind == CollectiveKind::REDUCE);
    }
    return reduces.size() == 2;
}

/**
 * Writes the 95 % interval of each constant that the rows tell at least twice as well as the prior
 * does: exp(log +- 2 sd), sd from the curvature of the cost, with rows believed to be off by what
 * the fit leaves of them.
 */
void AddIntervals(ceres::Problem& problem,
                  std::vector<double>& logs,
                  const std::vector<double>& prior,
                  size_t rows,
                  double cost,
                  MachineProfile& profile)
{
    const auto& infos = GetConstantInfos();
    ceres::Covariance::Options options;
    options.algorithm_type = ceres::DENSE_SVD;
    options.null_space_rank = -1;
    ceres::Covariance covariance(options);
    const std::vector<std::pair<const double*, const double*>> blocks{{logs.data(), logs.data()}};
    std::vector<double> matrix(logs.size() * logs.size(), 0);
    if (!covariance.Compute(blocks, &problem) ||
        !covariance.GetCovarianceBlock(logs.data(), logs.data(), matrix.data()))
    {
        return;
    }
    const double free = std::max(1.0, static_cast<double>(rows) - 10);
    const double rowVariance = std::max(2 * cost / free, 1e-6);
    for (size_t i = 0; i < infos.size(); ++i)
    {
        const double sd = std::sqrt(std::max(0.0, matrix[i * logs.size() + i] * rowVariance));
        if (prior[i] > std::log(2 * NOTHING) && sd > 0 && sd < infos[i].spread / 2)
        {
            profile.intervals[infos[i].name] = {RoundConstant(std::exp(logs[i] - 2 * sd)),
                                                RoundConstant(std::exp(logs[i] + 2 * sd))};
        }
    }
}

/** Constants stay where they make sense, and rates of links below what the links have. */
void SetBounds(ceres::Problem& problem, const MachineProfile& machine, std::vector<double>& logs)
{
    const auto& infos = GetConstantInfos();
    const std::map<std::string, double> links{{"gpu_GBps", machine.linkGpuGBps},
                                              {"nvls_GBps", machine.linkGpuGBps},
                                              {"nic_GBps", machine.linkNicGBps}};
    for (size_t i = 0; i < infos.size(); ++i)
    {
        double most = infos[i].most;
        if (const auto link = links.find(infos[i].name); link != links.end() && link->second > 0)
        {
            most = std::min(most, link->second);
        }
        const double least = std::max(infos[i].least, NOTHING);
        problem.SetParameterLowerBound(logs.data(), static_cast<int>(i), std::log(least));
        problem.SetParameterUpperBound(logs.data(), static_cast<int>(i), std::log(most));
    }
}

void AddStatistics(MachineProfile& profile, const std::vector<Measurement>& rows)
{
    profile.ranges = ComputeRanges(rows);
    const auto summarise = [&](const std::vector<double>& estimates) {
        profile.residuals = ComputeResiduals(rows, estimates, LARGE_BYTES);
        for (const auto& statistics : ComputeResiduals(rows, estimates, 0))
        {
            profile.residuals.push_back(statistics);
        }
    };
    summarise(std::vector<double>(rows.size(), 0)); // estimates ask where there are rows
    summarise(EstimateRows(profile, rows));
}

} // namespace

ProfileFitter::ProfileFitter(MachineProfile prior) : m_prior(std::move(prior))
{
}

ProfileFitter::Result ProfileFitter::Fit(const std::vector<Measurement>& rows) const
{
    if (rows.empty())
    {
        throw InputError({}, "no measurements that count", "some");
    }
    const auto& infos = GetConstantInfos();
    Result result;
    result.profile = m_prior;
    MachineConstants& constants = result.profile.constants;
    if (constants.reductionUsPerMiB <= 0 && TellReduction(rows))
    {
        constants.reductionUsPerMiB = 0.1;
    }
    std::vector<int> absent; // stay 0
    std::vector<double> logs;
    for (size_t i = 0; i < infos.size(); ++i)
    {
        const double value = infos[i].access(constants);
        if (value <= 0)
        {
            absent.push_back(static_cast<int>(i));
        }
        logs.push_back(std::log(std::max(value, NOTHING)));
    }
    const std::vector<double> prior = logs;

    ceres::Problem problem;
    problem.AddParameterBlock(logs.data(), static_cast<int>(logs.size()));
    MachineProfile workspace = result.profile;
    const std::vector<Measurement> thin = ThinOut(rows);
    for (const Measurement& row : thin)
    {
        problem.AddResidualBlock(
            new RowCost(workspace, row), new ceres::SoftLOneLoss(ROW_ERROR), logs.data());
    }
    problem.AddResidualBlock(MakePriorCost(prior), nullptr, logs.data());
    SetBounds(problem, m_prior, logs);
    if (!absent.empty())
    {
        problem.SetManifold(logs.data(),
                            new ceres::SubsetManifold(static_cast<int>(logs.size()), absent));
    }
    ceres::Solver::Options options;
    options.max_num_iterations = 200;
    options.function_tolerance = 1e-10;
    options.linear_solver_type = ceres::DENSE_QR;
    options.num_threads = 1;
    options.logging_type = ceres::SILENT;
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);

    result.cost = summary.final_cost;
    for (size_t i = 0; i < infos.size(); ++i)
    {
        const double value = std::exp(logs[i]);
        infos[i].access(constants) = value <= 2 * NOTHING ? 0 : RoundConstant(value);
    }
    if (m_intervals)
    {
        result.profile.intervals.clear();
        AddIntervals(problem, logs, prior, thin.size(), result.cost, result.profile);
    }
    AddStatistics(result.profile, rows);
    return result;
}

std::vector<HeldOutScale> LeaveOneScaleOut(const ProfileFitter& fitter,
                                           const std::vector<Measurement>& rows)
{
    using Scale = std::tuple<CollectiveKind, uint32_t, uint32_t>;
    const auto scaleOf = [](const Measurement& row) {
        return Scale{row.kind, row.ranks, row.hosts};
    };
    std::set<Scale> scales;
    for (const Measurement& row : rows)
    {
        scales.insert(scaleOf(row));
    }
    std::vector<HeldOutScale> result;
    if (scales.size() < 2)
    {
        return result;
    }
    for (const Scale& scale : scales)
    {
        std::vector<Measurement> kept;
        std::vector<Measurement> held;
        for (const Measurement& row : rows)
        {
            (scaleOf(row) == scale ? held : kept).push_back(row);
        }
        const MachineProfile profile = fitter.Fit(kept).profile;
        const std::vector<double> estimates = EstimateRows(profile, held);
        HeldOutScale out;
        for (const auto& [minBytes, statistics] :
             {std::make_pair(LARGE_BYTES, &out.large), std::make_pair(uint64_t{0}, &out.all)})
        {
            const auto computed = ComputeResiduals(held, estimates, minBytes);
            if (!computed.empty())
            {
                *statistics = computed.front();
            }
        }
        std::tie(out.all.kind, out.all.ranks, out.all.hosts) = scale;
        result.push_back(out);
    }
    return result;
}

} // namespace echo
} // namespace ns3
