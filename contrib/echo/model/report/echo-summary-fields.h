// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SUMMARY_FIELDS_H
#define ECHO_SUMMARY_FIELDS_H

#include "echo-json-writer.h"
#include "echo-run-summary.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** One key of summary.json or run.json: documented and written from the same entry. */
struct SummaryField
{
    const char* key;
    const char* unit;
    const char* meaning;
    void (*write)(JsonWriter& json, const RunSummary& summary); //!< writes the value
    bool (*isThere)(const RunSummary& summary){nullptr};        //!< null: always
};

/** @return the keys of summary.json, equal from run to run */
const std::vector<SummaryField>& GetSummaryFields();
/** @return the keys of run.json, which differ from run to run */
const std::vector<SummaryField>& GetRunFields();

/** Writes the fields that are there as one JSON object. */
void WriteFields(JsonWriter& json,
                 const std::vector<SummaryField>& fields,
                 const RunSummary& summary);

/** @return the fields that are there as a Markdown table */
std::string DescribeFields(const std::vector<SummaryField>& fields, const RunSummary& summary);

} // namespace echo
} // namespace ns3

#endif /* ECHO_SUMMARY_FIELDS_H */
