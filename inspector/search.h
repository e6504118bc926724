// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The query language of Session::Search, and the job that runs a query over a net.
#pragma once

#include <memory>
#include <string_view>

#include "inspector/build/net_model.h"

namespace weft {

/// The model must outlive the job. Errors: kParse with the column of the word at fault.
Result<std::unique_ptr<SearchJob>> MakeSearchJob(NetModel& model, LayoutMode mode, std::string_view query);

}  // namespace weft
