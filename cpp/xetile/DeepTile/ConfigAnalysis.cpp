//===- ConfigAnalysis.cpp - the heuristic configuration of a matmul ----------===//
// In: a contraction's sizes and types, a machine, fields that are given. Out: all fields, whether
// to pack, the reasons. Nothing is refused: checkConfig judges the fields that were given.
//===----------------------------------------------------------------------===//
#include "xetile/DeepTile/ConfigAnalysis.h"
#include "xetile/DeepTile/DeepTile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

namespace {

/// What an unknown size counts as.
constexpr int64_t kTypicalExtent = 1024;
/// Costs in cycles of a core. Starting and joining threads:
constexpr double kForkCycles = 15000;
/// Copying one element to scratch, with its share of misses:
constexpr double kPackCycles = 0.35;
/// Reading and writing one element of C again for another block of K:
constexpr double kRevisitCycles = 0.15;
/// Writing one partial result and adding it up:
constexpr double kPartialCycles = 1.0;
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
    sumBits = std::max<int64_t>(matmul.elementType(2).getIntOrFloatBitWidth(), 32);
    inputBytes = std::max<int64_t>(matmul.elementType(0).getIntOrFloatBitWidth() / 8, 1);
    length = std::max<int64_t>(machine.vectorBits / sumBits, 1);
  }

  ConfigChoice run() {
    chooseInnermost();
    chooseThreads();
    choosePacking();
    chooseBlocks();
    chooseOrder();
    return std::move(choice);
  }

private:
  void note(std::string text) { choice.reasons.push_back(std::move(text)); }
  bool isGiven(unsigned field) const { return given[field].has_value(); }
  void chooseInnermost();
  void chooseThreads();
  void choosePacking();
  void chooseBlocks();
  void chooseOrder();
  double threadCost(const std::array<int64_t, 3> &threads, std::string *terms) const;
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
  double cyclesPerStep = 1;
};

} // namespace

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
  RegisterTile tile = chooseRegisterTile(extents[kM], extents[kN], length, machine.registers);
  std::array<int64_t, 3> wanted = {tile.rows, tile.vectors * length, 16};
  for (MatmulDim dim : {kM, kN, kK}) {
    int64_t unit = matmul.unit[dim];
    int64_t size = std::max<int64_t>(wanted[dim] / unit, 1) * unit;
    if (isGiven(6 + dim)) {
      size = *given[6 + dim];
    } else if (isGiven(3 + dim) && *given[3 + dim] >= 1) {
      // The largest part of the given block that is no larger than wanted.
      size = std::min(size, *given[3 + dim]);
      while (size > 1 && (*given[3 + dim] % size != 0 || size % unit != 0))
        --size;
    }
    choice.config.innermost[dim] = size;
  }
  double ideal = double(extents[kM]) * extents[kN] / length;
  cyclesPerStep = tile.cycles / (double(extents[kM]) * extents[kN]);
  note(llvm::formatv("innermost {0}x{1}x{2}: registers hold {3} rows of {4} vectors of {5}; "
                     "{6:f0} cycles per step of k for {7:f0} vector multiply-adds",
                     choice.config.innermost[kM], choice.config.innermost[kN],
                     choice.config.innermost[kK], tile.rows, tile.vectors, length, tile.cycles,
                     ideal)
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
  double pack = (m * k + n * k) * kPackCycles;
  double partial =
      threads[kK] > 1 ? threads[kK] * double(extents[kM]) * extents[kN] * kPartialCycles : 0;
  double fork = all > 1 || batches > 1 ? kForkCycles : 0;
  double cost = rounds * (compute + pack) + partial + fork;
  if (terms)
    *terms =
        llvm::formatv("compute {0:f0} + pack {1:f0} + partial sums {2:f0} + fork {3:f0} = {4:f0} "
                      "cycles",
                      rounds * compute, rounds * pack, partial, fork, cost)
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
    counts[dim] = isGiven(dim) ? SmallVector<int64_t>{*given[dim]}
                               : threadCounts(ceilDiv(extents[dim], inner), kMostThreads);
    asked *= given[dim].value_or(1);
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
    choice.config.threads[dim] = given[dim].value_or(best[dim]);
  std::string terms;
  threadCost(best, &terms);
  note(llvm::formatv("threads {0}x{1}x{2} of {3} cores, best of {5}: {4}", best[kM], best[kN],
                     best[kK], machine.cores, terms, candidates)
           .str());
}

void Chooser::choosePacking() {
  const MatmulConfig &config = choice.config;
  auto plain = [&](unsigned operand) {
    int64_t own = 0;
    for (AffineExpr expr : matmul.map(operand).getResults())
      own += !llvm::is_contained(matmul.batch, cast<AffineDimExpr>(expr).getPosition());
    return own == 2;
  };
  auto lastIs = [&](unsigned operand, MatmulDim dim) {
    AffineMap map = matmul.map(operand);
    return map.getDimPosition(map.getNumResults() - 1) == matmul.tiled(dim);
  };
  int64_t m = share(kM, std::max<int64_t>(config.threads[kM], 1));
  int64_t n = share(kN, std::max<int64_t>(config.threads[kN], 1));
  // An element of B is read once per row of tiles: a copy pays from a few rows on. Without one n
  // would have to be contiguous, and bf16 would have no pairs.
  bool pairs = machine.bf16Dot && matmul.elementType(0).isBF16() && matmul.elementType(1).isBF16();
  choice.packB = plain(1) && plain(2) &&
                 (m > 2 * config.innermost[kM] || !lastIs(1, kN) || pairs) &&
                 config.innermost[kN] % length == 0;
  choice.packA = plain(0) && (n > 2 * config.innermost[kN] || (pairs && choice.packB));
  note(
      llvm::formatv("pack A: {0} ({1} elements of n use it), pack B: {2} ({3} rows of m use it{4})",
                    choice.packA ? "yes" : "no", n, choice.packB ? "yes" : "no", m,
                    lastIs(1, kN) ? "" : "; it is transposed")
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
  // A panel of B streams from an eighth of the second-level cache, past rows of A that stay in half
  // of the first; a block of A fits half of the second, a block of B half of a core's share of the
  // third.
  double rows = std::max<int64_t>(config.innermost[kM], 1);
  double k =
      std::min(machine.l2 / 8.0 / (inner * inputBytes), machine.l1 / 2.0 / (rows * inputBytes));
  config.block[kK] = given[5].value_or(fit(kK, k));
  double kBlock = std::max<int64_t>(config.block[kK], 1);
  config.block[kM] = given[3].value_or(fit(kM, machine.l2 / 2.0 / (kBlock * inputBytes)));
  double l3 =
      std::max<double>(double(machine.l3) / std::max<int64_t>(machine.cores, 1), machine.l2);
  config.block[kN] = given[4].value_or(fit(kN, l3 / 2.0 / (kBlock * inputBytes)));
  auto kib = [&](int64_t a, int64_t b) { return double(a) * b * inputBytes / 1024; };
  note(llvm::formatv(
           "blocks {0}x{1}x{2}: rows of A {3:f0} KiB of {4} KiB L1, block of A {5:f0} KiB of "
           "{6} KiB L2, block of B {7:f0} KiB of {8} KiB L3",
           config.block[kM], config.block[kN], config.block[kK],
           kib(config.innermost[kM], config.block[kK]), machine.l1 / 1024,
           kib(config.block[kM], config.block[kK]), machine.l2 / 1024,
           kib(config.block[kN], config.block[kK]), machine.l3 / 1024)
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
    double aCost = visits(kM, kK) * parts[kM] * parts[kK] * kPackCycles;
    double bCost = visits(kN, kK) * parts[kN] * parts[kK] * kPackCycles;
    double cCost = visits(kM, kN) * parts[kM] * parts[kN] * kRevisitCycles;
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
  for (int64_t order = 0; order < MatmulConfig::kNumLoopOrders; ++order)
    if (score(order, nullptr) < score(best, nullptr))
      best = order;
  config.loopOrder = given[9].value_or(best);
  static constexpr StringLiteral names[] = {"mnk", "mkn", "nmk", "nkm", "kmn", "knm"};
  for (int64_t order = 0; order < MatmulConfig::kNumLoopOrders; ++order) {
    std::string terms;
    score(order, &terms);
    note(llvm::formatv("loop order {0} ({1}){2}: {3}", order, names[order],
                       order == config.loopOrder ? ", chosen" : "", terms)
             .str());
  }
}

ConfigChoice xetile::chooseConfig(const Contraction &matmul, const Machine &machine,
                                  const PartialConfig &given) {
  return Chooser(matmul, machine, given).run();
}
