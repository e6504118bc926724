// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading files in tests, native and under node alike.
#pragma once

#include <string>
#include <string_view>

namespace weft::test {

/// The path of a file under tests/data.
std::string DataPath(std::string_view name);
/// The bytes of a file; the test program ends with a message when there is none.
std::string ReadFile(const std::string& path);
bool FileExists(const std::string& path);

}  // namespace weft::test
