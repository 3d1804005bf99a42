// SPDX-License-Identifier: GPL-2.0-only
// Compiled where protobuf is there; else echo-chakra-protobuf-missing.cc.
#include "echo-chakra-trace.h"
#include "echo-input-file.h"

#include "ns3/echo-error.h"

#include <echo-chakra.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <limits>

namespace ns3
{
namespace echo
{

namespace
{

/** No message of a trace is longer; a length beyond is that of something else. */
const uint32_t LARGEST_MESSAGE = 256u << 20;

/** Lets protobuf read a ByteSource. */
class SourceStream : public google::protobuf::io::CopyingInputStream
{
  public:
    explicit SourceStream(ByteSource& source) : m_source(source)
    {
    }

    int Read(void* buffer, int size) override
    {
        return static_cast<int>(
            m_source.Read(static_cast<char*>(buffer), static_cast<size_t>(size)));
    }

  private:
    ByteSource& m_source;
};

/** Reads messages behind their lengths. */
class MessageReader
{
  public:
    MessageReader(ByteSource& source, std::string file)
        : m_file(std::move(file)), m_source(source), m_stream(&m_source)
    {
    }

    /** @return false at the end of the file */
    bool Read(google::protobuf::MessageLite& message)
    {
        google::protobuf::io::CodedInputStream in(&m_stream);
        uint32_t size = 0;
        const void* data = nullptr;
        int available = 0;
        if (!in.GetDirectBufferPointer(&data, &available))
        {
            return false;
        }
        ++m_count;
        if (!in.ReadVarint32(&size) || size > LARGEST_MESSAGE)
        {
            Fail("bytes that are no message's length");
        }
        in.PushLimit(static_cast<int>(size));
        if (!message.ParseFromCodedStream(&in) || in.BytesUntilLimit() != 0)
        {
            Fail("bytes that are no message, or a file that is cut off");
        }
        return true;
    }

    [[noreturn]] void Fail(const std::string& found) const
    {
        throw InputError({m_file, 0, "message " + std::to_string(m_count)},
                         found,
                         "a Chakra execution trace (protobuf)");
    }

  private:
    std::string m_file;
    SourceStream m_source;
    google::protobuf::io::CopyingInputStreamAdaptor m_stream;
    uint64_t m_count{0};
};

ChakraTraceBuilder::Attribute Convert(const chakra::Attribute& from)
{
    ChakraTraceBuilder::Attribute to;
    to.name = from.name();
    auto integer = [&to](int64_t value) {
        to.integer = value;
        to.number = static_cast<double>(value);
    };
    auto large = [&](uint64_t value) {
        to.number = static_cast<double>(value);
        if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        {
            to.integer = static_cast<int64_t>(value);
        }
    };
    auto real = [&to](double value) {
        to.number = value;
        if (value >= -9e15 && value <= 9e15 && value == static_cast<double>(int64_t(value)))
        {
            to.integer = static_cast<int64_t>(value);
        }
    };
    switch (from.value_case())
    {
    case chakra::Attribute::kDoubleVal:
        real(from.double_val());
        break;
    case chakra::Attribute::kFloatVal:
        real(static_cast<double>(from.float_val()));
        break;
    case chakra::Attribute::kInt32Val:
        integer(from.int32_val());
        break;
    case chakra::Attribute::kInt64Val:
        integer(from.int64_val());
        break;
    case chakra::Attribute::kUint32Val:
        integer(from.uint32_val());
        break;
    case chakra::Attribute::kUint64Val:
        large(from.uint64_val());
        break;
    case chakra::Attribute::kSint32Val:
        integer(from.sint32_val());
        break;
    case chakra::Attribute::kSint64Val:
        integer(from.sint64_val());
        break;
    case chakra::Attribute::kFixed32Val:
        integer(from.fixed32_val());
        break;
    case chakra::Attribute::kFixed64Val:
        large(from.fixed64_val());
        break;
    case chakra::Attribute::kSfixed32Val:
        integer(from.sfixed32_val());
        break;
    case chakra::Attribute::kSfixed64Val:
        integer(from.sfixed64_val());
        break;
    case chakra::Attribute::kBoolVal:
        integer(from.bool_val() ? 1 : 0);
        break;
    case chakra::Attribute::kBoolList:
        to.booleans.assign(from.bool_list().values().begin(), from.bool_list().values().end());
        break;
    case chakra::Attribute::kStringVal:
        to.text = from.string_val();
        break;
    case chakra::Attribute::VALUE_NOT_SET:
        break;
    }
    return to;
}

void AddNode(const chakra::Node& node, ChakraTraceBuilder& builder)
{
    builder.BeginNode(node.id(), node.name(), node.type());
    for (uint64_t id : node.ctrl_deps())
    {
        builder.AddDependency(id, true);
    }
    for (uint64_t id : node.data_deps())
    {
        builder.AddDependency(id, false);
    }
    builder.SetDuration(static_cast<double>(node.duration_micros()));
    builder.SetInputValues(node.inputs().values());
    for (const auto& attribute : node.attr())
    {
        builder.AddAttribute(Convert(attribute));
    }
    builder.EndNode();
}

} // namespace

ChakraTrace ReadChakraProtobuf(const std::string& file)
{
    const std::unique_ptr<ByteSource> source = OpenInputFile(file);
    MessageReader reader(*source, file);
    ChakraTraceBuilder builder(file);
    chakra::Metadata metadata;
    if (!reader.Read(metadata))
    {
        throw InputError({file, 0, ""}, "an empty file", "a Chakra execution trace (protobuf)");
    }
    builder.SetVersion(metadata.version());
    for (const auto& attribute : metadata.attr())
    {
        if (attribute.name() == "schema")
        {
            builder.SetVersion(attribute.string_val());
        }
    }
    chakra::Node node;
    while (reader.Read(node))
    {
        AddNode(node, builder);
    }
    return builder.Build();
}

} // namespace echo
} // namespace ns3
