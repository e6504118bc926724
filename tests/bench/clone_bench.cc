// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Cloning, renaming, cutting and comparing nets of every generated shape.
#include "core/base/check.h"
#include "core/base/str.h"
#include "core/ssa/clone.h"
#include "core/ssa/diff.h"
#include "core/ssa/form.h"
#include "tests/bench/bench.h"
#include "tests/support/generate_nets.h"

int main(int argc, char** argv) {
  using namespace weft;
  using namespace weft::testing;
  for (size_t size : bench::Sizes(argc, argv)) {
    for (const Net& net : {ResidualNet(size), ResidualNet(size, Pass::kTraining), ChainNet(size),
                           InPlaceChainNet(size), StarNet(size), LadderNet(size)}) {
      const std::string_view name = net.Str(net.name);
      bench::Measure(StrCat("clone ", name), size, [&] {
        WEFT_CHECK(Clone(net, {.name = "c", .update_external_list = true}).has_value());
      });
      bench::Measure(StrCat("bind ", name), size,
                     [&] { WEFT_CHECK(CloneAndBind(net, {.name = "c", .prefix = "p/"}).has_value()); });
      bench::Measure(StrCat("partial ", name), size, [&] {
        WEFT_CHECK(ClonePartial(net, {.name = "c", .outputs = net.external_outputs}).has_value());
      });
      bench::Measure(StrCat("form ", name), size,
                     [&] { WEFT_CHECK(ToSsaForm(net, StandardOps()).has_value()); });
      const Net bound = CloneAndBind(net, {.name = "c", .prefix = "p/"})->net;
      bench::Measure(StrCat("diff ", name), size, [&] { WEFT_CHECK(DiffNets(net, bound).same()); });
    }
  }
}
