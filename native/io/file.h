// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole files in and out. Reading maps large files, so that a 2 GB net costs no copy; writing goes to a
// temporary file that takes the name at the end, so that a reader (or a failed write) never sees half a file,
// and a file can be written over while it is mapped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ir/bytes.h"

namespace weft {

/// The most that is read from something without a known size (standard input, pipes).
inline constexpr uint64_t kMostStreamBytes = uint64_t{1} << 31;

/// The contents of `path`, or of standard input for "-". Errors: kIo with the path and the system's reason,
/// kNotFound when there is no such file, kLimit for a stream above kMostStreamBytes.
Result<Bytes> ReadFile(const std::string& path);

/// Writes `path`, or standard output for "-". What is no regular file (a pipe, /dev/null) is written
/// directly; a symbolic link keeps pointing where it does, and the file keeps its permissions. Errors: kIo.
Result<void> WriteFile(const std::string& path, std::string_view bytes);

/// Files that appear together or not at all: each is written under a temporary name, at the end all get
/// theirs. What was added and not committed leaves nothing.
class FileSet {
 public:
  FileSet() = default;
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;
  ~FileSet();

  /// As WriteFile, but that a regular file has its name from Commit on. Errors: kIo; kInvalidArgument for a
  /// name that was added already.
  Result<void> Add(const std::string& path, std::string_view bytes);
  /// Errors: kIo, which names what already has its name; the rest is gone.
  Result<void> Commit();

 private:
  struct Pending {
    std::string path, target, temporary;
  };
  std::vector<Pending> pending_;
};

/// "<stdin>" for "-": what messages call a file.
std::string FileLabel(const std::string& path);

}  // namespace weft
