// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Random numbers as Caffe2 on a CPU gets them: the MT19937 generator and the distributions as libstdc++ of
// GCC 7 computes them, written out so that every platform draws the same values. One generator per operator;
// not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

namespace weft {

class RandomGenerator {
 public:
  explicit RandomGenerator(uint32_t seed);

  /// The next 32 bits.
  uint32_t Next();
  /// In [0, 1) with 24 random bits; and with 53 (two draws).
  float Canonical();
  double CanonicalDouble();
  float Uniform(float low, float high);
  double UniformDouble(double low, double high);
  /// Evenly among low..high, both included.
  int64_t UniformInt(int64_t low, int64_t high);
  /// True with this probability.
  bool Bernoulli(double probability);

 private:
  void Refill();

  static constexpr int kSize = 624;
  uint32_t state_[kSize];
  int next_ = kSize;
};

/// std::normal_distribution<float>: draws pairs and keeps the second for the next call.
class NormalDistribution {
 public:
  NormalDistribution(float mean, float deviation) : mean_(mean), deviation_(deviation) {}
  float operator()(RandomGenerator& generator);

 private:
  float mean_, deviation_;
  std::optional<float> saved_;
};

}  // namespace weft
