//===- SliceAlongK.cpp - multiplications whose operands do not fit the registers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tile_mma on 2D vectors, tiles that are described where they are used.
// Out: where a, b and the result do not fit together, a tile_mma for each slice of k, right behind
// the loads of the slice, which move into its loop. Refused: what does not fit even so;
// multiplications of too many dpas.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/ToXeGPU/Blocks.h"
#include "xetile/Target/Xe/ToXeGPU/Slices.h"

using namespace mlir;
using namespace xetile;

// Of one tile_mma: 4096 of k for 32x64 sums of f16. More belongs in a loop.
static constexpr int64_t kMaxDpas = 4096;

static int64_t getBytes(VectorType type) {
  return type.getNumElements() * memoryBits(type.getElementType()) / 8;
}

LogicalResult xetile::sliceAlongK(TileMmaOp op, const TargetInfo &target) {
  auto a = cast<VectorType>(op.getA().getType()), b = cast<VectorType>(op.getB().getType());
  VectorType result = op.getResult().getType();
  int64_t k = a.getDimSize(1), step = target.dpasK(memoryBits(a.getElementType()));
  int64_t resultBytes = getBytes(result);
  int64_t available = int64_t(target.largeRegisters) * target.registerBytes;
  if (resultBytes + getBytes(a) + getBytes(b) <= available)
    return success();
  int64_t whole = resultBytes, perK = 0;
  bool cutA = canSlice(op.getA(), op), cutB = canSlice(op.getB(), op);
  (cutA ? perK : whole) += cutA ? getBytes(a) / k : getBytes(a);
  (cutB ? perK : whole) += cutB ? getBytes(b) / k : getBytes(b);
  int64_t size = perK ? target.fitKSlice(k, step, whole, perK) : 0;
  if (size == 0) {
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
                             "along k: load_tiles that nothing else than tile_mmas uses, with no "
                             "write to memory and no barrier between");
    return error;
  }
  int64_t number =
      result.getNumElements() / (int64_t(target.dpas.maxM) * target.dpas.n) * (k / step);
  if (number > kMaxDpas)
    return op.emitOpError("needs ") << number << " dpas for k = " << k << "; expected at most "
                                    << kMaxDpas << ": choose a smaller k step, in a loop";
  OpBuilder builder(op);
  Value sum = op.getC();
  for (int64_t from = 0; from < k; from += size) {
    Value left = slice(builder, op.getA(), 1, from, size, op);
    Value right = slice(builder, op.getB(), 0, from, size, op);
    sum = op.createPiece(builder, result, left, right, sum);
  }
  op.getResult().replaceAllUsesWith(sum);
  Value operands[] = {op.getA(), op.getB()};
  op.erase();
  llvm::for_each(operands, eraseUnused);
  return success();
}
