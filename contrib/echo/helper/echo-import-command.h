// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_IMPORT_COMMAND_H
#define ECHO_IMPORT_COMMAND_H

#include "echo-command-line.h"

#include "ns3/echo-foreign-import.h"
#include "ns3/echo-kineto-importer.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** ./echo import: reads foreign workloads, prints what is in them, writes execution graphs. */
class ImportCommand
{
  public:
    /** Adds the command's options to a command line, which must live as long as this. */
    void AddOptions(EchoCommandLine& line);

    /**
     * @return the exit code
     * @throws InputError, UnsupportedError as the importers, or for options that do not fit
     */
    int Run();

  private:
    WorkloadGraphPtr Import() const;

    const EchoCommandLine* m_line{nullptr}; //!< says which options were given
    std::string m_from{"kineto"};
    std::vector<std::string> m_in;
    std::string m_out;
    KinetoOptions m_kineto;
    ForeignOptions m_foreign;
    std::string m_replicate;
    uint64_t m_ranks{0};
    uint64_t m_firstDimension{0};
    uint64_t m_passes{1};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_IMPORT_COMMAND_H */
