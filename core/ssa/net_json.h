// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Nets and plans as JSON and as DOT, for programs that read neither protobuf format. Both say which version
// of a blob each operator reads and writes. They are written, never read back.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/ir/plan.h"
#include "core/roles/role.h"

namespace weft {

/// The role of each operator of a net.
using RolesOf = std::function<std::vector<Role>(const Net&)>;

/// The members name, type, external_input, external_output and operators of an object. An operator is
/// {"op","type","role","inputs":[[blob,version]...],"outputs":[...]} and, where the file has them, "name",
/// "engine", "device", "is_gradient_op", "control_inputs", "debug_info", "domain", "op_version" and
/// "args":[{"name", then the fields that are set:
/// "f","i","s","floats","ints","strings","n","nets","t_bytes"}]; "n" and "nets" are objects with these
/// members.
void WriteNet(JsonWriter& json, const Net& net, const RolesOf& roles);

/// An array of {"name","nets":[names],"steps":[...]} and, where the file has them, "iterations", "until" (the
/// blob that stops it), "concurrent", "instances", "only_once", "own_workspace", "every_ms", "report_net",
/// "report_seconds", "criteria_net".
void WriteSteps(JsonWriter& json, const Plan& plan, const std::vector<Step>& steps);

/// A digraph: operators are boxes with their role's colour, edges are values with "blob@version"; what comes
/// from outside and what goes there are plain words; control inputs are dotted. A net inside an operator is a
/// cluster, as are nets where there are several.
std::string DotOf(const std::vector<const Net*>& nets, const RolesOf& roles);

}  // namespace weft
