// SPDX-License-Identifier: GPL-2.0-only
// Small files of PyTorch's profiler and execution traces, written by tests.
#ifndef KINETO_TEXT_H
#define KINETO_TEXT_H

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/** Writes the JSON of one profiler file; times are microseconds. */
class KinetoText
{
  public:
    /**
     * @param rank distributedInfo; -1: none
     * @param groups entries of its "pg_config"
     */
    explicit KinetoText(int rank = -1, int world = -1, const std::string& groups = "")
    {
        if (rank >= 0)
        {
            m_head =
                "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " + std::to_string(rank) +
                ", \"world_size\": " + std::to_string(world) +
                (groups.empty() ? "" : ", \"pg_config\": [" + groups + "]") + "}, ";
        }
    }

    KinetoText& Event(const std::string& category,
                      const std::string& name,
                      const std::string& pid,
                      const std::string& tid,
                      double start,
                      double duration,
                      const std::string& args)
    {
        m_events.push_back(
            "{\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name +
            "\", \"pid\": " + pid + ", \"tid\": " + tid + ", \"ts\": " + std::to_string(start) +
            ", \"dur\": " + std::to_string(duration) + ", \"args\": {" + args + "}}");
        return *this;
    }

    /** A call of a CPU thread (1: main, 2: autograd). */
    KinetoText& Call(int thread, const std::string& name, double start, double duration, int id)
    {
        return Event("cuda_runtime",
                     name,
                     "100",
                     std::to_string(thread),
                     start,
                     duration,
                     "\"correlation\": " + std::to_string(id));
    }

    KinetoText& Range(int thread,
                      const std::string& name,
                      double start,
                      double duration,
                      const std::string& args = "",
                      const std::string& category = "cpu_op")
    {
        return Event(category, name, "100", std::to_string(thread), start, duration, args);
    }

    KinetoText& Step(int number, double start, double duration)
    {
        return Range(
            1, "ProfilerStep#" + std::to_string(number), start, duration, "", "user_annotation");
    }

    KinetoText& Gpu(const std::string& category,
                    const std::string& name,
                    int stream,
                    double start,
                    double duration,
                    int id,
                    const std::string& more = "")
    {
        return Event(category,
                     name,
                     "0",
                     std::to_string(stream),
                     start,
                     duration,
                     "\"device\": 0, \"stream\": " + std::to_string(stream) +
                         ", \"correlation\": " + std::to_string(id) +
                         (more.empty() ? "" : ", " + more));
    }

    /** A kernel with the call that launched it, 5 us long. */
    KinetoText& Kernel(const std::string& name,
                       int stream,
                       double launched,
                       double start,
                       double duration,
                       const std::string& more = "",
                       int thread = 1)
    {
        ++m_id;
        Call(thread, "cudaLaunchKernel", launched, 5, m_id);
        return Gpu("kernel", name, stream, start, duration, m_id, more);
    }

    int LastId() const
    {
        return m_id;
    }

    int NewId()
    {
        return ++m_id;
    }

    std::string Text() const
    {
        std::string text = "{\"schemaVersion\": 1, " + m_head + "\"traceEvents\": [\n";
        for (size_t i = 0; i < m_events.size(); ++i)
        {
            text += (i == 0 ? "" : ",\n") + m_events[i];
        }
        return text + "\n]}\n";
    }

  private:
    std::string m_head;
    std::vector<std::string> m_events;
    int m_id{1000};
};

/** Arguments of a NCCL kernel, as newer PyTorch writes them. */
inline std::string NcclArguments(const std::string& name,
                                 long in,
                                 long out,
                                 int group,
                                 const std::string& type = "Float",
                                 const std::string& more = "")
{
    return "\"Collective name\": \"" + name + "\", \"In msg nelems\": " + std::to_string(in) +
           ", \"Out msg nelems\": " + std::to_string(out) +
           ", \"Group size\": " + std::to_string(group) + ", \"dtype\": \"" + type + "\"" +
           (more.empty() ? "" : ", " + more);
}

/** A folder that goes with the test. */
class TemporaryFolder
{
  public:
    TemporaryFolder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "echo-kineto-XXXXXX").string();
        m_path = mkdtemp(name.data());
    }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    ~TemporaryFolder()
    {
        std::filesystem::remove_all(m_path);
    }

    /** @return the path of a file written there */
    std::string Write(const std::string& name, const std::string& text) const
    {
        const std::string path = Path(name);
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }

    std::string Path(const std::string& name = "") const
    {
        return name.empty() ? m_path : m_path + "/" + name;
    }

  private:
    std::string m_path;
};

#endif /* KINETO_TEXT_H */
