// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Session: everything an inspector has open, and what it can be asked. It owns documents (a file's bytes and
// name), the nets in them, and what was worked out about each net; answers are plain values. Ids are dense
// and stay valid until the session ends, also those of closed documents, which then answer with kNotFound.
// Long work is a Job (core/base/job.h): step it between messages, drop it to cancel. A session and its jobs
// belong to one thread; a Scene, once taken, is anybody's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/job.h"
#include "core/base/result.h"
#include "core/check/diagnostic.h"
#include "core/ir/bytes.h"
#include "core/ir/net.h"
#include "core/ops/op_set.h"
#include "core/ssa/print.h"
#include "core/ssa/ssa.h"
#include "inspector/gradient_lines.h"
#include "inspector/scene.h"

namespace weft {

using DocumentId = uint32_t;
using NetId = uint32_t;
using ScopeId = uint32_t;  // per net and layout mode; 0 is the whole net
inline constexpr ScopeId kRootScope = 0;

struct DocumentInfo {
  DocumentId id;
  std::string name;    // as dropped: "resnet50_train.pb"
  std::string format;  // what it was found to be: "NetDef, binary"
  uint64_t bytes;
  std::vector<NetId> nets;
};

struct NetInfo {
  NetId id;
  DocumentId document;
  std::string name;  // the net's own name; may be empty
  std::string type;
  uint32_t num_ops;
  NetId parent = kNone;    // nested nets: the net that holds it,
  OpId parent_op = kNoOp;  // the op in it,
  std::string parent_arg;  // and the argument: "then_net"
  bool has_gradients;      // the mirror layout applies
};

/// An init net and the net whose external inputs it fills.
struct NetPair {
  NetId init, net;
  uint32_t matched;  // external inputs of `net` that `init` writes
  uint32_t missing;  // parameters of `net` that it does not
  bool chosen;       // by ChooseInit
};

/// Opens one file. Step units are bytes.
class OpenJob : public Job {
 public:
  /// The document once finished, or why it could not be read. REQUIRES: Step returned true.
  virtual Result<DocumentId> Take() = 0;
  /// A scene of a large net in outline, see build/sketch.h: once, after the file was walked over and before
  /// it is decoded, where a step ends. Empty at other times and for other files.
  virtual std::vector<uint32_t> Sketch() = 0;
};

enum class LayoutMode : uint32_t { kAuto, kFlow, kMirror };

enum BandMask : uint32_t {
  kShowForward = 1,
  kShowBackward = 2,
  kShowUpdate = 4,
  kShowCollective = 8,
  kShowAllBands = 15,
};

struct ViewOptions {
  LayoutMode mode = LayoutMode::kAuto;           // kAuto: mirror when the net has gradients
  std::optional<std::vector<ScopeId>> expanded;  // nullopt: what DefaultExpanded gives for `budget`
  bool expand_all = false;
  uint32_t budget = 2000;          // boxes that the default expansion may show
  uint32_t bands = kShowAllBands;  // mirror only: which roles are drawn
  bool fold_replicas = true;       // identical device columns are drawn once
  bool show_names = true;          // a second line: what the op is about
  bool show_arguments = false;     // a chip for each argument
  bool show_params = true;         // chips for blobs from outside
  bool show_references = true;     // chips for edges that are not drawn
  bool horizontal = false;         // data flows left to right
  std::vector<NetId> opened;       // nets inside operators that are drawn in their operator's box
  friend bool operator==(const ViewOptions&, const ViewOptions&) = default;
};

/// One net of a scene, with the numbers that the scene gives its first op and its first value.
struct SceneNet {
  NetId net;
  uint32_t around;  // index of the net that it is in; kNone for the outermost
  OpId op;          // the op there that holds it
  uint32_t first_op, num_ops;
  uint32_t first_value, num_values;
  std::vector<uint32_t> taken;  // its own value, the value around: pairs, for what comes in from there
};

/// Builds one scene. Step units are about one op or edge looked at. What is learnt about the net on the way
/// stays in the session, so the next scene of the same net is quick.
class SceneJob : public Job {
 public:
  /// REQUIRES: Step returned true; once only.
  virtual Result<Scene> Take() = 0;
};

struct ScopeInfo {
  ScopeId id = kRootScope;
  ScopeId parent = kNone;  // kNone for the root
  std::string label;       // "res2_0", "ops 4,096-8,191"
  std::string path;        // "gpu_0/res2_0"
  uint32_t depth = 0;
  uint32_t num_ops = 0;     // in it and below, all roles
  uint32_t num_scopes = 0;  // direct children that are scopes
  uint32_t num_direct = 0;  // direct children that are ops
  bool synthetic = false;   // made by cutting a long sequence
  bool user = false;        // made by Group
  uint32_t repeats = 1;     // scopes of this very structure in the net, itself counted
  ScopeId repeat_of = 0;    // the first of them
};

struct ScopeChildren {
  std::vector<ScopeInfo> scopes;
  std::vector<OpId> ops;
};

/// One end of an op: a value that it reads or writes.
struct Port {
  std::string name;   // of the blob
  std::string label;  // "x@2"
  std::string port;   // the operator's own name for it: "W"; empty when unknown
  BlobId blob = kNoBlob;
  ValueId value = kNoValue;
  uint32_t version = 0;
  bool external = false;      // comes from outside, or is a declared output
  bool param = false;         // trained, or filled by an init net
  bool in_place = false;      // same blob on the other side of this op
  OpId writer = kNoOp;        // of inputs
  std::vector<OpId> readers;  // of outputs: who reads this version; at most kMaxListed
  uint32_t num_readers = 0;
  OpId overwritten_by = kNoOp;  // who writes the next version
};
inline constexpr uint32_t kMaxListed = 1000;

struct ArgInfo {
  std::string name;
  std::string type;         // "int", "floats", "net", ...: as declared, or as found when nobody declared it
  std::string value;        // printed; long lists end in "... (4096 values)"
  std::string otherwise;    // declared default, printed; empty when there is none
  bool given = true;        // in the file; false: shown because the operator declares it
  bool declared = false;    // in the operator's table
  bool required = false;    //
  bool mismatch = false;    // the field that is set is not of the declared type
  std::vector<NetId> nets;  // nested nets, to enter
};

struct OpDetails {
  OpId op = kNoOp;
  std::string type, name, engine, device, debug_info, domain, op_version;
  std::string doc;  // empty when the operator is not known
  bool known = false;
  std::vector<std::string> nearest;  // for unknown types: "did you mean"
  Role role = Role::kForward;
  std::optional<bool> is_gradient_op;
  std::vector<GradientLine> gradient;  // what happens when a gradient is asked for
  std::string gradient_rule;           // the rule that says so, in its own notation; empty for functions
  std::vector<Port> inputs, outputs;   // at most kMaxListed of each
  uint32_t num_inputs = 0, num_outputs = 0;
  std::vector<std::string> control_inputs;
  std::vector<ArgInfo> args;
  uint32_t unknown_bytes = 0;      // in fields that we do not know
  OpId forward = kNoOp;            // of gradient, update and collective ops: the op that they serve
  std::vector<OpId> served_by;     // of forward ops: their gradient, update and collective ops
  std::vector<OpId> replicas;      // the same op in the other device columns
  std::vector<ScopeId> scopes;     // from the root's child down, in the mode of the net's last scene
  std::vector<uint32_t> findings;  // indices into Findings()
};

struct BlobVersionDetails {
  ValueId value;
  uint32_t version;
  OpId writer;  // kNoOp: from outside
  uint32_t output;
  std::vector<OpId> readers;  // in order; at most kMaxListed
  uint32_t num_readers;
  OpId last_reader;  // kNoOp when nobody reads it
};

struct BlobDetails {
  BlobId blob;
  std::string name;
  bool external_input, external_output, param;
  std::string gradient;  // the blob that holds its gradient, empty when there is none
  uint32_t num_versions;
  std::vector<BlobVersionDetails> versions;  // rising; those that were asked for
};

/// Finds ops and blobs. Step units are ops.
class SearchJob : public Job {
 public:
  /// Matches so far: those that plain words find by type, then by name, then by their blobs alone; each of
  /// these rising. When the query asks for blobs, ops are those that read or write one.
  virtual std::vector<OpId> ops() const = 0;
  virtual const std::vector<BlobId>& blobs() const = 0;
};

/// A piece of a listing's line, to colour and to link: bytes [begin, end) of its text.
struct ListingPiece {
  uint32_t begin, end;
  TextClass text_class;
  ValueId value = kNoValue;  // the version of a blob that it names
};

struct ListingLine {
  OpId op = kNoOp;  // kNoOp: not an op's line
  std::string text;
  std::vector<ListingPiece> pieces;
};

class Session {
 public:
  /// `ops` must outlive the session.
  explicit Session(const OpSet& ops);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Reads a file of any kind that Caffe2 writes (nets, plans; binary or text), by content.
  std::unique_ptr<OpenJob> Open(std::string name, Bytes bytes);
  /// The same for a file that is read piece by piece; weights stay in it until they are looked at.
  std::unique_ptr<OpenJob> Open(std::string name, FileSource file);
  /// A net that is already in memory, as a document of its own.
  NetId Add(std::string name, Net net);
  void Close(DocumentId document);

  std::vector<DocumentInfo> documents() const;
  /// Nets of open documents, nested ones too where they were entered.
  std::vector<NetInfo> nets() const;
  Result<NetInfo> DescribeNet(NetId net) const;
  /// Which open net fills which, best match first.
  std::vector<NetPair> Pairs();
  /// Says which net fills `net`, whatever their contents: kNone for no net, nothing for what the contents
  /// say. Forgotten when that net is closed. Errors: kNotFound.
  Result<void> ChooseInit(NetId net, std::optional<NetId> init);
  /// The IR, for whoever prints or saves it. Null when there is no such net.
  const Net* net(NetId net) const;

  // Scenes and scopes.

  std::unique_ptr<SceneJob> BuildScene(NetId net, ViewOptions options);
  /// The nets of a scene with these drawn in place, outer before inner, in the order of their operators.
  /// What a net takes from around it has the number of the value there.
  Result<std::vector<SceneNet>> NetsOfScene(NetId net, std::span<const NetId> opened);
  /// Scopes to expand so that at most about `budget` boxes show, outer first: a page starts from these.
  Result<std::vector<ScopeId>> DefaultExpanded(NetId net, LayoutMode mode, uint32_t budget);
  Result<ScopeInfo> DescribeScope(NetId net, LayoutMode mode, ScopeId scope);
  Result<ScopeChildren> Children(NetId net, LayoutMode mode, ScopeId scope);
  /// The scopes around an op, outermost first, the root left out.
  Result<std::vector<ScopeId>> ScopesOf(NetId net, LayoutMode mode, OpId op);
  /// A scope of the user's own around the chosen ops, inside the innermost scope that has them all. Scopes
  /// that are wholly chosen move into it whole. Errors: kInvalidArgument for none, or for ops of several
  /// device columns.
  Result<ScopeId> Group(NetId net, LayoutMode mode, std::span<const OpId> ops, std::string label);
  Result<void> Ungroup(NetId net, LayoutMode mode, ScopeId group);

  // Questions.

  Result<OpDetails> DescribeOp(NetId net, OpId op);
  /// The blob with at most `count` of its versions, from the `first`-th on: blobs may have a million.
  Result<BlobDetails> DescribeBlob(NetId net, BlobId blob, uint32_t first = 0, uint32_t count = 10000);
  Result<BlobId> FindBlob(NetId net, std::string_view name);
  /// The blob of a value, as SceneEdge and SceneChip name them.
  Result<BlobId> BlobOfValue(NetId net, ValueId value);
  /// Ops one step along the data: producers of its inputs (kUp), readers of its outputs (kDown), each once,
  /// in order of inputs, outputs, op index; at most kMaxListed. kLeft and kRight: the previous and next op.
  Result<std::vector<OpId>> Neighbours(NetId net, OpId op, Direction direction);
  /// Everything that `op` depends on (kUp) or that depends on it (kDown) within `depth` steps, rising.
  Result<std::vector<OpId>> Cone(NetId net, OpId op, Direction direction, uint32_t depth);
  /// Query: words, all of which must hold, each one of
  ///   text            in the type, the name or a blob of the op, letters of any case
  ///   type:Conv       type equals; type:Conv* for a prefix; type:/re/
  ///   name:text  blob:text  blob:/_grad$/  reads:x  writes:x
  ///   device:cuda:1  device:cpu  engine:CUDNN  role:backward  scope:res2
  ///   kernel>3  stride=2  order!=NHWC  arg:kernel     argument comparisons: = != < <= > >=
  ///   kernel:7        as kernel=7, and as a text: "conv1:0"
  ///   version>1       writes such a version of a blob (the first write of a fresh blob makes version 1)
  /// A "-" before a word negates it. /re/ knows . [a-z] [^a] * + ? ^ $ | ( ).
  /// Errors: kParse with the column of the word that cannot be read.
  Result<std::unique_ptr<SearchJob>> Search(NetId net, std::string_view query);
  /// What core/check says about the net and the nets inside it.
  Result<std::vector<Diagnostic>> Findings(NetId net);
  /// What the gradient planner knows of this net: per op the forward op that it was generated for, kNoOp for
  /// others. Without it (and with an empty list) a net of up to 50,000 ops is planned again to find out, and
  /// what that does not tell is told from names. Changes scopes and scenes in the mirror layout.
  Result<void> SetOrigins(NetId net, std::vector<OpId> origins);
  /// The nets in the arguments of an op, as nets of this session.
  Result<std::vector<NetId>> NestedNets(NetId net, OpId op);

  /// The net as a program, one op per line: lines [first, first + count). Line numbers are stable.
  Result<std::vector<ListingLine>> Listing(NetId net, uint32_t first, uint32_t count);
  Result<uint32_t> NumLines(NetId net);
  /// The op as protobuf text, all of it: to copy.
  Result<std::string> OpText(NetId net, OpId op);
  /// The line of an op.
  Result<uint32_t> LineOf(NetId net, OpId op);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft
