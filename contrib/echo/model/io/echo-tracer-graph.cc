// SPDX-License-Identifier: GPL-2.0-only
#include "echo-tracer-graph.h"

#include <set>

namespace ns3
{
namespace echo
{

namespace
{

double Product(const std::vector<uint64_t>& shape, size_t from = 0)
{
    double product = 1;
    for (size_t i = from; i < shape.size(); ++i)
    {
        product *= static_cast<double>(shape[i]);
    }
    return product;
}

/** @return the operation without its module: "torch.nn.modules.linear.Linear" -> "Linear" */
std::string ShortName(const std::string& op)
{
    const size_t dot = op.rfind('.');
    return dot == std::string::npos ? op : op.substr(dot + 1);
}

} // namespace

uint64_t TracerTensor::GetElements() const
{
    const double elements = Product(shape);
    return elements < 1e15 ? static_cast<uint64_t>(elements) : uint64_t(1) << 50;
}

uint32_t TracerTensor::GetElementBytes() const
{
    static const std::map<std::string, uint32_t> bytes{
        {"torch.float64", 8},
        {"torch.int64", 8},
        {"torch.long", 8},
        {"torch.float16", 2},
        {"torch.half", 2},
        {"torch.bfloat16", 2},
        {"torch.int16", 2},
        {"torch.int8", 1},
        {"torch.uint8", 1},
        {"torch.bool", 1},
    };
    const auto known = bytes.find(type);
    return known == bytes.end() ? 4 : known->second;
}

double TracerTensor::GetBytes() const
{
    return type.empty() ? 0 : Product(shape) * GetElementBytes();
}

bool IsTracerView(const TracerNode& node)
{
    static const std::set<std::string> views{
        "size",
        "view",
        "getitem",
        "getattr",
        "permute",
        "transpose",
        "expand",
        "unsqueeze",
        "squeeze",
        "split",
        "chunk",
        "finfo",
        "t",
        "detach",
        "input_ids",
        "output",
        "tensor",
        "dim",
        "ViewBackward0",
        "TBackward0",
        "ExpandBackward0",
        "PermuteBackward0",
        "ReshapeAliasBackward0",
        "UnsafeViewBackward0",
        "TransposeBackward0",
        "SplitBackward0",
        "UnsqueezeBackward0",
        "SqueezeBackward0",
    };
    return views.count(ShortName(node.op)) > 0;
}

double CountTracerOperations(const TracerNode& node)
{
    const std::string name = ShortName(node.op);
    if (node.outputs.empty() || node.inputs.empty())
    {
        return 0;
    }
    const std::vector<uint64_t>& first = node.inputs.front().shape;
    const std::vector<uint64_t>& out = node.outputs.front().shape;
    if (name == "Linear" && !first.empty())
    {
        return 2 * Product(out) * static_cast<double>(first.back());
    }
    if (name == "Conv1d" || name == "Conv2d" || name == "Conv3d")
    {
        return node.weight.shape.empty() ? 0 : 2 * Product(out) * Product(node.weight.shape, 1);
    }
    if ((name == "addmm" || name == "mm" || name == "bmm" || name == "matmul" ||
         name == "baddbmm" || name == "linear") &&
        node.inputs.size() >= 2)
    {
        const auto& left = node.inputs[node.inputs.size() - 2].shape;
        return left.empty() ? 0 : 2 * Product(out) * static_cast<double>(left.back());
    }
    std::vector<const std::vector<uint64_t>*> gradients; // of what has more than one dimension
    for (const TracerTensor& output : node.outputs)
    {
        if (output.shape.size() >= 2)
        {
            gradients.push_back(&output.shape);
        }
    }
    // The gradient of each factor is a product of as many operations as the forward one.
    if (name == "AddmmBackward0" || name == "MmBackward0" || name == "BmmBackward0")
    {
        double operations = 0;
        for (const auto* shape : gradients)
        {
            const bool isLeft = shape == gradients.front();
            operations += 2 * Product(first) *
                          static_cast<double>(isLeft ? shape->back() : (*shape)[shape->size() - 2]);
        }
        return operations;
    }
    if (name == "ConvolutionBackward0" && !gradients.empty())
    {
        const double forward = 2 * Product(first) * Product(*gradients.back(), 1); // of the weight
        return forward * static_cast<double>(gradients.size());
    }
    return 0;
}

} // namespace echo
} // namespace ns3
