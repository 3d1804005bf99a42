// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COMMAND_LINE_H
#define ECHO_COMMAND_LINE_H

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * The command line of Echo's programs: ns-3's CommandLine (help, --PrintAttributes and its kin,
 * --ns3::Type::Attribute=value, --RngRun and other globals), but what it cannot take is an
 * InputError in one sentence instead of a page of help.
 */
class EchoCommandLine
{
  public:
    /** @param usage what --help prints above the options */
    explicit EchoCommandLine(std::string usage);

    /** An option --name=value. An empty value stays what @p value was. */
    void AddOption(const std::string& name, const std::string& help, std::string& value);
    /** An option --name=whole number from @p least to @p most. */
    void AddOption(const std::string& name,
                   const std::string& help,
                   uint64_t& value,
                   uint64_t least = 0,
                   uint64_t most = 999999999999999999);
    /** The option --hosts of a regular cluster; 0 stays where it is not given. */
    void AddHosts(uint64_t& value);
    /** The option --seed, as ns-3's generators take them. */
    void AddSeed(uint64_t& value);
    /** An option --name or --name=true|false. */
    void AddFlag(const std::string& name, const std::string& help, bool& value);
    /** An option that may be given several times. */
    void AddList(const std::string& name,
                 const std::string& help,
                 std::vector<std::string>& values);
    /** An argument without a name; those that are @p required must be given. */
    void AddArgument(const std::string& name,
                     const std::string& help,
                     std::string& value,
                     bool required);
    /** All arguments without a name that are left. */
    void AddArguments(const std::string& name,
                      const std::string& help,
                      std::vector<std::string>& values);

    /**
     * @throws InputError for an unknown option (with the nearest known one), a missing or a
     *         surplus argument, a bad number, a wrong attribute
     */
    void Parse(int argc, char* argv[]);

    /** @return whether Parse() met an option of this name */
    bool IsGiven(const std::string& name) const
    {
        return m_given.count(name) > 0;
    }

  private:
    struct Option
    {
        std::string name;
        std::string help;
        bool isFlag{false};
        std::function<void(const std::string&)> set;
    };

    struct Argument
    {
        std::string name;
        std::string help;
        std::string* value;
        bool required;
    };

    void ParseOption(const std::string& name, bool hasValue, const std::string& value);
    void PrintByNs3(const std::string& program, const std::string& argument);

    std::string m_usage;                                   //!< text of --help
    std::set<std::string> m_given;                         //!< names of options that were given
    std::vector<Option> m_options;                         //!< in order of adding
    std::vector<Argument> m_arguments;                     //!< in order of adding
    std::vector<std::string>* m_rest{nullptr};             //!< all further arguments
    std::pair<std::string, std::string> m_restNameAndHelp; //!< for --help
};

/**
 * Runs the body of a program: sets picosecond time first, and turns what it throws into one
 * sentence on standard error and an exit code.
 * @return what @p body returns (0: well); 2: bad input or a model that cannot represent it; 3:
 *         ended or stopped with work left
 */
int RunProgram(const std::function<int()>& body);

} // namespace echo
} // namespace ns3

#endif /* ECHO_COMMAND_LINE_H */
