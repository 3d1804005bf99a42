// SPDX-License-Identifier: GPL-2.0-only
#include "echo-attribute-reader.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/echo-policy.h"
#include "ns3/integer.h"
#include "ns3/object.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

/** Kinds of values that ReadValue reads. */
const std::set<std::string> OWN_KINDS{"UintegerValue",
                                      "IntegerValue",
                                      "DoubleValue",
                                      "BooleanValue",
                                      "TimeValue",
                                      "DataRateValue",
                                      "StringValue"};

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

/** @return what attributes had before SetAttributeDefault, by full name */
std::map<std::string, Ptr<const AttributeValue>>& GetReplacedDefaults()
{
    static std::map<std::string, Ptr<const AttributeValue>> replaced;
    return replaced;
}

/** @return the key of a scenario that sets an attribute, given or not, by the attribute's name */
const std::map<std::string, const char*>& GetKeysOfAttributes()
{
    static const std::map<std::string, const char*> KEYS{
        {"ns3::echo::PacketNetwork::Mtu", "network.mtu"},
        {"ns3::echo::TrainNetwork::Mtu", "network.mtu"},
        {"ns3::echo::DerivedCostModel::Mtu", "network.mtu"},
        {"ns3::echo::PacketNetwork::CongestionControl", "network.congestion_control"},
        {"ns3::echo::PacketNetwork::Lossless", "network.pfc"},
        {"ns3::echo::PacketNetwork::LoadBalancer", "network.load_balancing"},
        {"ns3::echo::Router::PathChoice", "network.load_balancing"},
        {"ns3::echo::ShortestPathRouter::PathChoice", "network.load_balancing"},
        {"ns3::echo::PacketNetwork::RerouteDelay", "network.reroute_delay"},
        {"ns3::echo::FlowNetwork::RerouteDelay", "network.reroute_delay"},
        {"ns3::echo::Router::Seed", "seed"},
        {"ns3::echo::ShortestPathRouter::Seed", "seed"},
        {"ns3::echo::Router::Spread", "network.load_balancing"},
        {"ns3::echo::ShortestPathRouter::Spread", "network.load_balancing"},
        {"ns3::echo::SpreadNetwork::LeastBytes", "network.mtu"},
        {"ns3::echo::PacketNetwork::WatchForDeadlock", "background"},
        {"ns3::echo::RecordedComputeModel::Scale", "compute.scale"},
        {"ns3::echo::RooflineComputeModel::Scale", "compute.scale"},
        {"ns3::echo::ConstantSlowdown::Factor", "compute.slowdown"},
        {"ns3::echo::TrainingJob::Folding", "timeline.folding"},
        {"ns3::echo::SampledPolicy::Samples", "hybrid.samples"},
        {"ns3::echo::SampledPolicy::Fidelity", "hybrid.contended"},
    };
    return KEYS;
}

/** @return whether an attribute has another default than its type gave it */
bool HasChangedDefault(const std::string& name)
{
    const size_t colons = name.rfind("::");
    TypeId type;
    TypeId::AttributeInformation attribute;
    return TypeId::LookupByNameFailSafe(name.substr(0, colons), &type) &&
           type.LookupAttributeByName(name.substr(colons + 2), &attribute) &&
           attribute.initialValue->SerializeToString(attribute.checker) !=
               attribute.originalInitialValue->SerializeToString(attribute.checker);
}

} // namespace

std::string KeyOfAttribute(const std::string& attribute)
{
    return SeparateWords(attribute, '_');
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

void SetAttributeDefault(const std::string& name, const YamlNode& node, bool ofScenario)
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
    if (const auto key = GetKeysOfAttributes().find(name); key != GetKeysOfAttributes().end())
    {
        node.Fail("attribute " + name, std::string("the key ") + key->second + " for it");
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
    if (ofScenario)
    {
        GetReplacedDefaults().emplace(name, attribute.initialValue->Copy());
    }
}

void RestoreAttributeDefaults()
{
    for (const auto& [name, value] : GetReplacedDefaults())
    {
        Config::SetDefault(name, *value);
    }
    GetReplacedDefaults().clear();
}

void RefuseDefaultsThatKeysSet(const std::string& file)
{
    for (const auto& [name, key] : GetKeysOfAttributes())
    {
        if (HasChangedDefault(name))
        {
            throw InputError({file, 0, ""},
                             "a default of attribute " + name + " that the program set",
                             std::string("the key ") + key + " for it");
        }
    }
}

TypeId FindPolicy(const YamlNode& name, TypeId parent, const std::string& suffix)
{
    if (const std::optional<TypeId> found = LookupPolicy(name.AsString(), parent, suffix))
    {
        return *found;
    }
    name.Fail("'" + name.AsString() + "'", ListPolicies(parent, suffix));
}

} // namespace echo
} // namespace ns3
