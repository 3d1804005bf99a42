// SPDX-License-Identifier: GPL-2.0-only
#include "echo-command-line.h"

#include "ns3/command-line.h"
#include "ns3/echo-attribute-reader.h"
#include "ns3/echo-error.h"
#include "ns3/echo-units.h"
#include "ns3/echo-yaml.h"
#include "ns3/global-value.h"
#include "ns3/string.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <new>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

/** @return number of single-letter edits between two words (Levenshtein) */
size_t EditDistance(const std::string& a, const std::string& b)
{
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j)
    {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.size(); ++i)
    {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j)
        {
            const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row[b.size()];
}

const std::set<std::string> NS3_PRINTS{"help",
                                       "h",
                                       "version",
                                       "PrintHelp",
                                       "PrintVersion",
                                       "PrintGlobals",
                                       "PrintGroups",
                                       "PrintGroup",
                                       "PrintTypeIds",
                                       "PrintAttributes"};

} // namespace

EchoCommandLine::EchoCommandLine(std::string usage) : m_usage(std::move(usage))
{
}

void EchoCommandLine::AddOption(const std::string& name,
                                const std::string& help,
                                std::string& value)
{
    m_options.push_back({name, help, false, [&value](const std::string& text) { value = text; }});
}

void EchoCommandLine::AddOption(const std::string& name,
                                const std::string& help,
                                uint64_t& value,
                                uint64_t least,
                                uint64_t most)
{
    m_options.push_back({name, help, false, [&value, name, least, most](const std::string& text) {
                             const bool isNumber =
                                 !text.empty() && text.size() <= 18 &&
                                 text.find_first_not_of("0123456789") == std::string::npos;
                             const uint64_t number = isNumber ? std::stoull(text) : 0;
                             if (!isNumber || number < least || number > most)
                             {
                                 throw InputError({"", 0, "--" + name},
                                                  "'" + text + "'",
                                                  "a whole number from " + std::to_string(least) +
                                                      " to " + std::to_string(most));
                             }
                             value = number;
                         }});
}

void EchoCommandLine::AddHosts(uint64_t& value)
{
    const uint64_t most = 1u << 20;
    AddOption("hosts", "size of a regular cluster; default: as the file says", value, 1, most);
}

void EchoCommandLine::AddSeed(uint64_t& value)
{
    AddOption("seed", "seed of everything random", value, 1, INT32_MAX);
}

void EchoCommandLine::AddFlag(const std::string& name, const std::string& help, bool& value)
{
    m_options.push_back(
        {name, help, true, [&value, name](const std::string& text) {
             if (text != "true" && text != "false")
             {
                 throw InputError({"", 0, "--" + name}, "'" + text + "'", "true or false");
             }
             value = text == "true";
         }});
}

void EchoCommandLine::AddList(const std::string& name,
                              const std::string& help,
                              std::vector<std::string>& values)
{
    m_options.push_back(
        {name, help, false, [&values](const std::string& text) { values.push_back(text); }});
}

void EchoCommandLine::AddArgument(const std::string& name,
                                  const std::string& help,
                                  std::string& value,
                                  bool required)
{
    m_arguments.push_back({name, help, &value, required});
}

void EchoCommandLine::AddArguments(const std::string& name,
                                   const std::string& help,
                                   std::vector<std::string>& values)
{
    m_rest = &values;
    m_restNameAndHelp = {name, help};
}

void EchoCommandLine::PrintByNs3(const std::string& program, const std::string& argument)
{
    // ns-3 prints what it was asked for and exits.
    CommandLine cmd(program);
    cmd.Usage(m_usage);
    std::vector<std::string> values(m_options.size());
    for (size_t i = 0; i < m_options.size(); ++i)
    {
        cmd.AddValue(m_options[i].name, m_options[i].help, values[i]);
    }
    std::vector<std::string> arguments(m_arguments.size() + 1);
    for (size_t i = 0; i < m_arguments.size(); ++i)
    {
        cmd.AddNonOption(m_arguments[i].name, m_arguments[i].help, arguments[i]);
    }
    if (m_rest)
    {
        cmd.AddNonOption(m_restNameAndHelp.first, m_restNameAndHelp.second, arguments.back());
    }
    cmd.Parse(std::vector<std::string>{program, argument});
}

void EchoCommandLine::ParseOption(const std::string& name, bool hasValue, const std::string& value)
{
    for (const auto& option : m_options)
    {
        if (option.name == name)
        {
            if (!hasValue && !option.isFlag)
            {
                throw InputError({"", 0, "--" + name}, "no value", "--" + name + "=value");
            }
            option.set(hasValue ? value : "true");
            m_given.insert(name);
            return;
        }
    }
    if (name.find("::") != std::string::npos)
    {
        try
        {
            YamlNode holder = YamlNode::LoadText("{}", "");
            holder.Set("value", value);
            SetAttributeDefault(name, holder.Get("value"), false);
        }
        catch (const InputError& error)
        {
            throw error.At({"", 0, "--" + name});
        }
        return;
    }
    if (GlobalValue::BindFailSafe(name, StringValue(value)))
    {
        return;
    }
    std::string nearest;
    size_t distance = 4;
    for (const auto& option : m_options)
    {
        const size_t candidate = EditDistance(name, option.name);
        if (candidate < distance)
        {
            distance = candidate;
            nearest = option.name;
        }
    }
    throw InputError({},
                     "unknown option --" + name,
                     nearest.empty() ? "one that --help lists"
                                     : "one that --help lists, such as --" + nearest);
}

void EchoCommandLine::Parse(int argc, char* argv[])
{
    const std::string program = argc > 0 ? argv[0] : "echo";
    size_t next = 0;
    for (int i = 1; i < argc; ++i)
    {
        std::string text = argv[i];
        const bool isOption = text.size() > 1 && text[0] == '-';
        if (!isOption)
        {
            if (next < m_arguments.size())
            {
                *m_arguments[next++].value = text;
            }
            else if (m_rest)
            {
                m_rest->push_back(text);
            }
            else
            {
                throw InputError({},
                                 "argument '" + text + "'",
                                 "at most " + std::to_string(m_arguments.size()) +
                                     " without a name");
            }
            continue;
        }
        text.erase(0, text.find_first_not_of('-'));
        const size_t equals = text.find('=');
        const std::string name = text.substr(0, equals);
        if (NS3_PRINTS.count(name) > 0)
        {
            PrintByNs3(program, argv[i]);
            continue;
        }
        ParseOption(name,
                    equals != std::string::npos,
                    equals == std::string::npos ? "" : text.substr(equals + 1));
    }
    if (next < m_arguments.size() && m_arguments[next].required)
    {
        throw InputError({},
                         "no " + m_arguments[next].name,
                         "one: " + m_arguments[next].help + " (--help tells more)");
    }
}

int RunProgram(const std::function<int()>& body)
{
    UsePicoseconds();
    try
    {
        const int code = body();
        std::cout.flush();
        if (!std::cout)
        {
            throw InputError({}, "standard output that cannot be written", "room for it");
        }
        return code;
    }
    catch (const StallError& error)
    {
        std::cout.flush();
        std::cerr << "echo: " << error.what() << std::endl;
        return 3;
    }
    catch (const InputError& error)
    {
        std::cout.flush();
        std::cerr << "echo: " << error.what() << std::endl;
        return 2;
    }
    catch (const UnsupportedError& error)
    {
        std::cout.flush();
        std::cerr << "echo: " << error.what() << std::endl;
        return 2;
    }
    catch (const std::bad_alloc&)
    {
        std::cerr << "echo: found less memory than this input takes, expected more of it"
                  << std::endl;
        return 2;
    }
}

} // namespace echo
} // namespace ns3
