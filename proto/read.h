// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Encoded bytes -> the IR, for bytes that Validate has passed. Internal to proto/.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/net.h"
#include "core/ir/plan.h"
#include "proto/wire.h"

namespace weft::internal {

inline constexpr size_t kLargeArg = 4096;  // bytes; a larger argument stays encoded

/// What a singular message field holds: protobuf merges repeated occurrences, which is joining their bytes.
class Merged {
 public:
  void Add(std::string_view wire);
  explicit operator bool() const { return seen_; }
  bool joined() const { return joined_ != nullptr; }
  /// Inside the file, or owned by this object when joined.
  std::string_view wire() const { return joined_ ? std::string_view(*joined_) : first_; }
  std::shared_ptr<const std::string> owner() const { return joined_; }

 private:
  bool seen_ = false;
  std::string_view first_;
  std::shared_ptr<std::string> joined_;
};

/// `arg` with its payload, of the kinds `has`, at a place in a file.
Arg LeaveInFile(const Arg& arg, uint16_t has, std::shared_ptr<const FileSource> file, uint64_t offset,
                uint64_t size, SymbolTablePtr symbols);

/// Reads messages of one file into one symbol table. Equal argument lists and device options of the file
/// become one in memory. The file's bytes must outlive the reader.
class Reader {
 public:
  Reader(std::shared_ptr<const void> owner, SymbolTablePtr symbols);

  Net ReadNet(std::string_view wire);
  void ReadOp(std::string_view wire, Op& op) { ReadOp(wire, op, nullptr); }
  Arg ReadArg(std::string_view wire);
  ArgData ReadArgData(std::string_view wire);
  Plan ReadPlan(std::string_view wire);

 private:
  // From encoded bytes to what they decode to: an open-addressing table over a list of entries.
  template <typename T>
  struct Seen {
    const char* data;
    uint32_t size;
    uint32_t hash;
    T value;
  };
  template <typename T>
  class SeenTable {
   public:
    /// The value of `wire`, made empty on first use. Invalidates earlier references.
    T& operator[](std::string_view wire);

   private:
    std::vector<Seen<T>> entries_;
    std::vector<uint32_t> slots_;  // index + 1, 0 = free; size is a power of two
  };

  Symbol Intern(std::string_view text) { return symbols_->Intern(text); }
  // Adds the hashes of an operator's blob names, in their order, to `hashes`.
  void HashNames(std::string_view op, std::vector<uint32_t>& hashes) const;
  // `hashes` as HashNames gave them, or null.
  void ReadOp(std::string_view wire, Op& op, const uint32_t* hashes);
  ArgList ReadArgs(std::span<const std::string_view> args);
  ArgList ReadArgsShared(std::string_view range, std::span<const std::string_view> args);
  DevicePtr ReadDevice(const Merged& wire);
  void ReadStep(std::string_view wire, Step& step);
  // A range of the file, or a copy when it is small and would only keep the file alive.
  Bytes Keep(std::string_view wire) const;

  std::shared_ptr<const void> owner_;
  SymbolTablePtr symbols_;
  SeenTable<ArgList> args_seen_;
  SeenTable<DevicePtr> devices_seen_;
  std::vector<std::string_view> arg_views_;  // of the op being read
};

}  // namespace weft::internal
