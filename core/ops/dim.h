// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A Dim is one extent of a tensor: a number, a formula over symbols ("N", "2*N+1", "floor((H-3)/2)"), an
// extent that depends on data (how many elements of a mask are true), or unknown. It is a small value; its
// formula lives in the DimTable that made it, where equal formulas are equal Dims. A table has one owner, who
// must not share it between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {

struct Dim {
  static constexpr int64_t kUnknown = -1;
  int64_t code = kUnknown;  // 0 and above: the number; below -1: a formula of the table

  constexpr Dim() = default;
  constexpr Dim(int64_t number) : code(number < 0 ? kUnknown : number) {}  // NOLINT: implicit on purpose

  bool known() const { return code >= 0; }
  bool unknown() const { return code == kUnknown; }
  /// A formula, perhaps over data.
  bool symbolic() const { return code < kUnknown; }
  friend bool operator==(Dim a, Dim b) { return a.code == b.code; }
};

class DimTable;

/// A sum of many Dims, which makes no formula of each partial sum. What depends on data counts as one
/// unknown amount.
class DimSum {
 public:
  void Add(Dim dim, const DimTable& table, int64_t times = 1);
  Dim Take(DimTable& table) const;

 private:
  int64_t number_ = 0;
  bool unknown_ = false, data_ = false;
  std::vector<std::pair<Dim, int64_t>> formulas_;        // each once, with how often, by first appearance
  std::unordered_map<int64_t, uint32_t> place_by_code_;  // looked up, never walked
};

class DimTable {
 public:
  /// The symbol of that name.
  Dim Named(std::string_view name);
  /// An element of a tensor: a number that may be negative, which no extent is.
  Dim Number(int64_t number) { return number >= 0 ? Dim(number) : Intern({{{}, number}}, /*signs=*/true); }
  /// The number that `dim` is; nothing for formulas and what is unknown.
  std::optional<int64_t> NumberOf(Dim dim) const;
  /// An extent that depends on data, equal to itself alone.
  Dim FromData();

  Dim Add(Dim a, Dim b) { return Remembered(kAdd, a, b); }
  Dim Subtract(Dim a, Dim b) { return Remembered(kSubtract, a, b); }
  Dim Multiply(Dim a, Dim b) { return Remembered(kMultiply, a, b); }
  /// Rounded down. Exact where the formula allows: T*N*8 / N is T*8.
  Dim Divide(Dim a, Dim b);

  /// Some symbol in the formula stands for data.
  bool DependsOnData(Dim dim) const;
  /// True only if no value of the symbols makes them equal (7 and 8, N and N+1).
  bool MustDiffer(Dim a, Dim b) const;
  /// The formula with this number for every symbol; -1 when it is unknown or depends on data.
  int64_t At(Dim dim, int64_t value) const;

  /// "8", "2*N+1", "?" for data, "unknown".
  std::string Text(Dim dim) const;
  /// The same for a sum of many things: "12*N+?" where only some depend on data.
  std::string SumText(Dim dim) const;

 private:
  // A sum of terms: coefficient times atoms (sorted, repeated for powers). The constant term has no atoms.
  struct Term {
    std::vector<uint32_t> atoms;
    int64_t factor = 0;
  };
  using Terms = std::vector<Term>;
  struct Atom {
    std::string name;  // empty: data, or a quotient
    Dim top, bottom;   // of a quotient
    bool data = false;
  };

  enum Operation : uint8_t { kAdd, kSubtract, kMultiply };
  // The last results over formulas, by a hash of the operands: nets repeat themselves.
  struct Memory {
    Dim a, b, result;
    Operation operation = kAdd;
  };
  Dim Remembered(Operation operation, Dim a, Dim b);

  Terms TermsOf(Dim dim) const;
  Dim Intern(Terms terms, bool signs = false);  // negative numbers are unknown unless `signs`
  Dim InternAtom(Atom atom, const std::string& key);
  Dim Combine(Dim a, Dim b, int64_t sign);
  Dim Product(Dim a, Dim b);
  std::string TermsText(const Terms& terms) const;

  std::vector<Memory> memory_;
  std::vector<Atom> atoms_;
  std::vector<Terms> formulas_;
  std::vector<uint8_t> from_data_;                    // of each formula
  std::unordered_map<std::string, uint32_t> by_key_;  // looked up, never walked
  std::unordered_map<std::string, Dim> atom_by_key_;  // looked up, never walked
};

}  // namespace weft
