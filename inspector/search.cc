// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/search.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "core/base/str.h"
#include "core/ops/op_columns.h"
#include "inspector/pattern.h"

namespace weft {

namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string Lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = Lower(c);
  return out;
}

// What a word wants of a text: a part of it in letters of any case, all of it, its beginning, or a pattern.
struct TextTest {
  enum Kind : uint8_t { kPart, kWhole, kPrefix, kPattern } kind = kPart;
  std::string text;  // lower case for kPart
  std::optional<Pattern> pattern;

  bool Holds(std::string_view subject) const {
    switch (kind) {
      case kWhole:
        return subject == text;
      case kPrefix:
        return subject.starts_with(text);
      case kPattern:
        return pattern->Search(subject);
      case kPart:
        break;
    }
    return std::search(subject.begin(), subject.end(), text.begin(), text.end(),
                       [](char a, char b) { return Lower(a) == b; }) != subject.end() ||
           text.empty();
  }
};

// What a plain word finds an operator by: in the answer, the former come before the latter.
enum FoundBy : uint8_t { kByType, kByName, kByBlob, kNotFound };

enum class Compare : uint8_t { kHas, kEqual, kNotEqual, kLess, kLessEqual, kMore, kMoreEqual };

constexpr std::string_view kVersion = "version";  // compared like an argument

struct Word {
  enum Kind : uint8_t { kAny, kType, kName, kBlob, kReads, kWrites, kDevice, kEngine, kRole, kScope, kArg };
  Kind kind = kAny;
  bool negated = false;
  TextTest test;
  std::string arg;
  Compare compare = Compare::kHas;
  std::string value;
  std::optional<double> number;
  int32_t device_type = 0;
  std::optional<int32_t> device_id;
  // Answers by blob, symbol or scope, worked out when first asked: 0 not yet, 1 no, 2 yes.
  std::vector<uint8_t> by_blob, by_symbol;
  std::vector<uint8_t> by_scope;
};

bool Holds(double a, Compare compare, double b) {
  switch (compare) {
    case Compare::kHas:
      return true;
    case Compare::kEqual:
      return a == b;
    case Compare::kNotEqual:
      return a != b;
    case Compare::kLess:
      return a < b;
    case Compare::kLessEqual:
      return a <= b;
    case Compare::kMore:
      return a > b;
    case Compare::kMoreEqual:
      return a >= b;
  }
  return false;
}

std::optional<double> ParseNumber(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

class QueryReader {
 public:
  explicit QueryReader(std::string_view query) : query_(query) {}

  Result<std::vector<Word>> Read() {
    std::vector<Word> words;
    while (true) {
      while (at_ < query_.size() && query_[at_] == ' ') ++at_;
      if (at_ == query_.size()) break;
      begin_ = at_;
      WEFT_TRY(Word word, ReadWord());
      words.push_back(std::move(word));
    }
    return words;
  }

 private:
  Error Fail(std::string_view what) const {
    return {ErrorCode::kParse, StrCat("column ", begin_ + 1, ": ", what)};
  }

  // Up to the next space that is not inside "..." or /.../.
  std::string_view Token() {
    const size_t begin = at_;
    char open = 0;
    for (; at_ < query_.size(); ++at_) {
      const char c = query_[at_];
      if (open != 0) {
        if (c == '\\' && open == '/') {
          ++at_;
        } else if (c == open) {
          open = 0;
        }
      } else if (c == ' ') {
        break;
      } else if (c == '"' || (c == '/' && at_ > begin && query_[at_ - 1] == ':') ||
                 (c == '/' && at_ == begin)) {
        open = c;
      }
    }
    at_ = std::min(at_, query_.size());
    return query_.substr(begin, at_ - begin);
  }

  Result<Word> ReadWord() {
    Word word;
    if (query_[at_] == '-' && at_ + 1 < query_.size() && query_[at_ + 1] != ' ') {
      word.negated = true;
      ++at_;
    }
    const std::string_view token = Token();
    const size_t colon = token.find(':');
    static constexpr std::pair<std::string_view, Word::Kind> kPrefixes[] = {
        {"type", Word::kType},     {"name", Word::kName},     {"blob", Word::kBlob},
        {"reads", Word::kReads},   {"writes", Word::kWrites}, {"device", Word::kDevice},
        {"engine", Word::kEngine}, {"role", Word::kRole},     {"scope", Word::kScope},
        {"arg", Word::kArg}};
    if (colon != std::string_view::npos) {
      for (const auto& [prefix, kind] : kPrefixes) {
        if (token.substr(0, colon) != prefix) continue;
        word.kind = kind;
        WEFT_TRY_VOID(SetTest(word, token.substr(colon + 1)));
        return word;
      }
    }
    const bool quoted = token[0] == '"' || token[0] == '/';
    const size_t sign = token.find_first_of("=!<>");
    if (sign != std::string_view::npos && sign > 0 && !quoted) {
      WEFT_TRY_VOID(SetComparison(word, token, sign));
      return word;
    }
    WEFT_TRY_VOID(SetTest(word, token));
    // "kernel:7" asks for the argument too; a blob may be called "conv1:0".
    if (colon != std::string_view::npos && colon > 0 && colon + 1 < token.size() && !quoted) {
      word.arg = std::string(token.substr(0, colon));
      SetValue(word, token.substr(colon + 1));
      word.compare = Compare::kEqual;
    }
    return word;
  }

  static void SetValue(Word& word, std::string_view value) {
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    word.value = std::string(value);
    word.number = ParseNumber(word.value);
  }

  Result<void> SetComparison(Word& word, std::string_view token, size_t sign) {
    word.arg = std::string(token.substr(0, sign));
    word.kind = Word::kArg;
    const bool two = sign + 1 < token.size() && token[sign + 1] == '=';
    switch (token[sign]) {
      case '=':
        word.compare = Compare::kEqual;
        break;
      case '!':
        if (!two) return Fail("'!' must be followed by '='");
        word.compare = Compare::kNotEqual;
        break;
      case '<':
        word.compare = two ? Compare::kLessEqual : Compare::kLess;
        break;
      default:
        word.compare = two ? Compare::kMoreEqual : Compare::kMore;
    }
    SetValue(word, token.substr(sign + (two ? 2 : 1)));
    if (word.value.empty()) return Fail(StrCat("nothing to compare '", word.arg, "' with"));
    const bool order = word.compare != Compare::kEqual && word.compare != Compare::kNotEqual;
    if ((order || word.arg == kVersion) && !word.number)
      return Fail(StrCat("'", word.value, "' is not a number"));
    return {};
  }

  Result<void> SetTest(Word& word, std::string_view text) {
    if (word.kind == Word::kDevice) return SetDevice(word, text);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
      text = text.substr(1, text.size() - 2);
    } else if (text.starts_with('/')) {
      if (text.size() < 2 || text.back() != '/') return Fail("'/' without a second one");
      word.test.kind = TextTest::kPattern;
      Result<Pattern> pattern = Pattern::Compile(text.substr(1, text.size() - 2));
      if (!pattern) return Fail(pattern.error().message);
      word.test.pattern = std::move(pattern).value();
      return {};
    }
    if (text.empty()) return Fail("a word that says nothing");
    const bool whole = word.kind == Word::kType || word.kind == Word::kReads || word.kind == Word::kWrites ||
                       word.kind == Word::kEngine || word.kind == Word::kArg || word.kind == Word::kScope;
    if (whole) {
      word.test.kind = TextTest::kWhole;
      if (text.back() == '*') {
        word.test.kind = TextTest::kPrefix;
        text.remove_suffix(1);
      }
      word.test.text = std::string(text);
    } else {
      word.test.text = Lowered(text);
    }
    if (word.kind == Word::kRole) {
      if (std::none_of(std::begin(kRoleNames), std::end(kRoleNames),
                       [&](std::string_view role) { return role == word.test.text; }))
        return Fail("a role is forward, backward, update or collective");
    }
    if (word.kind == Word::kArg) word.arg = std::string(text);
    return {};
  }

  Result<void> SetDevice(Word& word, std::string_view text) {
    const size_t colon = text.find(':');
    const std::optional<int32_t> type = ParseDeviceType(text.substr(0, colon));
    if (!type) return Fail(StrCat("'", text.substr(0, colon), "' is not a device type"));
    word.device_type = *type;
    if (colon == std::string_view::npos) return {};
    const std::optional<double> id = ParseNumber(std::string(text.substr(colon + 1)));
    if (!id) return Fail(StrCat("'", text.substr(colon + 1), "' is not a device number"));
    word.device_id = static_cast<int32_t>(*id);
    return {};
  }

  std::string_view query_;
  size_t at_ = 0, begin_ = 0;
};

class SearchJobImpl : public SearchJob {
 public:
  SearchJobImpl(NetModel& model, LayoutMode mode, std::vector<Word> words)
      : model_(model), net_(model.net()), mode_(mode), words_(std::move(words)) {
    for (const Word& word : words_) {
      const bool names_blobs = word.kind == Word::kAny || word.kind == Word::kBlob ||
                               word.kind == Word::kReads || word.kind == Word::kWrites;
      if (names_blobs && !word.negated) asks_for_blobs_ = true;
      if (!names_blobs || word.negated) only_blobs_ = false;
    }
  }

  bool Step(uint64_t units) override {
    const OpId count = static_cast<OpId>(net_.ops.size());
    if (words_.empty() || count == 0) next_ = count;
    for (; units > 0 && next_ < count; --units, ++next_)
      if (const FoundBy by = Match(next_); by != kNotFound) Found(next_, by);
    if (next_ < count || finished_) return finished_;
    finished_ = true;
    if (asks_for_blobs_ && only_blobs_)  // blobs that no op touches are found all the same
      for (BlobId b = 0; b < model_.ssa().blobs().size(); ++b) AddBlob(b);
    std::sort(blobs_.begin(), blobs_.end());
    return true;
  }
  Progress progress() const override { return {static_cast<uint64_t>(next_), net_.ops.size()}; }
  std::vector<OpId> ops() const override {
    std::vector<OpId> all;
    for (const std::vector<OpId>& found : ops_) all.insert(all.end(), found.begin(), found.end());
    return all;
  }
  const std::vector<BlobId>& blobs() const override { return blobs_; }

 private:
  // The best of what its plain words say; without plain words all that match are alike.
  FoundBy Match(OpId op) {
    FoundBy best = kByBlob;
    for (Word& word : words_) {
      if (Holds(word, op) == word.negated) return kNotFound;
      if (word.kind == Word::kAny && !word.negated) best = std::min(best, PlainMatch(word, op));
    }
    return best;
  }

  FoundBy PlainMatch(Word& word, OpId id) {
    const weft::Op& op = net_.ops[id];
    if (SymbolHolds(word, op.type)) return kByType;
    if (op.name && SymbolHolds(word, op.name)) return kByName;
    const Ssa& ssa = model_.ssa();
    const bool by_blob = AnyBlobHolds(word, ssa.outputs(id)) || AnyBlobHolds(word, ssa.inputs(id));
    return by_blob ? kByBlob : kNotFound;
  }

  void Found(OpId op, FoundBy by) {
    ops_[by].push_back(op);
    if (!asks_for_blobs_) return;
    for (ValueId v : model_.ssa().inputs(op)) AddBlob(model_.ssa().values()[v].blob);
    for (ValueId v : model_.ssa().outputs(op)) AddBlob(model_.ssa().values()[v].blob);
  }

  void AddBlob(BlobId blob) {
    blob_found_.resize(model_.ssa().blobs().size(), 0);
    if (blob_found_[blob]) return;
    for (Word& word : words_) {
      const bool names_blobs = word.kind == Word::kAny || word.kind == Word::kBlob ||
                               word.kind == Word::kReads || word.kind == Word::kWrites;
      if (names_blobs && !word.negated && !BlobHolds(word, blob)) return;
    }
    blob_found_[blob] = 1;
    blobs_.push_back(blob);
  }

  bool BlobHolds(Word& word, BlobId blob) {
    word.by_blob.resize(model_.ssa().blobs().size(), 0);
    uint8_t& known = word.by_blob[blob];
    if (known == 0) known = word.test.Holds(net_.Str(model_.ssa().blobs()[blob])) ? 2 : 1;
    return known == 2;
  }
  bool SymbolHolds(Word& word, Symbol symbol) {
    word.by_symbol.resize(net_.symbols->size(), 0);
    uint8_t& known = word.by_symbol[symbol.id];
    if (known == 0) known = word.test.Holds(net_.Str(symbol)) ? 2 : 1;
    return known == 2;
  }
  bool AnyBlobHolds(Word& word, std::span<const ValueId> values) {
    for (ValueId v : values)
      if (BlobHolds(word, model_.ssa().values()[v].blob)) return true;
    return false;
  }

  bool Holds(Word& word, OpId id) {
    const weft::Op& op = net_.ops[id];
    const Ssa& ssa = model_.ssa();
    switch (word.kind) {
      case Word::kAny:
        return PlainMatch(word, id) != kNotFound || (!word.arg.empty() && ComparisonHolds(word, id));
      case Word::kType:
        return SymbolHolds(word, op.type);
      case Word::kName:
        return SymbolHolds(word, op.name);
      case Word::kBlob:
        return AnyBlobHolds(word, ssa.outputs(id)) || AnyBlobHolds(word, ssa.inputs(id));
      case Word::kReads:
        return AnyBlobHolds(word, ssa.inputs(id));
      case Word::kWrites:
        return AnyBlobHolds(word, ssa.outputs(id));
      case Word::kDevice: {
        const DeviceOption* device = op.device ? op.device.get() : net_.device.get();
        return (device != nullptr ? device->type() : kCpu) == word.device_type &&
               (!word.device_id || (device != nullptr ? device->id() : 0) == *word.device_id);
      }
      case Word::kEngine:
        return SymbolHolds(word, op.engine);
      case Word::kRole:
        return RoleName(model_.roles().role[id]) == word.test.text;
      case Word::kScope:
        return ScopeHolds(word, model_.arrangement(mode_).tree().scope_of[id]);
      case Word::kArg:
        return ComparisonHolds(word, id);
    }
    return false;
  }

  // The scope itself or one around it is called so.
  bool ScopeHolds(Word& word, ScopeId scope) {
    const ScopeTree& tree = model_.arrangement(mode_).tree();
    word.by_scope.resize(tree.scopes.size(), 0);
    bool holds = false;
    ScopeId s = scope;
    for (; s != 0; s = tree.scopes[s].parent) {
      if (word.by_scope[s] != 0) {
        holds = word.by_scope[s] == 2;
        break;
      }
      if (word.test.Holds(tree.scopes[s].label)) {
        holds = true;
        break;
      }
    }
    for (ScopeId t = scope; t != s; t = tree.scopes[t].parent) word.by_scope[t] = holds ? 2 : 1;
    if (s != 0) word.by_scope[s] = holds ? 2 : 1;
    return holds;
  }

  bool ValueHolds(const Word& word, std::string_view text) const {
    if (word.compare == Compare::kEqual) return text == word.value;
    if (word.compare == Compare::kNotEqual) return text != word.value;
    return false;
  }

  // Of an argument, or of the versions that the op writes.
  bool ComparisonHolds(const Word& word, OpId id) {
    if (word.arg != kVersion || !word.number) return ArgHolds(word, id);
    for (ValueId v : model_.ssa().outputs(id))
      if (weft::Holds(model_.ssa().values()[v].version, word.compare, *word.number)) return true;
    return false;
  }

  bool ArgHolds(const Word& word, OpId id) {
    const SymbolTable& symbols = *net_.symbols;
    const Arg* arg = FindArg(symbols, net_.ops[id].args, word.arg);
    if (word.compare == Compare::kHas) return arg != nullptr;
    if (arg == nullptr) {
      const OpDef* def = model_.op_def(id);
      if (def == nullptr || def->args.find(word.arg) == std::string_view::npos) return false;
      for (const ArgSpec& spec : ParseArgs(def->args)) {
        if (spec.name != word.arg || spec.fallback.empty()) continue;
        const std::optional<double> number = ParseNumber(std::string(spec.fallback));
        if (number && word.number) return weft::Holds(*number, word.compare, *word.number);
        return ValueHolds(word, spec.fallback);
      }
      return false;
    }
    if (word.number) {
      const double number = *word.number;
      if ((arg->has & Arg::kHasI) && weft::Holds(static_cast<double>(arg->i), word.compare, number))
        return true;
      // A float is printed short, so that 0.1 in the query means the float 0.1.
      if ((arg->has & Arg::kHasF) &&
          weft::Holds(std::strtod(FormatFloat(arg->f).c_str(), nullptr), word.compare, number))
        return true;
    }
    if (!(arg->has & (Arg::kHasS | Arg::kHasInts | Arg::kHasFloats | Arg::kHasStrings))) return false;
    const ArgDataPtr data = arg->Load();
    if ((arg->has & Arg::kHasS) && ValueHolds(word, data->s)) return true;
    for (const std::string& s : data->strings)
      if (ValueHolds(word, s)) return true;
    if (!word.number) return false;
    for (int64_t i : data->ints)
      if (weft::Holds(static_cast<double>(i), word.compare, *word.number)) return true;
    for (float f : data->floats)
      if (weft::Holds(std::strtod(FormatFloat(f).c_str(), nullptr), word.compare, *word.number)) return true;
    return false;
  }

  NetModel& model_;
  const Net& net_;
  const LayoutMode mode_;
  std::vector<Word> words_;
  OpId next_ = 0;
  bool finished_ = false, asks_for_blobs_ = false, only_blobs_ = true;
  std::array<std::vector<OpId>, kNotFound> ops_;  // by what they were found by
  std::vector<BlobId> blobs_;
  std::vector<uint8_t> blob_found_;
};

}  // namespace

Result<std::unique_ptr<SearchJob>> MakeSearchJob(NetModel& model, LayoutMode mode, std::string_view query) {
  WEFT_TRY(std::vector<Word> words, QueryReader(query).Read());
  return std::unique_ptr<SearchJob>(std::make_unique<SearchJobImpl>(model, mode, std::move(words)));
}

}  // namespace weft
