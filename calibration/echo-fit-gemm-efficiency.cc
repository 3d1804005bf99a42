// SPDX-License-Identifier: GPL-2.0-only
// Makes calibration/compute/gemm-efficiency.yaml from published measurements of single kernels.
//
// The inputs are CSV files with a header line; lines that start with # are skipped:
//   --gemm         gpu (a100, h100), M, N, K, median_ms: products in FP16, by shape
//   --elementwise  gpu, op (add, emb), num_tokens, hidden, median_ms: FP16
//   --attention    gpu, kernel, pass, causal, head_dim, seq, tflops: fused attention
//   --cudnn        gpu, precision, head, causal, window, sequence, forward, backward (TFLOP/s)
//   --kernels      kShortName, duration (ns), Compute throughput, DRAM throughput (% of peak)
//   --best         accelerator, dtype, mamf_tflops, theory_tflops: best product of any shape
// calibration/compute/README.md names their sources and says what is derived from which.

#include "attention-fit.h"
#include "measured-table.h"

#include "ns3/command-line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3::echo;

namespace
{

/** A GPU that was measured. Peaks are those of its data sheet: dense FP16, and memory. */
struct Gpu
{
    std::string name;                    //!< in the inputs, if it was measured
    std::string attention;               //!< how its name starts in the attention table
    std::string best;                    //!< its name in the table of best products
    std::string applies;                 //!< GPUs of the same generation, as beginnings of names
    uint32_t processors;                 //!< streaming multiprocessors
    double sustained;                    //!< see README.md
    bool measured;                       //!< products and kernels; else those of the H100 stand in
    double peak;                         //!< FLOP/s
    double bandwidth;                    //!< B/s
    std::map<std::string, double> cudnn; //!< GPUs of cuDNN's table that it takes, and their peaks
};

const Gpu GPUS[] = {
    {"a100", "A100", "NVIDIA A100 SXM", "A100, A800", 108, 0.95, true, 312e12, 2039e9, {}},
    {"h100",
     "H100",
     "NVIDIA H100 SXM",
     "H100, H800, H200, GH200",
     132,
     0.85,
     true,
     989.4e12,
     3350e9,
     {{"H200", 989.4e12}}},
    {"b200",
     "H100",
     "NVIDIA B200 SXM",
     "B200, GB200",
     148,
     0.83,
     false,
     989.4e12,
     3350e9,
     {{"B200", 2250e12}, {"GB200", 2500e12}}},
    {"mi300x", "H100", "AMD MI300X", "MI300", 304, 1, false, 989.4e12, 3350e9, {}},
    {"b300",
     "H100",
     "NVIDIA B300 SXM",
     "B300, GB300",
     148,
     0.93,
     false,
     989.4e12,
     3350e9,
     {{"B300", 2500e12}, {"GB300", 2500e12}}},
};

/** @return the GPU whose measurements stand in for @p gpu, itself if it was measured */
std::string GetMeasured(const Gpu& gpu)
{
    return gpu.measured ? gpu.name : "h100";
}

/** No kernel sustains more of the memory's rate; more was served by the cache. */
const double MEMORY_CAP = 0.92;
/** Kernels of less ideal time than this are too short for the tables' clock of 1 us. */
const double SHORTEST = 2e-6;

double Median(std::vector<double> values, const std::string& what)
{
    if (values.empty())
    {
        throw std::runtime_error("no measurements of " + what);
    }
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/** A product of the GEMM table. */
struct Product
{
    double rows;
    double ideal;  //!< operations / peak, s
    double memory; //!< bytes / bandwidth, s
    double output; //!< bytes of the result / bandwidth, s
    double inner;  //!< length of the sums
    double bytes;
    double seconds;
};

std::vector<Product> GetProducts(const std::vector<Row>& table, const Gpu& gpu)
{
    std::vector<Product> products;
    for (const Row& row : table)
    {
        if (row.at("gpu") == GetMeasured(gpu))
        {
            const double m = Number(row, "M");
            const double n = Number(row, "N");
            const double k = Number(row, "K");
            const double bytes = 2 * (m * k + k * n + m * n);
            products.push_back({m,
                                2 * m * n * k / gpu.peak,
                                bytes / gpu.bandwidth,
                                2 * m * n / gpu.bandwidth,
                                k,
                                bytes,
                                Number(row, "median_ms") / 1e3});
        }
    }
    return products;
}

/** Shares of bandwidth that an elementwise operation reaches, and its shortest time. */
struct MemoryKernel
{
    std::vector<double> shares;
    std::vector<double> shortest;
};

MemoryKernel GetMemoryKernel(const std::vector<Row>& table,
                             const Gpu& gpu,
                             const std::string& op,
                             double tensors,
                             double overhead,
                             double shortest)
{
    MemoryKernel kernel;
    for (const Row& row : table)
    {
        if (row.at("gpu") != GetMeasured(gpu) || row.at("op") != op)
        {
            continue;
        }
        const double bytes = tensors * 2 * Number(row, "num_tokens") * Number(row, "hidden");
        const double seconds = Number(row, "median_ms") / 1e3;
        if (bytes <= 262144 && seconds > 0)
        {
            kernel.shortest.push_back(seconds);
        }
        if (bytes / gpu.bandwidth >= shortest)
        {
            kernel.shares.push_back(bytes / gpu.bandwidth / (seconds - overhead));
        }
    }
    return kernel;
}

/** Mean of a percentage over kernels whose name holds @p part, weighted by duration. */
double GetShare(const std::vector<Row>& kernels, const std::string& part, const std::string& column)
{
    double weight = 0;
    double sum = 0;
    for (const Row& row : kernels)
    {
        if (row.at("kShortName").find(part) != std::string::npos)
        {
            weight += Number(row, "duration");
            sum += Number(row, "duration") * Number(row, column) / 100;
        }
    }
    if (weight == 0)
    {
        throw std::runtime_error("no kernels '" + part + "'");
    }
    return sum / weight;
}

/** All inputs. */
struct Tables
{
    std::vector<Row> gemm;
    std::vector<Row> elementwise;
    std::vector<Row> attention;
    std::vector<Row> cudnn;
    std::vector<Row> kernels;
    std::vector<Row> best;
};

std::string FormatMicroseconds(double value)
{
    return value < 999 ? Format("%.3gus", value) : Format("%.3gms", value / 1000);
}

/**
 * How much of the time that writing the result would take at full bandwidth adds to a product: the
 * slope of (time - overhead) / ideal time over output time / ideal time, through the medians of
 * products with long sums (4096 to 16384) and with short ones (up to 1024), of 200 us and more.
 */
double GetOutputSlope(const std::vector<Product>& products, double overhead)
{
    std::vector<double> longTimes;
    std::vector<double> longOutputs;
    std::vector<double> shortTimes;
    std::vector<double> shortOutputs;
    for (const Product& product : products)
    {
        const bool isLong = product.inner >= 4096 && product.inner < 16384;
        if (product.rows >= 1024 && product.ideal >= 200e-6 && (isLong || product.inner <= 1024))
        {
            (isLong ? longTimes : shortTimes)
                .push_back((product.seconds - overhead) / product.ideal);
            (isLong ? longOutputs : shortOutputs).push_back(product.output / product.ideal);
        }
    }
    if (shortTimes.size() < 50)
    {
        return 0;
    }
    return (Median(shortTimes, "") - Median(longTimes, "long products")) /
           (Median(shortOutputs, "") - Median(longOutputs, "long products"));
}

/**
 * Medians over half decades of ideal time, of products that are not bound by memory, without the
 * time in which they write their results.
 */
void WriteCurve(std::ostream& out,
                const std::vector<Product>& products,
                double overhead,
                double slope,
                double cap,
                double scale = 1)
{
    std::map<int, std::vector<double>> bins;
    for (const Product& product : products)
    {
        // 256 rows and more: what training does, and measured with steady clocks.
        if (product.rows >= 256 && product.ideal >= SHORTEST &&
            product.memory < 0.75 * product.ideal)
        {
            const int bin = static_cast<int>(std::lround(2 * std::log10(product.ideal * 1e6)));
            bins[bin].push_back(product.ideal /
                                (product.seconds - overhead - slope * product.output));
        }
    }
    out << "    gemm:\n";
    for (const auto& [bin, shares] : bins)
    {
        if (shares.size() >= 50)
        {
            out << "      - {ideal: " << FormatMicroseconds(std::pow(10, bin / 2.0))
                << ", efficiency: " << Format("%.3f", scale * std::min(cap, Median(shares, "")))
                << "} # median of " << shares.size() << "\n";
        }
    }
}

/**
 * Writes the median times of products of 256 rows and more, at the numbers of rows that steps have:
 * powers of two and halfway between them.
 */
void WritePoints(const std::string& path, const std::vector<Row>& table, const Gpu& gpu)
{
    std::map<std::array<uint32_t, 3>, std::vector<double>> times; // columns, inner, rows
    for (const Row& row : table)
    {
        const auto rows = static_cast<uint32_t>(Number(row, "M"));
        const uint32_t odd = rows >> __builtin_ctz(std::max(rows, 1U));
        if (row.at("gpu") == gpu.name && rows >= 256 && (odd == 1 || odd == 3))
        {
            times[{static_cast<uint32_t>(Number(row, "N")),
                   static_cast<uint32_t>(Number(row, "K")),
                   rows}]
                .push_back(Number(row, "median_ms") * 1e3);
        }
    }
    std::ofstream out(path);
    out << "# Written by echo-fit-gemm-efficiency: products in FP16, times with launching. Source: "
           "microsoft/vidur @7d47513.\ntype,rows,columns,inner,us\n";
    for (const auto& [sizes, measured] : times)
    {
        out << "fp16," << sizes[2] << "," << sizes[0] << "," << sizes[1] << ","
            << Format("%.4g", Median(measured, "a product")) << "\n";
    }
    if (!out.flush())
    {
        throw std::runtime_error(path + ": cannot be written");
    }
}

/** @return best product of any shape over the peak; 1 if it is not in the table */
double GetBest(const Tables& tables, const std::string& accelerator)
{
    for (const Row& row : tables.best)
    {
        if (row.at("accelerator") == accelerator && row.at("dtype") == "bf16")
        {
            return Number(row, "mamf_tflops") / Number(row, "theory_tflops");
        }
    }
    return 1;
}

void WriteArchitecture(std::ostream& out, const Tables& tables, const Gpu& gpu)
{
    const double overhead =
        Median(GetMemoryKernel(tables.elementwise, gpu, "add", 3, 0, 1).shortest, "short kernels");
    const std::vector<Product> products = GetProducts(tables.gemm, gpu);
    const double cap = GetBest(tables, gpu.measured ? gpu.best : "NVIDIA H100 SXM");
    const double scale = gpu.measured ? 1 : GetBest(tables, gpu.best) / cap;
    double slope = GetOutputSlope(products, overhead);
    if (slope == 0) // no short sums: those of the A100
    {
        slope = GetOutputSlope(GetProducts(tables.gemm, GPUS[0]), overhead);
    }
    out << "  - name: " << gpu.name << "\n    gpus: [" << gpu.applies << "]\n"
        << "    launch_overhead: " << Format("%.3gus", overhead * 1e6) << "\n";
    if (!gpu.measured)
    {
        out << "    measured_on: h100\n";
    }
    out << "    processors: " << gpu.processors
        << "\n    sustained: " << Format("%.2f", gpu.sustained) << "\n";
    WriteCurve(out, products, overhead, slope, cap, scale);
    if (gpu.measured)
    {
        out << "    gemm_points: gemm-points-" << gpu.name << ".csv\n";
    }

    std::vector<double> memory;
    for (const Product& product : products)
    {
        if (product.rows <= 16 && product.bytes >= 50e6)
        {
            memory.push_back(product.memory / (product.seconds - overhead));
        }
    }
    // Additions long enough to be well above what the cache holds; lookups spread over a table.
    const double add = Median(
        GetMemoryKernel(tables.elementwise, gpu, "add", 3, overhead, 50e-6).shares, "additions");
    const double lookup = Median(
        GetMemoryKernel(tables.elementwise, gpu, "emb", 2, overhead, 20e-6).shares, "lookups");
    const double elementwise = std::min(MEMORY_CAP, add);
    const auto line = [&](const char* key, double value) {
        out << "    " << key << ": " << Format("%.3f", value) << "\n";
    };
    line("gemm_fp32", GetShare(tables.kernels, "sgemm", "Compute throughput"));
    line("gemm_memory", Median(memory, "products with few rows"));
    line("gemm_epilogue", std::min(1.0, 1 / slope));
    line("gemm_unaligned", 0.4);
    line("grouped_gemm", 0.5);
    line("flash1", 0.5);
    std::vector<AttentionShare> attention =
        GetAttention(AttentionTable(tables.attention, gpu.attention, gpu.peak),
                     AttentionTable(tables.attention, GPUS[1].attention, GPUS[1].peak));
    Overlay(attention, GetCudnnAttention(tables.cudnn, gpu.cudnn));
    WriteAttention(out, attention);
    line("elementwise", elementwise);
    line("normalization", GetShare(tables.kernels, "layer_norm_grad_input", "DRAM throughput"));
    line("embedding", lookup);
    line("other", elementwise);
}

} // namespace

int main(int argc, char* argv[])
{
    std::string gemm;
    std::string elementwise;
    std::string attention;
    std::string cudnn;
    std::string kernels;
    std::string best;
    std::string out;
    std::string points;
    ns3::CommandLine command(__FILE__);
    command.Usage("Derives kernel efficiencies from published measurements.");
    command.AddValue("gemm", "CSV: gpu, M, N, K, median_ms", gemm);
    command.AddValue("elementwise", "CSV: gpu, op, num_tokens, hidden, median_ms", elementwise);
    command.AddValue(
        "attention", "CSV: gpu, kernel, pass, causal, head_dim, seq, tflops", attention);
    command.AddValue(
        "cudnn",
        "CSV: gpu, precision (16-bit, fp8), head, causal, window, sequence, forward, backward",
        cudnn);
    command.AddValue("kernels", "CSV: kShortName, duration, throughputs in %", kernels);
    command.AddValue("best", "CSV: accelerator, dtype, mamf_tflops, theory_tflops", best);
    command.AddValue("out", "the YAML file to write; empty: standard output", out);
    command.AddValue("points", "folder for the measured products; empty: none", points);
    command.Parse(argc, argv);
    try
    {
        const Tables tables = {
            ReadTable(gemm, {"gpu", "M", "N", "K", "median_ms"}),
            ReadTable(elementwise, {"gpu", "op", "num_tokens", "hidden", "median_ms"}),
            ReadTable(attention, {"gpu", "kernel", "pass", "causal", "head_dim", "seq", "tflops"}),
            ReadTable(cudnn,
                      {"gpu",
                       "precision",
                       "head",
                       "causal",
                       "window",
                       "sequence",
                       "forward",
                       "backward"}),
            ReadTable(kernels, {"kShortName", "duration", "Compute throughput", "DRAM throughput"}),
            ReadTable(best, {"accelerator", "dtype", "mamf_tflops", "theory_tflops"})};
        std::ostringstream text;
        text
            << "# Written by echo-fit-gemm-efficiency; calibration/compute/README.md says from "
               "what and how.\n"
            << "echo_compute_profile: 1\n"
            << "source: microsoft/vidur @7d47513 (GEMM, add, embedding), Dao-AILab/flash-attention "
               "@0251105a2f, NVIDIA/cudnn-frontend @3929da2ef4 (attention), NetX-lab/Echo-slowdown "
               "@7d698a7 (FP32 GEMM, layer norm), "
               "stas00/ml-engineering @744d01e (best GEMM)\n"
            << "fallback: h100\narchitectures:\n";
        for (const Gpu& gpu : GPUS)
        {
            WriteArchitecture(text, tables, gpu);
        }
        for (const Gpu& gpu : GPUS)
        {
            if (gpu.measured && !points.empty())
            {
                WritePoints(points + "/gemm-points-" + gpu.name + ".csv", tables.gemm, gpu);
            }
        }
        if (out.empty())
        {
            std::cout << text.str();
            return 0;
        }
        std::ofstream file(out);
        file << text.str();
        file.close();
        if (!file)
        {
            throw std::runtime_error(out + ": cannot be written");
        }
        return 0;
    }
    catch (const std::exception& error)
    {
        std::cerr << "echo-fit-gemm-efficiency: " << error.what() << "\n";
        return 2;
    }
}
