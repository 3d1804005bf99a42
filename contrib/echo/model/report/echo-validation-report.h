// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_VALIDATION_REPORT_H
#define ECHO_VALIDATION_REPORT_H

#include "echo-report-column.h"

#include "ns3/echo-enums.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** One distinct communication of a scenario, in each fidelity that can serve it. */
struct ValidationRow
{
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    GroupKind group{GroupKind::OTHER};
    uint32_t ranks{0};
    uint32_t hosts{0};
    uint64_t bytes{0}; //!< size as nccl-tests defines it
    CollectiveAlgorithmKind algorithm{CollectiveAlgorithmKind::AUTO};
    CollectiveProtocol protocol{CollectiveProtocol::AUTO};
    uint32_t channels{0};
    uint64_t instances{1}; //!< how many of it the scenario has
    // Zero: not run in this fidelity.
    Time packet;
    Time flow;
    Time analytical;
    bool extrapolated{false}; //!< the analytical estimate is outside the calibrated range
};

/** The whole step as one set of models predicts it. */
struct ValidationStep
{
    std::string models; //!< what differs: fidelity and slowdown of kernels
    Time step;          //!< its length
    Time slowdown;      //!< mean over ranks: extra time of kernels beside communication
    Time measured;      //!< on the machine; zero if the scenario does not say
};

/** How far one fidelity is from packets, over the rows that have both. */
struct ValidationError
{
    uint64_t rows{0};
    double mean{0};       //!< of |time / packet - 1|
    double worst{0};      //!< largest |time / packet - 1|
    size_t worstRow{0};   //!< where
    uint64_t within5{0};  //!< rows with at most 5 %
    uint64_t within10{0}; //!< rows with at most 10 %
};

/** @return @p time over @p packet less 1; not a number if either is zero */
double RelativeError(Time time, Time packet);
ValidationError SummarizeErrors(const std::vector<ValidationRow>& rows, Fidelity fidelity);

/** @return the columns of validation.csv */
const ReportColumns<ValidationRow>& GetValidationColumns();

/** @return the rows and their errors as a table for a terminal, means and worst below */
std::string FormatValidation(const std::vector<ValidationRow>& rows);

/** @return the columns of steps.csv */
const ReportColumns<ValidationStep>& GetStepColumns();

/** @return predictions of the step as a table for a terminal, the measured step beside */
std::string FormatSteps(const std::vector<ValidationStep>& steps);

/**
 * Writes validation.csv, steps.csv, validation.html (analytical and flow against packet, errors by
 * size, the step with slowdown on and off against the measured one) and columns.md.
 * @param title of the page: the scenario's name
 * @throws InputError if the folder cannot be made or written
 */
void WriteValidationReport(const std::string& directory,
                           const std::string& title,
                           const std::vector<ValidationRow>& rows,
                           const std::vector<ValidationStep>& steps = {});

} // namespace echo
} // namespace ns3

#endif /* ECHO_VALIDATION_REPORT_H */
