// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The nets under tests/data/models.
#pragma once

namespace weft::test {

inline constexpr const char* kModels[] = {
    "alexnet_train",
    "alexnet_train_init",
    "char_rnn_2",
    "char_rnn_2_init",
    "dlrm_26",
    "dlrm_26_init",
    "inception_train",
    "inception_train_init",
    "overfeat_train",
    "overfeat_train_init",
    "resnet50_train",
    "resnet50_train_2gpu",
    "resnet50_train_2gpu_4shards_gloo",
    "resnet50_train_2gpu_4shards_gloo_init",
    "resnet50_train_2gpu_init",
    "resnet50_train_8gpu",
    "resnet50_train_8gpu_init",
    "resnet50_train_init",
    "vgga_train",
    "vgga_train_init",
};

}  // namespace weft::test
