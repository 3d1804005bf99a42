// SPDX-License-Identifier: GPL-2.0-only
// Compiled where XGBoost is there; else echo-tree-ensemble-missing.cc.
#include "echo-tree-ensemble.h"

#include "ns3/echo-error.h"

#include <cmath>
#include <limits>
#include <xgboost/c_api.h>

namespace ns3
{
namespace echo
{

namespace
{

/** Predictions of all trees, through the objective's transformation. */
const char* const PREDICT = R"({"type": 0, "training": false, "iteration_begin": 0,
                                "iteration_end": 0, "strict_shape": false})";

/** @throws InputError with the first line of what XGBoost says, if it failed */
void Check(int result, const std::string& file)
{
    if (result != 0)
    {
        // "[time] source.cc:line: message", then a stack.
        std::string text = XGBGetLastError();
        text = text.substr(0, text.find('\n'));
        const size_t source = text.find(".cc:");
        const size_t message = source == std::string::npos ? source : text.find(": ", source);
        text = message == std::string::npos ? text : text.substr(message + 2);
        throw InputError({file, 0, ""},
                         "a model that XGBoost refuses (" + text + ")",
                         "a model of regression trees as XGBoost saves it in JSON");
    }
}

/** Rows of features for XGBoost. */
class Matrix
{
  public:
    Matrix(const std::vector<float>& values, size_t rows)
    {
        Check(XGDMatrixCreateFromMat(values.data(),
                                     rows,
                                     values.size() / rows,
                                     std::numeric_limits<float>::quiet_NaN(),
                                     &m_handle),
              "");
    }

    ~Matrix()
    {
        XGDMatrixFree(m_handle);
    }

    Matrix(const Matrix&) = delete;
    Matrix& operator=(const Matrix&) = delete;

    DMatrixHandle Get() const
    {
        return m_handle;
    }

  private:
    DMatrixHandle m_handle{nullptr};
};

} // namespace

struct TreeEnsemble::Booster
{
    Booster(const DMatrixHandle* matrices, uint32_t count)
    {
        XGBSetGlobalConfig(R"({"verbosity": 0})");
        Check(XGBoosterCreate(matrices, count, &handle), "");
        Set("nthread", "1");
    }

    ~Booster()
    {
        XGBoosterFree(handle);
    }

    Booster(const Booster&) = delete;
    Booster& operator=(const Booster&) = delete;

    void Set(const char* name, const std::string& value) const
    {
        Check(XGBoosterSetParam(handle, name, value.c_str()), "");
    }

    std::vector<float> Predict(const Matrix& matrix) const
    {
        const bst_ulong* shape = nullptr;
        bst_ulong dimensions = 0;
        const float* values = nullptr;
        Check(XGBoosterPredictFromDMatrix(
                  handle, matrix.Get(), PREDICT, &shape, &dimensions, &values),
              "");
        size_t count = 1;
        for (bst_ulong i = 0; i < dimensions; ++i)
        {
            count *= shape[i];
        }
        return {values, values + count};
    }

    /** Reads what the model says of its features. */
    void ReadFeatures(const std::string& file)
    {
        bst_ulong length = 0;
        const char** names = nullptr;
        Check(XGBoosterGetStrFeatureInfo(handle, "feature_name", &length, &names), file);
        features.assign(names, names + length);
        bst_ulong number = 0;
        Check(XGBoosterGetNumFeature(handle, &number), file);
        count = static_cast<uint32_t>(number);
    }

    BoosterHandle handle{nullptr};
    std::vector<std::string> features;
    uint32_t count{0};
};

TreeEnsemble::TreeEnsemble(std::unique_ptr<Booster> booster) : m_booster(std::move(booster))
{
}

TreeEnsemble::~TreeEnsemble() = default;

bool TreeEnsemble::IsAvailable()
{
    return true;
}

std::shared_ptr<const TreeEnsemble> TreeEnsemble::FromJson(const std::string& text,
                                                           const std::string& file)
{
    // XGBoost also takes binary formats, whose reading trusts the file.
    if (text.empty() || text[0] != '{' || text.find("\"learner\"") == std::string::npos)
    {
        throw InputError({file, 0, ""}, "no such model", "one that XGBoost saved as JSON");
    }
    auto booster = std::make_unique<Booster>(nullptr, 0);
    Check(XGBoosterLoadModelFromBuffer(booster->handle, text.data(), text.size()), file);
    booster->Set("nthread", "1");
    booster->ReadFeatures(file);
    if (booster->count == 0 ||
        (!booster->features.empty() && booster->features.size() != booster->count))
    {
        throw InputError({file, 0, ""},
                         std::to_string(booster->features.size()) + " names of " +
                             std::to_string(booster->count) + " features",
                         "a name for each of one or more");
    }
    const Matrix probe(std::vector<float>(booster->count, std::numeric_limits<float>::quiet_NaN()),
                       1);
    const size_t outputs = booster->Predict(probe).size();
    if (outputs != 1)
    {
        throw InputError({file, 0, ""}, std::to_string(outputs) + " outputs", "one, the slowdown");
    }
    return std::shared_ptr<const TreeEnsemble>(new TreeEnsemble(std::move(booster)));
}

std::shared_ptr<const TreeEnsemble> TreeEnsemble::Train(
    const std::vector<std::vector<float>>& rows,
    const std::vector<std::string>& features,
    const BoostingSettings& settings,
    const Gradient& gradient,
    const std::map<std::string, std::string>& tags)
{
    std::vector<float> values;
    for (const auto& row : rows)
    {
        values.insert(values.end(), row.begin(), row.end());
    }
    const Matrix matrix(values, rows.size());
    std::vector<const char*> names;
    for (const auto& name : features)
    {
        names.push_back(name.c_str());
    }
    const std::vector<float> labels(rows.size(), 0);
    Check(XGDMatrixSetFloatInfo(matrix.Get(), "label", labels.data(), labels.size()), "");
    Check(XGDMatrixSetStrFeatureInfo(matrix.Get(), "feature_name", names.data(), names.size()), "");

    const DMatrixHandle handle = matrix.Get();
    auto booster = std::make_unique<Booster>(&handle, 1);
    booster->Set("objective", "reg:squarederror"); // no transformation of the sum of leaves
    booster->Set("base_score", "0");
    booster->Set("tree_method", "exact");
    booster->Set("max_depth", std::to_string(settings.maxDepth));
    booster->Set("eta", std::to_string(settings.learningRate));
    booster->Set("min_child_weight", std::to_string(settings.minChildWeight));
    booster->Set("lambda", std::to_string(settings.lambda));
    booster->Set("seed", "1");
    if (!settings.monotone.empty())
    {
        std::string list;
        for (const int direction : settings.monotone)
        {
            list += (list.empty() ? "(" : ",") + std::to_string(direction);
        }
        booster->Set("monotone_constraints", list + ")");
    }
    std::vector<float> predictions(rows.size(), 0);
    std::vector<float> first(rows.size());
    std::vector<float> second(rows.size());
    for (uint32_t round = 0; round < settings.rounds; ++round)
    {
        gradient(predictions, first, second);
        Check(XGBoosterBoostOneIter(
                  booster->handle, matrix.Get(), first.data(), second.data(), rows.size()),
              "");
        predictions = booster->Predict(matrix);
    }
    Check(XGBoosterSetStrFeatureInfo(booster->handle, "feature_name", names.data(), names.size()),
          "");
    for (const auto& [name, value] : tags)
    {
        Check(XGBoosterSetAttr(booster->handle, name.c_str(), value.c_str()), "");
    }
    booster->ReadFeatures("");
    return std::shared_ptr<const TreeEnsemble>(new TreeEnsemble(std::move(booster)));
}

const std::vector<std::string>& TreeEnsemble::GetFeatures() const
{
    return m_booster->features;
}

uint32_t TreeEnsemble::GetFeatureCount() const
{
    return m_booster->count;
}

std::string TreeEnsemble::GetTag(const std::string& name) const
{
    const char* value = nullptr;
    int isThere = 0;
    Check(XGBoosterGetAttr(m_booster->handle, name.c_str(), &value, &isThere), "");
    return isThere == 0 ? "" : value;
}

float TreeEnsemble::Predict(const std::vector<float>& values) const
{
    return m_booster->Predict(Matrix(values, 1)).front();
}

std::string TreeEnsemble::ToJson() const
{
    bst_ulong length = 0;
    const char* text = nullptr;
    Check(XGBoosterSaveModelToBuffer(m_booster->handle, R"({"format": "json"})", &length, &text),
          "");
    return std::string(text, length) + "\n";
}

} // namespace echo
} // namespace ns3
