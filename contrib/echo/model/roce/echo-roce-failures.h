// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_FAILURES_H
#define ECHO_ROCE_FAILURES_H

#include "ns3/echo-link-failures.h"

#include <functional>
#include <vector>

namespace ns3
{
namespace echo
{

class RoceFabric;

/** Link events on a fabric: a link that is cut loses at once what is on it and waits for it. */
class RoceFailures : public LinkFailures
{
  public:
    /** @param onRerouted called after ways have changed */
    RoceFailures(std::vector<LinkEvent> events,
                 Time rerouteDelay,
                 RoceFabric& fabric,
                 Ptr<Router> router,
                 std::function<void()> onRerouted);

  private:
    void Cut(LinkId link) override;
    void Restore(LinkId link) override;
    void ChangeRate(LinkId link, DataRate rate) override;
    void SetLoss(LinkId link, double loss) override;
    void OnRerouted() override;

    RoceFabric& m_fabric;
    std::function<void()> m_onRerouted;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_FAILURES_H */
