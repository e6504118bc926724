// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "proto/outline.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/str.h"
#include "proto/fields.h"
#include "proto/read.h"
#include "proto/wire.h"

namespace weft {

namespace {

constexpr uint64_t kWindow = 1 << 20;        // bytes that are read at once, to begin with
constexpr uint64_t kMostAtOnce = 16 << 20;   // and at most
constexpr uint64_t kLargePayload = 1 << 16;  // a larger argument stays in the file
constexpr uint64_t kArgHead = 1 << 10;       // where an argument's name and the tag of its payload are sought
constexpr uint64_t kFieldHead = 20;          // a tag and a length
constexpr uint64_t kMostRead = 1 << 30;      // of a file that has to be read whole

uint16_t PayloadOf(uint32_t tag) {
  switch (tag) {
    case Tag(arg_field::kS, WireType::kLength):
      return Arg::kHasS;
    case Tag(arg_field::kFloats, WireType::kFixed32):
    case Tag(arg_field::kFloats, WireType::kLength):
      return Arg::kHasFloats;
    case Tag(arg_field::kInts, WireType::kVarint):
    case Tag(arg_field::kInts, WireType::kLength):
      return Arg::kHasInts;
    case Tag(arg_field::kT, WireType::kLength):
      return Arg::kHasT;
    case Tag(arg_field::kTensors, WireType::kLength):
      return Arg::kHasTensors;
    case Tag(arg_field::kQTensors, WireType::kLength):
      return Arg::kHasQTensors;
    default:
      return 0;
  }
}

void AppendLength(std::string& out, uint32_t number, std::string_view body) {
  AppendVarint(out, Tag(number, WireType::kLength));
  AppendVarint(out, body.size());
  out.append(body);
}

}  // namespace

FileOpener::FileOpener(std::shared_ptr<const FileSource> file, OpenOptions options)
    : file_(std::move(file)), options_(std::move(options)) {}

// Valid until the next call. Shorter than asked for at the file's end only.
std::string_view FileOpener::Peek(uint64_t offset, uint64_t size) {
  size = std::min(size, file_->size - std::min(offset, file_->size));
  const uint64_t window_end = window_at_ + window_.size();
  if (offset < window_at_ || offset + size > window_end) {
    // The longer nothing was left out, the more is read at once.
    const bool goes_on = offset <= window_end && offset + size > window_end && !window_.empty();
    at_once_ = goes_on ? std::min(2 * at_once_, kMostAtOnce) : kWindow;
    window_ = file_->read(offset, std::max(size, std::min(at_once_, file_->size - offset)));
    window_at_ = offset;
  }
  return std::string_view(window_).substr(offset - window_at_, size);
}

bool FileOpener::ReadHead(uint64_t at, uint64_t end, Head& head) {
  const std::string_view bytes = Peek(at, std::min(kFieldHead, end - at));
  const char* const bytes_end = bytes.data() + bytes.size();
  const char* p = ReadTag(bytes.data(), bytes_end, head.tag);
  uint64_t value = 0;
  switch (p == nullptr ? WireType::kEndGroup : static_cast<WireType>(head.tag & 7)) {
    case WireType::kVarint:
      p = ReadVarint(p, bytes_end, value);
      value = 0;
      break;
    case WireType::kFixed64:
      value = 8;
      break;
    case WireType::kFixed32:
      value = 4;
      break;
    case WireType::kLength:
      p = ReadVarint(p, bytes_end, value);
      break;
    default:
      return false;  // groups do not occur in nets
  }
  if (p == nullptr) return false;
  head.body = at + static_cast<uint64_t>(p - bytes.data());
  head.end = head.body + value;
  return value <= end - head.body;
}

bool FileOpener::Copy(uint64_t begin, uint64_t end, std::string& out) {
  while (begin < end) {
    const std::string_view bytes = Peek(begin, std::min(kWindow, end - begin));
    if (bytes.empty()) return false;
    out.append(bytes);
    begin += bytes.size();
  }
  return true;
}

// The next field of the message, or the fields from here on that lie in the window whole and are kept: one
// copy.
bool FileOpener::Next() {
  Head head;
  const uint64_t begin = at_, window_end = window_at_ + window_.size();
  while (at_ >= window_at_ && at_ + kFieldHead <= window_end && at_ - begin < kWindow) {
    if (!ReadHead(at_, file_->size, head)) return false;
    const bool is_op = head.tag == Tag(net_field::kOp, WireType::kLength);
    if (head.end > window_end || (is_op && head.end - head.body > kLargePayload)) break;
    if (is_op) see_(std::string_view(window_).substr(head.body - window_at_, head.end - head.body));
    ops_ += is_op;
    at_ = head.end;
  }
  if (at_ != begin) {
    // Of a file that is all structure the rest comes too: no more copies of what there is.
    if (left_.empty() && outline_.size() > file_->size / 8) outline_.reserve(file_->size);
    outline_.append(window_, begin - window_at_, at_ - begin);
    return true;
  }
  if (!ReadHead(at_, file_->size, head)) return false;
  const bool is_op = head.tag == Tag(net_field::kOp, WireType::kLength);
  const bool is_large = is_op && head.end - head.body > kLargePayload;
  if (is_large ? !TakeOp(head) : !Copy(at_, head.end, outline_)) return false;
  if (is_op && !is_large)
    see_(std::string_view(outline_).substr(outline_.size() - static_cast<size_t>(head.end - head.body)));
  ops_ += is_op;
  at_ = head.end;
  return true;
}

bool FileOpener::TakeOp(const Head& op) {
  std::string body;
  uint32_t args = 0;
  for (uint64_t at = op.body; at < op.end;) {
    Head field;
    if (!ReadHead(at, op.end, field)) return false;
    const bool is_arg = field.tag == Tag(op_field::kArg, WireType::kLength);
    LeftOut left{ops_, args, 0, field.body, field.end - field.body};
    if (is_arg && left.size > kLargePayload && LeaveOut(field, body, left)) {
      left_.push_back(left);
    } else if (!Copy(at, field.end, body)) {
      return false;
    }
    args += is_arg;
    at = field.end;
  }
  AppendLength(outline_, net_field::kOp, body);
  see_(body);
  return true;
}

// An argument that begins with its name and goes on with a payload leaves its name alone.
bool FileOpener::LeaveOut(const Head& arg, std::string& out, LeftOut& left) {
  const std::string_view bytes = Peek(arg.body, std::min(kArgHead, arg.end - arg.body));
  WireCursor cursor(bytes);
  WireField name;
  uint32_t tag = 0;
  if (!cursor.Next(name) || name.tag != Tag(arg_field::kName, WireType::kLength)) return false;
  if (ReadTag(cursor.position(), bytes.data() + bytes.size(), tag) == nullptr) return false;
  left.has = PayloadOf(tag);
  if (left.has == 0) return false;
  AppendLength(out, op_field::kArg, name.whole);
  return true;
}

bool FileOpener::Step(uint64_t units) {
  const uint64_t begin = at_;
  while (!done_ && at_ - begin < units) {
    if (at_ < file_->size) {
      if (Next()) {
        walked_ = at_ == file_->size;
        if (walked_) return false;
        continue;
      }
      // Not a message as nets are written: whoever reads the whole file says what it is, or what is wrong.
      left_.clear();
      outline_.clear();
      at_ = file_->size;
      if (file_->size > kMostRead) {
        result_ =
            Error{ErrorCode::kLimit, StrCat("the file has ", FormatBytes(file_->size),
                                            " and is no net whose weights could be left in it; at most ",
                                            FormatBytes(kMostRead), " are read")};
        done_ = true;
      } else {
        outline_.reserve(file_->size);
        Copy(0, file_->size, outline_);
      }
      continue;
    }
    walked_ = false;
    window_.clear();
    window_.shrink_to_fit();
    if (const Result<void> opened = OpenOutline(); !opened) result_ = opened.error();
    done_ = true;
  }
  return done_;
}

Result<void> FileOpener::OpenOutline() {
  const Bytes outline(std::exchange(outline_, {}));
  WEFT_TRY(Document document, Open(outline, options_));
  if (!left_.empty() && document.message != MessageId::kNetDef) {
    if (file_->size > kMostRead)
      return Error{ErrorCode::kLimit, StrCat(DescribeKind(document), " of ", FormatBytes(file_->size),
                                             "; at most ", FormatBytes(kMostRead), " are read")};
    std::string whole;
    whole.reserve(file_->size);
    Copy(0, file_->size, whole);
    WEFT_TRY(document, Open(Bytes(std::move(whole)), options_));
    left_.clear();
  }
  Net* net = document.nets.empty() ? nullptr : &document.nets[0].net;
  for (size_t i = 0; i < left_.size();) {
    Op& op = net->ops[left_[i].op];
    std::vector<Arg> args = op.args.Copy();
    for (const uint32_t index = left_[i].op; i < left_.size() && left_[i].op == index; ++i) {
      Arg& arg = args[left_[i].arg];
      arg = internal::LeaveInFile(arg, left_[i].has, file_, left_[i].offset, left_[i].size, document.symbols);
    }
    op.args = ArgList(std::move(args));
  }
  result_ = std::move(document);
  return {};
}

Result<Document> FileOpener::Take() {
  WEFT_CHECK(done_);
  return std::move(result_);
}

}  // namespace weft
