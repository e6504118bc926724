// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/dim.h"

#include <algorithm>

#include "core/base/str.h"

namespace weft {

namespace {

constexpr size_t kMostTerms = 128;  // longer formulas are given up: nobody could read them

}  // namespace

void DimSum::Add(Dim dim, const DimTable& table, int64_t times) {
  int64_t product;
  if (dim.unknown()) {
    unknown_ = true;
  } else if (dim.known()) {
    unknown_ |= __builtin_mul_overflow(dim.code, times, &product) ||
                __builtin_add_overflow(number_, product, &number_);
  } else if (table.DependsOnData(dim)) {
    data_ = true;
  } else {
    const auto [at, is_new] = place_by_code_.emplace(dim.code, static_cast<uint32_t>(formulas_.size()));
    if (is_new) formulas_.push_back({dim, 0});
    formulas_[at->second].second += times;
  }
}

Dim DimSum::Take(DimTable& table) const {
  if (unknown_) return {};
  Dim sum = number_;
  for (const auto& [dim, times] : formulas_) sum = table.Add(sum, table.Multiply(dim, times));
  return data_ ? table.Add(sum, table.FromData()) : sum;
}

Dim DimTable::Remembered(Operation operation, Dim a, Dim b) {
  const auto compute = [&] {
    return operation == kMultiply ? Product(a, b) : Combine(a, b, operation == kAdd ? 1 : -1);
  };
  if (!a.symbolic() && !b.symbolic()) return compute();
  constexpr size_t kPlaces = 4096;
  if (memory_.empty()) memory_.resize(kPlaces);
  const uint64_t hash = (static_cast<uint64_t>(a.code) * 0x9e3779b97f4a7c15u) ^
                        (static_cast<uint64_t>(b.code) * 0xc2b2ae3d27d4eb4fu) ^ operation;
  Memory& memory = memory_[(hash ^ hash >> 29) % kPlaces];
  if (memory.operation == operation && memory.a == a && memory.b == b) return memory.result;
  const Dim result = compute();
  memory_[(hash ^ hash >> 29) % kPlaces] = {a, b, result, operation};
  return result;
}

Dim DimTable::Named(std::string_view name) {
  const std::string key = StrCat("n", name);
  return InternAtom({.name = std::string(name)}, key);
}

Dim DimTable::FromData() {
  // No key: no second one is ever the same.
  atoms_.push_back({.data = true});
  return Intern({{{static_cast<uint32_t>(atoms_.size() - 1)}, 1}});
}

Dim DimTable::InternAtom(Atom atom, const std::string& key) {
  const auto found = atom_by_key_.find(key);
  if (found != atom_by_key_.end()) return found->second;
  atoms_.push_back(std::move(atom));
  const Dim dim = Intern({{{static_cast<uint32_t>(atoms_.size() - 1)}, 1}});
  atom_by_key_.emplace(key, dim);
  return dim;
}

std::optional<int64_t> DimTable::NumberOf(Dim dim) const {
  if (!dim.symbolic()) return dim.known() ? std::optional(dim.code) : std::nullopt;
  const Terms& terms = formulas_[static_cast<size_t>(-2 - dim.code)];
  return terms.size() == 1 && terms[0].atoms.empty() ? std::optional(terms[0].factor) : std::nullopt;
}

DimTable::Terms DimTable::TermsOf(Dim dim) const {
  if (dim.symbolic()) return formulas_[static_cast<size_t>(-2 - dim.code)];
  if (dim.code == 0) return {};
  return {{{}, dim.code}};
}

Dim DimTable::Intern(Terms terms, bool signs) {
  std::erase_if(terms, [](const Term& term) { return term.factor == 0; });
  if (terms.empty()) return 0;
  if (terms.size() == 1 && terms[0].atoms.empty() && !(signs && terms[0].factor < 0)) return terms[0].factor;
  if (terms.size() > kMostTerms) return {};
  std::string key;
  bool data = false;
  for (const Term& term : terms) {
    StrAppend(key, term.factor);
    for (uint32_t atom : term.atoms) {
      StrAppend(key, ".", atom);
      data |= atoms_[atom].data;
    }
    key += ' ';
  }
  const auto [at, is_new] = by_key_.emplace(std::move(key), static_cast<uint32_t>(formulas_.size()));
  if (is_new) {
    formulas_.push_back(std::move(terms));
    from_data_.push_back(data);
  }
  Dim dim;
  dim.code = -2 - static_cast<int64_t>(at->second);
  return dim;
}

Dim DimTable::Combine(Dim a, Dim b, int64_t sign) {
  if (a.unknown() || b.unknown()) return {};
  int64_t sum;
  if (a.known() && b.known()) return __builtin_add_overflow(a.code, sign * b.code, &sum) ? Dim() : Dim(sum);
  Terms terms = TermsOf(a);
  for (Term& term : TermsOf(b)) {
    const auto same =
        std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.atoms == term.atoms; });
    term.factor *= sign;
    if (same == terms.end()) {
      terms.push_back(std::move(term));
    } else {
      same->factor += term.factor;
    }
  }
  // Larger products first, the constant last; the order is part of what makes equal formulas equal.
  std::sort(terms.begin(), terms.end(), [](const Term& x, const Term& y) {
    return x.atoms.size() != y.atoms.size() ? x.atoms.size() > y.atoms.size() : x.atoms < y.atoms;
  });
  return Intern(std::move(terms));
}

Dim DimTable::Product(Dim a, Dim b) {
  if (a == Dim(0) || b == Dim(0)) return 0;
  if (a.unknown() || b.unknown()) return {};
  int64_t product;
  if (a.known() && b.known()) return __builtin_mul_overflow(a.code, b.code, &product) ? Dim() : Dim(product);
  if (a == Dim(1)) return b;
  if (b == Dim(1)) return a;
  Dim sum = 0;
  for (const Term& x : TermsOf(a)) {
    Terms row;
    for (const Term& y : TermsOf(b)) {
      Term term = x;
      if (__builtin_mul_overflow(x.factor, y.factor, &term.factor)) return {};
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(term.atoms.begin(), term.atoms.end());
      row.push_back(std::move(term));
    }
    sum = Add(sum, Intern(std::move(row)));
  }
  return sum;
}

Dim DimTable::Divide(Dim a, Dim b) {
  if (a.unknown() || b.unknown() || b == Dim(0)) return {};
  if (a == Dim(0) || b == Dim(1)) return a;
  if (a.known() && b.known()) return a.code / b.code;
  if (a == b) return 1;
  if (DependsOnData(a) || DependsOnData(b)) return FromData();
  const Terms by = TermsOf(b);
  Terms exact = TermsOf(a);
  bool divides = by.size() == 1;
  for (Term& term : exact) {
    if (!divides) break;
    divides = term.factor % by[0].factor == 0 &&
              std::includes(term.atoms.begin(), term.atoms.end(), by[0].atoms.begin(), by[0].atoms.end());
    if (!divides) break;
    term.factor /= by[0].factor;
    for (uint32_t atom : by[0].atoms) term.atoms.erase(std::find(term.atoms.begin(), term.atoms.end(), atom));
  }
  if (divides) return Intern(std::move(exact));
  return InternAtom({.top = a, .bottom = b}, StrCat("q", a.code, "/", b.code));
}

bool DimTable::DependsOnData(Dim dim) const {
  return dim.symbolic() && from_data_[static_cast<size_t>(-2 - dim.code)] != 0;
}

bool DimTable::MustDiffer(Dim a, Dim b) const {
  if (a.unknown() || b.unknown() || a == b) return false;
  if (a.known() && b.known()) return true;
  Terms x = TermsOf(a), y = TermsOf(b);
  const auto constant = [](Terms& terms) {
    if (terms.empty() || !terms.back().atoms.empty()) return int64_t{0};
    const int64_t value = terms.back().factor;
    terms.pop_back();
    return value;
  };
  if (constant(x) == constant(y)) return false;
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i].atoms != y[i].atoms || x[i].factor != y[i].factor) return false;
  return true;
}

int64_t DimTable::At(Dim dim, int64_t value) const {
  if (!dim.symbolic()) return dim.code;
  int64_t sum = 0;
  for (const Term& term : formulas_[static_cast<size_t>(-2 - dim.code)]) {
    int64_t product = term.factor;
    for (uint32_t atom : term.atoms) {
      const Atom& a = atoms_[atom];
      if (a.data) return -1;
      int64_t factor = value;
      if (a.name.empty()) {
        const int64_t top = At(a.top, value), bottom = At(a.bottom, value);
        if (top < 0 || bottom <= 0) return -1;
        factor = top / bottom;
      }
      if (__builtin_mul_overflow(product, factor, &product)) return -1;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return -1;
  }
  return sum < 0 ? -1 : sum;
}

std::string DimTable::TermsText(const Terms& terms) const {
  std::string out;
  for (const Term& term : terms) {
    if (term.factor >= 0 && !out.empty()) out += '+';
    bool first = true;
    if (term.atoms.empty() || (term.factor != 1 && term.factor != -1)) {
      StrAppend(out, term.factor);
      first = false;
    } else if (term.factor == -1) {
      out += '-';
    }
    for (uint32_t atom : term.atoms) {
      if (!first) out += '*';
      first = false;
      const Atom& a = atoms_[atom];
      StrAppend(out, a.name.empty() ? StrCat("floor((", Text(a.top), ")/", Text(a.bottom), ")") : a.name);
    }
  }
  return out;
}

std::string DimTable::SumText(Dim dim) const {
  if (!DependsOnData(dim)) return Text(dim);
  Terms sure = TermsOf(dim);
  std::erase_if(sure, [&](const Term& term) {
    return std::any_of(term.atoms.begin(), term.atoms.end(),
                       [&](uint32_t atom) { return atoms_[atom].data; });
  });
  return sure.empty() ? "?" : StrCat(TermsText(sure), "+?");
}

std::string DimTable::Text(Dim dim) const {
  if (dim.unknown()) return "unknown";
  if (dim.known()) return std::to_string(dim.code);
  return DependsOnData(dim) ? "?" : TermsText(formulas_[static_cast<size_t>(-2 - dim.code)]);
}

}  // namespace weft
