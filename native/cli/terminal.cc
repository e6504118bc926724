// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/base/str.h"

namespace weft::cli {

namespace {

constexpr size_t kFlushAt = size_t{1} << 16;

// Forward blue, backward magenta, as on the page; what is not the matter is dim.
std::string_view Escape(TextClass text_class) {
  switch (text_class) {
    case TextClass::kHeading:
      return "\033[1m";
    case TextClass::kType:
      return "\033[34m";
    case TextClass::kGradientType:
      return "\033[35m";
    case TextClass::kOutput:
      return "\033[1m";
    case TextClass::kString:
    case TextClass::kAdded:
      return "\033[32m";
    case TextClass::kDevice:
    case TextClass::kChanged:
      return "\033[33m";
    case TextClass::kLabel:
    case TextClass::kIndex:
    case TextClass::kVersion:
    case TextClass::kArgument:
    case TextClass::kMuted:
      return "\033[2m";
    case TextClass::kError:
      return "\033[1;31m";
    case TextClass::kWarning:
      return "\033[1;33m";
    case TextClass::kNote:
      return "\033[1;36m";
    case TextClass::kRemoved:
      return "\033[31m";
    case TextClass::kPlain:
    case TextClass::kInput:
    case TextClass::kNumber:
      return "";
  }
  return "";
}

// As in protobuf text.
std::string EscapeByte(char c) {
  const int code = static_cast<unsigned char>(c);
  return StrCat("\\", code >> 6, code >> 3 & 7, code & 7);
}

bool WantsColor(Color color, bool terminal) {
  if (color != Color::kAuto) return color == Color::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return terminal && !(no_color && *no_color) && !(term && std::string_view(term) == "dumb");
}

}  // namespace

Stream::Stream(int fd, Color color)
    : fd_(fd), terminal_(::isatty(fd) == 1), color_(WantsColor(color, terminal_)) {
  struct winsize size;
  if (!terminal_) return;
  width_ = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40 ? size.ws_col : 80;
}

void Stream::Write(std::string_view text) {
  // Names in nets may hold anything: what steers a terminal is shown, not obeyed.
  const auto steers = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
  };
  for (auto at = text.begin();;) {
    const auto next = std::find_if(at, text.end(), steers);
    buffer_.append(at, next);
    if (next == text.end()) break;
    buffer_.append(EscapeByte(*next));
    at = next + 1;
  }
  if (buffer_.size() >= kFlushAt) Flush();
}

void Stream::Write(std::string_view text, TextClass text_class) {
  const std::string_view escape = color_ && !text.empty() ? Escape(text_class) : std::string_view();
  if (!escape.empty()) buffer_.append(escape);
  Write(text);
  if (!escape.empty()) buffer_.append("\033[0m");
}

void Stream::Flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && !failed_) {
    const ssize_t put = ::write(fd_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      failed_ = true;
    } else {
      rest.remove_prefix(static_cast<size_t>(put));
    }
  }
  buffer_.clear();
}

}  // namespace weft::cli
