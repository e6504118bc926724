// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_columns.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/str.h"

namespace weft {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<size_t> Number(std::string_view text) {
  if (text.empty() || text.size() > 6) return std::nullopt;
  size_t value = 0;
  for (char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    value = value * 10 + static_cast<size_t>(c - '0');
  }
  return value;
}

// One side of an arity: "3", "3+" (3 or more), "2n+1", "kn".
struct Side {
  bool known = false;
  bool at_least = false, multiple = false;
  size_t factor = 0, constant = 0;  // factor * n + constant
};

Side ParseSide(std::string_view text) {
  Side side;
  if (text == "kn") {
    side.multiple = side.known = true;
    return side;
  }
  const size_t n = text.find('n');
  if (n != std::string_view::npos) {
    const auto factor = n == 0 ? std::optional<size_t>(1) : Number(text.substr(0, n));
    std::string_view rest = text.substr(n + 1);
    const auto constant = rest.empty()     ? std::optional<size_t>(0)
                          : rest[0] == '+' ? Number(rest.substr(1))
                                           : std::nullopt;
    if (!factor || *factor == 0 || !constant) return side;
    side.factor = *factor;
    side.constant = *constant;
    side.known = true;
    return side;
  }
  side.at_least = !text.empty() && text.back() == '+';
  if (side.at_least) text.remove_suffix(1);
  const auto constant = Number(text);
  if (!constant) return side;
  side.constant = *constant;
  side.known = true;
  return side;
}

// Whether `count` fits, given n (0: not bound yet; then it is bound here).
bool Fits(const Side& side, size_t count, size_t& n) {
  if (side.at_least) return count >= side.constant;
  if (side.factor == 0) return count == side.constant;
  if (n != 0) return count == side.factor * n + side.constant;
  if (count <= side.constant || (count - side.constant) % side.factor != 0) return false;
  n = (count - side.constant) / side.factor;
  return true;
}

bool PairFits(std::string_view pair, size_t input, size_t output, bool& readable) {
  size_t from = 0, to = 0;
  readable = ParsePair(pair, from, to);
  if (readable) return from == input && to == output;
  readable = true;
  if (pair == "*") return true;
  if (pair == "i>i") return input == output;
  if (pair == "i+1>i") return input == output + 1;
  return readable = false;
}

constexpr std::array kArgTypes = {"int",   "float", "string", "bool",   "ints",    "floats", "strings",
                                  "bools", "net",   "nets",   "tensor", "tensors", "any"};

}  // namespace

std::string_view NextPiece(std::string_view& column) {
  const size_t begin = column.find_first_not_of(' ');
  if (begin == std::string_view::npos) {
    column = {};
    return {};
  }
  size_t end = begin;
  bool quoted = false;
  while (end < column.size() && (quoted || column[end] != ' ')) quoted ^= column[end++] == '\'';
  const std::string_view piece = column.substr(begin, end - begin);
  column.remove_prefix(end);
  return piece;
}

bool ParsePair(std::string_view pair, size_t& input, size_t& output) {
  if (pair.size() == 3 && IsDigit(pair[0]) && pair[1] == '>' && IsDigit(pair[2])) {  // nearly all are such
    input = static_cast<size_t>(pair[0] - '0');
    output = static_cast<size_t>(pair[2] - '0');
    return true;
  }
  const size_t arrow = pair.find('>');
  if (arrow == std::string_view::npos) return false;
  const auto from = Number(pair.substr(0, arrow)), to = Number(pair.substr(arrow + 1));
  if (!from || !to) return false;
  input = *from;
  output = *to;
  return true;
}

std::vector<ArgSpec> ParseArgs(std::string_view args) {
  std::vector<ArgSpec> specs;
  while (true) {
    std::string_view piece = NextPiece(args);
    if (piece.empty()) return specs;
    ArgSpec spec;
    if (piece.back() == '!') {
      spec.required = true;
      piece.remove_suffix(1);
    }
    const size_t equals = piece.find('=');
    if (equals != std::string_view::npos) {
      spec.fallback = piece.substr(equals + 1);
      piece = piece.substr(0, equals);
      if (spec.fallback.size() >= 2 && spec.fallback.front() == '\'')
        spec.fallback = spec.fallback.substr(1, spec.fallback.size() - 2);
    }
    const size_t colon = piece.find(':');
    spec.name = piece.substr(0, colon);
    if (colon != std::string_view::npos) spec.type = piece.substr(colon + 1);
    specs.push_back(spec);
  }
}

Ports ParsePorts(std::string_view ports) {
  Ports parsed;
  bool after_arrow = false;
  while (true) {
    std::string_view piece = NextPiece(ports);
    if (piece.empty()) return parsed;
    if (piece == "->") {
      after_arrow = true;
      continue;
    }
    PortSpec port;
    if (piece.size() > 3 && piece.substr(piece.size() - 3) == "...") {
      port.repeated = true;
      piece.remove_suffix(3);
    }
    if (piece.back() == '?') {
      port.optional = true;
      piece.remove_suffix(1);
    }
    port.name = piece;
    (after_arrow ? parsed.outputs : parsed.inputs).push_back(port);
  }
}

bool HasPair(std::string_view pairs, size_t input, size_t output) {
  while (!pairs.empty()) {
    bool readable;
    if (PairFits(NextPiece(pairs), input, output, readable)) return true;
  }
  return false;
}

bool HasArity(std::string_view arities, size_t inputs, size_t outputs) {
  if (arities.empty()) return true;
  while (!arities.empty()) {
    const std::string_view piece = NextPiece(arities);
    if (piece.size() == 3 && IsDigit(piece[0]) && IsDigit(piece[2])) {  // both counts fixed, as most are
      if (inputs == static_cast<size_t>(piece[0] - '0') && outputs == static_cast<size_t>(piece[2] - '0'))
        return true;
      continue;
    }
    const size_t slash = piece.find('/');
    if (slash == std::string_view::npos) continue;
    const Side in = ParseSide(piece.substr(0, slash)), out = ParseSide(piece.substr(slash + 1));
    size_t n = 0;
    if (!Fits(in, inputs, n)) continue;
    if (out.multiple ? inputs > 0 && outputs > 0 && outputs % inputs == 0 : Fits(out, outputs, n))
      return true;
  }
  return false;
}

ArityFailure WhichSideFails(std::string_view arities, size_t inputs, size_t outputs) {
  bool inputs_fit = false, outputs_fit = false;
  while (!arities.empty()) {
    const std::string_view piece = NextPiece(arities);
    const size_t slash = piece.find('/');
    if (slash == std::string_view::npos) continue;
    size_t n = 0, m = 0;
    inputs_fit |= Fits(ParseSide(piece.substr(0, slash)), inputs, n);
    const Side out = ParseSide(piece.substr(slash + 1));
    outputs_fit |= out.multiple || Fits(out, outputs, m);
  }
  if (!inputs_fit) return ArityFailure::kInputs;
  return outputs_fit ? ArityFailure::kBoth : ArityFailure::kOutputs;
}

Result<void> CheckColumns(const OpDef& def) {
  const auto bad = [&](std::string_view column, std::string_view piece) {
    return Error{ErrorCode::kParse,
                 StrCat("operator ", def.name, ", column ", column, ": cannot read \"", piece, "\"")};
  };
  for (const ArgSpec& spec : ParseArgs(def.args)) {
    if (spec.name.empty() || std::find(kArgTypes.begin(), kArgTypes.end(), spec.type) == kArgTypes.end())
      return bad("args", StrCat(spec.name, ":", spec.type));
  }
  for (std::string_view pairs : {def.inplace, def.enforced}) {
    while (!pairs.empty()) {
      const std::string_view piece = NextPiece(pairs);
      bool readable = true;
      if (!piece.empty()) PairFits(piece, 0, 0, readable);
      if (!readable) return bad("inplace or enforced", piece);
    }
  }
  std::string_view arities = def.arities;
  while (!arities.empty()) {
    const std::string_view piece = NextPiece(arities);
    const size_t slash = piece.find('/');
    if (slash == std::string_view::npos || !ParseSide(piece.substr(0, slash)).known ||
        !ParseSide(piece.substr(slash + 1)).known)
      return bad("arities", piece);
  }
  if (def.ports.find("->") == std::string_view::npos) return bad("ports", def.ports);
  return {};
}

}  // namespace weft
