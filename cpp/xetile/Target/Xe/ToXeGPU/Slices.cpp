//===- Slices.cpp - parts of vectors, made where they are wanted ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile of one subgroup on 2D vectors, tiles that are described where they are used.
// Out: loads and computations of rows or columns of a vector, right before their use.
// Refused: nothing; what cannot be made later is cut from the whole vector.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/ToXeGPU/Slices.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Target/Xe/ToXeGPU/LocalTiles.h"
#include "xetile/Transforms/TiedValues.h"

using namespace mlir;
using namespace xetile;

/// True if an operation and its regions do not write memory.
static bool leavesMemory(Operation *root) {
  auto visit = [](Operation *op) -> WalkResult {
    bool isOfItsRegions =
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !isa<MemoryEffectOpInterface>(op);
    if (isa<PrefetchTileOp>(op) || isOfItsRegions)
      return WalkResult::advance();
    auto effects = getEffectsRecursively(op);
    bool onlyReads =
        effects && llvm::all_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
          return isa<MemoryEffects::Read>(effect.getEffect());
        });
    return onlyReads ? WalkResult::advance() : WalkResult::interrupt();
  };
  return !root->walk(visit).wasInterrupted();
}

/// True if no write lies between `load`, perhaps outside of the loop, and `user`.
static bool isUnwrittenUntil(LoadTileOp load, Operation *user) {
  Operation *last = load->getBlock()->findAncestorOpInBlock(*user);
  for (Operation *op = load->getNextNode(); op != last; op = op->getNextNode())
    if (!leavesMemory(op))
      return false;
  return last == user || leavesMemory(last);
}

/// True if all users are tile_mmas: each may load its own slices.
static bool isOnlyMultiplied(Value value) {
  return llvm::all_of(value.getUsers(), llvm::IsaPred<TileMmaOp>);
}

bool xetile::canSlice(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->getBlock()->findAncestorOpInBlock(*user))
    return false;
  if (isa<arith::ConstantOp>(op))
    return true;
  if (auto load = dyn_cast<LoadTileOp>(op))
    return (op->hasOneUse() || isOnlyMultiplied(value)) && isUnwrittenUntil(load, user);
  if (!op->hasOneUse())
    return false;
  if (isa<TileBroadcastOp>(op))
    return true;
  return isElementwiseOnVectors(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isa<VectorType>(operand.getType()) || canSlice(operand, user);
         });
}

/// Rows or columns (`dim`) `from` to `from + size` of a vector that is there.
static Value extract(OpBuilder &builder, Value value, unsigned dim, int64_t from, int64_t size) {
  auto type = cast<VectorType>(value.getType());
  if (type.getDimSize(dim) == size)
    return value;
  SmallVector<int64_t> shape(type.getShape()), offsets{0, 0};
  shape[dim] = size;
  offsets[dim] = from;
  return vector::ExtractStridedSliceOp::create(builder, value.getLoc(), value, offsets, shape,
                                               ArrayRef<int64_t>{1, 1});
}

Value xetile::sliceTile(OpBuilder &builder, InitTileOp init, unsigned dim, int64_t from,
                        int64_t size) {
  Location loc = init.getLoc();
  SmallVector<OpFoldResult> places = init.getMixedOffsets();
  Value start = getValueOrCreateConstantIndexOp(builder, loc, places[dim]);
  places[dim] = getAsOpFoldResult(builder.createOrFold<arith::AddIOp>(
      loc, start, arith::ConstantIndexOp::create(builder, loc, from)));
  SmallVector<OpFoldResult> sizes =
      getMixedValues(init.getStaticBaseShape(), init.getBaseShape(), builder.getContext());
  SmallVector<OpFoldResult> strides =
      getMixedValues(init.getStaticBaseStrides(), init.getBaseStrides(), builder.getContext());
  TileType tile = init.getTile().getType();
  SmallVector<int64_t> shape(tile.getShape());
  shape[dim] = size;
  return InitTileOp::create(builder, loc, tile.cloneWith(shape, tile.getElementType()),
                            init.getSource(), places, sizes, strides);
}

Value xetile::slice(OpBuilder &builder, Value value, unsigned dim, int64_t from, int64_t size,
                    Operation *user) {
  auto type = cast<VectorType>(value.getType());
  if (type.getDimSize(dim) == size)
    return value;
  if (!canSlice(value, user))
    return extract(builder, value, dim, from, size);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  auto part = VectorType::get(shape, type.getElementType());
  Operation *op = value.getDefiningOp();
  Location loc = value.getLoc();
  if (auto load = dyn_cast<LoadTileOp>(op)) {
    Value here = sliceTile(builder, getLocalInit(load), dim, from, size);
    return LoadTileOp::create(builder, loc, part, here, load.getPaddingAttr());
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(builder, loc, splat.resizeSplat(part));
  if (auto broadcast = dyn_cast<TileBroadcastOp>(op)) {
    Value source = broadcast.getVector();
    if (llvm::is_contained(broadcast.getBroadcastDims(), dim))
      return TileBroadcastOp::create(builder, loc, part, source, broadcast.getBroadcastDims(),
                                     WgMapAttr());
    return TileBroadcastOp::create(builder, loc, part,
                                   slice(builder, source, dim, from, size, user),
                                   broadcast.getBroadcastDims(), WgMapAttr());
  }
  if (isElementwiseOnVectors(op)) {
    OperationState state(loc, op->getName());
    for (Value operand : op->getOperands())
      state.operands.push_back(isa<VectorType>(operand.getType())
                                   ? slice(builder, operand, dim, from, size, user)
                                   : operand);
    state.types.push_back(part);
    state.attributes = op->getDiscardableAttrDictionary();
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return builder.create(state)->getResult(0);
  }
  return extract(builder, value, dim, from, size);
}

void xetile::eraseUnused(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->use_empty() ||
      !(isa<LoadTileOp, InitTileOp, TileBroadcastOp>(op) || isElementwiseOnVectors(op)))
    return;
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  llvm::for_each(operands, eraseUnused);
}
