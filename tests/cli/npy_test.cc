// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// .npy files: every element type, both byte orders, both layouts, all three versions; damaged files are
// refused with a reason and never read past their end.
#include "native/io/npy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/str.h"

namespace weft {
namespace {

// The file that NumPy would write, but for the padding.
std::string Npy(std::string_view descr, std::string_view shape, std::string_view data, bool fortran = false,
                int version = 1) {
  const std::string header = StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran ? "True" : "False",
                                    ", 'shape': ", shape, ", }\n");
  std::string out =
      StrCat("\x93NUMPY", static_cast<char>(version), '\0', static_cast<char>(header.size()), '\0');
  if (version > 1) out += std::string(2, '\0');
  return StrCat(out, header, data);
}

template <typename T>
std::string Data(std::vector<T> values, bool swap = false) {
  std::string out(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  if (swap)
    for (size_t at = 0; at < out.size(); at += sizeof(T)) std::reverse(&out[at], &out[at] + sizeof(T));
  return out;
}

template <typename T>
void ExpectTensor(const std::string& file, std::vector<int64_t> dims, std::vector<T> values) {
  const Result<Tensor> read = ReadNpy(file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(DimsToString(read->dims()), DimsToString(dims));
  ASSERT_EQ(read->type(), DataTypeOf<T>);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), read->data<T>(), read->data<T>() + read->numel()));
}

TEST(Npy, ReadsEveryTypeInBothByteOrders) {
  for (const bool big : {false, true}) {
    const std::string order = big ? ">" : "<";
    ExpectTensor<float>(Npy(order + "f4", "(2, 1)", Data<float>({1.5f, -2}, big)), {2, 1}, {1.5f, -2});
    ExpectTensor<double>(Npy(order + "f8", "(2,)", Data<double>({1e300, -2}, big)), {2}, {1e300, -2});
    ExpectTensor<Half>(Npy(order + "f2", "(1,)", Data<uint16_t>({0x3c00}, big)), {1}, {Half{0x3c00}});
    ExpectTensor<int16_t>(Npy(order + "i2", "(2,)", Data<int16_t>({-3, 300}, big)), {2}, {-3, 300});
    ExpectTensor<int32_t>(Npy(order + "i4", "(1,)", Data<int32_t>({-70000}, big)), {1}, {-70000});
    ExpectTensor<int64_t>(Npy(order + "i8", "(1,)", Data<int64_t>({-(int64_t{1} << 40)}, big)), {1},
                          {-(int64_t{1} << 40)});
    ExpectTensor<uint16_t>(Npy(order + "u2", "(1,)", Data<uint16_t>({65535}, big)), {1}, {65535});
    ExpectTensor<int64_t>(Npy(order + "u4", "(1,)", Data<uint32_t>({4000000000u}, big)), {1}, {4000000000});
    ExpectTensor<int64_t>(Npy(order + "u8", "(1,)", Data<uint64_t>({7}, big)), {1}, {7});
    ExpectTensor<std::string>(Npy(order + "U2", "(2,)", Data<uint32_t>({'a', 0xe9, 0x1f600, 0}, big)), {2},
                              {"a\xc3\xa9", "\xf0\x9f\x98\x80"});
  }
  ExpectTensor<uint8_t>(Npy("|u1", "(2,)", "\x01\xff"), {2}, {1, 255});
  ExpectTensor<int8_t>(Npy("|i1", "(1,)", "\xff"), {1}, {-1});
  ExpectTensor<bool>(Npy("|b1", "(3,)", std::string("\0\1\2", 3)), {3}, {false, true, true});
  ExpectTensor<std::string>(Npy("|S3", "(2,)", std::string("ab\0abc", 6)), {2}, {"ab", "abc"});
}

TEST(Npy, ReadsShapesLayoutsAndVersions) {
  ExpectTensor<float>(Npy("<f4", "()", Data<float>({7})), {}, {7});
  ExpectTensor<float>(Npy("<f4", "(0, 3)", ""), {0, 3}, {});
  ExpectTensor<float>(Npy("<f4", "(2, 3)", Data<float>({1, 4, 2, 5, 3, 6}), true), {2, 3},
                      {1, 2, 3, 4, 5, 6});
  ExpectTensor<int32_t>(Npy("<i4", "(2, 2, 2)", Data<int32_t>({0, 4, 2, 6, 1, 5, 3, 7}), true), {2, 2, 2},
                        {0, 1, 2, 3, 4, 5, 6, 7});
  for (const int version : {2, 3})
    ExpectTensor<float>(Npy("<f4", "(1L,)", Data<float>({7}), false, version), {1}, {7});
}

TEST(Npy, RefusesWithAReason) {
  const auto message = [](std::string_view file) {
    const Result<Tensor> read = ReadNpy(file);
    return read ? "read" : read.error().message;
  };
  EXPECT_EQ(message(""), "no .npy file: expected it to begin with \"\\223NUMPY\", found nothing");
  EXPECT_NE(message("PK\3\4").find(".npz archive"), std::string::npos);
  EXPECT_EQ(message(Npy("<f4", "(3,)", Data<float>({1, 2}))),
            "a .npy file cut off: <f4 [3] needs 3 elements of 4 bytes, 8 bytes are there");
  EXPECT_EQ(message(Npy("<f4", "(1,)", Data<float>({1, 2}))),
            "a .npy file with 4 bytes behind its array <f4 [1]");
  EXPECT_NE(message(Npy("|O", "(1,)", "")).find("Python objects"), std::string::npos);
  EXPECT_NE(message(Npy("<c8", "(1,)", "")).find("complex numbers"), std::string::npos);
  EXPECT_NE(message(Npy("<M8[ns]", "(1,)", "")).find("dates"), std::string::npos);
  EXPECT_NE(message(Npy("<f3", "(1,)", "")).find("unknown element type"), std::string::npos);
  EXPECT_EQ(message(Npy("<u8", "(1,)", Data<uint64_t>({~uint64_t{0}}))),
            "a uint64 of 18446744073709551615: tensors hold at most int64");
  EXPECT_NE(message(Npy("<f4", "(4294967296, 4294967296)", "")).find("impossible dimensions"),
            std::string::npos);
  EXPECT_NE(message(Npy("<f4", "(99999999999999999999,)", "")).find("a smaller dimension"),
            std::string::npos);
  EXPECT_NE(message(Npy("<f4", "(-1,)", "")).find("expected a dimension"), std::string::npos);
  EXPECT_NE(message(Npy("|S0", "(4611686018427387904,)", "")).find("cut off"), std::string::npos);
  EXPECT_NE(message(Npy("<f4", "(1,)", "", false, 9)).find("version 9"), std::string::npos);
}

TEST(Npy, NoCutOrChangedByteBreaksIt) {
  for (const std::string& file :
       {Npy("<f4", "(2, 3)", Data<float>({1, 4, 2, 5, 3, 6}), true),
        Npy(">U2", "(2,)", Data<uint32_t>({1, 2, 3, 4})), Npy("|b1", "(1,)", "\1")}) {
    for (size_t size = 0; size < file.size(); ++size) EXPECT_FALSE(ReadNpy(file.substr(0, size)));
    for (size_t at = 0; at < file.size(); ++at)
      for (const char c : {'\0', '\xff', '9', '(', '\''}) {
        std::string changed = file;
        changed[at] = c;
        const Result<Tensor> read = ReadNpy(changed);  // an error or a tensor; sanitizers watch
        EXPECT_TRUE(!read || read->numel() <= 24);
      }
  }
}

TEST(Npy, WritesWhatItReads) {
  const auto round = [](const Tensor& tensor) {
    const Result<std::string> bytes = WriteNpy(tensor);
    EXPECT_TRUE(bytes);
    EXPECT_EQ((10 + static_cast<unsigned char>((*bytes)[8]) + 256 * (*bytes)[9]) % 64, 0);
    const Result<Tensor> read = ReadNpy(*bytes);
    EXPECT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->type(), tensor.type());
    EXPECT_EQ(DimsToString(read->dims()), DimsToString(tensor.dims()));
    EXPECT_EQ(*WriteNpy(*read), *bytes);
  };
  const int64_t matrix[] = {2, 2}, list[] = {4}, none[] = {0, 3};
  round(Tensor::Of<float>(matrix, std::vector<float>{1, 2, 3, 4}));
  round(Tensor::Of<double>(list, std::vector<double>{1, 2, 3, 4}));
  round(Tensor::Of<Half>(list, std::vector<Half>{{1}, {2}, {3}, {4}}));
  round(Tensor::Of<int8_t>(list, std::vector<int8_t>{1, 2, 3, -4}));
  round(Tensor::Of<uint8_t>(list, std::vector<uint8_t>{1, 2, 3, 4}));
  round(Tensor::Of<int16_t>(list, std::vector<int16_t>{1, 2, 3, 4}));
  round(Tensor::Of<uint16_t>(list, std::vector<uint16_t>{1, 2, 3, 4}));
  round(Tensor::Of<int32_t>(list, std::vector<int32_t>{1, 2, 3, 4}));
  round(Tensor::Of<int64_t>(none, std::vector<int64_t>{}));
  round(Tensor::Of<std::string>(matrix, std::vector<std::string>{"a", "", "ccc", "dd"}));
  round(Tensor::Scalar<bool>(true));
  EXPECT_EQ(WriteNpy(Tensor::Scalar<float>(1))->substr(10, 60),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (), }     ");
  EXPECT_FALSE(WriteNpy(Tensor()));
  EXPECT_FALSE(WriteNpy(Tensor::Scalar<std::string>(std::string("a\0", 2))));
}

}  // namespace
}  // namespace weft
