// SPDX-License-Identifier: GPL-2.0-only
#include "echo-settings-selector.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(SettingsSelector);

TypeId SettingsSelector::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::SettingsSelector")
                            .SetParent<CollectiveSelector>()
                            .SetGroupName("Echo")
                            .AddConstructor<SettingsSelector>();
    return tid;
}

void SettingsSelector::Set(Ptr<CollectiveSelector> inner, const CollectiveChoice& settings)
{
    m_inner = inner;
    m_settings = settings;
}

CollectiveChoice SettingsSelector::Select(const CollectiveSpec& spec,
                                          const GroupLayout& layout) const
{
    CollectiveSpec asked = spec;
    if (asked.algorithm == CollectiveAlgorithmKind::AUTO &&
        m_settings.algorithm != CollectiveAlgorithmKind::AUTO &&
        CanCarryOut(m_settings.algorithm, spec.kind) &&
        WhyNotOn(m_settings.algorithm, layout).empty())
    {
        asked.algorithm = m_settings.algorithm;
    }
    if (asked.protocol == CollectiveProtocol::AUTO)
    {
        asked.protocol = m_settings.protocol;
    }
    if (asked.channels == 0)
    {
        asked.channels = m_settings.channels;
    }
    CollectiveChoice choice = m_inner->Select(asked, layout);
    if (m_settings.chunkBytes > 0)
    {
        choice.chunkBytes = m_settings.chunkBytes;
    }
    return choice;
}

} // namespace echo
} // namespace ns3
