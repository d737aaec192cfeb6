//===- CheckMatmulTiling.cpp - transform.xetile.check_matmul_tiling ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a matmul and the tile sizes a schedule wants for it. Out: nothing changes.
// Refused: matmuls that get_matmul refuses, layouts that leave a remainder, and what the target's
// DPAS, workgroups or registers cannot take.
#include "xetile/Facts/TargetInfo.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Schedule/MatmulLoops.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

/// The schedule's parameters, m, n, k in this order.
struct Tiling {
  std::array<int64_t, 3> tile = {};
  std::array<int64_t, 2> layout = {};
  int64_t prefetch = 0;
  StringRef target;
};

constexpr std::array<StringLiteral, 3> kTileNames = {"workgroup_m", "workgroup_n", "k_step"};
constexpr std::array<StringLiteral, 2> kLayoutNames = {"subgroups_m", "subgroups_n"};
constexpr std::array<StringLiteral, 3> kDimNames = {"m", "n", "k"};

/// c3: the layout divides the tile. Returns what does not; so does the next one.
Problem findRemainder(const Tiling &tiling) {
  std::string mistake;
  llvm::raw_string_ostream os(mistake);
  for (auto [name, count, tileName, size] :
       llvm::zip(kLayoutNames, tiling.layout, kTileNames, tiling.tile))
    if (size % count != 0) {
      os << name << " = " << count << " does not divide " << tileName << " = " << size
         << "; expected a divisor of " << size;
      return mistake;
    }
  return {};
}

/// c4 to c6: the device takes the subgroups' tiles and their number.
Problem findExcess(const Tiling &tiling, const MatmulLoops &contraction, const TargetInfo &device) {
  std::string mistake;
  llvm::raw_string_ostream os(mistake);
  Type inputType = contraction.elementType(0);
  unsigned inputBits = memoryBits(inputType);
  int64_t sumBytes = memoryBits(contraction.elementType(2)) / 8;
  std::array<int64_t, 3> subgroupTile = {tiling.tile[0] / tiling.layout[0],
                                         tiling.tile[1] / tiling.layout[1], tiling.tile[2]};
  std::array<int64_t, 3> dpas = {device.dpas.maxM, device.dpas.n, device.dpasK(inputBits)};
  for (unsigned i = 0; i < 3; ++i)
    if (subgroupTile[i] % dpas[i] != 0) {
      os << kTileNames[i] << " = " << tiling.tile[i];
      if (i < 2)
        os << " over " << kLayoutNames[i] << " = " << tiling.layout[i];
      os << " gives each subgroup " << subgroupTile[i] << " of " << kDimNames[i]
         << "; expected a multiple of " << dpas[i] << ", the " << kDimNames[i] << " of DPAS for "
         << inputType << " on " << device.chip;
      return mistake;
    }

  auto [m, n, k] = subgroupTile;
  // The lowering loads a and b in slices of k where they do not fit whole.
  int64_t accumulatorBytes = m * n * sumBytes, bytesPerK = (m + n) * inputBits / 8;
  int64_t slice = device.fitKSlice(k, dpas[2], accumulatorBytes, bytesPerK);
  int64_t operandBytes = bytesPerK * (slice ? slice : dpas[2]);
  int64_t largestFile = int64_t(device.largeRegisters) * device.registerBytes;
  if (!slice) {
    os << "a subgroup's tile of " << m << " x " << n << " needs " << accumulatorBytes + operandBytes
       << " bytes of registers (" << accumulatorBytes << " of accumulators, " << operandBytes
       << " of operands for k = " << dpas[2] << "); expected at most " << largestFile << " on "
       << device.chip << ": make workgroup_m or workgroup_n smaller or the subgroup layout larger";
    return mistake;
  }

  bool large =
      accumulatorBytes + operandBytes > int64_t(device.registersPerThread) * device.registerBytes;
  int64_t subgroups = tiling.layout[0] * tiling.layout[1];
  if (subgroups <= device.maxSubgroups(large))
    return {};
  os << "subgroups_m * subgroups_n = " << tiling.layout[0] << " * " << tiling.layout[1] << " = "
     << subgroups << "; expected at most " << device.maxSubgroups(large)
     << " subgroups in a workgroup on " << device.chip << " with "
     << (large ? device.largeRegisters : device.registersPerThread) << " registers each";
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
