// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Standard output and standard error as a person sees them: buffered text, colours where the stream is a
// terminal, its width.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/ssa/print.h"

namespace weft::cli {

enum class Color : uint8_t { kAuto, kAlways, kNever };

/// A standard stream. One thread at a time.
class Stream {
 public:
  Stream(int fd, Color color);
  ~Stream() { Flush(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Write(std::string_view text);
  void Write(std::string_view text, TextClass text_class);
  /// Writes the pieces of a listing.
  EmitPiece Emitter() {
    return [this](const Piece& piece) { Write(piece.text, piece.text_class); };
  }
  void Flush();
  bool failed() const { return failed_; }  // the reader went away, or the disk is full
  bool terminal() const { return terminal_; }
  /// Columns to break lines to: the terminal's, 0 (don't break) elsewhere.
  int width() const { return width_; }

 private:
  const int fd_;
  bool terminal_;
  bool color_;
  int width_ = 0;
  bool failed_ = false;
  std::string buffer_;
};

}  // namespace weft::cli
