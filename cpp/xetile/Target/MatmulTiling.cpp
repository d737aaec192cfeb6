//===- MatmulTiling.cpp - tiles of a matmul on an Intel GPU ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: sizes and types of a matmul, what a user chose. Out: tile sizes, all of them.
// Refused: nothing; transform.xetile.check_matmul_tiling refuses what the device does not take.
#include "xetile/Target/MatmulTiling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

namespace xetile {
namespace {

constexpr int64_t kCacheLineBits = 512;
constexpr int64_t kPrefetchSteps = 3;

/// One dimension of C.
struct Side {
  int64_t size;  // of the matrix, below zero if only the run knows
  int64_t unit;  // what a subgroup's share is a multiple of
  int64_t share; // of a subgroup where the matrix is large
  int64_t count; // of subgroups where it is
};

/// Makes the share half as large while one workgroup still covers the matrix.
int64_t shrink(const Side &side, int64_t share, int64_t count) {
  while (side.size > 0 && share / 2 >= side.unit && share / 2 * count >= side.size)
    share /= 2;
  return share;
}

void choose(const Side &side, int64_t &tile, int64_t &count) {
  if (tile > 0 && count > 0)
    return;
  if (count > 0) {
    tile = shrink(side, side.share, count) * count;
    return;
  }
  if (tile > 0) {
    // The fewest subgroups whose shares are not larger than they should be.
    count = 1;
    while (tile / count > side.share && tile % (count * 2 * side.unit) == 0)
      count *= 2;
    return;
  }
  // A small matrix: fewer subgroups first, since large shares load each element less often.
  count = side.count;
  while (side.size > 0 && count > 1 && count / 2 * side.share >= side.size)
    count /= 2;
  tile = shrink(side, side.share, count) * count;
}

} // namespace

MatmulTiling chooseMatmulTiling(const MatmulProblem &problem, MatmulTiling tiling,
                                const TargetInfo &device) {
  // 32 x 64 sums fill half of the large register file, and 8 x 4 subgroups are all that one core
  // runs with it. Accesses to single elements make long code of large tiles and load no faster.
  Side m{problem.m, device.dpas.maxM, problem.byElements ? 16 : 32, problem.byElements ? 4 : 8};
  Side n{problem.n, device.dpas.n, problem.byElements ? 16 : 64, 4};
  while (m.count * n.count > int64_t(device.maxSubgroups(/*largeRegisterFile=*/true)))
    m.count /= 2;
  choose(m, tiling.workgroupM, tiling.subgroupsM);
  choose(n, tiling.workgroupN, tiling.subgroupsN);

  bool isKOpen = tiling.kStep == MatmulTiling::kOpen;
  if (isKOpen) {
    // Rows of A are a cache line.
    int64_t dpasK = device.dpasK(problem.inputBits);
    tiling.kStep = problem.byElements ? dpasK : kCacheLineBits / problem.inputBits;
    if (problem.k > 0)
      tiling.kStep = std::min<int64_t>(tiling.kStep, llvm::alignTo(problem.k, dpasK));
  }
  if (tiling.prefetch == MatmulTiling::kOpenPrefetch) {
    // Only powers of two are sure to be shared evenly by the subgroups.
    bool isEven = true;
    for (int64_t size :
         {tiling.workgroupM, tiling.workgroupN, tiling.subgroupsM, tiling.subgroupsN, tiling.kStep})
      isEven &= size > 0 && llvm::isPowerOf2_64(size);
    tiling.prefetch = isEven && !problem.byElements ? kPrefetchSteps : 0;
  }
  return tiling;
}

int64_t unitOfParts(const MatmulProblem &problem, const MatmulTiling &tiling) {
  return std::lcm(tiling.kStep, kCacheLineBits / problem.inputBits);
}

int64_t chooseParts(const MatmulProblem &problem, int64_t tiles, const MatmulTiling &tiling,
                    const TargetInfo &device, unsigned cores) {
  constexpr int64_t kLeastSteps = 32, kMostParts = 64;
  int64_t subgroups = tiling.subgroupsM * tiling.subgroupsN;
  if (problem.k < 1 || tiles < 1 || subgroups < 1 || tiling.kStep < 1)
    return 1;
  int64_t inCore = device.maxSubgroups(/*largeRegisterFile=*/true) / subgroups;
  int64_t places = cores * std::max<int64_t>(1, inCore);
  int64_t m = tiling.workgroupM, n = tiling.workgroupN;
  int64_t least = std::max(kLeastSteps * tiling.kStep,
                           16 * m * n / ((m + n) * std::max(1u, problem.inputBits / 8)));
  int64_t parts = std::min({places / tiles, problem.k / least, kMostParts});
  if (parts < 2)
    return 1;
  int64_t size = llvm::alignTo(llvm::divideCeil(problem.k, parts), unitOfParts(problem, tiling));
  return llvm::divideCeil(problem.k, size);
}

} // namespace xetile
