// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/ops/op_set.h"
#include "inspector/pattern.h"
#include "tests/inspector/scene_checks.h"
#include "tests/support/compact_net.h"

namespace weft::test {
namespace {

bool Matches(std::string_view expression, std::string_view text) {
  Result<Pattern> pattern = Pattern::Compile(expression);
  EXPECT_TRUE(pattern.has_value()) << expression;
  return pattern.has_value() && pattern->Search(text);
}

TEST(Pattern, KnowsWhatItSays) {
  EXPECT_TRUE(Matches("_grad$", "x_grad"));
  EXPECT_FALSE(Matches("_grad$", "x_grad_0"));
  EXPECT_TRUE(Matches("^conv[0-9]+_w$", "conv12_w"));
  EXPECT_FALSE(Matches("^conv[0-9]+_w$", "conv_w"));
  EXPECT_TRUE(Matches("a.c", "xxabcxx"));
  EXPECT_TRUE(Matches("(ab|cd)+e?$", "ababcd"));
  EXPECT_TRUE(Matches("[^a-y]", "aaz"));
  EXPECT_FALSE(Matches("[^a-z]", "aaz"));
  EXPECT_TRUE(Matches("\\.", "a.b"));
  EXPECT_FALSE(Matches("\\.", "ab"));
  EXPECT_TRUE(Matches("", "anything"));
  EXPECT_TRUE(Matches("x*", ""));
  EXPECT_TRUE(Matches("^$", ""));
  EXPECT_FALSE(Matches("^$", "a"));
  EXPECT_TRUE(Matches("[]a]", "]"));
}

TEST(Pattern, IsLinearWhereBacktrackingIsNot) {
  const std::string text(3000, 'a');
  EXPECT_FALSE(Matches("(a*)*(a*)*(a*)*b", text));
}

TEST(Pattern, SaysWhereItIsWrong) {
  const auto error = [](std::string_view expression) { return Pattern::Compile(expression).error().message; };
  EXPECT_EQ(error("a("), "column 3 of the expression: '(' without ')'");
  EXPECT_EQ(error("a)b"), "column 2 of the expression: ')' without '('");
  EXPECT_EQ(error("*a"), "column 1 of the expression: nothing to repeat before '*'");
  EXPECT_EQ(error("[abc"), "column 5 of the expression: '[' without ']'");
  EXPECT_EQ(error("[z-a]"), "column 5 of the expression: a range that runs backwards");
  EXPECT_EQ(error(std::string(200, '(')), "column 52 of the expression: parentheses nested too deep");
}

class SearchTest : public ::testing::Test {
 protected:
  SearchTest() : session_(StandardOps()), net_(OpenModel(session_, "models/resnet50_train_2gpu.pb")) {}

  std::unique_ptr<SearchJob> Run(std::string_view query) {
    Result<std::unique_ptr<SearchJob>> job = session_.Search(net_, query);
    EXPECT_TRUE(job.has_value()) << (job ? "" : job.error().message);
    Finish(**job);
    return std::move(job).value();
  }
  size_t Count(std::string_view query) { return Run(query)->ops().size(); }
  std::string ErrorOf(std::string_view query) { return session_.Search(net_, query).error().message; }

  Session session_;
  NetId net_;
};

TEST_F(SearchTest, TypesNamesAndDevices) {
  EXPECT_EQ(Count("type:Conv"), 106u);
  EXPECT_EQ(Count("type:Conv device:cuda:1"), 53u);
  EXPECT_EQ(Count("type:conv"), 0u);
  EXPECT_EQ(Count("type:Conv*"), 212u);
  EXPECT_EQ(Count("type:Conv* -type:Conv"), 106u);
  EXPECT_EQ(Count("type:/^(Conv|FC)$/"), 108u);
  EXPECT_EQ(Count("CONV type:Conv"), 106u);
  EXPECT_EQ(Count("engine:CUDNN type:Conv"), 106u);
  EXPECT_EQ(Count("device:cpu"), 1u);
  EXPECT_EQ(Count("role:update"), 431u);
  EXPECT_EQ(Count("role:collective"), 320u);
  EXPECT_EQ(Count("scope:comp_3 role:forward"), 24u);
  EXPECT_EQ(Count(""), 0u);
}

TEST_F(SearchTest, Arguments) {
  EXPECT_EQ(Count("kernel=7 type:Conv"), 2u);
  EXPECT_EQ(Count("kernel>3 type:Conv"), 2u);
  EXPECT_EQ(Count("kernel>=3 type:Conv"), Count("kernel>2 type:Conv"));
  EXPECT_EQ(Count("kernel!=1 type:Conv") + Count("kernel=1 type:Conv"), 106u);
  EXPECT_EQ(Count("arg:momentum"), Count("type:MomentumSGDUpdate") + Count("type:/^SpatialBN/ arg:momentum"));
  EXPECT_EQ(Count("order=NCHW type:Conv"), 106u);
  EXPECT_EQ(Count("order!=NCHW type:Conv"), 0u);
}

TEST_F(SearchTest, AColonAsksForAnArgumentOrForText) {
  EXPECT_EQ(Run("kernel:7")->ops(), Run("kernel=7")->ops());
  EXPECT_GT(Count("kernel:7"), 0u);
  EXPECT_EQ(Run("conv order:NCHW")->ops(), Run("conv order=NCHW")->ops());
  EXPECT_EQ(Run("order:\"NCHW\" type:Conv")->ops(), Run("type:Conv")->ops());
  EXPECT_EQ(Count("kernel:7 type:Conv") + Count("-kernel:7 type:Conv"), Count("type:Conv"));
  EXPECT_EQ(Run("version:2")->ops(), Run("version=2")->ops());
  EXPECT_EQ(Count("version:none"), 0u);
  EXPECT_EQ(Count("\"kernel:7\""), 0u);  // quoted: only as a text
}

TEST_F(SearchTest, Blobs) {
  const std::unique_ptr<SearchJob> w = Run("blob:/^gpu_0\\/conv1_w$/");
  ASSERT_EQ(w->blobs().size(), 1u);
  EXPECT_EQ(session_.DescribeBlob(net_, w->blobs()[0]).value().name, "gpu_0/conv1_w");
  EXPECT_EQ(w->ops().size(), 3u);  // Conv, its gradient, its update
  EXPECT_EQ(Count("writes:gpu_0/conv1_w"), 1u);
  EXPECT_EQ(Count("reads:gpu_0/conv1_w"), 3u);
  // Its update, its gradient op and the collective.
  EXPECT_EQ(Count("writes:gpu_0/conv1_w*"), 3u);
  EXPECT_GT(Count("version>1"), 300u);
  EXPECT_EQ(Run("pool1")->blobs().size(), Run("blob:pool1")->blobs().size());
  const std::unique_ptr<SearchJob> none = Run("type:Conv nosuchname");
  EXPECT_TRUE(none->ops().empty());
  EXPECT_TRUE(none->blobs().empty());
}

TEST(Search, TypesComeBeforeNamesAndNamesBeforeBlobs) {
  Session session(StandardOps());
  Net net = testing::CompactNet(
      "in x; MaxPool(x) -> conv1_pool; Relu(conv1_pool) -> y; Conv(y, w, b) -> z; Relu(z) -> u; Conv(u, w, "
      "b) -> v");
  net.ops[3].name = net.Intern("after_conv");
  const NetId id = session.Add("small", net);
  const auto ops = [&](std::string_view query) {
    std::unique_ptr<SearchJob> job = session.Search(id, query).value();
    Finish(*job);
    return job->ops();
  };
  EXPECT_EQ(ops("conv"), (std::vector<OpId>{2, 4, 3, 0, 1}));
  EXPECT_EQ(ops("conv -type:Conv"), (std::vector<OpId>{3, 0, 1}));
  EXPECT_EQ(ops("relu conv"), (std::vector<OpId>{1, 3}));  // both by one type
  EXPECT_EQ(ops("reads:w"), (std::vector<OpId>{2, 4}));
  EXPECT_EQ(ops("-type:Conv"), (std::vector<OpId>{0, 1, 3}));
}

TEST_F(SearchTest, MayBeSlicedAndWatched) {
  std::unique_ptr<SearchJob> job = session_.Search(net_, "type:Conv").value();
  int steps = 0;
  size_t last = 0;
  while (!job->Step(100)) {
    ++steps;
    EXPECT_GE(job->ops().size(), last);
    last = job->ops().size();
  }
  EXPECT_EQ(steps, 14);
  EXPECT_EQ(job->ops(), Run("type:Conv")->ops());
}

TEST_F(SearchTest, SaysWhatItCannotRead) {
  EXPECT_EQ(ErrorOf("type:Conv kernel>x"), "column 11: 'x' is not a number");
  EXPECT_EQ(ErrorOf("blob:/(/"), "column 1: column 2 of the expression: '(' without ')'");
  EXPECT_EQ(ErrorOf("blob:/abc"), "column 1: '/' without a second one");
  EXPECT_EQ(ErrorOf("a device:toaster"), "column 3: 'toaster' is not a device type");
  EXPECT_EQ(ErrorOf("role:hero"), "column 1: a role is forward, backward, update or collective");
  EXPECT_EQ(ErrorOf("kernel!3"), "column 1: '!' must be followed by '='");
  EXPECT_EQ(ErrorOf("kernel="), "column 1: nothing to compare 'kernel' with");
  EXPECT_EQ(ErrorOf("type:"), "column 1: a word that says nothing");
}

TEST(Search, QuotedWordsAndDefaults) {
  Session session(StandardOps());
  Net net = testing::CompactNet("in x; MaxPool(x) -> y; Relu(y) -> z");
  net.ops[0].args = WithArg(net.ops[0].args, MakeArg(net.Intern("note"), std::string("two words")));
  const NetId id = session.Add("small", net);
  const auto count = [&](std::string_view query) {
    std::unique_ptr<SearchJob> job = session.Search(id, query).value();
    Finish(*job);
    return job->ops().size();
  };
  EXPECT_EQ(count("note=\"two words\""), 1u);
  EXPECT_EQ(count("blob:\"z\""), 1u);
  EXPECT_EQ(count("order=NCHW"), 1u);  // not given: the operator's default
  net.ops[1].outputs[0] = net.Intern("relu1:0");
  const NetId tensorflow = session.Add("colons", net);
  std::unique_ptr<SearchJob> job = session.Search(tensorflow, "relu1:0").value();
  Finish(*job);
  EXPECT_EQ(job->ops(), std::vector<OpId>{1});
  EXPECT_EQ(job->blobs().size(), 1u);
}

}  // namespace
}  // namespace weft::test
