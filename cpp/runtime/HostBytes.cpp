// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostBytes.cpp: long arrays of the host, by several threads where one would take long.
// Input: memory of the host; output: a copy of it, its digest, true if two are equal.
// Refused: nothing.
#include "HostBytes.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace xetile::runtime {
namespace {

/// `part` with the first of its bytes and their number, a multiple of `unit` but for the last, on
/// several threads where one would take long.
template <typename Part> void inParts(size_t size, size_t unit, Part part) {
  constexpr size_t least = size_t(8) << 20;
  // Asked for once: the system looks for it in files.
  static const size_t cores = std::thread::hardware_concurrency();
  size_t count = std::min<size_t>({size / least, cores, 8});
  if (count < 2)
    return part(0, size);
  size_t step = (size / count + unit - 1) / unit * unit;
  std::vector<std::thread> others;
  others.reserve(count - 1);
  for (size_t begin = step; begin < size; begin += step)
    others.emplace_back(part, begin, std::min(step, size - begin));
  part(0, std::min(step, size));
  for (std::thread &other : others)
    other.join();
}

constexpr size_t cacheLine = 64;
constexpr size_t beyondCaches = size_t(8) << 20;

/// Copies past the caches.
void stream(char *to, const char *from, size_t bytes) {
#if defined(__x86_64__)
  constexpr size_t word = sizeof(__m128i), line = 4 * word;
  size_t i = std::min(bytes, (word - reinterpret_cast<uintptr_t>(to) % word) % word);
  std::memcpy(to, from, i);
  for (; i + line <= bytes; i += line)
    for (size_t k = i; k < i + line; k += word)
      _mm_stream_si128(reinterpret_cast<__m128i *>(to + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + k)));
  _mm_sfence();
  std::memcpy(to + i, from + i, bytes - i);
#else
  std::memcpy(to, from, bytes);
#endif
}

constexpr size_t lanes = digestLanes, stripes = digestKeyCount / lanes;
/// Bytes that one part of a digest tells of.
constexpr size_t digestedBytes = size_t(16) << 10;
using Stripe = uint64_t __attribute__((vector_size(lanes * sizeof(uint64_t))));

struct Keys {
  Stripe at[stripes];
};
Keys makeKeys() {
  Keys keys{};
  uint64_t next = 1;
  for (Stripe &stripe : keys.at)
    for (size_t i = 0; i < lanes; ++i) {
      next = next * 6364136223846793005 + 1442695040888963407;
      stripe[i] = next ^ next >> 32;
    }
  return keys;
}
const Keys keys = makeKeys();

// With the vectors of x86-64 alone a digest takes as long as a kernel that writes what it is of.
#if defined(__x86_64__)
#define XETILE_FOR_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define XETILE_FOR_VECTORS
#endif

/// Of at most digestedBytes. The halves of each word are multiplied, under a key of its place, so
/// that words that change places are told, and it is added to its neighbour's sum, so that no key
/// hides it.
XETILE_FOR_VECTORS void digestPart(const unsigned char *bytes, size_t size, uint64_t *sums) {
  constexpr uint64_t odd = 0x9e3779b97f4a7c15;
  Stripe sum = {}, data;
  auto add = [&](const Stripe &key) {
    Stripe keyed = data ^ key;
    sum += (keyed & 0xffffffff) * (keyed >> 32);
    sum += __builtin_shufflevector(data, data, 1, 0, 3, 2, 5, 4, 7, 6);
  };
  // Keys come again: what was summed up before is made another number, each one of one.
  auto stir = [&] { sum = (sum ^ sum >> 47) * odd; };
  for (; size >= sizeof(Keys); size -= sizeof(Keys)) {
    for (const Stripe &key : keys.at) {
      std::memcpy(&data, bytes, sizeof data);
      bytes += sizeof data;
      add(key);
    }
    stir();
  }
  for (size_t i = 0; size; ++i) {
    size_t count = std::min(size, sizeof data);
    data = Stripe{};
    std::memcpy(&data, bytes, count);
    bytes += count;
    size -= count;
    add(keys.at[i]);
  }
  std::memcpy(sums, &sum, sizeof sum);
}

} // namespace

void copyBytes(void *to, const void *from, size_t size) {
  inParts(size, cacheLine, [&](size_t begin, size_t bytes) {
    auto *target = static_cast<char *>(to) + begin;
    const auto *source = static_cast<const char *>(from) + begin;
    if (size >= beyondCaches)
      stream(target, source, bytes);
    else
      std::memcpy(target, source, bytes);
  });
}

bool equalBytes(const void *one, const void *other, size_t size) {
  std::atomic<bool> equal{true};
  inParts(size, cacheLine, [&](size_t begin, size_t bytes) {
    if (std::memcmp(static_cast<const char *>(one) + begin,
                    static_cast<const char *>(other) + begin, bytes) != 0)
      equal = false;
  });
  return equal;
}

const uint64_t *digestKeys() { return reinterpret_cast<const uint64_t *>(keys.at); }

Digest digestOf(const void *bytes, size_t size) {
  std::vector<uint64_t> numbers((size + digestedBytes - 1) / digestedBytes * lanes);
  const auto *data = static_cast<const unsigned char *>(bytes);
  inParts(size, digestedBytes, [&](size_t begin, size_t count) {
    for (size_t at = begin; at < begin + count; at += digestedBytes)
      digestPart(data + at, std::min(digestedBytes, begin + count - at),
                 &numbers[at / digestedBytes * lanes]);
  });
  return {std::move(numbers), digestedBytes};
}

size_t firstDifference(const Digest &one, const Digest &other, size_t size) {
  const std::vector<uint64_t> &numbers = one.numbers;
  auto found =
      std::mismatch(numbers.begin(), numbers.end(), other.numbers.begin(), other.numbers.end());
  if (found.first == numbers.end())
    return size;
  return static_cast<size_t>(found.first - numbers.begin()) / lanes * one.partBytes;
}

} // namespace xetile::runtime
