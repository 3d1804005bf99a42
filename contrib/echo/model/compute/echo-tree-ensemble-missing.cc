// SPDX-License-Identifier: GPL-2.0-only
// Compiled where XGBoost is not there; else echo-tree-ensemble.cc.
#include "echo-tree-ensemble.h"

#include "ns3/echo-error.h"

namespace ns3
{
namespace echo
{

namespace
{

[[noreturn]] void Fail()
{
    throw UnsupportedError("a learned slowdown needs XGBoost, without which Echo was built "
                           "(Debian: libxgboost-dev); slowdown {model: constant} needs none");
}

} // namespace

struct TreeEnsemble::Booster
{
};

TreeEnsemble::TreeEnsemble(std::unique_ptr<Booster> booster) : m_booster(std::move(booster))
{
}

TreeEnsemble::~TreeEnsemble() = default;

bool TreeEnsemble::IsAvailable()
{
    return false;
}

std::shared_ptr<const TreeEnsemble> TreeEnsemble::FromJson(const std::string&, const std::string&)
{
    Fail();
}

std::shared_ptr<const TreeEnsemble> TreeEnsemble::Train(const std::vector<std::vector<float>>&,
                                                        const std::vector<std::string>&,
                                                        const BoostingSettings&,
                                                        const Gradient&,
                                                        const std::map<std::string, std::string>&)
{
    Fail();
}

const std::vector<std::string>& TreeEnsemble::GetFeatures() const
{
    Fail();
}

uint32_t TreeEnsemble::GetFeatureCount() const
{
    Fail();
}

std::string TreeEnsemble::GetTag(const std::string&) const
{
    Fail();
}

float TreeEnsemble::Predict(const std::vector<float>&) const
{
    Fail();
}

std::string TreeEnsemble::ToJson() const
{
    Fail();
}

} // namespace echo
} // namespace ns3
