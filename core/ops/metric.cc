// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is measured, not trained on: accuracy, histograms, quantiles, running windows and samples.
#include "core/ops/families.h"

namespace weft {

namespace {

using enum GradientPolicy;

constexpr OpDef kOps[] = {
    {.name = "Accumulate",
     .doc = "Running sum: Y = gamma Y + X, starting at 0.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "gamma:float=1.0",
     .policy = kForbidden,
     .shape = "Y = X",
     .cost = "2*|X|",
     .tier = 2,
     .flags = kStateful},
    {.name = "AccumulateHistogram",
     .doc = "Histogram of X: num_buckets between lower_bound and upper_bound and one on either "
            "side, for this run and summed over all runs.",
     .in = 1,
     .out = 2,
     .ports = "X -> current total",
     .args = "lower_bound:float=0.0 upper_bound:float=1.0 num_buckets:int=1",
     .policy = kForbidden,
     .shape = "current, total = [@num_buckets + 2] : int64",
     .tier = 2,
     .flags = kStateful},
    {.name = "Accuracy",
     .doc = "Fraction of the rows of predictions [N, D] whose label is among their top_k largest "
            "scores.",
     .in = 2,
     .out = 1,
     .ports = "predictions labels -> accuracy",
     .args = "top_k:int=1",
     .policy = kForbidden,
     .shape = "accuracy = [] : float",
     .tier = 1},
    {.name = "APMeter",
     .doc = "Average precision of each class over the last buffer_size rows of predictions X [N, D] "
            "and 0/1 labels [N, D] that it has seen: D numbers.",
     .in = 2,
     .out = 1,
     .ports = "X labels -> AP",
     .args = "buffer_size:int=1000",
     .policy = kForbidden,
     .shape = "AP = [X.1]",
     .tier = 3,
     .flags = kStateful},
    {.name = "BisectPercentile",
     .doc = "Percentile of each element of X [N, D] in the mapping of its column, found by "
            "bisection in the lists that the arguments give.",
     .in = 1,
     .out = 1,
     .ports = "X -> Y",
     .args = "percentile_raw:floats percentile_mapping:floats percentile_lower:floats "
             "percentile_upper:floats lengths:ints",
     .policy = kNone,
     .shape = "Y = X",
     .tier = 3},
    {.name = "Histogram",
     .doc = "How many elements of all inputs fall between each two neighbours of the increasing "
            "bin_edges.",
     .in = {1, kAny},
     .out = 1,
     .ports = "X... -> counts",
     .args = "bin_edges:floats",
     .policy = kForbidden,
     .shape = "counts = [#@bin_edges - 1] : int64",
     .tier = 3},
    {.name = "LastNWindowCollector",
     .doc = "Ring buffer of the last num_to_collect rows of data; next says where the following row "
            "goes, count how many were seen.",
     .in = {0, kAny},
     .out = {2, 3},
     .arities = "3/2 3/3 4/2 4/3 5/2 5/3",
     .ports = "last_n next data mutex? count? -> last_n next count?",
     .args = "num_to_collect:int=-1",
     .enforced = "0>0 1>1 4>2",
     .policy = kForbidden,
     .shape = "last_n = [?, data[1:]] : data; next = [] : int32; count = [] : int64",
     .tier = 2,
     .flags = kStateful},
    {.name = "MultiClassAccuracy",
     .doc = "For each class: the fraction of its rows that were predicted right, and how many rows "
            "it has.",
     .in = 2,
     .out = 2,
     .ports = "predictions labels -> accuracies amounts",
     .policy = kForbidden,
     .shape = "accuracies = [predictions.1]; amounts = [predictions.1] : int32",
     .tier = 2},
    {.name = "Percentile",
     .doc = "Percentile of each element of X [N, D], interpolated in the (value, percentile) rows "
            "of mapping that belong to its column; lengths says how many rows each column has.",
     .in = 3,
     .out = 1,
     .ports = "X mapping lengths -> Y",
     .policy = kNone,
     .shape = "Y = X",
     .tier = 3},
    {.name = "Perplexity",
     .doc = "The product of 1 / p^(1/N) over the N probabilities.",
     .in = 1,
     .out = 1,
     .ports = "probabilities -> Y",
     .policy = kForbidden,
     .shape = "Y = []",
     .tier = 2},
    {.name = "Quantile",
     .doc = "The value below which the fraction quantile of all elements lies (of their absolute "
            "values with abs), found to within tol.",
     .in = {1, kAny},
     .out = 1,
     .ports = "X... -> Y",
     .args = "abs:bool=1 tol:float=1e-3 quantile:float=-1.0",
     .policy = kForbidden,
     .shape = "Y = [1]",
     .tier = 3},
    {.name = "ReservoirSampling",
     .doc = "Keeps a uniform sample of num_to_collect rows of all data that it has seen; with ids, "
            "each object at most once.",
     .in = {0, kAny},
     .out = {0, kAny},
     .arities = "4/2 7/4",
     .ports = "reservoir seen data mutex object_ids? object_to_pos? pos_to_object? -> reservoir seen "
              "object_to_pos? pos_to_object?",
     .args = "num_to_collect:int=-1",
     .inplace = "6>2",
     .enforced = "0>0 1>1 5>2 6>3",
     .policy = kForbidden,
     .shape =
         "reservoir = [?, data[1:]] : data; seen = seen; object_to_pos = object; pos_to_object = [?] : int64",
     .tier = 2,
     .flags = kRandom | kStateful},
    {.name = "SelfBinningHistogram",
     .doc = "Histogram of all inputs over num_bins bins between their smallest and largest element, "
            "spaced linear or logarithmic.",
     .in = {1, kAny},
     .out = 2,
     .ports = "X... -> edges counts",
     .args = "num_bins:int=0 bin_spacing:string=linear logspace_start:float=1e-24 abs:bool=0",
     .policy = kForbidden,
     .shape = "edges = [@num_bins + 1]; counts = [@num_bins + 1] : int64",
     .tier = 3},
    {.name = "Summarize",
     .doc = "Minimum, maximum, mean and standard deviation of X, printed, or written to a file with "
            "to_file: four numbers.",
     .in = 1,
     .out = {0, 1},
     .ports = "X -> stats?",
     .args = "to_file:int=0",
     .policy = kForbidden,
     .shape = "stats = [4] : float",
     .tier = 2},
};

}  // namespace

OpFamily MetricOps() { return kOps; }

}  // namespace weft
