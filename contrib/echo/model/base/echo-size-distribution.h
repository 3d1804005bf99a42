// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SIZE_DISTRIBUTION_H
#define ECHO_SIZE_DISTRIBUTION_H

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/** Sizes of flows as a cumulative distribution by points, straight between them. */
class SizeDistribution
{
  public:
    struct Point
    {
        uint64_t bytes;
        double cumulative; //!< chance of a size up to this, 0 to 1
    };

    /** One size always. */
    explicit SizeDistribution(uint64_t bytes = 1);
    /**
     * @param points sizes growing, chances not falling, the last one 1
     * @throws InputError naming the number of the point that is wrong, from 1
     */
    explicit SizeDistribution(std::vector<Point> points);

    /** @return the size that belongs to a uniform random number of [0, 1); 1 B at least */
    uint64_t At(double uniform) const;
    /** @return bytes */
    double GetMean() const;

  private:
    std::vector<Point> m_points; //!< first of chance 0, last of 1
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SIZE_DISTRIBUTION_H */
