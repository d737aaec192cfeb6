//===- Hopper.cpp - tiles of a matmul on a Hopper GPU ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: sizes and types of a matmul, what a user chose. Out: all sizes of its tiles.
// Refused: tiles that wgmma, the registers or shared memory do not take.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/Hopper.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace xetile;
using namespace xetile::hopper;
using llvm::ArrayRef;

namespace {

constexpr int64_t kMultiprocessors = 132;
constexpr int64_t kMaxStages = 8;
/// Steps along k from which a workgroup that is alone on its multiprocessor gains by a warpgroup
/// that only loads. Measured on an H200 with 72 and 128 workgroups: 32 and more gain 4 to 14 %, 16
/// and fewer lose up to 13 %.
constexpr int64_t kManySteps = 32;

/// Registers of a thread beside its sums: descriptors, addresses, results on their way.
constexpr int64_t kOtherRegisters = 56;

/// A tile of C, and the part of the rate of the largest one that products of it reach: measured at
/// 4096 and 8192 cubed on an H200 (test/device, the kind `tilings`). `alone`: the same of a
/// workgroup that has a multiprocessor for itself, where others hide its waits else.
struct Tile {
  int64_t m, n;
  double rate, alone = rate;
};
constexpr Tile kTiles[] = {{128, 256, 1.0},       {256, 128, 0.98}, {128, 192, 0.97},
                           {128, 128, 0.94},      {64, 256, 0.84},  {128, 64, 0.64},
                           {64, 128, 0.64, 0.66}, {64, 64, 0.4}};

/// Of f32 as three products of tf32: tiles whose parts fit in registers (the kind `f32_tilings` at
/// 1024, 2048 and 4096 cubed).
constexpr Tile kSplitTiles[] = {{256, 64, 1.0},
                                {128, 64, 0.96, 0.75},
                                {128, 128, 0.91, 0.88},
                                {64, 128, 0.9, 0.65},
                                {64, 64, 0.76, 0.62}};

ArrayRef<Tile> tilesFor(const MatmulProblem &problem) {
  return problem.isExact ? ArrayRef<Tile>(kSplitTiles) : ArrayRef<Tile>(kTiles);
}

/// Operations of a multiprocessor in a cycle, of bytes by wgmma; of f32 as the fastest tile of them
/// does at 4096 cubed.
constexpr double kOperations = 8192, kSplitOperations = 270;

/// Bytes that a warpgroup loads in a cycle by units of 4 bytes: 777 x 1555 x 3001 and 4095 x 4097 x
/// 1023 of f32 take the time of their loads.
constexpr double kPlainBytes = 5.8;

int64_t countTiles(const Tile &tile, const MatmulProblem &problem) {
  return llvm::divideCeil(problem.m, tile.m) * llvm::divideCeil(problem.n, tile.n) *
         std::max<int64_t>(problem.batches, 1);
}

/// Cycles of a multiprocessor: those of its products, once for each round of workgroups, and what
/// begins and ends a workgroup.
double costOf(const Tile &tile, const MatmulProblem &problem, int64_t kStep) {
  int64_t rounds = llvm::divideCeil(countTiles(tile, problem), kMultiprocessors);
  int64_t k = problem.k > 0 ? llvm::divideCeil(problem.k, kStep) * kStep : 4096;
  double area = double(tile.m) * double(tile.n);
  double operations = problem.isExact ? kSplitOperations : kOperations * 8 / problem.inputBits;
  double products = area * double(k) * 2 / operations / (rounds > 1 ? tile.rate : tile.alone);
  bool isPlain = problem.byElements || problem.n * problem.inputBits % 128 ||
                 problem.k * problem.inputBits % 128;
  // An image's elements are loaded by threads, its filter by TMA.
  int64_t loaded = tile.n + (problem.byElements ? 0 : tile.m);
  if (problem.isExact && isPlain)
    products = std::max(products, double(loaded) * double(k) * 4 / kPlainBytes);
  return double(rounds) * (products + 2000 + area / 16);
}

bool isOpenFor(const Tile &tile, const MatmulProblem &problem, const MatmulTiling &given) {
  // Schedules share a prefetch of such a tile of elements of 1 or 4 bytes among no two subgroups.
  bool isShared = tile.n != 192 || problem.inputBits == 16;
  return isShared && (given.workgroupM == MatmulTiling::kOpen || given.workgroupM == tile.m) &&
         (given.workgroupN == MatmulTiling::kOpen || given.workgroupN == tile.n);
}

/// The tile of the least cost among those that a user left open.
Tile chooseTile(const MatmulProblem &problem, const MatmulTiling &given, int64_t kStep) {
  bool isKnown = problem.m > 0 && problem.n > 0;
  std::optional<Tile> best;
  for (const Tile &tile : tilesFor(problem)) {
    if (isOpenFor(tile, problem, given) &&
        (!best || (isKnown && costOf(tile, problem, kStep) < costOf(*best, problem, kStep))))
      best = tile;
  }
  return best.value_or(Tile{128, 128, 1});
}

/// The most stages that fit beside the rest.
int64_t stagesThatFit(MatmulTiling tiling, int64_t inputBytes) {
  int64_t stages = kMaxStages;
  do
    tiling.prefetch = --stages;
  while (stages > 1 && sharedBytes(tiling, inputBytes) > kSharedBytes);
  return stages + 1;
}

int64_t registersFor(int64_t warpgroups) {
  return std::min(kThreadRegisters, kRegisters / (warpgroups * kWarpgroup));
}

int64_t sumsOf(const MatmulTiling &tiling) {
  return tiling.workgroupM / tiling.subgroupsM * tiling.workgroupN / kWarpgroup;
}

/// Registers of the parts of f32: of A's for a row of shared memory, two of each of 64 rows x 32,
/// and 32 sums that are not yet added to others.
int64_t partsOf(const MatmulTiling &tiling) {
  return tiling.workgroupM / tiling.subgroupsM / kWgmmaM * 32 + 32;
}

} // namespace

RegisterSplit hopper::splitRegisters(int64_t warpgroups, bool loadsPlainly) {
  // In steps of 8; ptxas gives each thread kRegisters / threads, rounded down to such a step.
  int64_t loading = loadsPlainly ? 72 : warpgroups > 2 ? 32 : 40;
  int64_t each = kRegisters / ((warpgroups + 1) * kWarpgroup) / 8 * 8;
  if (each > kThreadRegisters)
    return {0, 0};
  int64_t multiplying = ((warpgroups + 1) * each - loading) / warpgroups / 8 * 8;
  return {std::min<int64_t>(multiplying, 240), loading};
}

Problem hopper::checkSpecialized(const MatmulTiling &tiling, bool loadsPlainly, bool isSplit) {
  int64_t all = splitRegisters(tiling.subgroupsM, loadsPlainly).multiplying;
  if (!all)
    all = kThreadRegisters;
  int64_t sums = sumsOf(tiling) + (isSplit ? partsOf(tiling) : 0);
  if (sums + kOtherRegisters <= all)
    return std::nullopt;
  std::string mistake;
  llvm::raw_string_ostream(mistake)
      << (loadsPlainly ? "loads that are not TMA's" : "pipeline = specialized") << ": "
      << tiling.subgroupsM << " warpgroups beside one that loads have " << all
      << " registers a thread, and sums take " << sums << "; expected at most "
      << all - kOtherRegisters << ": make workgroup_m or workgroup_n smaller"
      << (loadsPlainly ? "" : ", or take the pipeline simple");
  return mistake;
}

Problem hopper::checkSplit(const MatmulTiling &tiling) {
  int64_t sums = sumsOf(tiling), parts = partsOf(tiling), all = registersFor(tiling.subgroupsM);
  if (sums + parts + kOtherRegisters <= all)
    return std::nullopt;
  std::string mistake;
  llvm::raw_string_ostream(mistake)
      << "a warpgroup's " << tiling.workgroupM / tiling.subgroupsM << " x " << tiling.workgroupN
      << " sums of f32 take " << sums << " registers of a thread, and parts of f32 " << parts
      << "; expected at most " << all - kOtherRegisters << " of " << all
      << ": make workgroup_m or workgroup_n smaller, or allow precision=tf32";
  return mistake;
}

bool hopper::gainsBySplitting(const MatmulProblem &problem) {
  constexpr int64_t kFewest = 8, kFewestFilters = 16, kLongRow = 32, kFewestK = 16,
                    kFewestProducts = int64_t(1) << 17;
  auto isBelow = [](int64_t size, int64_t least) { return size >= 0 && size < least; };
  // Of few filters an image's elements are loaded for each window, one by one, and used a few
  // times; threads that have places of a long row load less.
  int64_t fewest = problem.imageRow >= kLongRow ? kFewestFilters : kFewest;
  if (isBelow(problem.m, fewest) || isBelow(problem.n, kFewest) || isBelow(problem.k, kFewestK))
    return false;
  bool isKnown = problem.m >= 0 && problem.n >= 0 && problem.k >= 0 && problem.batches >= 0;
  return !isKnown || problem.m * problem.n * problem.k * problem.batches >= kFewestProducts;
}

bool hopper::isStored(mlir::Type type) {
  return type.isF32() || type.isF16() || type.isBF16() || type.isInteger(32);
}

bool hopper::gainsBySpecializing(int64_t tiles, int64_t steps) {
  return tiles < 0 || tiles > kMultiprocessors || steps >= kManySteps;
}

int64_t hopper::stageBytes(const MatmulTiling &tiling, int64_t inputBytes) {
  return (tiling.workgroupM + tiling.workgroupN) * tiling.kStep * inputBytes;
}

int64_t hopper::storeBytes(const MatmulTiling &tiling) {
  return tiling.subgroupsM * 2 * kWgmmaM * kSwizzleBytes;
}

int64_t hopper::sharedBytes(const MatmulTiling &tiling, int64_t inputBytes) {
  int64_t stages = tiling.prefetch + 1;
  return stages * (stageBytes(tiling, inputBytes) + 16) + storeBytes(tiling);
}

MatmulTiling hopper::chooseTiling(const MatmulProblem &problem, MatmulTiling tiling) {
  int64_t inputBytes = std::max<int64_t>(problem.inputBits / 8, 1);
  if (tiling.kStep == MatmulTiling::kOpen)
    tiling.kStep = kSwizzleBytes / inputBytes;
  Tile tile = chooseTile(problem, tiling, std::max<int64_t>(tiling.kStep, 1));
  if (tiling.workgroupM == MatmulTiling::kOpen)
    tiling.workgroupM = tile.m;
  if (tiling.workgroupN == MatmulTiling::kOpen)
    tiling.workgroupN = tile.n;
  // Parts of B that serve 128 rows are made once for all of them, where sums leave room for it and
  // other workgroups hide a warpgroup's waits.
  bool isKnown = problem.m > 0 && problem.n > 0;
  bool isAlone = isKnown && countTiles(tile, problem) <= kMultiprocessors;
  int64_t rows =
      problem.isExact && tiling.workgroupN <= kWgmmaM && !isAlone ? 2 * kWgmmaM : kWgmmaM;
  if (tiling.subgroupsM == MatmulTiling::kOpen)
    tiling.subgroupsM = std::clamp<int64_t>(tiling.workgroupM / rows, 1, 2);
  if (tiling.subgroupsN == MatmulTiling::kOpen)
    tiling.subgroupsN = 1;
  // Where one warpgroup multiplies f32 exactly, there is room for two workgroups with 4 stages
  // each. One that is alone and has many steps gains by all that fit, as nobody hides its waits.
  bool isLong = isAlone && problem.k > kMaxStages * 2 * tiling.kStep;
  int64_t most = problem.isExact ? (tiling.subgroupsM == 1 ? 4 : 6) : isLong ? kMaxStages : 6;
  if (tiling.prefetch == MatmulTiling::kOpenPrefetch)
    tiling.prefetch = std::min<int64_t>(stagesThatFit(tiling, inputBytes), most) - 1;
  return tiling;
}

std::array<int64_t, 2> hopper::chooseElementwise(int64_t rows, int64_t columns, int64_t windows) {
  // 256 threads of 16 elements each, or of 4 where each is computed of a window.
  constexpr int64_t kMost = 4096, kWindows = 1024, kFewest = 512, kWidest = 1024, kNarrowest = 16;
  rows = std::max<int64_t>(rows, 1);
  columns = std::max<int64_t>(columns, 1);
  int64_t elements = windows > 1 ? kWindows : kMost;
  while (windows <= 1 && elements > kFewest && rows * columns < 2 * kMultiprocessors * elements)
    elements /= 2;
  auto height = int64_t(llvm::PowerOf2Ceil(uint64_t(rows)));
  int64_t width = std::min(elements, std::max(kWidest, elements / height));
  // An eighth of the last tiles may be beyond the edge.
  while (width > kNarrowest && int64_t(llvm::alignTo(columns, width)) * 8 > columns * 9)
    width /= 2;
  return {std::clamp<int64_t>(elements / width, 1, height), width};
}

std::array<int64_t, 2> hopper::chooseScan(int64_t rows, int64_t columns) {
  // 16 elements of a thread: of 512 threads where there are few rows, else of 256, whose barriers
  // others hide.
  constexpr int64_t kMost = 8192, kFewest = 512;
  rows = std::max<int64_t>(rows, 1);
  columns = std::max<int64_t>(columns, 1);
  int64_t elements = rows <= 2 * kMultiprocessors ? kMost : kMost / 2;
  int64_t width = std::min(elements, int64_t(llvm::PowerOf2Ceil(uint64_t(columns))));
  // An eighth of the last tiles may be beyond the end.
  while (width > kFewest && int64_t(llvm::alignTo(columns, width)) * 8 > columns * 9)
    width /= 2;
  // Short rows are scanned several at a time, as far as all multiprocessors have some.
  while (elements > std::max(kFewest, width) &&
         llvm::divideCeil(rows, elements / width) < 2 * kMultiprocessors)
    elements /= 2;
  return {elements / width, width};
}

std::array<int64_t, 2> hopper::chooseConvolution(int64_t filters, int64_t columns) {
  // 128 threads of 16 elements each: 8 filters of two places.
  constexpr int64_t kElements = 2048, kWidest = 256, kNarrowest = 32, kMostFilters = 16;
  int64_t width = kWidest;
  while (width > kNarrowest && int64_t(llvm::alignTo(columns, width)) * 8 > columns * 9)
    width /= 2;
  auto height = int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(filters, 1))));
  return {std::min({height, kElements / width, kMostFilters}), width};
}

int64_t hopper::chooseParts(const MatmulProblem &problem, const MatmulTiling &given) {
  constexpr int64_t kMostParts = 16, kFewestSteps = 8;
  // Of f32 nobody measured what sums of parts take: they have to save a tenth.
  double gain = problem.isExact ? 0.9 : 1;
  // Cycles: a second launch, and 4 bytes that are written and read again at 1800 bytes a cycle,
  // what memory and the second-level cache give together.
  constexpr double kLaunch = 4000, kBytesOfCycle = 1800;
  if (problem.m <= 0 || problem.n <= 0 || problem.k <= 0 || problem.batches <= 0)
    return 1;
  auto leastOf = [&](int64_t parts) {
    MatmulProblem part = problem;
    part.k /= parts;
    part.batches *= parts;
    double least = -1;
    for (const Tile &tile : tilesFor(part))
      if (isOpenFor(tile, part, given) ||
          (given.workgroupM == tile.m && given.workgroupN == tile.n))
        if (double cost = costOf(tile, part, given.kStep); least < 0 || cost < least)
          least = cost;
    double bytes = double(problem.m) * double(problem.n) * double(problem.batches) * 4;
    double sums = parts > 1 ? kLaunch + bytes * double(2 * parts + 1) / kBytesOfCycle : 0;
    return least + sums;
  };
  int64_t best = 1;
  double least = gain * leastOf(1);
  for (int64_t parts = 2; parts <= kMostParts; ++parts) {
    bool isWhole =
        problem.k % (parts * given.kStep) == 0 && problem.k / (parts * given.kStep) >= kFewestSteps;
    if (double cost = isWhole ? leastOf(parts) : least; cost < least) {
      least = cost;
      best = parts;
    }
  }
  return best;
}

Problem hopper::checkTiling(const MatmulTiling &tiling, mlir::Type input, mlir::Type sum) {
  std::string mistake;
  llvm::raw_string_ostream os(mistake);
  auto [m, n, warpgroups, columns, k, ahead] = tiling;
  bool isWhole = input.isInteger(8);
  int64_t bytes =
      input.isIntOrFloat() ? std::max<int64_t>(input.getIntOrFloatBitWidth() / 8, 1) : 1;
  int64_t row = kSwizzleBytes / bytes;
  if (!input.isF16() && !input.isBF16() && !input.isF32() && !isWhole)
    os << "wgmma multiplies f16, bf16, f32 as tf32, and i8 here, got " << input
       << ": expected inputs of these types, or another target";
  else if (isWhole ? !sum.isInteger(32) : !sum.isF32())
    os << "wgmma sums " << input << " in " << (isWhole ? "i32" : "f32") << " here, got " << sum
       << ": expected that as type of the result of the matmul, rounded afterwards";
  else if (columns != 1)
    os << "subgroups_n = " << columns << ": expected 1 on " << kChip
       << ", where warpgroups share a tile by rows";
  else if (warpgroups > kMaxWarpgroups || !llvm::isPowerOf2_64(warpgroups))
    os << "subgroups_m = " << warpgroups << ": expected 1, 2 or 4 warpgroups on " << kChip;
  else if (m % (warpgroups * kWgmmaM))
    os << "workgroup_m = " << m << " over subgroups_m = " << warpgroups << " gives each warpgroup "
       << m / warpgroups << " rows; expected a multiple of " << kWgmmaM << ", the rows of wgmma";
  else if (n % 64 || n > kWgmmaMaxN)
    os << "workgroup_n = " << n << ": expected 64, 128, 192 or 256, the columns of wgmma";
  else if (k % row || k > kMaxBox)
    os << "k_step = " << k << ": expected a multiple of " << row << " of at most " << kMaxBox
       << ", rows of 128 bytes of " << input;
  else if (m > kMaxBox)
    os << "workgroup_m = " << m << ": expected at most " << kMaxBox << ", what one TMA loads";
  else if (ahead < 1)
    os << "prefetch = " << ahead << ": expected at least 1, the stages of the ring but one";
  else if (int64_t sums = sumsOf(tiling), all = registersFor(warpgroups);
           sums + kOtherRegisters > all)
    os << "a warpgroup's " << m / warpgroups << " x " << n << " sums take " << sums
       << " registers of a thread; expected at most " << all - kOtherRegisters << " of " << all
       << ": make workgroup_m or workgroup_n smaller, or subgroups_m larger";
  else if (int64_t all = sharedBytes(tiling, bytes); all > kSharedBytes)
    os << "a ring of " << ahead + 1 << " stages of " << stageBytes(tiling, bytes) << " bytes and "
       << storeBytes(tiling) << " bytes of results need " << all
       << " bytes of shared memory; expected at most " << kSharedBytes << " on " << kChip
       << ": prefetch = " << stagesThatFit(tiling, bytes) - 1 << " fits";
  else
    return std::nullopt;
  return mistake;
}
