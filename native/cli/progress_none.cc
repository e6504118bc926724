// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/progress.h"

namespace weft::cli {

class ProgressLine::Watcher {};

ProgressLine::ProgressLine(std::string) {}
ProgressLine::~ProgressLine() = default;
void ProgressLine::Update(Progress) {}
void ProgressLine::Now(std::string) {}

void RunJob(Job& job, std::string) { Finish(job); }

}  // namespace weft::cli
