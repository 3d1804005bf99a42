// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TREE_ENSEMBLE_H
#define ECHO_TREE_ENSEMBLE_H

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Settings of XGBoost's training; the rest is as XGBoost has it. */
struct BoostingSettings
{
    uint32_t rounds{30};        //!< trees
    uint32_t maxDepth{4};       //!< of a tree
    double learningRate{0.1};   //!< eta
    double minChildWeight{0.2}; //!< least sum of second derivatives in a leaf
    double lambda{0.01};        //!< L2 on leaves
    /// By feature: 1 predictions never fall as it grows, -1 never rise, 0 may do either; empty: all
    /// 0
    std::vector<int> monotone;
};

/**
 * Gradient-boosted regression trees by XGBoost (Chen and Guestrin, KDD 2016), in its JSON format.
 * Echo can be built without the library: then everything but IsAvailable() throws.
 */
class TreeEnsemble
{
  public:
    /** First and second derivatives of the loss by the predictions, a pair a row. */
    using Gradient = std::function<void(const std::vector<float>& predictions,
                                        std::vector<float>& first,
                                        std::vector<float>& second)>;

    /** @return whether Echo was built with XGBoost */
    static bool IsAvailable();

    /**
     * Reads a model that XGBoost saved as JSON, here or elsewhere.
     * @param file for messages
     * @throws InputError if it is none; UnsupportedError without the library
     */
    static std::shared_ptr<const TreeEnsemble> FromJson(const std::string& text,
                                                        const std::string& file);

    /**
     * Trains trees on rows of equally many values (not a number: missing) from a prediction of 0.
     * The same input gives the same model.
     * @throws UnsupportedError without the library
     */
    static std::shared_ptr<const TreeEnsemble> Train(
        const std::vector<std::vector<float>>& rows,
        const std::vector<std::string>& features,
        const BoostingSettings& settings,
        const Gradient& gradient,
        const std::map<std::string, std::string>& tags);

    ~TreeEnsemble();

    /** @return names of the features as the model has them; empty if it has none */
    const std::vector<std::string>& GetFeatures() const;
    uint32_t GetFeatureCount() const;
    /** @return a text that was saved with the model; empty if there is none of that name */
    std::string GetTag(const std::string& name) const;
    /** @param values one a feature; not a number: missing */
    float Predict(const std::vector<float>& values) const;
    std::string ToJson() const;

  private:
    struct Booster;
    explicit TreeEnsemble(std::unique_ptr<Booster> booster);
    std::unique_ptr<Booster> m_booster;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TREE_ENSEMBLE_H */
