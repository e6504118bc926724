// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/parallel_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "core/base/str.h"

namespace weft {

namespace {

Error Invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

std::optional<int> ToInt(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<float> ToFloat(std::string_view text) {
  const std::string copy(text);  // strtof wants an end
  char* end = nullptr;
  const float value = std::strtof(copy.c_str(), &end);
  if (copy.empty() || copy[0] == ' ' || *end != '\0' || !std::isfinite(value)) return {};
  return value;
}

std::optional<bool> ToBool(std::string_view text) {
  if (text == "1" || text == "true") return true;
  if (text == "0" || text == "false") return false;
  return {};
}

struct Pair {
  std::string_view name, value;
  bool has_value = false;
};

std::vector<Pair> Pairs(std::string_view text) {
  std::vector<Pair> pairs;
  for (std::string_view piece : StrSplit(text, ',')) {
    const size_t equals = piece.find('=');
    if (equals == std::string_view::npos) {
      pairs.push_back({piece, "", false});
    } else {
      pairs.push_back({piece.substr(0, equals), piece.substr(equals + 1), true});
    }
  }
  return pairs;
}

// One option of an optimizer: where its value goes.
struct Slot {
  std::string_view name;
  float* number = nullptr;
  bool* flag = nullptr;
  RowMerge* merge = nullptr;
  std::string* text = nullptr;
};

Result<void> Put(const Slot& slot, const Pair& pair) {
  const auto wrong = [&](std::string_view expected) {
    return Invalid(StrCat(pair.name, ": expected ", expected, ", found ", QuoteBytes(pair.value)));
  };
  if (slot.number) {
    const auto value = ToFloat(pair.value);
    if (!value) return wrong("a number");
    *slot.number = *value;
  } else if (slot.flag) {
    const auto value = pair.has_value ? ToBool(pair.value) : std::optional(true);
    if (!value) return wrong("0 or 1");
    *slot.flag = *value;
  } else if (slot.merge) {
    if (pair.value != "none" && pair.value != "sum" && pair.value != "mean")
      return wrong("none, sum or mean");
    *slot.merge = pair.value == "sum"    ? RowMerge::kSum
                  : pair.value == "mean" ? RowMerge::kMean
                                         : RowMerge::kNone;
  } else {
    *slot.text = std::string(pair.value);
  }
  return {};
}

// The argument of a learning rate policy: its type is that of how it is written.
Result<OpArg> PolicyArg(const Pair& pair) {
  if (const auto whole = ToInt(pair.value)) return OpArg(pair.name, *whole);
  if (const auto real = ToFloat(pair.value)) return OpArg(pair.name, *real);
  return Invalid(StrCat(pair.name, ": expected a number, found ", QuoteBytes(pair.value)));
}

Result<void> Fill(std::string_view kind, std::string_view words, LearningRate* rate,
                  const std::vector<Slot>& slots) {
  for (const Pair& pair : Pairs(words)) {
    const auto slot =
        std::find_if(slots.begin(), slots.end(), [&](const Slot& of) { return of.name == pair.name; });
    if (slot != slots.end()) {
      WEFT_TRY_VOID(Put(*slot, pair));
    } else if (rate && pair.name == "base_lr") {
      WEFT_TRY_VOID(Put({.name = "base_lr", .number = &rate->base}, pair));
    } else if (rate && pair.name == "policy") {
      rate->policy = std::string(pair.value);
    } else if (rate && pair.has_value && rate->policy != "fixed") {
      WEFT_TRY(OpArg arg, PolicyArg(pair));
      rate->args.push_back(std::move(arg));
    } else {
      std::vector<std::string_view> names;
      for (const Slot& of : slots) names.push_back(of.name);
      const auto near = NearestNames(pair.name, names, 1);
      return Invalid(StrCat(kind, " has no option ", pair.name,
                            near.empty()
                                ? rate ? "; arguments of a learning rate policy come behind policy=" : ""
                                : StrCat("; did you mean ", near[0], "?")));
    }
  }
  return {};
}

}  // namespace

Result<DeviceList> ParseDeviceList(std::string_view text) {
  const size_t colon = text.find(':');
  const auto type = ParseDeviceType(text.substr(0, colon));
  if (!type || colon == std::string_view::npos)
    return Invalid(
        StrCat("devices: expected a kind and numbers such as cpu:0-3 or cuda:0,2, found ", QuoteBytes(text)));
  DeviceList list{*type, {}};
  for (std::string_view piece : StrSplit(text.substr(colon + 1), ',')) {
    const size_t dash = piece.find('-');
    const auto first = ToInt(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ToInt(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first)
      return Invalid(StrCat("devices: expected a number or a range such as 0-3, found ", QuoteBytes(piece)));
    const int more = *last - *first;
    if (more > 65535)
      return Invalid(StrCat("devices: expected at most 65536 in a range, found ", QuoteBytes(piece)));
    for (int i = 0; i <= more; ++i) list.ids.push_back(*first + i);
  }
  if (list.ids.empty()) return Invalid("devices: at least one is needed, none given");
  return list;
}

Result<Optimizer> ParseOptimizer(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view words = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (kind == "sgd") {
    Sgd sgd;
    WEFT_TRY_VOID(Fill(kind, words, &sgd.rate,
                       {{.name = "momentum", .number = &sgd.momentum},
                        {.name = "nesterov", .flag = &sgd.nesterov},
                        {.name = "merge", .merge = &sgd.merge}}));
    return Optimizer(sgd);
  }
  if (kind == "adagrad") {
    Adagrad adagrad;
    WEFT_TRY_VOID(Fill(kind, words, &adagrad.rate,
                       {{.name = "epsilon", .number = &adagrad.epsilon},
                        {.name = "decay", .number = &adagrad.decay},
                        {.name = "weight_decay", .number = &adagrad.weight_decay},
                        {.name = "row_wise", .flag = &adagrad.row_wise},
                        {.name = "merge", .merge = &adagrad.merge},
                        {.name = "engine", .text = &adagrad.engine}}));
    return Optimizer(adagrad);
  }
  if (kind == "adam") {
    Adam adam;
    WEFT_TRY_VOID(Fill(kind, words, &adam.rate,
                       {{.name = "beta1", .number = &adam.beta1},
                        {.name = "beta2", .number = &adam.beta2},
                        {.name = "epsilon", .number = &adam.epsilon},
                        {.name = "row_wise", .flag = &adam.row_wise},
                        {.name = "rectified", .flag = &adam.rectified},
                        {.name = "merge", .merge = &adam.merge}}));
    return Optimizer(adam);
  }
  if (kind == "rmsprop") {
    RmsProp rms;
    WEFT_TRY_VOID(Fill(kind, words, &rms.rate,
                       {{.name = "decay", .number = &rms.decay},
                        {.name = "momentum", .number = &rms.momentum},
                        {.name = "epsilon", .number = &rms.epsilon},
                        {.name = "engine", .text = &rms.engine}}));
    return Optimizer(rms);
  }
  if (kind == "adadelta") {
    Adadelta adadelta;
    WEFT_TRY_VOID(Fill(kind, words, &adadelta.rate,
                       {{.name = "epsilon", .number = &adadelta.epsilon},
                        {.name = "decay", .number = &adadelta.decay},
                        {.name = "merge", .merge = &adadelta.merge},
                        {.name = "engine", .text = &adadelta.engine}}));
    return Optimizer(adadelta);
  }
  if (kind == "ftrl") {
    Ftrl ftrl;
    WEFT_TRY_VOID(Fill(kind, words, nullptr,
                       {{.name = "alpha", .number = &ftrl.alpha},
                        {.name = "beta", .number = &ftrl.beta},
                        {.name = "lambda1", .number = &ftrl.lambda1},
                        {.name = "lambda2", .number = &ftrl.lambda2},
                        {.name = "merge", .merge = &ftrl.merge},
                        {.name = "engine", .text = &ftrl.engine}}));
    return Optimizer(ftrl);
  }
  return Invalid(
      StrCat("there is no optimizer ", kind, "; there is sgd, adagrad, adam, rmsprop, adadelta, ftrl"));
}

Result<void> ParseBmuf(std::string_view text, BmufOptions& options) {
  if (text.empty()) return {};
  for (const Pair& pair : Pairs(text)) {
    float number = 0;
    if (pair.name == "nesterov") {
      WEFT_TRY_VOID(Put({.name = pair.name, .flag = &options.nesterov}, pair));
    } else if (pair.name == "reset_momentum") {
      WEFT_TRY_VOID(Put({.name = pair.name, .flag = &options.reset_momentum_sgd}, pair));
    } else if (pair.name == "momentum") {
      WEFT_TRY_VOID(Put({.name = pair.name, .number = &number}, pair));
      options.block_momentum = number;
    } else if (pair.name == "rate") {
      WEFT_TRY_VOID(Put({.name = pair.name, .number = &options.block_learning_rate}, pair));
    } else if (pair.name == "sync") {
      options.add_blobs_to_sync.emplace_back(pair.value);
    } else if (pair.name == "warmup" || pair.name == "master") {
      const auto whole = ToInt(pair.value);
      if (!whole)
        return Invalid(StrCat(pair.name, ": expected a whole number, found ", QuoteBytes(pair.value)));
      (pair.name == "warmup" ? options.warmup_iterations : options.master_device) = *whole;
    } else {
      return Invalid(StrCat("BMUF has no option ", pair.name,
                            "; there is nesterov, warmup, momentum, rate, master, reset_momentum, sync"));
    }
  }
  return {};
}

}  // namespace weft
