// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A net with what its author says about it: the records that it takes and gives, and named lists of
// attributes. Cloning keeps them, renamed; steps and plans gather them. Values.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/ir/plan.h"
#include "core/ir/record.h"
#include "core/ssa/clone.h"

namespace weft {

using Attribute =
    std::variant<int64_t, double, std::string, Symbol>;  // a Symbol is a blob, renamed by clones

struct AttributeList {
  std::string name;
  std::vector<Attribute> values;
};

struct AnnotatedNet {
  Net net;
  std::optional<Record> input, output;
  std::vector<AttributeList> attributes{};  // by first use
};

/// Binds the net to the record that it reads: its blobs become external inputs that are not yet. A second
/// time only with the same blobs. Errors: kInvalidArgument for a field without a blob, a blob that the net
/// writes, or another record than the first.
Result<void> SetInputRecord(AnnotatedNet& net, Record record);
/// The same for what it gives: external outputs. Errors: kNotFound for a blob that the net does not define.
Result<void> SetOutputRecord(AnnotatedNet& net, Record record);
/// One more field of the output record. Errors: kInvalidArgument when there is no record or it has the field,
/// and those of SetOutputRecord.
Result<void> AppendOutputField(AnnotatedNet& net, std::string name, Record record);

void AddAttribute(AnnotatedNet& net, std::string_view list, Attribute value);
/// The values of a list; none when it is not there.
std::span<const Attribute> AttributesOf(const AnnotatedNet& net, std::string_view list);
/// Those of all nets that a step runs, or a plan, in the order in which a plan lists its nets; each net once.
std::vector<Attribute> GatherAttributes(const Step& step, std::span<const AnnotatedNet> nets,
                                        std::string_view list);
std::vector<Attribute> GatherAttributes(const Plan& plan, std::span<const AnnotatedNet> nets,
                                        std::string_view list);

/// Clone, with records and attributes renamed along. Errors: those of Clone.
Result<AnnotatedNet> CloneAnnotated(const AnnotatedNet& net, const CloneOptions& options);

struct BoundToRecord {
  AnnotatedNet net;
  std::vector<BlobRename> rename;
  std::vector<std::string> extra;  // fields of the record that the net does not read
};
/// CloneAndBind with the net's input record bound to `inputs`, field by field by name: the clone reads the
/// blobs of `inputs`. Errors: kInvalidArgument when the net has no input record, or lacks fields in `inputs`
/// (the message names these, and those that `inputs` has and the net does not), and those of CloneAndBind.
Result<BoundToRecord> CloneAndBindRecord(const AnnotatedNet& net, CloneAndBindOptions options,
                                         const Record& inputs);

}  // namespace weft
