//===- BlockSizes.cpp - blocks of a matmul that caches keep ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction's sizes and types, a machine, innermost blocks, threads, whether to pack. Out:
// sizes of blocks, whether the next one is fetched, the reasons. Nothing is refused: checkConfig
// judges the sizes that were given.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Config/BlockSizes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// True if blocks of B are prefetched to the second level before they are packed, where they come
/// from beyond it: hardware follows rows, but not to the next block's. Tiles are not kept waiting
/// by it.
static bool mayFetchB(const CostModel &model, const ConfigChoice &choice) {
  bool isStatic = llvm::none_of(ArrayRef{kM, kN, kK}, [&](MatmulDim dim) {
    return ShapedType::isDynamic(model.matmul.extent(dim));
  });
  double elements = double(model.share(choice.config, kN)) * model.share(choice.config, kK);
  return isStatic && choice.packB && !model.packing.aheadB && !model.usesTiles() &&
         elements * model.inputBytes > model.machine.l2 / 2.0;
}

/// True if a thread's part of what is streamed stays near from call to call.
static bool staysInSecondLevel(const CostModel &model, const MatmulConfig &config) {
  MatmulDim along = model.vectorDim == kM ? kM : kN;
  auto columns = double(model.share(config, along));
  // A row or two wait for all of B anyway, and visit C for each block.
  bool isAhead = model.fetchesAhead();
  double own = isAhead ? model.ownSecondLevel(config.allThreads()) : double(model.machine.l2);
  double reach = along == kN ? std::min(double(model.reachOf(columns)), own) : own;
  double kept = isAhead ? model.keptOfSecondLevel() : 1;
  return columns * double(model.share(config, kK)) * double(model.inputBytes) <= kept * reach;
}

/// Steps of k in a block.
static double stepsOfK(const CostModel &model, const MatmulConfig &config, double bytesA,
                       double bytesB) {
  const Machine &machine = model.machine;
  double bytes = model.inputBytes;
  double k = model.blockSteps(config, bytesA, bytesB);
  // Vectors along k: some columns of B stay in half of the first level, past which rows of A
  // stream.
  if (model.vectorDim == kK)
    k = machine.l1 / 2.0 / (config.innermost[kN] * bytes);
  // Columns that a single row of tiles reads pass themselves, and rows of A stay.
  if (model.vectorDim == kK && model.share(config, kM) <= model.laneTile.rows)
    k = machine.l1 / 2.0 / (model.laneTile.rows * bytes);
  // A part that stays in a core's second level is no stream.
  if (model.streamedRows && !staysInSecondLevel(model, config))
    k = double(model.streamedRows);
  // Measured on an Emerald Rapids: rows of 2 KiB of k, all of m, B in parts of 1 KiB of n. A little
  // more at once spares a second visit of C, where the part of B fits half of the second level.
  if (model.usesTiles()) {
    constexpr double kStepBytes = 2048, kMostBytes = 3072;
    double all = double(model.share(config, kK)) * bytes;
    double columns = double(std::min(model.share(config, kN), model.tileColumns()));
    bool fits = all <= kMostBytes && all * columns <= machine.l2 / 2.0;
    k = (fits ? std::max(all, kStepBytes) : kStepBytes) / bytes;
  }
  return k;
}

/// Steps of k, of at most `steps`, in a block of B that is packed for few rows of A, which wait for
/// that more than for anything else: so few that all of a row is in it, and rows come in order.
static double stepsOfWholeRows(const CostModel &model, double steps, ConfigChoice &choice) {
  // Measured on an Emerald Rapids, f32: 64 x 1024 x 1024 takes 0.76 of the time, 128 x 512 x 2048
  // 0.92, and 197 rows gain nothing.
  constexpr double kFewRows = 128, kFewestSteps = 64;
  double row = double(model.share(choice.config, kN)) * double(model.inputBytes);
  auto l2 = double(model.machine.l2);
  bool isPacked =
      choice.packB && !model.packing.aheadB && model.group == 1 && model.isThirdLevelFar();
  // With the block that is fetched next it fills half of the second level.
  bool isWhole = 2 * std::min(steps, double(model.share(choice.config, kK))) * row <= l2 / 2;
  if (!isPacked || isWhole || double(model.share(choice.config, kM)) > kFewRows)
    return steps;
  double fewer = std::min(steps, std::max(l2 / 8 / row, kFewestSteps));
  choice.reasons.push_back(llvm::formatv("at most {0:f0} steps of k for few rows of A: blocks of B "
                                         "have whole rows, which are packed in order",
                                         fewer));
  return fewer;
}

/// Columns of B in a block for tiles, once its steps of k are chosen.
static double columnsOfTiles(const CostModel &model, const ConfigChoice &choice) {
  // Measured on an Emerald Rapids: what is packed for few rows is read again while it is near. More
  // rows lose by reading A for more blocks what they gain.
  constexpr int64_t kFewRows = 320;
  constexpr double kParts = 8;
  auto columns = double(model.tileColumns());
  if (!choice.packB || model.packing.aheadB || model.share(choice.config, kM) > kFewRows)
    return columns;
  double bytes = double(choice.config.block[kK]) * double(model.inputBytes);
  // A power of two, as a last block of another size has loops of unknown sizes.
  auto near = uint64_t(std::max(double(model.machine.l2) / kParts / bytes, 1.0));
  return std::min(columns, double(llvm::bit_floor(near)));
}

/// Once blocks are chosen: fetches that gain something, with their reasons.
static void chooseFetches(const CostModel &model, ConfigChoice &choice) {
  const MatmulConfig &config = choice.config;
  double bytes = model.inputBytes;
  // A part of B that the first level keeps is near already.
  choice.fetchAhead = model.fetchesAhead() &&
                      double(model.share(config, kN)) * double(model.share(config, kK)) * bytes >
                          double(model.machine.l1);
  if (choice.fetchAhead)
    choice.reasons.push_back("rows of B, which is read in place, are fetched to L1 some steps of k "
                             "before they are multiplied");
  choice.fetchB &=
      model.share(config, kN) > config.block[kN] || model.share(config, kK) > config.block[kK];
  if (choice.fetchB)
    choice.reasons.push_back("the block of B that is packed next is fetched to L2 in the last "
                             "calls of the microkernel for the one before");
}

void xetile::chooseBlocks(const CostModel &model, const PartialConfig &given,
                          ConfigChoice &choice) {
  MatmulConfig &config = choice.config;
  const Machine &machine = model.machine;
  auto isDynamic = [&](MatmulDim dim) { return ShapedType::isDynamic(model.matmul.extent(dim)); };
  auto fit = [&](MatmulDim dim, double elements) {
    int64_t inner = config.innermost[dim], part = model.share(config, dim);
    if (isDynamic(dim)) {
      part = std::max<int64_t>(part, kLargestDynamicBlock);
      elements = std::min<double>(elements, kLargestDynamicBlock);
    }
    elements = std::min(elements, double(part + inner));
    int64_t most = std::max<int64_t>(int64_t(elements) / inner, 1) * inner;
    return std::min<int64_t>(most, llvm::divideCeil(part, inner) * inner);
  };
  // A panel of B streams from a quarter of the second-level cache, past rows of A that stay in
  // three quarters of the first; a block of A fits half of the second. If all of m is one block,
  // each panel of B is used right after it is packed: a block of B then fits half of the second
  // level, too, with the next one that is fetched, otherwise half of a core's share of the third.
  constexpr int64_t kWideBytes = 4;
  double bytes = model.inputBytes;
  double bytesA = choice.packA && choice.widens[0] ? kWideBytes : bytes;
  double bytesB = choice.packB && choice.widens[1] ? kWideBytes : bytes;
  double most = stepsOfK(model, config, bytesA, bytesB);
  int64_t steps = fit(kK, stepsOfWholeRows(model, most, choice));
  // Equal parts: a short last one visits all of C for few products. Those of tiles are as measured.
  bool mayBeLess = !isDynamic(kK) && !model.streamedRows && !model.usesTiles();
  if (int64_t part = model.share(config, kK); mayBeLess && steps < part)
    steps = int64_t(
        llvm::alignTo(llvm::divideCeil(part, llvm::divideCeil(part, steps)), config.innermost[kK]));
  config.block[kK] = given.block[kK].value_or(steps);
  double rows = machine.l2 / 2.0 / (config.block[kK] * bytesA);
  // All of them, in whole blocks: what is left of m would have B copied once more.
  if (model.usesTiles())
    rows = double(llvm::alignTo(model.share(config, kM), config.innermost[kM]));
  config.block[kM] = given.block[kM].value_or(fit(kM, rows));
  bool oneBlock = !isDynamic(kM) && config.block[kM] >= model.share(config, kM);
  double l3 = std::max<double>(double(machine.l3) / machine.cores, machine.l2);
  choice.fetchB = oneBlock && mayFetchB(model, choice);
  double columns = (oneBlock ? machine.l2 : l3) / 2.0 /
                   (config.block[kK] * (choice.fetchB ? bytesB + bytes : bytesB));
  if (model.usesTiles())
    columns = columnsOfTiles(model, choice);
  config.block[kN] = given.block[kN].value_or(fit(kN, columns));
  auto kib = [](int64_t a, int64_t b, double size) { return double(a) * b * size / 1024; };
  choice.reasons.push_back(llvm::formatv(
      "blocks {0}x{1}x{2}: rows of A {3:f0} KiB of {4} KiB L1, block of A {5:f0} KiB of "
      "{6} KiB L2, block of B {7:f0} KiB of {8} KiB {9}",
      config.block[kM], config.block[kN], config.block[kK],
      kib(config.innermost[kM], config.block[kK], bytesA), machine.l1 / 1024,
      kib(config.block[kM], config.block[kK], bytesA), machine.l2 / 1024,
      kib(config.block[kN], config.block[kK], bytesB), (oneBlock ? machine.l2 : machine.l3) / 1024,
      oneBlock ? "L2, as all of m is one block" : "L3"));
  chooseFetches(model, choice);
}
