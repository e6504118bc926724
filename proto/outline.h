// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening a large file without its payloads: the file is walked piece by piece, and what is read of it is the
// same message less the contents of large arguments (weights), which stay in the file until Arg::Load asks
// for them. One walk belongs to one thread; the document keeps the FileSource.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "proto/document.h"

namespace weft {

class FileOpener final : public Job {
 public:
  /// `options.name` must outlive the opener.
  FileOpener(std::shared_ptr<const FileSource> file, OpenOptions options);

  /// A unit is one byte of the file that is walked over or read.
  bool Step(uint64_t units) override;
  Progress progress() const override { return {at_, file_->size}; }
  /// Calls `see` with the bytes of each operator that is walked over (OperatorDef, less large arguments,
  /// valid in the call alone), should the file be a net.
  void OnOp(std::function<void(std::string_view op)> see) { see_ = std::move(see); }
  /// The whole file was walked over as a net, and the next step decodes it. A step ends here.
  bool walked() const { return walked_; }
  /// As Open (document.h). REQUIRES: Step returned true. Call once.
  Result<Document> Take();

 private:
  struct LeftOut {
    uint32_t op, arg;
    uint16_t has;
    uint64_t offset, size;
  };
  // A tag and, of a length-delimited field, its length.
  struct Head {
    uint32_t tag;
    uint64_t body, end;  // of what follows the tag (and the length), in the file
  };

  std::string_view Peek(uint64_t offset, uint64_t size);
  bool ReadHead(uint64_t at, uint64_t end, Head& head);
  bool Copy(uint64_t begin, uint64_t end, std::string& out);
  bool Next();
  bool TakeOp(const Head& op);
  bool LeaveOut(const Head& arg, std::string& out, LeftOut& left);
  Result<void> OpenOutline();

  std::shared_ptr<const FileSource> file_;
  OpenOptions options_;
  std::string window_;  // of the file, from window_at_ on
  uint64_t window_at_ = 0, at_once_ = 0;
  uint64_t at_ = 0;
  uint32_t ops_ = 0;
  std::string outline_;
  std::function<void(std::string_view)> see_ = [](std::string_view) {};
  std::vector<LeftOut> left_;
  bool walked_ = false, done_ = false;
  Result<Document> result_ = Document();
};

}  // namespace weft
