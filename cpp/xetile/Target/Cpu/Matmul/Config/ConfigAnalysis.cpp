//===- ConfigAnalysis.cpp - the heuristic configuration of a matmul ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction's sizes and types, a machine, fields that are given. Out: all fields, whether
// to pack, the reasons. Nothing is refused: checkConfig judges the fields that were given.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Config/ConfigAnalysis.h"
#include "xetile/Target/Cpu/Matmul/Config/BlockSizes.h"
#include "xetile/Target/Cpu/Matmul/Config/CostModel.h"
#include "xetile/Target/Cpu/Matmul/Config/DotProducts.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// Takes what is given of the innermost blocks, or fits `wanted`.
static void fitInnermost(const CostModel &model, const PartialConfig &given,
                         const std::array<int64_t, 3> &wanted, ConfigChoice &choice) {
  std::array<int64_t, 3> &chosen = choice.config.innermost;
  for (MatmulDim dim : {kM, kN, kK}) {
    int64_t unit = model.matmul.unit[dim];
    chosen[dim] = std::max<int64_t>(wanted[dim] / unit, 1) * unit;
    if (std::optional<int64_t> innermost = given.innermost[dim]) {
      chosen[dim] = *innermost;
    } else if (std::optional<int64_t> block = given.block[dim]) {
      // The largest part of the given block that is no larger than wanted.
      chosen[dim] = std::min(chosen[dim], *block);
      while (chosen[dim] > 1 && (*block % chosen[dim] != 0 || chosen[dim] % unit != 0))
        --chosen[dim];
    }
  }
}

/// Innermost blocks of AMX tiles; returns the cycles for one step of k of one element of C.
static double chooseTiles(const CostModel &model, const PartialConfig &given,
                          ConfigChoice &choice) {
  // Two by two tiles of sums of 16 x 16, for 16 groups of k.
  fitInnermost(model, given, {32, 32, 16 * model.group}, choice);
  const std::array<int64_t, 3> &chosen = choice.config.innermost;
  choice.reasons.push_back(
      llvm::formatv("innermost {0}x{1}x{2}: tile registers hold 2 x 2 tiles of 16 x 16 sums; a "
                    "product of tiles takes {4:f0} cycles for {3} steps of k",
                    chosen[kM], chosen[kN], chosen[kK], 16 * model.group, model.tileCycles()));
  return model.tileCycles() / double(int64_t(16) * 16 * 16 * model.group);
}

/// Innermost blocks of sums along k; returns the cycles for one step of k of one element of C.
static double chooseLanes(const CostModel &model, const PartialConfig &given,
                          ConfigChoice &choice) {
  int64_t m = model.extents[kM], n = model.extents[kN];
  const LaneTile &tile = model.laneTile;
  int64_t lanes = model.length * model.group;
  fitInnermost(model, given,
               {std::max<int64_t>(kLaneRows / tile.rows, 1) * tile.rows, tile.columns, lanes},
               choice);
  const std::array<int64_t, 3> &chosen = choice.config.innermost;
  double sums = double(m) * n;
  choice.reasons.push_back(llvm::formatv(
      "innermost {0}x{1}x{2}: vectors of {3} run along k, in A where it is, in B {8}; registers "
      "hold the sums of {4} rows and {5} columns; {6:f0} cycles per vector, {7:f0} for adding "
      "lanes",
      chosen[kM], chosen[kN], chosen[kK], lanes, tile.rows, tile.columns, tile.cycles,
      tile.laneCycles, model.turnsB() ? "in a copy" : "too"));
  return (tile.cycles * model.dotCycles() / lanes + tile.laneCycles / model.extents[kK]) / sums;
}

/// Chooses the innermost blocks; returns the cycles for one step of k of one element of C.
static double chooseInnermost(const CostModel &model, const PartialConfig &given,
                              ConfigChoice &choice) {
  if (model.vectorDim == kK)
    return chooseLanes(model, given, choice);
  bool alongM = model.vectorDim == kM;
  int64_t group = alongM ? 1 : model.group;
  if (model.usesTiles())
    return chooseTiles(model, given, choice);
  const RegisterTile &tile = model.registerTile;
  int64_t columns = tile.vectors * model.length;
  int64_t k = model.streamedRows ? model.streamedRows : 16;
  fitInnermost(model, given,
               alongM ? std::array{columns, tile.rows, k} : std::array{tile.rows, columns, k},
               choice);
  const std::array<int64_t, 3> &chosen = choice.config.innermost;
  double sums = double(model.extents[kM]) * model.extents[kN];
  choice.reasons.push_back(llvm::formatv(
      "innermost {0}x{1}x{2}: registers hold {3} rows of {4} vectors of {5}; "
      "{6:f0} cycles per {8} of k for {7:f0} vector multiply-adds",
      chosen[kM], chosen[kN], chosen[kK], tile.rows, tile.vectors, model.length, tile.cycles,
      sums / model.length, group > 1 ? llvm::formatv("{0} steps", group).str() : "step"));
  auto blocks = [&](MatmulDim dim) {
    return double(llvm::divideCeil(model.extents[dim], chosen[dim]));
  };
  int64_t rows = alongM ? chosen[kN] : chosen[kM], most = alongM ? chosen[kM] : chosen[kN];
  RegisterTile used =
      chooseRegisterTile(rows, most, model.length, model.machine.registers, /*mostRows=*/30,
                         alongM ? PanelWaits() : model.panelWaits(), model.foldedLoads());
  double dot = group > 1 ? model.dotCycles() : 1;
  return blocks(kM) * blocks(kN) * used.cycles * dot / (sums * group);
}

namespace {
/// Costs of candidates for threads. Thousands of them ask whether operands are copied.
struct ThreadCosts {
  const CostModel &model;
  const MatmulConfig &config;
  double cyclesPerStep;
  bool inPlaceA, copiedB;

  double of(const std::array<int64_t, 3> &threads, std::string *terms = nullptr,
            double *withoutOperands = nullptr) const;
};
} // namespace

double ThreadCosts::of(const std::array<int64_t, 3> &threads, std::string *terms,
                       double *withoutOperands) const {
  auto share = [&](MatmulDim dim) -> double { return model.share(config, dim, threads[dim]); };
  double m = share(kM), n = share(kN), k = share(kK);
  int64_t all = threads[kM] * threads[kN] * threads[kK], batches = model.batches;
  // Batches and threads share one parallel loop.
  double rounds = batches == 1 ? 1 : double(llvm::divideCeil(batches * all, model.machine.cores));
  double compute = m * n * k * cyclesPerStep * model.pairedLoad(m * n * k, all);
  double operands = inPlaceA ? model.readACost(m * k, all) : model.copyCost(m * k);
  operands += copiedB ? model.panelCost(n * k)
                      : std::min(model.panelCost(n * k), model.readBCost(config, m, n, k, all));
  double sums = double(model.extents[kM]) * double(model.extents[kN]);
  double partial =
      threads[kK] > 1 ? model.partialsCost(double(threads[kK]) * sums, double(all)) : 0;
  double fork = all > 1 || batches > 1 ? model.cycles(model.machine.rates.fork) : 0;
  // Where k is short, what a core writes takes longer than what it computes by tiles.
  double results = model.usesTiles() ? model.writeCost(m * n) : 0;
  // Threads of one row read it in shorter runs, past which less is prefetched: of A, and much more
  // so of B where that comes from memory.
  constexpr double kShorterRuns = 1.05, kShorterStreams = 1.5;
  if (threads[kK] > 1 && inPlaceA)
    operands *= kShorterRuns;
  if (threads[kN] > 1 && model.streamedRows && model.vectorDim == kN)
    operands *= kShorterStreams;
  double shared = threads[kN] > 1 ? model.sharedLinesCost(m, n) : 0;
  results += shared;
  double cost = rounds * (compute + operands + results) + partial + fork;
  if (withoutOperands)
    *withoutOperands = rounds * (compute + shared) + partial + fork;
  if (terms)
    *terms =
        llvm::formatv("compute {0:f0} + operands {1:f0} + results {5:f0} + partial sums {2:f0} + "
                      "fork {3:f0} = "
                      "{4:f0} cycles",
                      rounds * compute, rounds * operands, partial, fork, cost, rounds * results)
            .str();
  return cost;
}

/// Counts of threads worth a look for `blocks` innermost blocks: of those that leave the busiest
/// thread with the same number of blocks the smallest and the largest. Far up they grow by a
/// sixteenth at least.
static SmallVector<int64_t> threadCounts(int64_t blocks, int64_t most) {
  constexpr int64_t kAll = 64;
  SmallVector<int64_t> counts;
  for (int64_t count = 1; count <= std::min(blocks, most);) {
    counts.push_back(count);
    int64_t share = llvm::divideCeil(blocks, count);
    if (share == 1)
      break;
    count = llvm::divideCeil(blocks, share - 1);
    if (counts.back() > kAll)
      count = std::max(count, counts.back() + counts.back() / 16);
    else if (int64_t largest = std::min(count - 1, most); largest > counts.back())
      counts.push_back(largest);
  }
  return counts;
}

/// True if `count` threads have less than a line of C each: cores that write to one line wait for
/// each other.
static bool sharesLines(const CostModel &model, const MatmulConfig &config, MatmulDim dim,
                        int64_t count) {
  int64_t bits = model.matmul.elementType(2).getIntOrFloatBitWidth();
  return count > 1 && model.runsAlong(2, dim) &&
         model.share(config, dim, count) * bits < kCacheLineBytes * 8;
}

/// Numbers of threads, those of the least cost first, and of how many they are the best.
static SmallVector<std::array<int64_t, 3>>
rankThreads(const ThreadCosts &costs, const PartialConfig &given, size_t &candidates) {
  // More threads than this have to be asked for.
  constexpr int64_t kMostThreads = 1024;
  const CostModel &model = costs.model;
  int64_t asked = 1;
  std::array<SmallVector<int64_t>, 3> counts;
  for (MatmulDim dim : {kM, kN, kK}) {
    int64_t blocks = llvm::divideCeil(model.extents[dim], costs.config.innermost[dim]);
    std::optional<int64_t> count = given.threads[dim];
    counts[dim] = count ? SmallVector<int64_t>{*count}
                        : threadCounts(blocks, std::min(kMostThreads, model.machine.cores));
    if (!count)
      llvm::erase_if(counts[dim],
                     [&](int64_t some) { return sharesLines(model, costs.config, dim, some); });
    asked *= count.value_or(1);
  }
  int64_t cores = std::min(model.machine.cores, std::max(kMostThreads, asked));
  SmallVector<std::pair<double, std::array<int64_t, 3>>> found;
  for (int64_t m : counts[kM])
    for (int64_t n : counts[kN])
      for (int64_t k : counts[kK]) {
        if (m * n * k > cores)
          break;
        found.push_back({costs.of({m, n, k}), {m, n, k}});
      }
  candidates = found.size();
  std::sort(found.begin(), found.end());
  // Of tiles B is packed, and A where that pays: what this costs is known once blocks are. Measured
  // on an Emerald Rapids: 1414 x 1577 x 680 of bf16 took 1.4 times as long with the first of them.
  constexpr size_t kOfTiles = 8;
  found.truncate(std::min<size_t>(found.size(), model.usesTiles() ? kOfTiles : 1));
  return llvm::to_vector(llvm::make_second_range(found));
}

static void takeThreads(const ThreadCosts &costs, const std::array<int64_t, 3> &threads,
                        size_t candidates, ConfigChoice &choice) {
  choice.config.threads = threads;
  std::string terms;
  costs.of(threads, &terms, &choice.cycles);
  choice.reasons.push_back(llvm::formatv("threads {0}x{1}x{2} of {3} cores, best of {5}: {4}",
                                         threads[kM], threads[kN], threads[kK],
                                         costs.model.machine.cores, terms, candidates));
}

/// The reason why B is packed, or not; of one that runs along n, `copy` or `read`, in cycles.
static std::string tellPackingOfB(const CostModel &model, const MatmulConfig &config, double copy,
                                  double read) {
  if (model.packing.aheadB)
    return "it is packed ahead, once for all calls";
  if (model.vectorDim == kM)
    return "vectors run along m";
  if (model.vectorDim == kK)
    return model.turnsB() ? "it is copied to rows along k" : "vectors run along k";
  if (model.group > 1)
    return llvm::formatv("for products of groups of {0}", model.group).str();
  if (!model.runsAlong(1, kN))
    return "it is transposed";
  return llvm::formatv("{0:f0} cycles, waiting for it in place {1:f0}; of a panel of {2:f0} KiB "
                       "{3} KiB fit L2 there",
                       copy, read, model.panelBytes(config, double(model.share(config, kK))) / 1024,
                       model.reachOfPanel(config) / 1024)
      .str();
}

static void choosePacking(const CostModel &model, ConfigChoice &choice) {
  const MatmulConfig &config = choice.config;
  int64_t m = model.share(config, kM), n = model.share(config, kN), k = model.share(config, kK);
  // A copy would share the second level, too.
  double copy = model.copyCost(double(n) * k), read = model.readBCost(config, m, n, k, 1);
  // Copies of floats that no instruction multiplies are widened, once, else the microkernel does it
  // whenever it reads them: a cycle for each vector. Thin matrices wait for the bytes of B instead.
  constexpr int64_t kThin = 32;
  auto widens = [&](unsigned operand) {
    return model.vectorDim == kN && widensFloats(model.matmul, model.machine, operand);
  };
  choice.widens = {widens(0) && n > config.innermost[kN], widens(1) && m > kThin};
  if (choice.widens[1])
    read += double(n) * k / model.length * llvm::divideCeil(m, config.innermost[kM]);
  bool inPlaceA = model.readsAInPlace(config);
  choice.packB = model.vectorDim == kN && model.isPlain(1) && model.isPlain(2) &&
                 (model.mustCopyB() || copy < read) && config.innermost[kN] % model.length == 0;
  choice.turnB = model.turnsB();
  choice.packA = !inPlaceA && (n > 2 * config.innermost[kN] || (model.group > 1 && choice.packB));
  // Rows of A that are read for several blocks of n are packed for tiles: in place they fall into
  // few sets of the first level, and nothing prefetches them. So are rows of which tiles would take
  // parts of two lines each, and a last part of k would fill no tile, unless they are read once.
  bool splitsLines = model.usesTiles() && choice.packB && inPlaceA && !model.fillsLines() &&
                     n > config.innermost[kN];
  if (model.usesTiles() && choice.packB)
    choice.packA |= n > model.tileColumns() || splitsLines;
  choice.packA |= choice.widens[0] && choice.packB && model.isPlain(0);
  choice.packA = model.packing.a.value_or(choice.packA);
  choice.packB = model.packing.b.value_or(choice.packB);
  for (unsigned operand : {0, 1})
    if (choice.widens[operand] && (operand == 0 ? choice.packA : choice.packB))
      choice.reasons.push_back(
          llvm::formatv("copies of {0} are f32: no instruction multiplies {1} faster",
                        operand == 0 ? "A" : "B", model.matmul.elementType(operand)));
  std::string whyA = "its rows are read in place";
  if (splitsLines)
    whyA = llvm::formatv("its rows of {0} bytes begin within lines of the cache",
                         model.extents[kK] * model.inputBytes)
               .str();
  else if (!inPlaceA || (choice.widens[0] && choice.packA) || (model.usesTiles() && choice.packA))
    whyA = llvm::formatv("{0} elements of n use it", n).str();
  choice.reasons.push_back(
      llvm::formatv("pack A: {0} ({1}), pack B: {2} ({3})", choice.packA ? "yes" : "no", whyA,
                    choice.packB ? "yes" : "no", tellPackingOfB(model, config, copy, read)));
}

/// Cycles for all blocks of a thread in one order of the loops.
static double orderCost(const CostModel &model, const ConfigChoice &choice, int64_t order,
                        std::string *terms = nullptr) {
  MatmulConfig config = choice.config;
  config.loopOrder = order;
  std::array<int64_t, 3> trips, parts;
  for (MatmulDim dim : {kM, kN, kK}) {
    parts[dim] = model.share(config, dim);
    trips[dim] = llvm::divideCeil(parts[dim], config.block[dim]);
  }
  auto loops = config.middleLoops();
  // An operand's block changes with every step of the loops down to the last of its own.
  auto visits = [&](MatmulDim a, MatmulDim b) {
    double count = 1, outer = 1;
    for (MatmulDim dim : loops) {
      outer *= trips[dim];
      if (dim == a || dim == b)
        count = trips[dim] > 1 ? outer : count;
    }
    return count / (double(trips[a]) * trips[b]);
  };
  double aCost = visits(kM, kK), bCost = visits(kN, kK);
  double aSize = double(parts[kM]) * parts[kK], bSize = double(parts[kN]) * parts[kK];
  aCost *= choice.packA ? model.copyCost(aSize) : model.readACost(aSize, config.allThreads());
  double inPlace = model.isNear(bSize) ? 0 : model.waitForB(config, double(parts[kM]), bSize);
  bCost *= choice.packB ? model.panelCost(bSize) : inPlace;
  double results = double(parts[kM]) * parts[kN];
  double cCost = model.writeCost(results) + (visits(kM, kN) - 1) * model.revisitCost(results);
  // With rows of tiles inside of columns a panel of B stays in the first-level cache, and rows of C
  // are written in short runs.
  bool panelStays = llvm::find(loops, kN) < llvm::find(loops, kM);
  int64_t run = std::min((panelStays ? config.innermost : config.block)[kN], parts[kN]);
  cCost += visits(kM, kN) * model.waitForResults(results, double(run));
  if (!panelStays)
    bCost += model.streamCost(config, double(parts[kM]), double(parts[kN]), double(parts[kK]));
  double calls = double(llvm::divideCeil(parts[kM], config.innermost[kM])) *
                 llvm::divideCeil(parts[kN], config.innermost[kN]) * trips[kK];
  // Else it comes again, at most a line in a cycle.
  double lines = double(std::min(parts[kK], config.block[kK])) * double(config.innermost[kN]) *
                 double(model.inputBytes) / kCacheLineBytes;
  double reload = calls * (kCallCycles + (panelStays ? 0 : std::min(kCallCycles, lines)));
  double cost = aCost + bCost + cCost + reload;
  if (terms)
    *terms = llvm::formatv("A {0:f0} + B {1:f0} + C {2:f0} + microkernels {3:f0} = {4:f0} cycles",
                           aCost, bCost, cCost, reload, cost)
                 .str();
  return cost;
}

static void chooseOrder(const CostModel &model, const PartialConfig &given, ConfigChoice &choice) {
  int64_t best = 3;
  for (int64_t order = 0; isLoopOrder(order); ++order)
    if (orderCost(model, choice, order) < orderCost(model, choice, best))
      best = order;
  // Rows of A stay near while tiles of B pass; C is visited again rather than A copied.
  if (model.usesTiles())
    best = *findLoopOrder(model.share(choice.config, kK) > choice.config.block[kK] ? "kmn" : "mnk");
  choice.config.loopOrder = given.loopOrder.value_or(best);
  choice.cycles += orderCost(model, choice, choice.config.loopOrder);
  for (int64_t order = 0; isLoopOrder(order); ++order) {
    std::string terms;
    orderCost(model, choice, order, &terms);
    choice.reasons.push_back(
        llvm::formatv("loop order {0} ({1}){2}: {3}", order, loopOrderNames()[order],
                      order == choice.config.loopOrder ? ", chosen" : "", terms));
  }
}

/// The numbers that the terms below are made of.
static std::string describeRates(const Machine &machine) {
  std::string text = "rates (" + machine.ratesSource + "), ns:";
  if (machine.uncertainty != 0)
    text = llvm::formatv("rates ({0}, within {1:f0} %), ns:", machine.ratesSource,
                         100 * machine.uncertainty);
  llvm::raw_string_ostream out(text);
  StringRef separator = " ";
  for (const RateField &rate : allRateFields())
    if (double value = machine.rates.*rate.value; value != 0) {
      out << separator << rate.doc << llvm::formatv(" {0:f2}", value);
      separator = ", ";
    }
  return text;
}

ConfigChoice xetile::chooseConfig(const Contraction &matmul, const Machine &machine,
                                  const PartialConfig &given, PackingWish packing) {
  const CostModel model(matmul, machine, packing);
  ConfigChoice choice;
  choice.reasons.push_back(describeRates(machine));
  double cyclesPerStep = chooseInnermost(model, given, choice);
  const MatmulConfig innermost = choice.config;
  const ThreadCosts costs = {model, innermost, cyclesPerStep, model.readsAInPlace(innermost),
                             model.mustCopyB()};
  std::optional<ConfigChoice> best;
  size_t candidates = 0;
  for (const std::array<int64_t, 3> &threads : rankThreads(costs, given, candidates)) {
    ConfigChoice completed = choice;
    takeThreads(costs, threads, candidates, completed);
    choosePacking(model, completed);
    // Register tiles, threads and blocks were chosen for a B that is fetched ahead from where it
    // is.
    if (completed.packB && model.fetchesAhead()) {
      packing.b = true;
      return chooseConfig(matmul, machine, given, packing);
    }
    chooseBlocks(model, given, completed);
    chooseOrder(model, given, completed);
    // Estimates are no better than that.
    constexpr double kClearly = 0.95;
    if (!best || completed.cycles < kClearly * best->cycles)
      best = std::move(completed);
  }
  return *best;
}
