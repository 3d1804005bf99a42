// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_INPUT_FILE_H
#define ECHO_INPUT_FILE_H

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * @return the contents of a plain or gzipped file (told apart by the first bytes, not the name)
 * @throws InputError if the file cannot be read, is a damaged gzip file or holds 4 GiB or more
 * @throws UnsupportedError if it is gzipped and Echo was built without Boost.Iostreams
 */
std::string ReadInputFile(const std::string& path);

/**
 * Finds the files that a user means.
 * @param paths files; folders (every file in them whose name ends in one of @p endings); patterns
 *        with * and ? in the last part
 * @return the files, sorted by name, each once
 * @throws InputError for a path that is not there or holds no such file
 */
std::vector<std::string> FindInputFiles(const std::vector<std::string>& paths,
                                        const std::vector<std::string>& endings);

/** @return whether the text starts as gzip files do (RFC 1952) */
bool IsGzip(const std::string& bytes);

/**
 * @return the decompressed text
 * @throws InputError, UnsupportedError as ReadInputFile()
 */
std::string DecompressGzip(const std::string& bytes, const std::string& path);

} // namespace echo
} // namespace ns3

#endif /* ECHO_INPUT_FILE_H */
