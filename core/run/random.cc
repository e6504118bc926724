// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/random.h"

#include <cmath>

namespace weft {

RandomGenerator::RandomGenerator(uint32_t seed) {
  state_[0] = seed;
  for (int i = 1; i < kSize; ++i)
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
}

void RandomGenerator::Refill() {
  constexpr int kMiddle = 397;
  for (int i = 0; i < kSize; ++i) {
    const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
    state_[i] = state_[(i + kMiddle) % kSize] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
  }
  next_ = 0;
}

uint32_t RandomGenerator::Next() {
  if (next_ == kSize) Refill();
  uint32_t y = state_[next_++];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

float RandomGenerator::Canonical() {
  const float value = static_cast<float>(Next()) / 4294967296.0f;
  return value < 1.0f ? value : std::nextafter(1.0f, 0.0f);
}

double RandomGenerator::CanonicalDouble() {
  const double low = Next();
  const double value = (low + Next() * 4294967296.0) / 18446744073709551616.0;
  return value < 1.0 ? value : std::nextafter(1.0, 0.0);
}

float RandomGenerator::Uniform(float low, float high) { return Canonical() * (high - low) + low; }

double RandomGenerator::UniformDouble(double low, double high) {
  return CanonicalDouble() * (high - low) + low;
}

int64_t RandomGenerator::UniformInt(int64_t low, int64_t high) {
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  constexpr uint64_t kDraw = 0xffffffffu;  // largest single draw
  uint64_t value;
  if (range < kDraw) {
    const uint64_t count = range + 1;
    const uint64_t scale = kDraw / count;
    do {
      value = Next();
    } while (value >= count * scale);
    value /= scale;
  } else if (range == kDraw) {
    value = Next();
  } else {
    uint64_t upper;
    do {
      upper = (kDraw + 1) * static_cast<uint64_t>(UniformInt(0, static_cast<int64_t>(range / (kDraw + 1))));
      value = upper + Next();
    } while (value > range || value < upper);
  }
  return static_cast<int64_t>(value + static_cast<uint64_t>(low));
}

bool RandomGenerator::Bernoulli(double probability) { return CanonicalDouble() < probability; }

float NormalDistribution::operator()(RandomGenerator& generator) {
  float value;
  if (saved_) {
    value = *saved_;
    saved_.reset();
  } else {
    float x, y, square;
    do {
      x = static_cast<float>(2.0f * generator.Canonical() - 1.0);
      y = static_cast<float>(2.0f * generator.Canonical() - 1.0);
      square = x * x + y * y;
    } while (square > 1.0f || square == 0.0f);
    const float scale = std::sqrt(-2 * std::log(square) / square);
    saved_ = x * scale;
    value = y * scale;
  }
  return value * deviation_ + mean_;
}

}  // namespace weft
