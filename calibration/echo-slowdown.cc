// SPDX-License-Identifier: GPL-2.0-only
// ./echo slowdown: learns and judges the slowdown of kernels beside communication.

#include "slowdown-accuracy.h"

#include "ns3/echo-command-line.h"
#include "ns3/echo-error.h"
#include "ns3/echo-input-file.h"

#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

using namespace ns3::echo;

namespace
{

const std::string ROOT = ECHO_SOURCE_DIR;

struct Options
{
    std::string rows;
    std::string out;
    std::string model;
    std::string features;
    std::string target{"factor"};
    std::string constant{ROOT + "/calibration/slowdown/constant.yaml"};
    std::string gpu{"A100"};
    std::string predictions;
    std::string source;
};

std::vector<std::string> SplitList(const std::string& text)
{
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ',');)
    {
        parts.push_back(part);
    }
    return parts;
}

void WriteFile(const std::string& path, const std::string& text)
{
    std::ofstream out(path);
    out << text;
    if (!out.flush())
    {
        throw InputError({path, 0, ""}, "no writable file", "one");
    }
    std::cout << "written: " << path << "\n";
}

void Train(const Options& options, const std::vector<OverlapSample>& samples)
{
    SlowdownTraining training;
    training.features = SplitList(options.features);
    PrintAccuracy(
        std::cout,
        {{"learned, rows held out", JudgeHeldOut(samples, training, HeldOut::ROWS)},
         {"learned, kernels held out", JudgeHeldOut(samples, training, HeldOut::KERNELS)}});
    WriteFile(
        options.out,
        TrainSlowdown(samples, training, options.source.empty() ? options.rows : options.source)
            ->ToJson());
}

void Judge(const Options& options, const std::vector<OverlapSample>& samples)
{
    LearnedSlowdown model;
    model.SetModel(TreeEnsemble::FromJson(ReadInputFile(options.model), options.model),
                   options.model,
                   SplitList(options.features),
                   ParseSlowdownTarget(options.target));
    const std::vector<double> learned = GetLearnedFactors(samples, model);
    const std::vector<double> constant =
        GetConstantFactors(samples, ReadSlowdownFactors(options.constant, options.gpu));
    PrintAccuracy(std::cout,
                  {{"none", JudgeFactors(samples, std::vector<double>(samples.size(), 1))},
                   {"constant", JudgeFactors(samples, constant)},
                   {"learned", JudgeFactors(samples, learned)}});
    if (options.predictions.empty())
    {
        return;
    }
    std::ostringstream text;
    text << "line,raw,factor,alone_us,overlap_ratio,predicted_us,measured_us\n"
         << std::setprecision(9);
    for (size_t i = 0; i < samples.size(); ++i)
    {
        const OverlapSample& sample = samples[i];
        text << sample.line << ',' << model.GetRaw(sample.description) << ',' << learned[i] << ','
             << sample.description.durationUs << ',' << sample.overlap << ','
             << sample.GetTimeUs(learned[i]) << ',' << sample.measuredUs << '\n';
    }
    WriteFile(options.predictions, text.str());
}

} // namespace

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        Options options;
        EchoCommandLine line(
            "./echo slowdown --rows=FILE.csv --out=MODEL.json: learns the slowdown of kernels "
            "beside communication.\n./echo slowdown --rows=FILE.csv --model=MODEL.json: judges a "
            "model on measured kernels, beside none and constant.");
        line.AddOption(
            "rows", "kernels measured alone and beside communication (CSV)", options.rows);
        line.AddOption("out", "the model to write (JSON of XGBoost)", options.out);
        line.AddOption("model", "the model to judge", options.model);
        line.AddOption("features",
                       "names, by commas: what to learn from, or what a model without names takes",
                       options.features);
        line.AddOption(
            "target", "of a model that does not say: log-factor, factor or excess", options.target);
        line.AddOption("constant", "factors by kind of kernel to compare with", options.constant);
        line.AddOption("gpu", "whose factors", options.gpu);
        line.AddOption("predictions", "CSV to write: each row's prediction", options.predictions);
        line.AddOption("source", "where the rows come from, for the model", options.source);
        line.Parse(argc, argv);
        if (options.rows.empty() || options.out.empty() == options.model.empty())
        {
            throw InputError(
                {"", 0, "slowdown"}, "other options", "--rows and either --out or --model");
        }
        const std::vector<OverlapSample> samples = ReadOverlapTable(options.rows);
        if (options.out.empty())
        {
            Judge(options, samples);
        }
        else
        {
            Train(options, samples);
        }
        return 0;
    });
}
