// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_STUDY_READER_H
#define ECHO_STUDY_READER_H

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What a study varies: one axis, each of its values changing keys of the scenario. */
struct StudyAxis
{
    struct Value
    {
        std::string name;
        std::vector<std::string> sets; //!< path.to.key=value
    };

    std::string name;
    std::vector<Value> values;
};

/** A scenario, run for every combination of the values of some axes. */
struct Study
{
    std::string name;
    std::string title; //!< what it compares, a line
    std::string base;  //!< scenario file
    std::vector<StudyAxis> rows;
    std::vector<StudyAxis> columns;
};

/** Reads a study file (doc/formats/study.md). @throws InputError */
Study ReadStudy(const std::string& path);

} // namespace echo
} // namespace ns3

#endif /* ECHO_STUDY_READER_H */
