// SPDX-License-Identifier: GPL-2.0-only
#include "echo-attribute-reader.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/object.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

const std::string SPACE = "ns3::echo::";
/** Kinds of values that ReadValue reads. */
const std::set<std::string> OWN_KINDS{"UintegerValue",
                                      "IntegerValue",
                                      "DoubleValue",
                                      "BooleanValue",
                                      "TimeValue",
                                      "DataRateValue",
                                      "StringValue"};

/** "LeafSpine" -> "leaf<separator>spine" */
std::string Separate(const std::string& camel, char separator)
{
    std::string text;
    for (const char c : camel)
    {
        if (std::isupper(static_cast<unsigned char>(c)) != 0 && !text.empty())
        {
            text += separator;
        }
        text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return text;
}

/** "leaf-spine" -> "LeafSpine" */
std::string Join(const std::string& words)
{
    std::string text;
    bool startsWord = true;
    for (const char c : words)
    {
        if (c == '-')
        {
            startsWord = true;
            continue;
        }
        text += startsWord ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        startsWord = false;
    }
    return text;
}

/** ns-3 describes a checker's range as "uint32_t 1:1024". */
std::string DescribeRange(const AttributeChecker& checker)
{
    const std::string information = checker.GetUnderlyingTypeInformation();
    const size_t space = information.find(' ');
    const size_t colon = information.find(':');
    if (space == std::string::npos || colon == std::string::npos || colon < space)
    {
        return "a value that the attribute takes";
    }
    return "from " + information.substr(space + 1, colon - space - 1) + " to " +
           information.substr(colon + 1);
}

Ptr<AttributeValue> ReadValue(const YamlNode& node, const std::string& type)
{
    // Some of ns-3's checkers name the value's type with the name space, some without.
    const std::string kind = type.rfind("ns3::", 0) == 0 ? type.substr(5) : type;
    constexpr int64_t LARGEST = std::numeric_limits<int64_t>::max();
    if (kind == "UintegerValue")
    {
        return Create<UintegerValue>(static_cast<uint64_t>(node.AsInteger(0, LARGEST)));
    }
    if (kind == "IntegerValue")
    {
        return Create<IntegerValue>(node.AsInteger(-LARGEST, LARGEST));
    }
    if (kind == "DoubleValue")
    {
        constexpr double LARGEST_NUMBER = std::numeric_limits<double>::max();
        return Create<DoubleValue>(node.AsNumber(-LARGEST_NUMBER, LARGEST_NUMBER));
    }
    if (kind == "BooleanValue")
    {
        return Create<BooleanValue>(node.AsBool());
    }
    if (kind == "TimeValue")
    {
        return Create<TimeValue>(node.AsTime());
    }
    if (kind == "DataRateValue")
    {
        return Create<DataRateValue>(node.AsRate());
    }
    if (kind == "StringValue")
    {
        return Create<StringValue>(node.AsString());
    }
    node.Fail("a value for an attribute of kind " + kind, "none: a file cannot set this kind");
}

bool IsZeroNumber(const AttributeValue& value)
{
    const auto* whole = dynamic_cast<const UintegerValue*>(&value);
    const auto* number = dynamic_cast<const DoubleValue*>(&value);
    return (whole != nullptr && whole->Get() == 0) || (number != nullptr && number->Get() == 0);
}

void SetAttributeFrom(ObjectBase& object,
                      const YamlNode& node,
                      const TypeId::AttributeInformation& attribute)
{
    const auto value = ReadValue(node, attribute.checker->GetValueTypeName());
    if (IsZeroNumber(*value) && IsZeroNumber(*attribute.originalInitialValue))
    {
        node.Fail("'0'", "a number above zero, or no such key");
    }
    if (!object.SetAttributeFailSafe(attribute.name, *value))
    {
        node.Fail("'" + node.AsString() + "'", DescribeRange(*attribute.checker));
    }
}

} // namespace

std::string KeyOfAttribute(const std::string& attribute)
{
    return Separate(attribute, '_');
}

AttributePlaces SetAttributesFrom(ObjectBase& object,
                                  const YamlNode& map,
                                  const std::vector<std::string>& except)
{
    AttributePlaces places;
    for (TypeId type = object.GetInstanceTypeId();
         type != Object::GetTypeId() && type != ObjectBase::GetTypeId();
         type = type.GetParent())
    {
        for (size_t i = 0; i < type.GetAttributeN(); ++i)
        {
            const TypeId::AttributeInformation attribute = type.GetAttribute(i);
            const std::string key = KeyOfAttribute(attribute.name);
            if (std::count(except.begin(), except.end(), attribute.name) == 0 && map.Has(key))
            {
                const YamlNode node = map.Get(key);
                SetAttributeFrom(object, node, attribute);
                places[attribute.name] = node.GetLocation();
            }
        }
    }
    return places;
}

void SetAttributeDefault(const std::string& name, const YamlNode& node)
{
    const size_t colons = name.rfind("::");
    TypeId type;
    TypeId::AttributeInformation attribute;
    if (colons == std::string::npos ||
        !TypeId::LookupByNameFailSafe(name.substr(0, colons), &type) ||
        !type.LookupAttributeByName(name.substr(colons + 2), &attribute))
    {
        node.Fail("'" + name + "'",
                  "an attribute of an ns-3 type (--PrintAttributes=TYPE lists them)");
    }
    // ns-3 ends the program at a text that is no number, so those are read here.
    const std::string kind = attribute.checker->GetValueTypeName();
    const bool isOwn = OWN_KINDS.count(kind.rfind("ns3::", 0) == 0 ? kind.substr(5) : kind) > 0;
    Ptr<AttributeValue> value = Create<StringValue>(node.AsString());
    if (isOwn)
    {
        value = ReadValue(node, kind);
    }
    if (!Config::SetDefaultFailSafe(name, *value))
    {
        node.Fail("'" + node.AsString() + "'", DescribeRange(*attribute.checker));
    }
}

TypeId FindPolicy(const YamlNode& name, TypeId parent, const std::string& suffix)
{
    const std::string text = name.AsString();
    TypeId found;
    const bool isKnown = TypeId::LookupByNameFailSafe(SPACE + Join(text) + suffix, &found) ||
                         TypeId::LookupByNameFailSafe(text, &found);
    if (isKnown && found.IsChildOf(parent) && found.HasConstructor())
    {
        return found;
    }
    std::vector<std::string> known;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (type != parent && type.IsChildOf(parent) && type.HasConstructor())
        {
            std::string shown = type.GetName();
            const bool isOurs = shown.rfind(SPACE, 0) == 0 &&
                                shown.size() > SPACE.size() + suffix.size() &&
                                shown.substr(shown.size() - suffix.size()) == suffix;
            if (isOurs)
            {
                shown = shown.substr(SPACE.size(), shown.size() - SPACE.size() - suffix.size());
                shown = Separate(shown, '-');
            }
            known.push_back(shown);
        }
    }
    std::sort(known.begin(), known.end());
    std::string expected;
    for (const auto& one : known)
    {
        expected += (expected.empty() ? "one of " : ", ") + one;
    }
    name.Fail("'" + text + "'", expected);
}

} // namespace echo
} // namespace ns3
