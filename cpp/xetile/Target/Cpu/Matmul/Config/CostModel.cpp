//===- CostModel.cpp - what parts of a matmul cost on a machine --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction's sizes and types, a machine. Out: cycles for copying and reading operands,
// shares of threads. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Config/CostModel.h"
#include "xetile/Target/Cpu/Matmul/Config/DotProducts.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace xetile;

/// The estimate of an unknown size.
static constexpr int64_t kTypicalExtent = 1024;
/// Up to so many rows multiply each line of B so little that to fetch it ahead costs as much.
static constexpr int64_t kFewestRows = 4;
/// Bytes of a dot product's group, where elements are bytes.
static constexpr int64_t kBytesOfGroup = 4;
/// Bytes of a page of memory.
static constexpr int64_t kPage = 4096;
/// Copying B to rows along k instead of panels, as a factor:
static constexpr double kTurnCost = 4;

int64_t xetile::threadStep(const Contraction &matmul, const MatmulConfig &config, MatmulDim dim,
                           int64_t count) {
  int64_t innermost = config.innermost[dim];
  AffineMap c = matmul.map(2);
  if (count == 1 || c.getDimPosition(c.getNumResults() - 1) != matmul.tiled(dim))
    return innermost;
  int64_t bits = matmul.elementType(2).getIntOrFloatBitWidth();
  int64_t inLine = std::max<int64_t>(kCacheLineBytes * 8 / bits, 1), extent = matmul.extent(dim);
  if (innermost >= inLine)
    return innermost;
  int64_t step = llvm::alignTo(inLine, innermost);
  bool isEnough = ShapedType::isDynamic(extent) || int64_t(llvm::divideCeil(extent, step)) >= count;
  return isEnough ? step : innermost;
}

CostModel::CostModel(const Contraction &matmul, const Machine &machine, PackingWish packing)
    : matmul(matmul), machine(machine), group(dotGroup(matmul, machine)), packing(packing) {
  for (MatmulDim dim : {kM, kN, kK}) {
    int64_t extent = matmul.extent(dim);
    extents[dim] = ShapedType::isDynamic(extent) ? kTypicalExtent : std::max<int64_t>(extent, 1);
  }
  for (unsigned dim : matmul.batch)
    batches *=
        ShapedType::isDynamic(matmul.sizes[dim]) ? 1 : std::max<int64_t>(matmul.sizes[dim], 1);
  sumBits = std::max<int64_t>(matmul.elementType(2).getIntOrFloatBitWidth(), 32);
  inputBytes = std::max<int64_t>(matmul.elementType(0).getIntOrFloatBitWidth() / 8, 1);
  length = std::max<int64_t>(machine.vectorBits / sumBits, 1);
  registerTile = chooseRegisterTile(extents[kM], extents[kN], length, machine.registers, tileRows(),
                                    panelWaits(), foldedLoads());
  // They wait less for A, by as much as more rows would save.
  if (streamsA())
    registerTile.cycles = chooseRegisterTile(extents[kM], extents[kN], length, machine.registers,
                                             rowsInFirstLevel(0), panelWaits(), foldedLoads())
                              .cycles;
  // Columns that pass once need not stay in the first level.
  constexpr int64_t kRowsOfOneTile = 8;
  laneTile = chooseLaneTile(
      extents[kM], extents[kN], machine.registers, offsetsBytes(matmul, machine),
      extents[kM] > kRowsOfOneTile ? rowsInFirstLevel(1) : kMostLaneColumns, lineCycles());
  vectorDim = chooseVectorDim();
  if (vectorDim == kM)
    registerTile = chooseRegisterTile(extents[kN], extents[kM], length, machine.registers,
                                      /*mostRows=*/30, {}, foldedLoads());
  streamedRows = chooseStreamedRows();
}

/// The hardware prefetches lines that follow one another, of a few rows at a time: they are read
/// through all of n before the next. One or two rows of sums wait for nothing else; more are worth
/// it where B comes from memory, with longer steps, as each step visits all sums again.
int64_t CostModel::chooseStreamedRows() const {
  constexpr int64_t kFewest = 2, kThin = 16, kMost = 32;
  bool alongN = vectorDim == kN && packing.b != true && !mustCopyB();
  int64_t rows = vectorDim == kM ? extents[kN] : extents[kM];
  if ((!alongN && vectorDim != kM) || rows > (fetchesAhead() ? kRowsAhead : kMost))
    return 0;
  if (rows <= kFewest)
    return 8;
  // From a third level that is as far as memory is elsewhere, too, unless B stays in the second
  // levels of all cores.
  double bytes = double(extents[kN]) * extents[kK] * inputBytes;
  double part = double(extents[kN]) / double(machine.cores);
  double near = isThirdLevelFar() ? double(reachOf(part)) * machine.cores : machine.l3 / 2.0;
  // Parts of several threads have fewer pages each.
  constexpr double kParts = 4;
  if (bytes < (rows > kMost && machine.cores > 1 ? kParts * near : near))
    return 0;
  if (!fetchesAhead())
    return rows <= kThin ? 16 : 64;
  // Short rows follow one another, for hardware, too.
  constexpr int64_t kShort = 1024;
  if (rows > kMost && extents[kN] * inputBytes <= kShort)
    return 0;
  // Measured on an Emerald Rapids: of more rows of A each step visits more sums, 64 x 1024 x 1024
  // takes 0.95 of the time with 128 rows; of few 64 rows of up to 8 KB, 16 to 32 of more.
  constexpr int64_t kMoreRows = 128;
  if (rows > kMost)
    return kMoreRows;
  constexpr double kBlock = 512 << 10;
  constexpr int64_t kLeast = 16, kLargest = 64;
  double fit = std::max(kBlock / (double(extents[kN]) * double(inputBytes)), 1.0);
  return std::clamp(int64_t(llvm::bit_floor(uint64_t(fit))), kLeast, kLargest);
}

/// Measured on an Emerald Rapids, whose prefetchers follow lines but not rows of B: 16 x 720 x 2464
/// takes 0.83 of the time, 8 x 457 x 3206 0.76.
bool CostModel::fetchesAhead() const {
  bool isStatic = llvm::none_of(ArrayRef{kM, kN, kK}, [&](MatmulDim dim) {
    return ShapedType::isDynamic(matmul.extent(dim));
  });
  return isStatic && hasVectorsOfSums() && packing.b != true && !mustCopyB() && isPlain(1) &&
         isThirdLevelFar() && extents[kM] > kFewestRows && extents[kM] <= kRowsAhead;
}

double CostModel::lineCycles() const {
  bool isNear = double(extents[kM]) * extents[kK] * inputBytes <= double(machine.l1);
  double bytes = double(machine.vectorBits) / 8;
  return isNear ? 0 : cycles(machine.rates.readL2) * bytes / 1024 / dotCycles();
}

double CostModel::alongColumns() const {
  double n = extents[kN], k = extents[kK], copy = mustCopyB() ? copyCost(n * k) : 0;
  if (!usesTiles())
    return registerTile.cycles * dotCycles() * k / group + copy;
  // A product takes as long as it has rows, and all columns of a tile.
  double tiles = double(llvm::divideCeil(extents[kN], kTileSide)) *
                 llvm::divideCeil(extents[kK], tileSteps()) / kTileSide;
  return tiles * extents[kM] * tileCycles() + copy;
}

MatmulDim CostModel::chooseVectorDim() const {
  // Measured for thin matrices; larger ones gain little.
  constexpr int64_t kThin = 64;
  if (packing.b == true || !isPlain(0) || !isPlain(1) || !isPlain(2) ||
      std::min(extents[kM], extents[kN]) > kThin)
    return kN;
  // Tiles multiply faster, where they are filled.
  if (fitsTiles() && std::min(extents[kM], extents[kN]) >= kTileSide)
    return kN;
  if (!runsAlongK(0))
    return matmul.extent(kN) == 1 && runsAlong(0, kM) ? kM : kN;
  double n = extents[kN], k = extents[kK], columns = alongColumns();
  double vectors = std::ceil(k / double(length * group));
  double lanes = laneTile.cycles * dotCycles() * vectors + laneTile.laneCycles;
  // Measured on an Emerald Rapids, 3990 x 60 x 2661: rows that pass several panels of columns come
  // from the second level beside multiply-adds, not behind them. Columns took 0.7 of the time.
  double again = std::ceil(n / double(laneTile.columns)) - 1;
  if (isThirdLevelFar())
    lanes += again * double(extents[kM]) * vectors * lineCycles() * dotCycles();
  if (!runsAlongK(1)) {
    // Squares of elements are transposed in registers.
    int64_t bits = matmul.elementType(1).getIntOrFloatBitWidth();
    if (packing.b == false || (bits != 8 && bits != 16 && bits != 32))
      return kN;
    lanes += kTurnCost * copyCost(n * k);
  }
  return lanes < columns ? kK : kN;
}

bool CostModel::isPlain(unsigned operand) const {
  return matmul.dropBatch(matmul.map(operand)).getNumResults() == 2;
}

bool CostModel::runsAlong(unsigned operand, MatmulDim dim) const {
  AffineMap map = matmul.map(operand);
  return map.getDimPosition(map.getNumResults() - 1) == matmul.tiled(dim);
}

bool CostModel::fillsLines() const {
  int64_t k = matmul.extent(kK);
  return !ShapedType::isDynamic(k) && k * inputBytes % kCacheLineBytes == 0;
}

bool CostModel::runsAlongK(unsigned operand) const {
  MatmulDim own = operand == 0 ? kM : kN;
  return isPlain(operand) && (runsAlong(operand, kK) || matmul.extent(own) == 1);
}

bool CostModel::readsAInPlace(const MatmulConfig &config) const {
  return vectorDim != kN || !isPlain(0) ||
         (runsAlong(0, kK) && !offsetsBytes(matmul, machine) &&
          (group == 1 || hasWholeGroups(matmul, config, group)));
}

int64_t CostModel::share(const MatmulConfig &config, MatmulDim dim, int64_t count) const {
  int64_t block = threadStep(matmul, config, dim, count);
  int64_t blocks = llvm::divideCeil(llvm::divideCeil(extents[dim], block), count);
  return std::min(extents[dim], blocks * block);
}

int64_t CostModel::share(const MatmulConfig &config, MatmulDim dim) const {
  return share(config, dim, config.threads[dim]);
}

double CostModel::dotCycles() const {
  double rate = group == 2 ? machine.rates.bf16Dot : machine.rates.int8Dot;
  return group == 1 || rate == 0 ? 1 : cycles(rate);
}

double CostModel::tileCycles() const {
  constexpr double kTypical = 16;
  double rate = group == 2 ? machine.rates.bf16Tiles : machine.rates.int8Tiles;
  return rate == 0 ? kTypical : cycles(rate);
}

double CostModel::perElement(double nanosecondsPerKib) const {
  return cycles(nanosecondsPerKib) * double(inputBytes) / 1024;
}

double CostModel::copyCost(double elements) const {
  // Both the rows and their copy.
  bool near = 2 * elements * inputBytes < machine.l2;
  return elements * perElement(near ? machine.rates.copyL2 : machine.rates.copyL3);
}

double CostModel::panelCost(double elements) const {
  // Measured on an Emerald Rapids with tiles: 16 x 112 x 3168 of bytes took 81 ns a KiB of B, which
  // is near, 16 x 80 x 2288 106.
  if (!packing.aheadB && usesTiles() && group == kBytesOfGroup)
    return elements * perElement(machine.rates.copyL3);
  if (!packing.aheadB)
    return copyCost(elements);
  bool near = elements * inputBytes <= machine.l2;
  return near ? 0 : elements * perElement(machine.rates.waitL3);
}

double CostModel::readACost(double elements, int64_t threads) const {
  return elements * double(inputBytes) <= ownSecondLevel(threads) ? 0 : waitCost(elements, 0);
}

double CostModel::waitCost(double elements, unsigned operand) const {
  return elements *
         perElement(isUnaligned(operand) ? machine.rates.waitUnaligned : machine.rates.waitL3);
}

double CostModel::waitForB(const MatmulConfig &config, double m, double elements) const {
  if (!fetchesAhead())
    return waitCost(elements, 1);
  // It comes as fast as the third level is read, while rows of A are multiplied by what came.
  double rows = std::min(m, double(config.innermost[kM]));
  double least = perElement(machine.rates.waitL2);
  return elements * std::max(perElement(machine.rates.readL3) - rows / double(length), least);
}

bool CostModel::mayShareCores(int64_t threads) const {
  return isThirdLevelFar() && threads > 1 && 2 * threads > machine.allCores;
}

double CostModel::ownSecondLevel(int64_t threads) const {
  // Measured on an Emerald Rapids of 16 virtual cores, 16 x 3408 x 832: 16 threads with 0.7 MiB of
  // B each took 85 us, with 1.4 MiB 144.
  return mayShareCores(threads) ? double(machine.l2) / 2 : double(machine.l2);
}

double CostModel::pairedLoad(double busiest, int64_t threads) const {
  // Measured there, 7 x 929 x 1180: 10 threads with two blocks each take 1.15 of the time of 16
  // with one or two.
  double all = double(extents[kM]) * double(extents[kN]) * double(extents[kK]);
  double mean = std::min(all / double(threads) / busiest, 1.0);
  return mayShareCores(threads) ? (1 + mean) / 2 : 1;
}

double CostModel::readBCost(const MatmulConfig &config, double m, double n, double k,
                            int64_t threads) const {
  double passes = std::ceil(m / config.innermost[kM]);
  // Panels that are read again get half of the sets that they reach. Measured on an Emerald Rapids;
  // a third level that is near hides it.
  bool isAgain = isThirdLevelFar() && passes > 1;
  double full = keptOfSecondLevel(), share = isAgain ? 0.5 : 1;
  // Threads with columns of their own fill sets of their own.
  double own = ownSecondLevel(threads);
  double filled =
      n * k * inputBytes / (isThirdLevelFar() ? std::min(double(reachOf(n)), own) : own);
  double lost = filled > 1 ? 1 : filled <= full ? 0 : (filled - full) / (1 - full);
  double once = lost * waitForB(config, m, n * k);
  bool isCrowded = panelBytes(config, k) > share * double(reachOfPanel(config));
  if (once == 0 && isCrowded)
    once = n * k * perElement(machine.rates.waitL3);
  // A block of whole rows of B that half of the second level keeps comes there once for all rows of
  // A, if these are one block, too, and is as near then as a copy of it.
  double steps = stepsInPlace(config, k) * double(inputBytes);
  bool stays = std::max(m, n) * steps <= machine.l2 / 2.0 && !isCrowded;
  // Software that fetches ahead needs no whole rows for that, only the panel.
  double again = stays || (fetchesAhead() && !isCrowded) ? 0 : once;
  return once + (passes - 1) * (again + pagesCost(config, n, k)) + walksCost(n, k);
}

double CostModel::walksCost(double n, double k) const {
  // Half of what second-level translation buffers remember; a few more are lost in part.
  constexpr double kRemembered = 1024, kPartly = 128;
  // Measured on a virtual machine, whose walks have two levels: 16 x 1424 x 1872 with 16 threads,
  // each of which had 96 or 192 columns of all rows.
  constexpr double kWalk = 30;
  std::optional<int64_t> pitch = pitchOf(1);
  bool isSeen = machine.rates.waitPage > 0;
  if (!isSeen || !pitch || *pitch < kPage || n >= double(extents[kN]))
    return 0;
  double pages = k * (1 + n * inputBytes / double(kPage));
  return cycles(kWalk) * k * std::clamp((pages - kRemembered) / kPartly, 0.0, 1.0);
}

double CostModel::pagesCost(const MatmulConfig &config, double n, double k) const {
  constexpr double kNear = 64;
  std::optional<int64_t> pitch = pitchOf(1);
  double bytes = double(config.innermost[kN]) * inputBytes;
  // A panel of all columns is read in order.
  bool isInOrder = isThirdLevelFar() && double(pitch.value_or(0)) <= bytes;
  if (!pitch || isInOrder)
    return 0;
  double rows = std::min(double(*pitch), double(kPage));
  double pagesOfRow = rows / kPage + (*pitch > kPage ? bytes / kPage : 0);
  if (stepsInPlace(config, k) * pagesOfRow <= kNear)
    return 0;
  double panels = std::ceil(n / double(config.innermost[kN]));
  return cycles(machine.rates.waitPage) * panels * k * pagesOfRow;
}

double CostModel::partialsCost(double partials, double threads) const {
  // Each line was written by another core. Measured on an Emerald Rapids, 24 x 1024 and 16 x 1504
  // sums of 16 threads of k: 32 to 45 us. On a Zen 4 two threads took as long as this.
  constexpr double kNear = 1.5, kFar = 7.5;
  return isThirdLevelFar() ? cycles(machine.rates.fork) + partials * kFar / threads
                           : partials * kNear;
}

double CostModel::sharedLinesCost(double rows, double columns) const {
  // Measured on an Emerald Rapids, 187 x 1374 x 19: with 4 threads of n 37 us, of m 19 us; tiles of
  // 540 x 317 x 23 took 26 us with 3 x 5 threads, where f32 took 13 with 16 x 1. Lines come in
  // pairs: 752 x 192 x 16 with 4 threads of n, whose parts end within one, took twice as long as
  // estimated.
  constexpr double kShared = 90, kPaired = 15;
  std::optional<int64_t> pitch = pitchOf(2);
  if (!pitch || vectorDim != kN || !isThirdLevelFar())
    return 0;
  if (*pitch % kCacheLineBytes != 0)
    return rows * cycles(kShared);
  bool endsWithinPair = int64_t(columns) * sumBits / 8 % (2 * kCacheLineBytes) != 0;
  return endsWithinPair && rows > kRowsAhead ? rows * cycles(kPaired) : 0;
}

double CostModel::writeCost(double results) const {
  double bytes = results * sumBits / 8;
  return cycles(bytes <= machine.l2 ? machine.rates.writeL2 : machine.rates.writeL3) * bytes / 1024;
}

double CostModel::revisitCost(double results) const {
  double bytes = results * sumBits / 8;
  double read = bytes <= machine.l2 ? machine.rates.readL2 : machine.rates.readL3;
  return writeCost(results) + cycles(read) * bytes / 1024;
}

double CostModel::waitForResults(double results, double columns) const {
  // Rows of less than a page are near one another for prefetchers, which keep to pages: on an
  // Emerald Rapids 2848 x 464 x 16 and 2304 x 304 x 16 wait a third as long for them.
  constexpr double kNear = 3;
  double bytes = results * sumBits / 8, run = columns * sumBits / 8;
  double pitch = double(pitchOf(2).value_or(0));
  bool follows = bytes <= machine.l2 || run >= std::min(pitch, double(kPage));
  if (follows || !hasVectorsOfSums() || (pitch < kPage && !isThirdLevelFar()))
    return 0;
  double wait = cycles(machine.rates.readL3) * bytes / 1024;
  return pitch < kPage ? wait / kNear : wait;
}

double CostModel::streamCost(const MatmulConfig &config, double m, double n, double k) const {
  if (!hasVectorsOfSums())
    return 0;
  double steps = std::min<double>(k, double(config.block[kK])) * double(inputBytes);
  double block = std::min<double>(n, double(config.block[kN])) * steps,
         panel = double(config.innermost[kN]) * steps;
  // Rows of A and lines of C pass beside it.
  constexpr double kBeside = 16 << 10;
  auto wait = [&](double bytes) {
    return bytes <= double(machine.l1) - kBeside ? 0
           : bytes <= machine.l2 / 2.0           ? machine.rates.waitL2
                                                 : machine.rates.waitL3;
  };
  double passes = std::ceil(m / double(config.innermost[kM]));
  return passes * n * k * perElement(std::max(wait(block) - wait(panel), 0.0));
}

double CostModel::blockSteps(const MatmulConfig &config, double bytesA, double bytesB) const {
  return std::min(machine.l2 / 4.0 / (config.innermost[kN] * bytesB),
                  machine.l1 * 0.75 / (config.innermost[kM] * bytesA));
}

double CostModel::stepsInPlace(const MatmulConfig &config, double k) const {
  auto bytes = double(inputBytes);
  bool isStreamed = streamedRows && isThirdLevelFar();
  return std::min(k, isStreamed ? double(streamedRows) : blockSteps(config, bytes, bytes));
}

double CostModel::panelBytes(const MatmulConfig &config, double k) const {
  return stepsInPlace(config, k) * double(config.innermost[kN]) * double(inputBytes);
}

bool CostModel::isUnaligned(unsigned operand) const {
  Value value = matmul.op->getOperand(operand);
  auto type = cast<ShapedType>(value.getType());
  int64_t row = type.getShape().back();
  return isa<BlockArgument>(value) || ShapedType::isDynamic(row) ||
         row * inputBytes % kCacheLineBytes != 0;
}

std::optional<int64_t> CostModel::pitchOf(unsigned operand) const {
  auto type = cast<ShapedType>(matmul.op->getOperand(operand).getType());
  int64_t row = type.getShape().back();
  if (!isPlain(operand) || !runsAlong(operand, kN) || ShapedType::isDynamic(row))
    return std::nullopt;
  return row * type.getElementTypeBitWidth() / 8;
}

int64_t CostModel::reachOfPanel(const MatmulConfig &config) const {
  return reachOf(double(config.innermost[kN]));
}

int64_t CostModel::reachOf(double columns) const {
  std::optional<int64_t> pitch = pitchOf(1);
  if (!pitch || *pitch % kCacheLineBytes != 0)
    return machine.l2;
  int64_t sets = std::max<int64_t>(machine.l2 / (kCacheLineBytes * machine.l2Ways), 1);
  int64_t starts = sets / std::gcd(*pitch / kCacheLineBytes, sets);
  int64_t lines = llvm::divideCeil(int64_t(columns) * inputBytes, kCacheLineBytes);
  return std::min(sets, starts * lines) * machine.l2Ways * kCacheLineBytes;
}
