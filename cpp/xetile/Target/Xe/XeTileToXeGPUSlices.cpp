//===- XeTileToXeGPUSlices.cpp - what registers hold, and k in slices ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Target/Xe/XeTileToXeGPUAnalysis.h"

using namespace mlir;

namespace xetile {

// Of one tile_mma: 4096 of k for 32x64 sums of f16. More belongs in a loop.
static constexpr int64_t kMaxDpas = 4096;

static int64_t getBytes(VectorType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// Whether `operand` may be loaded later, part by part: nobody else wants it, and its memory stays
/// as it is until `mma`.
static bool canLoadInSlices(Value operand, TileMmaOp mma) {
  auto load = operand.getDefiningOp<LoadTileOp>();
  if (!load || !load->hasOneUse() || load->getBlock() != mma->getBlock())
    return false;
  for (Operation *op = load->getNextNode(); op != mma; op = op->getNextNode()) {
    if (isa<PrefetchTileOp>(op))
      continue;
    auto effects = getEffectsRecursively(op);
    if (!effects || llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
          return !isa<MemoryEffects::Read>(effect.getEffect());
        }))
      return false;
  }
  return true;
}

/// k whole where a, b and the result fit the registers together; else the largest slices of k whose
/// part of the operands does. Only operands that can be loaded in slices are cut.
LogicalResult XeTileToXeGPUAnalysis::chooseKSlice(TileMmaOp op, const TargetInfo &target) {
  auto a = cast<VectorType>(op.getA().getType()), b = cast<VectorType>(op.getB().getType());
  int64_t k = a.getDimSize(1), resultBytes = getBytes(op.getResult().getType());
  int64_t available = int64_t(target.largeRegisters) * target.registerBytes;
  if (resultBytes + getBytes(a) + getBytes(b) <= available) {
    kSlices[op] = k;
    return success();
  }
  int64_t whole = resultBytes, perK = 0;
  bool cutA = canLoadInSlices(op.getA(), op), cutB = canLoadInSlices(op.getB(), op);
  (cutA ? perK : whole) += cutA ? getBytes(a) / k : getBytes(a);
  (cutB ? perK : whole) += cutB ? getBytes(b) / k : getBytes(b);
  int64_t step = target.dpasK(a.getElementTypeBitWidth());
  int64_t slice = perK ? target.fitKSlice(k, step, whole, perK) : 0;
  if (slice == 0) {
    InFlightDiagnostic error = op.emitOpError("needs ")
                               << whole + perK * step
                               << " bytes of registers per subgroup: " << resultBytes
                               << " of the result";
    for (auto [name, type, isCut] : {std::tuple("a", a, cutA), std::tuple("b", b, cutB)})
      error << ", " << (isCut ? getBytes(type) / k * step : getBytes(type)) << " of " << name
            << (isCut ? " (a slice of k)" : "");
    error << "; " << target.chip << " has " << available << "; choose a smaller subgroup tile"
          << (cutA && cutB ? ""
                           : " or k step, or give the tile_mma operands that it can load in slices "
                             "along k: load_tiles of the same block, used only here, with no "
                             "write to memory between");
    return error;
  }
  int64_t number = op.getResult().getType().getNumElements() /
                   (int64_t(target.dpas.maxM) * target.dpas.n) * (k / step);
  if (number > kMaxDpas)
    return op.emitOpError("needs ") << number << " dpas for k = " << k << "; expected at most "
                                    << kMaxDpas << ": choose a smaller k step, in a loop";
  kSlices[op] = slice;
  for (auto [value, isCut] : {std::pair(op.getA(), cutA), std::pair(op.getB(), cutB)})
    if (isCut) {
      auto load = value.getDefiningOp<LoadTileOp>();
      slicedLoads.insert({value, SlicedLoad{load.getTile(), load.getLoc(), {}}});
    }
  return success();
}

/// A vector that is loaded or stored whole must fit the registers.
LogicalResult XeTileToXeGPUAnalysis::checkRegisters(Operation *op, VectorType vector,
                                                    const TargetInfo &target) {
  int64_t available = int64_t(target.largeRegisters) * target.registerBytes;
  if (getBytes(vector) <= available)
    return success();
  return op->emitOpError("needs ")
         << getBytes(vector) << " bytes of registers for a value of type " << vector << "; "
         << target.chip << " has " << available << " per subgroup; choose a smaller subgroup tile";
}

} // namespace xetile
