// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/io/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/str.h"

namespace weft {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlign = 64;     // NumPy pads headers to this
constexpr size_t kMostDims = 64;  // NumPy's own limit
constexpr int64_t kMostEmptyStrings =
    1'000'000;  // strings of no bytes: nothing in the file bounds their count
constexpr bool kHostLittle = std::endian::native == std::endian::little;

Error Bad(std::string message) { return {ErrorCode::kParse, std::move(message)}; }

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> dims;
};

// The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Result<Header> Read() {
    Header header;
    bool descr = false, order = false, shape = false;
    if (!Take('{')) return Unexpected("{");
    while (!Take('}')) {
      WEFT_TRY(const std::string key, Text());
      if (!Take(':')) return Unexpected(":");
      if (key == "descr") {
        SkipSpace();
        if (at_ < text_.size() && text_[at_] == '[')
          return Error{ErrorCode::kUnsupported,
                       "an array of structures (a list as 'descr'): expected one of numbers or strings"};
        WEFT_TRY(header.descr, Text());
        descr = true;
      } else if (key == "fortran_order") {
        header.fortran = Word("True");
        if (!header.fortran && !Word("False")) return Unexpected("True or False");
        order = true;
      } else if (key == "shape") {
        WEFT_TRY_VOID(Shape(header.dims));
        shape = true;
      } else {
        return Bad(StrCat("the .npy header has an unknown key ", QuoteBytes(key)));
      }
      if (!Take(',') && !Peek('}')) return Unexpected(", or }");
    }
    if (!descr || !order || !shape)
      return Bad(StrCat("the .npy header lacks ", !descr   ? "'descr'"
                                                  : !order ? "'fortran_order'"
                                                           : "'shape'"));
    return header;
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool Peek(char c) {
    SkipSpace();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool Take(char c) {
    if (!Peek(c)) return false;
    ++at_;
    return true;
  }
  bool Word(std::string_view word) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  Error Unexpected(std::string_view expected) const {
    return Bad(StrCat("the .npy header is damaged at its byte ", at_, ": expected ", expected, ", found ",
                      at_ < text_.size() ? QuoteBytes(text_.substr(at_, 12)) : "its end"));
  }
  Result<std::string> Text() {
    SkipSpace();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return Unexpected("a quoted word");
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return Unexpected("a quoted word");
    std::string word(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return word;
  }
  Result<void> Shape(std::vector<int64_t>& dims) {
    if (!Take('(')) return Unexpected("(");
    while (!Take(')')) {
      SkipSpace();
      int64_t value = 0;
      const size_t first = at_;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
        if (value > (std::numeric_limits<int64_t>::max() - 9) / 10) return Unexpected("a smaller dimension");
        value = value * 10 + (text_[at_] - '0');
      }
      if (at_ == first) return Unexpected("a dimension");
      if (dims.size() == kMostDims) return Unexpected(StrCat("at most ", kMostDims, " dimensions"));
      dims.push_back(value);
      Word("L");  // Python 2's long
      if (!Take(',') && !Peek(')')) return Unexpected(", or )");
    }
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct ElementKind {
  char kind = 0;    // NumPy's letter: b f i u S U
  size_t size = 0;  // bytes per element
  bool swap = false;
};

Result<ElementKind> ParseDescr(std::string_view descr) {
  ElementKind out;
  const auto refuse = [&](std::string_view what) {
    return Error{ErrorCode::kUnsupported,
                 StrCat("an array of ", what, " ('", descr,
                        "'): expected bool, float16/32/64, int8 to int64, uint8 to uint64 or strings")};
  };
  std::string_view rest = descr;
  char order = '|';
  if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
    order = rest[0];
    rest.remove_prefix(1);
  }
  if (rest.empty()) return Bad(StrCat("the .npy header has no element type ('", descr, "')"));
  out.kind = rest[0] == '?' ? 'b' : rest[0] == 'a' ? 'S' : rest[0];
  if (out.kind == 'O') return refuse("Python objects");
  if (out.kind == 'c') return refuse("complex numbers");
  if (out.kind == 'M' || out.kind == 'm') return refuse("dates or times");
  if (out.kind == 'V') return refuse("raw records");
  size_t count = 0;  // bytes or characters; four times ten times the limit fits 32 bits
  for (char c : rest.substr(1)) {
    if (c < '0' || c > '9' || count > (size_t{1} << 26)) return refuse("an unknown element type");
    count = count * 10 + static_cast<size_t>(c - '0');
  }
  if (rest == "?") count = 1;
  const bool known = out.kind == 'b'   ? count == 1
                     : out.kind == 'f' ? count == 2 || count == 4 || count == 8
                     : out.kind == 'i' || out.kind == 'u'
                         ? count == 1 || count == 2 || count == 4 || count == 8
                         : (out.kind == 'S' || out.kind == 'U') && rest.size() > 1;
  if (!known) return refuse("an unknown element type");
  out.size = out.kind == 'U' ? count * 4 : count;
  out.swap = order == '>' ? kHostLittle : order == '<' && !kHostLittle;
  return out;
}

DataType TypeOf(ElementKind element) {
  switch (element.kind) {
    case 'b':
      return DataType::kBool;
    case 'f':
      return element.size == 2   ? DataType::kFloat16
             : element.size == 4 ? DataType::kFloat
                                 : DataType::kDouble;
    case 'i':
      return element.size == 1   ? DataType::kInt8
             : element.size == 2 ? DataType::kInt16
             : element.size == 4 ? DataType::kInt32
                                 : DataType::kInt64;
    case 'u':
      return element.size == 1 ? DataType::kUint8 : element.size == 2 ? DataType::kUint16 : DataType::kInt64;
    default:
      return DataType::kString;
  }
}

// Where the elements of a Fortran-ordered array go: visit(place in C order, place in the file).
template <typename Visit>
void ForEachPlace(std::span<const int64_t> dims, int64_t count, bool fortran, Visit visit) {
  if (!fortran || dims.size() < 2) {
    for (int64_t i = 0; i < count; ++i) visit(i, i);
    return;
  }
  std::vector<int64_t> index(dims.size(), 0), stride(dims.size(), 1);
  for (size_t d = 1; d < dims.size(); ++d) stride[d] = stride[d - 1] * dims[d - 1];
  int64_t from = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(i, from);
    for (size_t d = dims.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < dims[d]) break;
      from -= stride[d] * dims[d];
      index[d] = 0;
    }
  }
}

void AppendUtf8(std::string& out, uint32_t code) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out.push_back(static_cast<char>((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | code >> (6 * more)));
  for (int k = more - 1; k >= 0; --k) out.push_back(static_cast<char>(0x80 | (code >> (6 * k) & 0x3f)));
}

// One string of the array without the zeros that fill it up.
std::string ReadString(const char* data, ElementKind element) {
  if (element.kind == 'S') {
    std::string_view text(data, element.size);
    const size_t last = text.find_last_not_of('\0');
    return std::string(text.substr(0, last == std::string_view::npos ? 0 : last + 1));
  }
  std::vector<uint32_t> codes(element.size / 4);
  for (size_t k = 0; k < codes.size(); ++k) {
    unsigned char bytes[4];
    std::memcpy(bytes, data + 4 * k, 4);
    if (element.swap) std::reverse(bytes, bytes + 4);
    std::memcpy(&codes[k], bytes, 4);
  }
  while (!codes.empty() && codes.back() == 0) codes.pop_back();
  std::string out;
  for (uint32_t code : codes) AppendUtf8(out, code);
  return out;
}

// uint32 and uint64 have no type of their own.
Result<void> ReadWideUnsigned(const char* data, ElementKind element, int64_t from, int64_t& to) {
  unsigned char bytes[8] = {};
  std::memcpy(bytes, data + static_cast<size_t>(from) * element.size, element.size);
  if (element.swap) std::reverse(bytes, bytes + element.size);
  uint64_t value = 0;
  if (element.size == 4) {
    uint32_t narrow;
    std::memcpy(&narrow, bytes, 4);
    value = narrow;
  } else {
    std::memcpy(&value, bytes, 8);
  }
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return Error{ErrorCode::kUnsupported, StrCat("a uint64 of ", value, ": tensors hold at most int64")};
  to = static_cast<int64_t>(value);
  return {};
}

Result<void> ReadElements(const char* data, ElementKind element, bool fortran, Tensor& out) {
  const int64_t count = out.numel();
  if (out.type() == DataType::kString) {
    ForEachPlace(out.dims(), count, fortran, [&](int64_t to, int64_t from) {
      out.mutable_data<std::string>()[to] =
          ReadString(data + static_cast<size_t>(from) * element.size, element);
    });
    return {};
  }
  if (element.kind == 'u' && element.size >= 4) {
    Result<void> first_error;
    ForEachPlace(out.dims(), count, fortran, [&](int64_t to, int64_t from) {
      Result<void> read = ReadWideUnsigned(data, element, from, out.mutable_data<int64_t>()[to]);
      if (!read && first_error) first_error = std::move(read);
    });
    return first_error;
  }
  char* bytes = static_cast<char*>(out.mutable_raw());
  ForEachPlace(out.dims(), count, fortran, [&](int64_t to, int64_t from) {
    char* at = bytes + static_cast<size_t>(to) * element.size;
    std::memcpy(at, data + static_cast<size_t>(from) * element.size, element.size);
    if (element.swap) std::reverse(at, at + element.size);
    if (element.kind == 'b') *at = *at != 0;
  });
  return {};
}

}  // namespace

Result<Tensor> ReadNpy(std::string_view bytes) {
  if (!bytes.starts_with(kMagic))
    return Bad(
        StrCat("no .npy file: expected it to begin with \"\\223NUMPY\", found ",
               bytes.empty() ? "nothing" : QuoteBytes(bytes.substr(0, 8)),
               bytes.starts_with("PK") ? " (an .npz archive: unzip it and feed the arrays in it)" : ""));
  if (bytes.size() < kMagic.size() + 2) return Bad("a .npy file cut off in its first bytes");
  const int version = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (version < 1 || version > 3)
    return Error{ErrorCode::kUnsupported, StrCat("a .npy file of version ", version, ": expected 1, 2 or 3")};
  const size_t length_bytes = version == 1 ? 2 : 4, begin = kMagic.size() + 2 + length_bytes;
  if (bytes.size() < begin) return Bad("a .npy file cut off in its first bytes");
  size_t length = 0;
  for (size_t k = 0; k < length_bytes; ++k)
    length |= static_cast<size_t>(static_cast<unsigned char>(bytes[kMagic.size() + 2 + k])) << (8 * k);
  if (length > bytes.size() - begin)
    return Bad(StrCat("a .npy file cut off: its header should have ", length, " bytes, ",
                      bytes.size() - begin, " are there"));
  WEFT_TRY(const Header header, HeaderReader(bytes.substr(begin, length)).Read());
  WEFT_TRY(const ElementKind element, ParseDescr(header.descr));
  const std::string_view data = bytes.substr(begin + length);
  const int64_t count = NumElements(header.dims);
  const std::string shape = StrCat(header.descr, " ", DimsToString(header.dims));
  if (NumElementsUnlessEmpty(header.dims) < 0)
    return Bad(StrCat("a .npy file with impossible dimensions ", DimsToString(header.dims)));
  if (element.size == 0 ? count > kMostEmptyStrings
                        : static_cast<uint64_t>(count) > data.size() / element.size)
    return Bad(StrCat("a .npy file cut off: ", shape, " needs ", count, " elements of ", element.size,
                      " bytes, ", data.size(), " bytes are there"));
  if (data.size() != static_cast<size_t>(count) * element.size)
    return Bad(StrCat("a .npy file with ", data.size() - static_cast<size_t>(count) * element.size,
                      " bytes behind its array ", shape));
  Tensor out;
  if (!out.Allocate(TypeOf(element), header.dims))
    return Error{ErrorCode::kLimit, StrCat("no memory for ", shape)};
  WEFT_TRY_VOID(ReadElements(data.data(), element, header.fortran, out));
  return out;
}

Result<std::string> WriteNpy(const Tensor& tensor) {
  std::string descr;
  size_t width = DataTypeSize(tensor.type());
  switch (tensor.type()) {
    case DataType::kBool:
      descr = "|b1";
      break;
    case DataType::kFloat16:
    case DataType::kFloat:
    case DataType::kDouble:
      descr = StrCat("<f", width);
      break;
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
      descr = StrCat(width == 1 ? "|i" : "<i", width);
      break;
    case DataType::kUint8:
    case DataType::kUint16:
      descr = StrCat(width == 1 ? "|u" : "<u", width);
      break;
    case DataType::kString:
      width = 1;
      for (const std::string& text : tensor.values<std::string>()) {
        if (text.ends_with('\0'))
          return Error{ErrorCode::kInvalidArgument, StrCat("the string ", QuoteBytes(text),
                                                           " ends with a zero byte, which .npy would drop")};
        width = std::max(width, text.size());
      }
      descr = StrCat("|S", width);
      break;
    default:
      return Error{ErrorCode::kInvalidArgument, "a tensor without a type: it was never written"};
  }
  std::string shape;
  for (int64_t d : tensor.dims()) StrAppend(shape, shape.empty() ? "" : " ", d, ",");
  if (tensor.ndim() > 1) shape.pop_back();
  std::string header = StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", shape, "), }");
  const size_t begin = kMagic.size() + 4;
  header.resize((begin + header.size() + 1 + kAlign - 1) / kAlign * kAlign - begin, ' ');
  header.back() = '\n';
  // At most 64 dimensions make far less than the 65,535 bytes of version 1.
  WEFT_CHECK(header.size() < 65536);
  std::string out = StrCat(kMagic, '\1', '\0', static_cast<char>(header.size() & 0xff),
                           static_cast<char>(header.size() >> 8), header);
  if (tensor.type() == DataType::kString) {
    for (const std::string& text : tensor.values<std::string>()) {
      out += text;
      out.append(width - text.size(), '\0');
    }
    return out;
  }
  const size_t first = out.size();
  out.append(static_cast<const char*>(tensor.raw()), tensor.empty() ? 0 : tensor.nbytes());
  if (!kHostLittle)
    for (size_t at = first; at < out.size(); at += width)
      std::reverse(out.begin() + static_cast<ptrdiff_t>(at),
                   out.begin() + static_cast<ptrdiff_t>(at + width));
  return out;
}

}  // namespace weft
