//===- SliceAlongK.cpp - multiplications whose operands do not fit the registers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tile_mma on 2D vectors, tiles that are described where they are used.
// Out: where a, b and the result do not fit together, a tile_mma for each slice of k, right behind
// the loads of the slice. Refused: what does not fit even so; multiplications of too many dpas.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/IR/UnsignedOperands.h"
#include "xetile/Target/Xe/Blocks.h"
#include "xetile/Target/Xe/LocalTiles.h"
#include "xetile/Transforms/TiedValues.h"

using namespace mlir;
using namespace xetile;

// Of one tile_mma: 4096 of k for 32x64 sums of f16. More belongs in a loop.
static constexpr int64_t kMaxDpas = 4096;

static int64_t getBytes(VectorType type) {
  return type.getNumElements() * memoryBits(type.getElementType()) / 8;
}

/// Whether memory stays as it is between two operations of a block.
static bool isUnwrittenBetween(Operation *first, Operation *last) {
  for (Operation *op = first->getNextNode(); op != last; op = op->getNextNode()) {
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

/// Whether `value` may be made later, part by part: from loads and computations that nobody else
/// wants, of memory that stays as it is until `mma`.
static bool canSlice(Value value, TileMmaOp mma) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != mma->getBlock())
    return false;
  if (isa<arith::ConstantOp>(op))
    return true;
  if (!op->hasOneUse())
    return false;
  if (auto load = dyn_cast<LoadTileOp>(op))
    return isUnwrittenBetween(load, mma);
  if (isa<TileBroadcastOp>(op))
    return true;
  return isElementwiseOnVectors(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isa<VectorType>(operand.getType()) || canSlice(operand, mma);
         });
}

/// Rows or columns (`dim`) `from` to `from + size` of a vector.
static Value slice(OpBuilder &builder, Value value, unsigned dim, int64_t from, int64_t size) {
  auto type = cast<VectorType>(value.getType());
  if (type.getDimSize(dim) == size)
    return value;
  SmallVector<int64_t> shape(type.getShape()), offsets{0, 0};
  shape[dim] = size;
  offsets[dim] = from;
  auto part = VectorType::get(shape, type.getElementType());
  Operation *op = value.getDefiningOp();
  Location loc = value.getLoc();
  if (auto load = dyn_cast_or_null<LoadTileOp>(op); load && load->hasOneUse()) {
    InitTileOp init = getLocalInit(load);
    SmallVector<OpFoldResult> places = init.getMixedOffsets();
    Value start = getValueOrCreateConstantIndexOp(builder, loc, places[dim]);
    places[dim] = getAsOpFoldResult(builder.createOrFold<arith::AddIOp>(
        loc, start, arith::ConstantIndexOp::create(builder, loc, from)));
    SmallVector<OpFoldResult> sizes =
        getMixedValues(init.getStaticBaseShape(), init.getBaseShape(), builder.getContext());
    SmallVector<OpFoldResult> strides =
        getMixedValues(init.getStaticBaseStrides(), init.getBaseStrides(), builder.getContext());
    TileType tile = init.getTile().getType();
    Value here = InitTileOp::create(builder, loc, tile.cloneWith(shape, tile.getElementType()),
                                    init.getSource(), places, sizes, strides);
    return LoadTileOp::create(builder, loc, part, here, load.getPaddingAttr());
  }
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(builder, loc, splat.resizeSplat(part));
  if (auto broadcast = dyn_cast_or_null<TileBroadcastOp>(op)) {
    Value source = broadcast.getVector();
    if (llvm::is_contained(broadcast.getBroadcastDims(), dim))
      return TileBroadcastOp::create(builder, loc, part, source, broadcast.getBroadcastDims(),
                                     WgMapAttr());
    return TileBroadcastOp::create(builder, loc, part, slice(builder, source, dim, from, size),
                                   broadcast.getBroadcastDims(), WgMapAttr());
  }
  if (op && op->hasOneUse() && isElementwiseOnVectors(op)) {
    OperationState state(loc, op->getName());
    for (Value operand : op->getOperands())
      state.operands.push_back(
          isa<VectorType>(operand.getType()) ? slice(builder, operand, dim, from, size) : operand);
    state.types.push_back(part);
    state.attributes = op->getDiscardableAttrDictionary();
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return builder.create(state)->getResult(0);
  }
  return vector::ExtractStridedSliceOp::create(builder, loc, value, offsets, shape,
                                               ArrayRef<int64_t>{1, 1});
}

/// Erases what only served a value that is gone.
static void eraseUnused(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->use_empty() ||
      !(isa<LoadTileOp, InitTileOp, TileBroadcastOp>(op) || isElementwiseOnVectors(op)))
    return;
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  llvm::for_each(operands, eraseUnused);
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
                             "along k: load_tiles of the same block, used only here, with no "
                             "write to memory between");
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
    Value left = slice(builder, op.getA(), 1, from, size);
    Value right = slice(builder, op.getB(), 0, from, size);
    auto product = TileMmaOp::create(builder, op.getLoc(), result, left, right, sum, WgMapAttr());
    copyUnsigned(op, product);
    sum = product;
  }
  op.getResult().replaceAllUsesWith(sum);
  Value operands[] = {op.getA(), op.getB()};
  op.erase();
  llvm::for_each(operands, eraseUnused);
  return success();
}
