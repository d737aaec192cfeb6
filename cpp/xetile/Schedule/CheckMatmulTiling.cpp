//===- CheckMatmulTiling.cpp - transform.xetile.check_matmul_tiling ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a matmul and the tile sizes a schedule wants for it. Out: nothing changes.
// Refused: matmuls that get_matmul refuses, layouts that leave a remainder, and what the target's
// DPAS, workgroups, registers or shared local memory cannot take. Messages name the nearest legal
// value.
#include "xetile/Facts/TargetInfo.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Schedule/MatmulLoops.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/SlmRings.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

/// The schedule's parameters, m, n, k in this order.
struct Tiling {
  std::array<int64_t, 3> tile = {};
  std::array<int64_t, 2> layout = {};
  int64_t prefetch = 0, buffers = 0;
  StringRef target;
};

using SubgroupTile = std::array<int64_t, 3>;

constexpr std::array<StringLiteral, 3> kTileNames = {"workgroup_m", "workgroup_n", "k_step"};
constexpr std::array<StringLiteral, 2> kLayoutNames = {"subgroups_m", "subgroups_n"};
constexpr std::array<StringLiteral, 3> kDimNames = {"m", "n", "k"};

/// The multiple of `unit` that is nearest to `value`, at least one.
int64_t nearestMultiple(int64_t value, int64_t unit) {
  return std::max<int64_t>(1, (value + unit / 2) / unit) * unit;
}

int64_t nearestDivisor(int64_t size, int64_t value) {
  int64_t below = std::min(value, size), above = below;
  while (size % below != 0)
    --below;
  while (size % above != 0)
    ++above;
  return value - below <= above - value ? below : above;
}

/// c3: the layout divides the tile. Returns what does not; so do the next ones.
Problem findRemainder(const Tiling &tiling) {
  std::string mistake;
  llvm::raw_string_ostream os(mistake);
  for (auto [name, count, tileName, size] :
       llvm::zip(kLayoutNames, tiling.layout, kTileNames, tiling.tile))
    if (size % count != 0) {
      os << name << " = " << count << " does not divide " << tileName << " = " << size
         << "; expected a divisor of " << size << ", the nearest is "
         << nearestDivisor(size, count);
      return mistake;
    }
  return {};
}

SubgroupTile getDpas(const MatmulLoops &contraction, const TargetInfo &device) {
  return {device.dpas.maxM, device.dpas.n, device.dpasK(memoryBits(contraction.elementType(0)))};
}

/// c4: a subgroup's tile is made of whole DPAS.
Problem findPartialDpas(const Tiling &tiling, const SubgroupTile &own,
                        const MatmulLoops &contraction, const TargetInfo &device) {
  std::string mistake;
  llvm::raw_string_ostream os(mistake);
  SubgroupTile dpas = getDpas(contraction, device);
  for (unsigned i = 0; i < 3; ++i) {
    if (own[i] % dpas[i] == 0)
      continue;
    os << kTileNames[i] << " = " << tiling.tile[i];
    if (i < 2)
      os << " over " << kLayoutNames[i] << " = " << tiling.layout[i];
    os << " gives each subgroup " << own[i] << " of " << kDimNames[i] << "; expected a multiple of "
       << dpas[i] << ", the " << kDimNames[i] << " of DPAS for " << contraction.elementType(0)
       << " on " << device.chip << ": the nearest " << kTileNames[i] << " is "
       << nearestMultiple(tiling.tile[i], i < 2 ? dpas[i] * tiling.layout[i] : dpas[i]);
    return mistake;
  }
  return {};
}

/// Registers of a subgroup, in bytes. The lowering loads a and b in slices of k where they do not
/// fit whole.
struct Registers {
  int64_t accumulators, operands;
  bool fit, large;

  Registers(const SubgroupTile &own, const MatmulLoops &contraction, const TargetInfo &device) {
    auto [m, n, k] = own;
    unsigned inputBits = memoryBits(contraction.elementType(0));
    int64_t step = device.dpasK(inputBits), perK = (m + n) * inputBits / 8;
    accumulators = m * n * (memoryBits(contraction.elementType(2)) / 8);
    int64_t slice = device.fitKSlice(k, step, accumulators, perK);
    fit = slice != 0;
    operands = perK * (fit ? slice : step);
    large = accumulators + operands > int64_t(device.registersPerThread) * device.registerBytes;
  }
};

/// ": the nearest layout of subgroups is 8 x 4", of those that are legal for the tile.
std::string adviseLayout(const Tiling &tiling, const MatmulLoops &contraction,
                         const TargetInfo &device) {
  SubgroupTile dpas = getDpas(contraction, device);
  std::array<int64_t, 2> nearest = {}, most = {};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned i = 0; i < 2; ++i)
    most[i] = std::min<int64_t>(device.maxSubgroups(/*largeRegisterFile=*/false),
                                tiling.tile[i] / dpas[i]);
  auto ratio = [](int64_t a, int64_t b) { return double(std::max(a, b)) / std::min(a, b); };
  for (int64_t rows = 1; rows <= most[0]; ++rows)
    for (int64_t columns = 1; columns <= most[1]; ++columns) {
      if (tiling.tile[0] % (rows * dpas[0]) != 0 || tiling.tile[1] % (columns * dpas[1]) != 0)
        continue;
      Registers used({tiling.tile[0] / rows, tiling.tile[1] / columns, tiling.tile[2]}, contraction,
                     device);
      double distance = ratio(rows, tiling.layout[0]) * ratio(columns, tiling.layout[1]);
      if (used.fit && rows * columns <= device.maxSubgroups(used.large) && distance < least) {
        least = distance;
        nearest = {rows, columns};
      }
    }
  std::string advice;
  llvm::raw_string_ostream os(advice);
  if (nearest[0])
    os << ": the nearest layout of subgroups is " << nearest[0] << " x " << nearest[1];
  else
    os << ": make workgroup_m or workgroup_n smaller, no layout of subgroups fits "
       << tiling.tile[0] << " x " << tiling.tile[1];
  return advice;
}

/// c4 to c6: the device takes the subgroups' tiles and their number.
Problem findExcess(const Tiling &tiling, const MatmulLoops &contraction, const TargetInfo &device) {
  SubgroupTile own = {tiling.tile[0] / tiling.layout[0], tiling.tile[1] / tiling.layout[1],
                      tiling.tile[2]};
  if (Problem partial = findPartialDpas(tiling, own, contraction, device))
    return partial;
  std::string mistake;
  llvm::raw_string_ostream os(mistake);
  Registers used(own, contraction, device);
  if (!used.fit) {
    os << "a subgroup's tile of " << own[0] << " x " << own[1] << " needs "
       << used.accumulators + used.operands << " bytes of registers (" << used.accumulators
       << " of accumulators, " << used.operands
       << " of operands for k = " << getDpas(contraction, device)[2] << "); expected at most "
       << int64_t(device.largeRegisters) * device.registerBytes << " on " << device.chip
       << adviseLayout(tiling, contraction, device);
    return mistake;
  }
  int64_t subgroups = tiling.layout[0] * tiling.layout[1];
  if (subgroups <= device.maxSubgroups(used.large))
    return {};
  os << "subgroups_m * subgroups_n = " << tiling.layout[0] << " * " << tiling.layout[1] << " = "
     << subgroups << "; expected at most " << device.maxSubgroups(used.large)
     << " subgroups in a workgroup on " << device.chip << " with "
     << (used.large ? device.largeRegisters : device.registersPerThread) << " registers each"
     << adviseLayout(tiling, contraction, device);
  return mistake;
}

/// Bits that are loaded for each element of an operand: of what it is computed from in the kernel,
/// broadcasts aside.
int64_t getLoadedBits(Value operand) {
  auto producer = operand.getDefiningOp<linalg::LinalgOp>();
  if (!producer)
    return memoryBits(cast<RankedTensorType>(operand.getType()).getElementType());
  int64_t bits = 0;
  for (OpOperand *input : producer.getDpsInputOperands())
    if (producer.getMatchingIndexingMap(input).isPermutation())
      bits += memoryBits(cast<RankedTensorType>(input->get().getType()).getElementType());
  return bits;
}

/// c8: rings of A and B fit shared local memory, and subgroups share the copies evenly.
Problem findUnfitRings(const Tiling &tiling, const MatmulLoops &contraction,
                       const TargetInfo &device) {
  auto [m, n, k] = tiling.tile;
  int64_t size = contraction.sizes[contraction.k];
  // With one step there is no loop, and nothing is staged.
  if (tiling.buffers == 0 || (!ShapedType::isDynamic(size) && size <= k))
    return {};
  std::string mistake;
  llvm::raw_string_ostream os(mistake);
  os << "slm_buffers = " << tiling.buffers << ": ";
  if (Problem outside = checkRingBuffers(tiling.buffers)) {
    os << *outside;
    return mistake;
  }
  SubgroupTile dpas = getDpas(contraction, device);
  int64_t subgroups = tiling.layout[0] * tiling.layout[1];
  for (auto [name, rows, columns] :
       {std::tuple{"A", m / dpas[0], k / dpas[2]}, std::tuple{"B", k / dpas[2], n / dpas[1]}})
    if (!canShareBlocks(rows, columns, subgroups)) {
      os << subgroups << " subgroups cannot share the " << rows << " x " << columns
         << " blocks of a step's tile of " << name
         << " evenly; expected counts that divide one another: k_step = " << dpas[2]
         << " is always legal";
      return mistake;
    }
  int64_t bytesA = getLoadedBits(contraction.op->getOperand(contraction.a)) / 8,
          bytesB = getLoadedBits(contraction.op->getOperand(contraction.b)) / 8;
  int64_t perK = m * bytesA + n * bytesB, limit = device.slmBytes;
  if (tiling.buffers * perK * k <= limit)
    return {};
  os << "a step's tiles need k_step * (workgroup_m * " << bytesA << " + workgroup_n * " << bytesB
     << ") = " << k << " * (" << m << " * " << bytesA << " + " << n << " * " << bytesB
     << ") = " << perK * k << " bytes, " << tiling.buffers << " x " << perK * k << " = "
     << tiling.buffers * perK * k << ", more than the " << limit
     << " bytes of shared local memory of a workgroup on " << device.chip << "; ";
  int64_t most = limit / (perK * k), step = limit / (2 * perK) / dpas[2] * dpas[2];
  if (most >= kFewestRingBuffers)
    os << "the most buffers are " << most;
  else if (step > 0)
    os << "two buffers need k_step of at most " << step;
  else
    os << "make workgroup_m or workgroup_n smaller: two buffers of k_step = " << dpas[2]
       << " do not fit either";
  return mistake;
}

/// The same of a target outside the table of Intel's GPUs.
Problem askTarget(const Target &target, const Tiling &tiling, const MatmulLoops &contraction) {
  MatmulTiling asked{tiling.tile[0],   tiling.tile[1], tiling.layout[0],
                     tiling.layout[1], tiling.tile[2], tiling.prefetch};
  return target.checkTiling(asked, contraction.elementType(0), contraction.elementType(2));
}

/// Reads all parameters into `tiling` (c1).
DiagnosedSilenceableFailure readTiling(CheckMatmulTilingOp op, TransformState &state,
                                       Tiling &tiling) {
  auto step = cast<TransformOpInterface>(op.getOperation());
  std::array<Value, 3> tile = {op.getWorkgroupM(), op.getWorkgroupN(), op.getKStep()};
  std::array<Value, 2> layout = {op.getSubgroupsM(), op.getSubgroupsN()};
  auto readPositive = [&](Value param, StringRef name, int64_t &value) {
    DiagnosedSilenceableFailure diag = readInteger(step, state, param, name, 1, value);
    if (diag.succeeded() && value > kMaxTileSize)
      return DiagnosedSilenceableFailure(step.emitDefiniteFailure()
                                         << name << " = " << value << ": expected at most "
                                         << kMaxTileSize);
    return diag;
  };
  for (unsigned i = 0; i < 3; ++i)
    if (auto diag = readPositive(tile[i], kTileNames[i], tiling.tile[i]); !diag.succeeded())
      return diag;
  for (unsigned i = 0; i < 2; ++i)
    if (auto diag = readPositive(layout[i], kLayoutNames[i], tiling.layout[i]); !diag.succeeded())
      return diag;
  if (auto diag = readInteger(step, state, op.getPrefetch(), "prefetch", 0, tiling.prefetch);
      !diag.succeeded())
    return diag;
  if (tiling.prefetch > kMaxPrefetchDistance)
    return step.emitDefiniteFailure()
           << "prefetch = " << tiling.prefetch << ": expected at most " << kMaxPrefetchDistance;
  if (Value buffers = op.getSlmBuffers())
    if (auto diag = readInteger(step, state, buffers, "slm_buffers", 0, tiling.buffers);
        !diag.succeeded())
      return diag;
  return readString(step, state, op.getTarget(), "target", tiling.target);
}

} // namespace

DiagnosedSilenceableFailure CheckMatmulTilingOp::apply(TransformRewriter &rewriter,
                                                       TransformResults &results,
                                                       TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  Tiling tiling;
  if (auto diag = readTiling(*this, state, tiling); !diag.succeeded())
    return diag;
  const Target *other = findTilingTarget(tiling.target);
  if (std::optional<std::string> why = other ? std::nullopt : checkChip(tiling.target))
    return op.emitDefiniteFailure() << "target: " << *why;

  for (Operation *target : state.getPayloadOps(getMatmul())) {
    Result<MatmulLoops> contraction = matchMatmul(target);
    Problem mistake;
    if (!contraction)
      mistake = contraction.error().message;
    else if (mistake = findRemainder(tiling); !mistake)
      mistake = other ? askTarget(*other, tiling, *contraction)
                      : findExcess(tiling, *contraction, *lookupTarget(tiling.target));
    if (!mistake && !other)
      mistake = findUnfitRings(tiling, *contraction, *lookupTarget(tiling.target));
    if (mistake) {
      DiagnosedDefiniteFailure diag = op.emitDefiniteFailure() << *mistake;
      diag.attachNote(target->getLoc()) << "the matmul to tile";
      return diag;
    }
  }
  return DiagnosedSilenceableFailure::success();
}

void CheckMatmulTilingOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  onlyReadsPayload(effects);
}

} // namespace xetile::transform_ops
