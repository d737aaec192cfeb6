//===- ConfigAnalysis.cpp - the heuristic configuration of a matmul ----------===//
// In: a contraction's sizes and types, a machine, fields that are given. Out: all fields, whether
// to pack, the reasons. Nothing is refused: checkConfig judges the fields that were given.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Config/ConfigAnalysis.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace xetile;

namespace {

/// What an unknown size counts as.
constexpr int64_t kTypicalExtent = 1024;
/// Costs in cycles of a core. Starting and joining threads:
constexpr double kForkCycles = 8000;
/// Copying one byte of an operand to scratch, with its share of misses:
constexpr double kPackCyclesPerByte = 0.085;
/// Waiting for one byte of an operand that is read where it is, past the second-level cache:
constexpr double kReadCyclesPerByte = 0.01;
/// Reading and writing one element of C again for another block of K, in the second-level cache and
/// past it:
constexpr double kRevisitCycles = 0.15, kFarRevisitCycles = 1.0;
/// Writing one partial result and adding it up:
constexpr double kPartialCycles = 1.5;
/// Fixed costs of one microkernel:
constexpr double kCallCycles = 40;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Chooser {
public:
  Chooser(const Contraction &matmul, const Machine &machine, const PartialConfig &given)
      : matmul(matmul), machine(machine), given(given) {
    for (MatmulDim dim : {kM, kN, kK}) {
      int64_t extent = matmul.extent(dim);
      extents[dim] = ShapedType::isDynamic(extent) ? kTypicalExtent : std::max<int64_t>(extent, 1);
    }
    for (unsigned dim : matmul.batch)
      batches *=
          ShapedType::isDynamic(matmul.sizes[dim]) ? 1 : std::max<int64_t>(matmul.sizes[dim], 1);
    group = dotGroup(matmul, machine);
    sumBits = std::max<int64_t>(matmul.elementType(2).getIntOrFloatBitWidth(), 32);
    inputBytes = std::max<int64_t>(matmul.elementType(0).getIntOrFloatBitWidth() / 8, 1);
    length = std::max<int64_t>(machine.vectorBits / sumBits, 1);
  }

  ConfigChoice run() {
    chooseInnermost();
    inPlaceA = readsAInPlace();
    copiedB = mustCopyB();
    chooseThreads();
    choosePacking();
    chooseBlocks();
    chooseOrder();
    return std::move(choice);
  }

private:
  void note(std::string text) { choice.reasons.push_back(std::move(text)); }
  void chooseInnermost();
  void chooseThreads();
  void choosePacking();
  void chooseBlocks();
  void chooseOrder();
  double threadCost(const std::array<int64_t, 3> &threads, std::string *terms) const;
  bool isPlain(unsigned operand) const {
    int64_t own = 0;
    for (AffineExpr expr : matmul.map(operand).getResults())
      own += !llvm::is_contained(matmul.batch, cast<AffineDimExpr>(expr).getPosition());
    return own == 2;
  }
  /// Whether `dim` is the contiguous one of an operand.
  bool runsAlong(unsigned operand, MatmulDim dim) const {
    AffineMap map = matmul.map(operand);
    return map.getDimPosition(map.getNumResults() - 1) == matmul.tiled(dim);
  }
  /// Rows of A that run along k are streams, which a core prefetches from where they are. Dot
  /// products need a copy if parts of k may be no whole groups: the last group is filled up.
  bool readsAInPlace() const {
    return !isPlain(0) || (runsAlong(0, kK) && !offsetsBytes(matmul, machine) &&
                           (group == 1 || hasWholeGroups(matmul, choice.config, group)));
  }
  /// Cycles for copying elements of an operand, and for reading them where they are.
  double copyCost(double elements) const { return elements * inputBytes * kPackCyclesPerByte; }
  double readCost(double elements) const {
    bool near = elements * inputBytes <= machine.l2;
    return near ? 0 : elements * inputBytes * kReadCyclesPerByte;
  }
  /// Cycles for reading k x n elements of B where they are, once for each row of tiles of m.
  double readBCost(double m, double n, double k) const {
    return readCost(n * k) * std::ceil(m / std::max<int64_t>(choice.config.innermost[kM], 1));
  }
  /// Without a copy n would have to be contiguous, and dot products would have no groups.
  bool mustCopyB() const { return group > 1 || !runsAlong(1, kN); }
  /// Elements of `dim` that the busiest of `count` threads gets.
  int64_t share(MatmulDim dim, int64_t count) const {
    int64_t block = choice.config.innermost[dim];
    return std::min(extents[dim], ceilDiv(ceilDiv(extents[dim], block), count) * block);
  }

  const Contraction &matmul;
  const Machine &machine;
  const PartialConfig &given;
  ConfigChoice choice;
  std::array<int64_t, 3> extents;
  int64_t batches = 1, sumBits, inputBytes, length;
  /// readsAInPlace() and mustCopyB(), which thousands of candidates for threads ask for.
  bool inPlaceA = false, copiedB = false;
  /// Elements of k that one instruction multiplies and adds.
  int64_t group = 1;
  double cyclesPerStep = 1;
};

} // namespace

int64_t xetile::dotGroup(const Contraction &matmul, const Machine &machine) {
  Type a = matmul.elementType(0), b = matmul.elementType(1), c = matmul.elementType(2);
  if (machine.bf16Dot && a.isBF16() && b.isBF16() && (c.isF32() || c.isBF16()))
    return 2;
  return machine.int8Dot && a.isInteger(8) && b.isInteger(8) && c.isInteger(32) ? 4 : 1;
}

bool xetile::offsetsBytes(const Contraction &matmul, const Machine &machine) {
  AffineMap map = matmul.map(2);
  return dotGroup(matmul, machine) == 4 && !machine.amx &&
         matmul.isUnsigned(0) == matmul.isUnsigned(1) &&
         map.getDimPosition(map.getNumResults() - 1) == matmul.tiled(kN);
}

bool xetile::hasWholeGroups(const Contraction &matmul, const MatmulConfig &config, int64_t group) {
  int64_t k = matmul.extent(kK);
  return !ShapedType::isDynamic(k) && k % group == 0 && config.innermost[kK] % group == 0;
}

RegisterTile xetile::chooseRegisterTile(int64_t m, int64_t n, int64_t length, int64_t registers) {
  // Fewer independent sums than this leave the multiplier waiting for its own results; a core
  // starts two loads for every vector multiply-add.
  constexpr int64_t kSumsInFlight = 8;
  RegisterTile best;
  for (int64_t vectors = 1; vectors <= 4; ++vectors)
    for (int64_t rows = 1; rows <= 30 && rows * vectors + vectors + 1 <= registers; ++rows) {
      double tiles = double(ceilDiv(m, rows)) * ceilDiv(n, vectors * length);
      double multiplies = std::max<int64_t>(rows * vectors, kSumsInFlight);
      double cost = tiles * (std::max(multiplies, (rows + vectors) / 2.0) +
                             0.05 * double(rows + vectors) + 0.5);
      if (best.cycles == 0 || cost < best.cycles)
        best = {rows, vectors, cost};
    }
  return best;
}

void Chooser::chooseInnermost() {
  bool tiles = group > 1 && machine.amx;
  RegisterTile tile = chooseRegisterTile(extents[kM], extents[kN], length, machine.registers);
  std::array<int64_t, 3> wanted = {tile.rows, tile.vectors * length, 16};
  // Two by two tiles of sums of 16 x 16, for 16 groups of k.
  if (tiles)
    wanted = {32, 32, 16 * group};
  for (MatmulDim dim : {kM, kN, kK}) {
    int64_t unit = matmul.unit[dim];
    int64_t size = std::max<int64_t>(wanted[dim] / unit, 1) * unit;
    if (std::optional<int64_t> innermost = given.innermost[dim]) {
      size = *innermost;
    } else if (std::optional<int64_t> block = given.block[dim]) {
      // The largest part of the given block that is no larger than wanted.
      size = std::min(size, *block);
      while (size > 1 && (*block % size != 0 || size % unit != 0))
        --size;
    }
    choice.config.innermost[dim] = size;
  }
  double ideal = double(extents[kM]) * extents[kN] / length;
  cyclesPerStep = tile.cycles / (double(extents[kM]) * extents[kN] * group);
  // A product of tiles takes 16 cycles.
  if (tiles)
    cyclesPerStep = 1.0 / (16 * 16 * group);
  if (tiles) {
    note(llvm::formatv("innermost {0}x{1}x{2}: tile registers hold 2 x 2 tiles of 16 x 16 sums; a "
                       "product of tiles takes 16 cycles for {3} steps of k",
                       choice.config.innermost[kM], choice.config.innermost[kN],
                       choice.config.innermost[kK], 16 * group)
             .str());
    return;
  }
  note(llvm::formatv("innermost {0}x{1}x{2}: registers hold {3} rows of {4} vectors of {5}; "
                     "{6:f0} cycles per {8} of k for {7:f0} vector multiply-adds",
                     choice.config.innermost[kM], choice.config.innermost[kN],
                     choice.config.innermost[kK], tile.rows, tile.vectors, length, tile.cycles,
                     ideal, group > 1 ? llvm::formatv("{0} steps", group).str() : "step")
           .str());
}

double Chooser::threadCost(const std::array<int64_t, 3> &threads, std::string *terms) const {
  double m = share(kM, threads[kM]), n = share(kN, threads[kN]), k = share(kK, threads[kK]);
  int64_t all = threads[kM] * threads[kN] * threads[kK];
  // Batches and threads share one parallel loop.
  double rounds = double(ceilDiv(batches * all, std::max<int64_t>(machine.cores, 1)));
  if (batches == 1)
    rounds = 1;
  double compute = m * n * k * cyclesPerStep;
  double operands = inPlaceA ? readCost(m * k) : copyCost(m * k);
  operands += copiedB ? copyCost(n * k) : std::min(copyCost(n * k), readBCost(m, n, k));
  double partial =
      threads[kK] > 1 ? threads[kK] * double(extents[kM]) * extents[kN] * kPartialCycles : 0;
  double fork = all > 1 || batches > 1 ? kForkCycles : 0;
  double cost = rounds * (compute + operands) + partial + fork;
  if (terms)
    *terms = llvm::formatv(
                 "compute {0:f0} + operands {1:f0} + partial sums {2:f0} + fork {3:f0} = {4:f0} "
                 "cycles",
                 rounds * compute, rounds * operands, partial, fork, cost)
                 .str();
  return cost;
}

/// Counts of threads worth a look for `blocks` innermost blocks: of those that leave the busiest
/// thread with the same number of blocks the smallest. Far up they grow by a sixteenth at least.
static SmallVector<int64_t> threadCounts(int64_t blocks, int64_t most) {
  constexpr int64_t kAll = 64;
  SmallVector<int64_t> counts;
  for (int64_t count = 1; count <= std::min(blocks, most);) {
    counts.push_back(count);
    int64_t share = ceilDiv(blocks, count);
    if (share == 1)
      break;
    count = ceilDiv(blocks, share - 1);
    if (counts.back() > kAll)
      count = std::max(count, counts.back() + counts.back() / 16);
  }
  return counts;
}

void Chooser::chooseThreads() {
  // More threads than this have to be asked for.
  constexpr int64_t kMostThreads = 1024;
  int64_t asked = 1;
  std::array<SmallVector<int64_t>, 3> counts;
  for (MatmulDim dim : {kM, kN, kK}) {
    int64_t inner = std::max<int64_t>(choice.config.innermost[dim], 1);
    std::optional<int64_t> count = given.threads[dim];
    counts[dim] = count ? SmallVector<int64_t>{*count}
                        : threadCounts(ceilDiv(extents[dim], inner), kMostThreads);
    asked *= count.value_or(1);
  }
  int64_t cores = std::min(machine.cores, std::max(kMostThreads, asked));
  std::array<int64_t, 3> best = {1, 1, 1};
  double bestCost = -1;
  int64_t candidates = 0;
  for (int64_t m : counts[kM])
    for (int64_t n : counts[kN])
      for (int64_t k : counts[kK]) {
        if (m * n * k > cores)
          break;
        ++candidates;
        double cost = threadCost({m, n, k}, nullptr);
        if (bestCost < 0 || cost < bestCost) {
          bestCost = cost;
          best = {m, n, k};
        }
      }
  for (MatmulDim dim : {kM, kN, kK})
    choice.config.threads[dim] = given.threads[dim].value_or(best[dim]);
  std::string terms;
  threadCost(best, &terms);
  note(llvm::formatv("threads {0}x{1}x{2} of {3} cores, best of {5}: {4}", best[kM], best[kN],
                     best[kK], machine.cores, terms, candidates)
           .str());
}

void Chooser::choosePacking() {
  const MatmulConfig &config = choice.config;
  int64_t m = share(kM, std::max<int64_t>(config.threads[kM], 1));
  int64_t n = share(kN, std::max<int64_t>(config.threads[kN], 1));
  int64_t k = share(kK, std::max<int64_t>(config.threads[kK], 1));
  double copy = copyCost(double(n) * k), read = readBCost(m, n, k);
  choice.packB = isPlain(1) && isPlain(2) && (mustCopyB() || copy < read) &&
                 config.innermost[kN] % length == 0;
  choice.packA = !readsAInPlace() && (n > 2 * config.innermost[kN] || (group > 1 && choice.packB));
  std::string whyA = "its rows are read in place", whyB;
  if (!readsAInPlace())
    whyA = llvm::formatv("{0} elements of n use it", n);
  if (group > 1)
    whyB = llvm::formatv("for products of groups of {0}", group);
  else if (!runsAlong(1, kN))
    whyB = "it is transposed";
  else
    whyB = llvm::formatv("{0:f0} cycles, reading it in place {1:f0}", copy, read);
  note(llvm::formatv("pack A: {0} ({1}), pack B: {2} ({3})", choice.packA ? "yes" : "no", whyA,
                     choice.packB ? "yes" : "no", whyB)
           .str());
}

void Chooser::chooseBlocks() {
  MatmulConfig &config = choice.config;
  auto fit = [&](MatmulDim dim, double elements) {
    int64_t inner = std::max<int64_t>(config.innermost[dim], 1);
    int64_t part = share(dim, std::max<int64_t>(config.threads[dim], 1));
    if (ShapedType::isDynamic(matmul.extent(dim)))
      part = std::max<int64_t>(part, kLargestDynamicBlock);
    elements = std::min(elements, double(part + inner));
    if (ShapedType::isDynamic(matmul.extent(dim)))
      elements = std::min<double>(elements, kLargestDynamicBlock);
    int64_t most = std::max<int64_t>(int64_t(elements) / inner, 1) * inner;
    return std::min(most, ceilDiv(part, inner) * inner);
  };
  double inner = std::max<int64_t>(config.innermost[kN], 1);
  // A panel of B streams from a quarter of the second-level cache, past rows of A that stay in
  // three quarters of the first; a block of A fits half of the second. If all of m is one block,
  // each panel of B is used right after it is packed: a block of B then fits half of the second
  // level, too, otherwise half of a core's share of the third.
  double rows = std::max<int64_t>(config.innermost[kM], 1);
  double k =
      std::min(machine.l2 / 4.0 / (inner * inputBytes), machine.l1 * 0.75 / (rows * inputBytes));
  config.block[kK] = given.block[kK].value_or(fit(kK, k));
  double kBlock = std::max<int64_t>(config.block[kK], 1);
  config.block[kM] = given.block[kM].value_or(fit(kM, machine.l2 / 2.0 / (kBlock * inputBytes)));
  bool oneBlock = !ShapedType::isDynamic(matmul.extent(kM)) &&
                  config.block[kM] >= share(kM, std::max<int64_t>(config.threads[kM], 1));
  double l3 =
      std::max<double>(double(machine.l3) / std::max<int64_t>(machine.cores, 1), machine.l2);
  config.block[kN] =
      given.block[kN].value_or(fit(kN, (oneBlock ? machine.l2 : l3) / 2.0 / (kBlock * inputBytes)));
  auto kib = [&](int64_t a, int64_t b) { return double(a) * b * inputBytes / 1024; };
  note(llvm::formatv(
           "blocks {0}x{1}x{2}: rows of A {3:f0} KiB of {4} KiB L1, block of A {5:f0} KiB of "
           "{6} KiB L2, block of B {7:f0} KiB of {8} KiB {9}",
           config.block[kM], config.block[kN], config.block[kK],
           kib(config.innermost[kM], config.block[kK]), machine.l1 / 1024,
           kib(config.block[kM], config.block[kK]), machine.l2 / 1024,
           kib(config.block[kN], config.block[kK]), (oneBlock ? machine.l2 : machine.l3) / 1024,
           oneBlock ? "L2, as all of m is one block" : "L3")
           .str());
}

void Chooser::chooseOrder() {
  MatmulConfig &config = choice.config;
  std::array<int64_t, 3> trips, parts;
  for (MatmulDim dim : {kM, kN, kK}) {
    parts[dim] = share(dim, std::max<int64_t>(config.threads[dim], 1));
    trips[dim] = ceilDiv(parts[dim], std::max<int64_t>(config.block[dim], 1));
  }
  auto score = [&](int64_t order, std::string *terms) {
    MatmulConfig candidate = config;
    candidate.loopOrder = order;
    auto loops = candidate.middleLoops();
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
    aCost *= choice.packA ? copyCost(aSize) : readCost(aSize);
    bCost *= choice.packB ? copyCost(bSize) : readCost(bSize);
    double results = double(parts[kM]) * parts[kN];
    double cCost = (visits(kM, kN) - 1) * results *
                   (results * sumBits / 8 > machine.l2 ? kFarRevisitCycles : kRevisitCycles);
    // With rows of tiles inside of columns a panel of B stays in the first-level cache.
    bool panelStays = llvm::find(loops, kN) < llvm::find(loops, kM);
    double calls = double(ceilDiv(parts[kM], std::max<int64_t>(config.innermost[kM], 1))) *
                   ceilDiv(parts[kN], std::max<int64_t>(config.innermost[kN], 1)) * trips[kK];
    double reload = calls * (panelStays ? kCallCycles : 2 * kCallCycles);
    double cost = aCost + bCost + cCost + reload;
    if (terms)
      *terms = llvm::formatv("A {0:f0} + B {1:f0} + C {2:f0} + microkernels {3:f0} = {4:f0} cycles",
                             aCost, bCost, cCost, reload, cost)
                   .str();
    return cost;
  };
  int64_t best = 3;
  for (int64_t order = 0; isLoopOrder(order); ++order)
    if (score(order, nullptr) < score(best, nullptr))
      best = order;
  config.loopOrder = given.loopOrder.value_or(best);
  for (int64_t order = 0; isLoopOrder(order); ++order) {
    std::string terms;
    score(order, &terms);
    note(llvm::formatv("loop order {0} ({1}){2}: {3}", order, loopOrderNames()[order],
                       order == config.loopOrder ? ", chosen" : "", terms)
             .str());
  }
}

ConfigChoice xetile::chooseConfig(const Contraction &matmul, const Machine &machine,
                                  const PartialConfig &given) {
  return Chooser(matmul, machine, given).run();
}
