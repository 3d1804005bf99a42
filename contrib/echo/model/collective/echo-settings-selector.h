// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SETTINGS_SELECTOR_H
#define ECHO_SETTINGS_SELECTOR_H

#include "echo-collective-selector.h"

namespace ns3
{
namespace echo
{

/**
 * A scenario's settings before another selector: what the spec leaves open and the settings name
 * is set as they say (an algorithm only for the kinds that it can do); the rest is asked of the
 * inner selector.
 */
class SettingsSelector : public CollectiveSelector
{
  public:
    static TypeId GetTypeId();
    /**
     * @param inner decides what is still open
     * @param settings algorithm, protocol (AUTO: open), channels, chunkBytes (0: open)
     */
    void Set(Ptr<CollectiveSelector> inner, const CollectiveChoice& settings);
    CollectiveChoice Select(const CollectiveSpec& spec, const GroupLayout& layout) const override;

  private:
    Ptr<CollectiveSelector> m_inner; //!< decides what is open
    CollectiveChoice m_settings;     //!< AUTO and 0: open
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SETTINGS_SELECTOR_H */
