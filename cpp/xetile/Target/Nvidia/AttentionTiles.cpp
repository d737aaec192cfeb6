//===- AttentionTiles.cpp - tiles of an attention on a Hopper GPU --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: sizes of an attention of f16 or bf16, how it lies in memory. Out: its tiles, or what kernels
// of such do not take: planOnline (OnlinePlan.cpp) refuses it with more words.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/Hopper.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace xetile;

namespace {
constexpr int64_t kBytes = 2;                            // of f16 and bf16
constexpr int64_t kRow = hopper::kSwizzleBytes / kBytes; // elements of a row of shared memory
constexpr int64_t kMostElements = hopper::kWgmmaMaxN;    // of keys and of values
constexpr int64_t kUnit = hopper::kTmaUnit / kBytes;     // that TMA wants rows to be apart
} // namespace

AttentionTiling hopper::chooseAttention(const AttentionProblem &problem) {
  constexpr int64_t kKeys = 128;
  auto isAtMost = [](int64_t size, int64_t most) { return 0 < size && size <= most; };
  AttentionTiling tiling;
  tiling.subgroups = isAtMost(problem.columns, kRow) ? 3 : 2;
  tiling.rows = kWgmmaM * tiling.subgroups;
  tiling.columns = llvm::alignTo(std::max<int64_t>(problem.columns, 1), kRow);
  // Two steps of keys and values have to fit shared memory beside the queries.
  bool areMany = std::max(problem.columns, problem.inner) > 2 * kRow;
  tiling.keys = areMany ? kKeys / 2 : kKeys;
  return tiling;
}

Problem hopper::checkAttention(const AttentionProblem &problem) {
  if (problem.isComputed)
    return "expected queries, keys and values in memory, where TMA loads them";
  if (!problem.hasRowsOfQueries)
    return "expected queries whose elements are adjacent in memory";
  if (problem.unit % kUnit != 0)
    return "expected rows of queries, keys and values that are multiples of 16 bytes apart";
  for (int64_t size : {problem.inner, problem.columns})
    if (size < 1 || size > kMostElements)
      return "expected queries and values of at most 256 elements";
  return std::nullopt;
}
