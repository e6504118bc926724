// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: a shared, read-only range of bytes. It keeps its owner (a file's contents, a mapping) alive, so that
// a large argument or tensor stays where it was read and copying a net copies a pointer. FileSource: a file
// that the host reads piece by piece, for payloads that stay in it until somebody looks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace weft {

class Bytes {
 public:
  Bytes() = default;
  /// Owns a copy.
  explicit Bytes(std::string bytes) {
    auto owned = std::make_shared<const std::string>(std::move(bytes));
    view_ = *owned;
    owner_ = std::move(owned);
  }
  /// A range inside `owner`, which is kept alive. A null owner means: the caller keeps the bytes alive.
  Bytes(std::shared_ptr<const void> owner, std::string_view view) : owner_(std::move(owner)), view_(view) {}

  std::string_view view() const { return view_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  friend bool operator==(const Bytes& a, const Bytes& b) { return a.view_ == b.view_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

struct FileSource {
  uint64_t size = 0;
  /// Those bytes; fewer at the file's end, or when it can no longer be read.
  std::function<std::string(uint64_t offset, uint64_t size)> read;
};

}  // namespace weft
