//===- PropertyTest.cpp - random operands, every plan proven ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: random types, shapes, clusters, subgroup grids, memory orders, targets and surfaces.
// Out: checks that each plan is legal, right on the message model and as short as any, and that
// each refusal has a cause. Refused: nothing.
#include "Test.h"
#include "xetile/Layout/PlanProof.h"
#include "xetile/Layout/TileMessages.h"
#include "llvm/Support/MathExtras.h"

using namespace xetile;
using namespace xetile::test;
using llvm::Twine;

namespace {

class Generator {
public:
  explicit Generator(std::mt19937_64 &random) : random(random) {}

  uint64_t below(uint64_t end) { return random() % end; }
  bool oneIn(unsigned n) { return below(n) == 0; }
  unsigned power(unsigned maxLog) { return 1u << below(maxLog + 1); }

  PlanRequest request() {
    PlanRequest request;
    const char *chips[] = {"pvc", "bmg", "lnl"};
    request.target = lookupTarget(oneIn(40) ? "dg2" : chips[below(3)]);
    DpasParams &dpas = request.dpas;
    dpas.repeatCount = oneIn(2) ? 8 : power(3);
    dpas.opsPerChannel = power(3);
    dpas.executionSize = dpas.threadsPerWarp = oneIn(40) ? 8 : 16;
    dpas.warpsPerCTA = {power(3), power(3)};
    dpas.repCluster = {power(3), power(2)};
    request.operand = DpasOperand(below(3));
    request.elemBits = dpas.elemBits();
    if (request.operand == DpasOperand::C)
      request.elemBits = oneIn(2) ? 32 : 8 * power(1); // narrowed results, too
    Shape2D cluster = clusterShape(dpas, request.operand);
    for (unsigned dim : {0, 1})
      request.shape[dim] = cluster[dim] * power(oneIn(2) ? 5 : 2);
    request.contiguousDim = below(2);
    request.oneMatrixPerLoad = oneIn(4);
    request.access = oneIn(5)   ? BlockAccess::Prefetch
                     : oneIn(4) ? BlockAccess::Store
                                : BlockAccess::Load;
    if (oneIn(3))
      addFacts(request);
    if (oneIn(20))
      spoil(request);
    return request;
  }

  /// A surface that the 2D unit takes, of any size, and a corner that may hang over its edges.
  ProofPlace place(const PlanRequest &request) {
    ProofPlace place;
    // Legal widths are multiples of 4 bytes (8 for 64-bit elements, which no plan needs).
    unsigned unit = 32 / request.elemBits;
    uint64_t rows = request.shape[1 - request.contiguousDim],
             columns = request.shape[request.contiguousDim];
    place.height = 1 + below(rows * 2);
    place.width = unit * (1 + below(columns * 2 / unit + 1));
    place.y = int64_t(below(rows + 40)) - 20;
    place.x = (int64_t(below(columns + 40)) - 20) / unit * unit;
    place.subgroup = below(request.dpas.subgroups());
    return place;
  }

private:
  void addFacts(PlanRequest &request) {
    SurfaceFacts &facts = request.surface;
    if (oneIn(2))
      facts.baseAlign = oneIn(4) ? 1 + below(100) : 64 * (1 + below(4));
    if (oneIn(2))
      facts.width = oneIn(4) ? below(200) : 4 * (16 + below(2000));
    if (oneIn(2))
      facts.pitch = oneIn(4) ? below(9000) : 16 * (4 + below(2000));
    if (oneIn(2))
      facts.height = oneIn(8) ? (uint64_t(1) << 24) + below(2) : 1 + below(5000);
    if (oneIn(2))
      facts.xMultiple = 1 + below(16);
  }

  void spoil(PlanRequest &request) {
    unsigned bad[] = {0, 3, 5, 6, 12, 24, 1000};
    unsigned value = bad[below(std::size(bad))];
    switch (below(7)) {
    case 0:
      request.dpas.repeatCount = value;
      break;
    case 1:
      request.dpas.warpsPerCTA[below(2)] = value;
      break;
    case 2:
      request.dpas.repCluster[below(2)] = value;
      break;
    case 3:
      request.shape[below(2)] = value;
      break;
    case 4:
      request.dpas.opsPerChannel = value;
      break;
    case 5:
      request.elemBits = value;
      break;
    case 6:
      request.dpas.systolicDepth = value;
      break;
    }
  }

  std::mt19937_64 &random;
};

std::string describe(const PlanRequest &request) {
  const DpasParams &dpas = request.dpas;
  const char *access[] = {"load", "store", "prefetch"};
  std::string text;
  llvm::raw_string_ostream os(text);
  os << request.target->chip << ' ' << access[unsigned(request.access)] << ' '
     << toString(request.operand) << ' ' << request.shape[0] << 'x' << request.shape[1] << " of "
     << request.elemBits << " bits, contiguous " << request.contiguousDim << ", repeatCount "
     << dpas.repeatCount << ", ops " << dpas.opsPerChannel << ", lanes " << dpas.executionSize
     << ", warps " << dpas.warpsPerCTA[0] << 'x' << dpas.warpsPerCTA[1] << ", cluster "
     << dpas.repCluster[0] << 'x' << dpas.repCluster[1]
     << (request.oneMatrixPerLoad ? ", one matrix" : "");
  return text;
}

/// Whether the parameters are those of a DPAS and its operand, written out anew.
bool isSound(const PlanRequest &request) {
  const DpasParams &dpas = request.dpas;
  auto isPower = [](uint64_t value) { return value && !(value & (value - 1)); };
  if (!isPower(dpas.repeatCount) || dpas.repeatCount > 8 || dpas.systolicDepth != 8 ||
      !isPower(dpas.opsPerChannel) || dpas.opsPerChannel > 8)
    return false;
  for (unsigned dim : {0, 1})
    if (!isPower(dpas.warpsPerCTA[dim]) || !isPower(dpas.repCluster[dim]) ||
        !isPower(request.shape[dim]))
      return false;
  if (request.operand == DpasOperand::C) {
    if (request.elemBits != 8 && request.elemBits != 16 && request.elemBits != 32)
      return false;
  } else if (request.elemBits * dpas.opsPerChannel != 32) {
    return false;
  }
  if (request.operand == DpasOperand::A && dpas.repeatCount * dpas.k() < dpas.executionSize)
    return false;
  Shape2D cluster = clusterShape(dpas, request.operand);
  return request.shape[0] >= cluster[0] && request.shape[1] >= cluster[1];
}

/// Whether what is known of the surface forbids messages on elements of `elemBits` bits.
bool surfaceForbids(const PlanRequest &request, unsigned elemBits) {
  const SurfaceFacts &facts = request.surface;
  uint64_t width = facts.width.value_or(64), pitch = facts.pitch.value_or((width + 15) / 16 * 16);
  bool bad = facts.baseAlign && *facts.baseAlign % 64;
  if (facts.width || facts.height || facts.pitch)
    bad |= width < 64 || width > 1 << 24 || width % std::max(4u, elemBits / 8) || pitch < width ||
           pitch % 16 || pitch > 1 << 24 || facts.height.value_or(1) < 1 ||
           facts.height.value_or(1) > 1 << 24;
  if (facts.xMultiple) {
    uint64_t bits = *facts.xMultiple * request.elemBits;
    bad |= bits % elemBits != 0 || (elemBits < 32 && bits % 32 != 0);
  }
  return bad;
}

bool isLegal(const PlanRequest &request, const BlockShape &shape) {
  const TargetInfo &target = *request.target;
  switch (request.access) {
  case BlockAccess::Load:
    return !target.check2DBlockLoad(shape.elemBits, shape.width, shape.height, shape.blocks,
                                    shape.transpose, shape.transform);
  case BlockAccess::Prefetch:
    return !target.check2DBlockPrefetch(shape.elemBits, shape.width, shape.height, shape.blocks);
  case BlockAccess::Store:
    break;
  }
  return shape.blocks == 1 && !shape.transpose && !shape.transform &&
         !target.check2DBlockStore(shape.elemBits, shape.width, shape.height);
}

struct Counts {
  uint64_t plain = 0, transforms = 0, transposes = 0, stores = 0, prefetches = 0;
  uint64_t plans = 0, malformed = 0, chip = 0, size = 0, surface = 0, noMessage = 0;
};

void testOne(Checks &checks, Generator &generator, Counts &counts) {
  PlanRequest request = generator.request();
  std::string what = describe(request);
  Result<BlockLoadPlan> plan = planBlockAccess(request);
  if (!plan)
    checks.check(!plan.error().message.empty(), what + ": refused without a reason");
  if (request.target->checkSupported() || request.dpas.executionSize != 16) {
    ++counts.chip;
    checks.check(!plan, what + ": expected a refusal of the chip or of subgroups of 8");
    return;
  }
  if (!isSound(request)) {
    ++counts.malformed;
    checks.check(!plan, what + ": expected a refusal of the parameters");
    return;
  }
  Result<LinearLayout> operand =
      dpasLayout(request.dpas, request.operand, request.elemBits, request.shape);
  if (!checks.ok(operand, what))
    return;
  uint64_t bytes = operand->inSize("register") * 16 * request.elemBits / 8;
  bool prefetch = request.access == BlockAccess::Prefetch;
  if (!prefetch && bytes > 256 * 64) {
    ++counts.size;
    checks.check(!plan, what + ": expected a refusal, the operand does not fit the registers");
    return;
  }
  std::optional<uint64_t> fewest = fewestMessages(request, *operand);
  if (!fewest || *fewest > 4096) {
    ++counts.noMessage;
    checks.check(!plan, what + ": no message suits, and yet there is a plan");
    return;
  }
  if (!plan) {
    // Without the facts there must be a plan, and they must forbid it.
    PlanRequest free = request;
    free.surface = {};
    Result<BlockLoadPlan> other = planBlockAccess(free);
    ++counts.surface;
    if (checks.ok(other, what + ": refused, and " + Twine(*fewest) + " messages suit"))
      checks.check(surfaceForbids(request, other->shape.elemBits),
                   what + ": " + plan.error().message + ", but the surface is legal");
    return;
  }
  ++counts.plans;
  ++(prefetch                               ? counts.prefetches
     : request.access == BlockAccess::Store ? counts.stores
     : plan->shape.transpose                ? counts.transposes
     : plan->shape.transform                ? counts.transforms
                                            : counts.plain);
  checks.check(!surfaceForbids(request, plan->shape.elemBits), what + ": the surface is illegal");
  checks.check(isLegal(request, plan->shape), what + ": the message is illegal");
  checks.check(plan->messages.size() == *fewest, what + ": " + Twine(plan->messages.size()) +
                                                     " messages, " + Twine(*fewest) +
                                                     " are enough");
  checks.check(plan->cost.messages == plan->messages.size() && plan->cost.bytes == bytes,
               what + ": wrong cost");
  if (!prefetch) {
    unsigned whole = 0;
    for (unsigned tile = 0; tile < plan->tiles(); ++tile)
      whole += plan->slices(tile).size() == 1;
    bool sameWidth = plan->messageRegisterBits == plan->operandRegisterBits;
    checks.check(plan->cost.shuffles == (sameWidth ? plan->tiles() - whole : plan->tiles()),
                 what + ": wrong count of shuffles");
  }
  checks.ok(blockLayouts(request, *plan), what);
  ProofPlace place = generator.place(request);
  std::optional<Error> error = provePlan(request, *plan, place);
  checks.check(!error, what + " at (" + Twine(place.y) + ", " + Twine(place.x) + ") of " +
                           Twine(place.height) + "x" + Twine(place.width) + ": " +
                           (error ? error->message : ""));
}

/// Tiles of any number of blocks have messages that the target takes and that cover each element
/// once.
void testTile(Checks &checks, Generator &generator) {
  PlanRequest request;
  const char *chips[] = {"pvc", "bmg", "lnl"};
  request.target = lookupTarget(chips[generator.below(3)]);
  request.operand = DpasOperand(generator.below(3));
  request.access = BlockAccess(generator.below(3));
  request.elemBits = 8 * generator.power(2);
  unsigned inputBits = request.operand == DpasOperand::C ? 16 : request.elemBits;
  request.dpas = largestDpas(*request.target, inputBits);
  Shape2D block = instructionShape(request.dpas, request.operand);
  if (request.access == BlockAccess::Prefetch)
    block = {1, request.elemBits == 32 ? 8u : 16u};
  for (unsigned dim : {0, 1})
    request.shape[dim] = block[dim] * (1 + generator.below(6));
  std::string what = describe(request);
  Result<TileMessages> tile = planTile(request);
  if (!checks.ok(tile, what))
    return;
  checks.check(isLegal(request, tile->shape), what + ": the message is illegal");
  std::vector<unsigned> touched(request.shape[0] * request.shape[1]);
  unsigned pack = tile->shape.elemBits / request.elemBits;
  for (const BlockMessage &message : tile->messages)
    for (uint64_t row = message.row; row < message.row + message.height; ++row)
      for (uint64_t col = message.col; col < message.col + message.width * message.blocks * pack;
           ++col)
        if (checks.check(row < request.shape[0] && col < request.shape[1], what + ": outside"))
          ++touched[row * request.shape[1] + col];
  checks.check(llvm::all_of(touched, [](unsigned times) { return times == 1; }),
               what + ": an element is not covered once");
}

} // namespace

void xetile::test::testProperties(Checks &checks, std::mt19937_64 &random, uint64_t cases) {
  Generator generator(random);
  Counts counts;
  for (uint64_t i = 0; i < cases; ++i)
    testOne(checks, generator, counts);
  for (uint64_t i = 0; i < cases / 10; ++i)
    testTile(checks, generator);
  llvm::outs() << cases << " cases: " << counts.plans << " plans proven (" << counts.plain
               << " plain, " << counts.transforms << " transforming and " << counts.transposes
               << " transposing loads, " << counts.stores << " stores, " << counts.prefetches
               << " prefetches); refused: " << counts.malformed << " parameters, " << counts.chip
               << " chips or subgroup sizes, " << counts.size << " too large, " << counts.surface
               << " surfaces, " << counts.noMessage << " without a message\n";
}
