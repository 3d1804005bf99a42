// SPDX-License-Identifier: GPL-2.0-only
// Small Chakra execution traces, written by tests: protobuf by hand, so that no library is needed.
#ifndef CHAKRA_TEXT_H
#define CHAKRA_TEXT_H

#include <cstdint>
#include <string>
#include <vector>

/** Bytes of protobuf messages (protobuf's documentation, "Encoding"). */
class ProtobufText
{
  public:
    static std::string Varint(uint64_t value)
    {
        std::string bytes;
        for (; value >= 128; value >>= 7)
        {
            bytes += static_cast<char>((value & 127) | 128);
        }
        return bytes + static_cast<char>(value);
    }

    /** A field of a whole number. */
    static std::string Number(uint32_t field, uint64_t value)
    {
        return Varint(field << 3) + Varint(value);
    }

    /** A field of bytes. */
    static std::string Bytes(uint32_t field, const std::string& bytes)
    {
        return Varint((field << 3) | 2) + Varint(bytes.size()) + bytes;
    }
};

/** One file of nodes; fields and types are those of Chakra's schema. */
class ChakraText
{
  public:
    enum Type
    {
        METADATA = 1,
        MEMORY_LOAD = 2,
        COMPUTE = 4,
        SEND = 5,
        RECEIVE = 6,
        COLLECTIVE = 7,
    };

    ChakraText()
    {
        Message(ProtobufText::Bytes(1, "0.0.4"));
    }

    /** Starts a node; attributes follow. */
    ChakraText& Node(uint64_t id,
                     const std::string& name,
                     Type type,
                     const std::vector<uint64_t>& after = {},
                     uint64_t microseconds = 0)
    {
        End();
        m_node = ProtobufText::Number(1, id) + ProtobufText::Bytes(2, name) +
                 ProtobufText::Number(3, type);
        for (uint64_t dependency : after)
        {
            m_node += ProtobufText::Number(5, dependency);
        }
        m_node += ProtobufText::Number(7, microseconds);
        return *this;
    }

    /** The node is inside of another one, by control. */
    ChakraText& Inside(uint64_t id)
    {
        m_node += ProtobufText::Number(4, id);
        return *this;
    }

    /** @param field of the oneof: 9 int64, 13 uint64, 7 int32, 27 bool */
    ChakraText& With(const std::string& name, uint64_t value, uint32_t field = 9)
    {
        m_node += ProtobufText::Bytes(
            10, ProtobufText::Bytes(1, name) + ProtobufText::Number(field, value));
        return *this;
    }

    ChakraText& WithText(const std::string& name, const std::string& value)
    {
        m_node +=
            ProtobufText::Bytes(10, ProtobufText::Bytes(1, name) + ProtobufText::Bytes(29, value));
        return *this;
    }

    ChakraText& Inputs(const std::string& values)
    {
        m_node += ProtobufText::Bytes(8, ProtobufText::Bytes(1, values));
        return *this;
    }

    ChakraText& Collective(uint64_t id,
                           const std::string& name,
                           uint64_t kind,
                           uint64_t bytes,
                           const std::vector<uint64_t>& after = {},
                           const std::string& group = "")
    {
        Node(id, name, COLLECTIVE, after).With("comm_type", kind).With("comm_size", bytes);
        return group.empty() ? *this : WithText("pg_name", group);
    }

    std::string Text()
    {
        End();
        return m_text;
    }

  private:
    void Message(const std::string& bytes)
    {
        m_text += ProtobufText::Varint(bytes.size()) + bytes;
    }

    void End()
    {
        if (!m_node.empty())
        {
            Message(m_node);
        }
        m_node.clear();
    }

    std::string m_text;
    std::string m_node; //!< that is being written
};

#endif /* CHAKRA_TEXT_H */
