//===- XeTileToXeGPUAnalysis.cpp - what the conversion to XeGPU must know first ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Target/Xe/XeTileToXeGPUAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xetile/Target/Xe/TargetAttr.h"
#include "xetile/Transforms/TiedValues.h"

using namespace mlir;

namespace xetile {

static Operation *getOwner(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op : value.getParentBlock()->getParentOp();
}

/// The device that `op` is compiled for; emits an error if none is known.
static const TargetInfo *getTarget(Operation *op, StringRef chip) {
  if (auto module = op->getParentOfType<gpu::GPUModuleOp>())
    if (xevm::XeVMTargetAttr target = findTargetAttr(module))
      chip = chipOf(target);
  if (chip.empty()) {
    op->emitOpError("needs a target: attach one to the gpu.module (xevm-attach-target) or give the "
                    "option chip=");
    return nullptr;
  }
  if (std::optional<std::string> problem = checkChip(chip)) {
    op->emitOpError() << *problem;
    return nullptr;
  }
  return lookupTarget(chip);
}

//===----------------------------------------------------------------------===//
// Bases of tiles
//===----------------------------------------------------------------------===//

LogicalResult XeTileToXeGPUAnalysis::assignBase(Value root, const TileBase &base) {
  SmallVector<Value> worklist{root};
  while (!worklist.empty()) {
    Value tile = worklist.pop_back_val();
    auto [entry, inserted] = bases.insert({tile, base});
    if (!inserted) {
      if (entry->second == base)
        continue;
      return getOwner(tile)->emitOpError(
          "merges with tiles of another matrix; expected all tiles that reach one value "
          "to have one base, base shape and base strides");
    }
    llvm::append_range(worklist, getTiedValues(tile));
    if (auto update = tile.getDefiningOp<UpdateTileOffsetOp>())
      worklist.push_back(update.getTile());
    for (Operation *user : tile.getUsers())
      if (auto update = dyn_cast<UpdateTileOffsetOp>(user))
        worklist.push_back(update.getResult());
  }
  return success();
}

LogicalResult XeTileToXeGPUAnalysis::findBases(Operation *root) {
  auto visit = [&](InitTileOp op) -> WalkResult {
    return assignBase(op.getTile(),
                      {op.getSource(), op.getMixedBaseShape(), op.getMixedBaseStrides()});
  };
  return failure(root->walk(visit).wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Blocks of vectors
//===----------------------------------------------------------------------===//

/// An operand of the largest dpas on elements of `elemBits` bits: smaller ones gain nothing on
/// whole tiles.
static VectorBlock getOperandBlock(const TargetInfo &target, DpasOperand operand,
                                   unsigned elemBits) {
  Shape2D shape = instructionShape(largestDpas(target, elemBits), operand);
  return {int64_t(shape[0]), int64_t(shape[1]), operand, elemBits};
}

/// A value that no dpas takes is cut like a result.
static VectorBlock getPlainBlock(const TargetInfo &target) {
  return getOperandBlock(target, DpasOperand::C, /*elemBits=*/32);
}

LogicalResult XeTileToXeGPUAnalysis::assignBlock(Value root, VectorBlock block) {
  SmallVector<Value> worklist{root};
  while (!worklist.empty()) {
    Value vector = worklist.pop_back_val();
    auto [entry, inserted] = blocks.insert({vector, block});
    if (!inserted) {
      if (entry->second == block)
        continue;
      return getOwner(vector)->emitOpError("has a value that is used with two block shapes, ")
             << entry->second.rows << "x" << entry->second.columns << " and " << block.rows << "x"
             << block.columns << " (as different operands of tile_mma); load it once for each use";
    }
    auto type = cast<VectorType>(vector.getType());
    if (type.getDimSize(0) % block.rows != 0 || type.getDimSize(1) % block.columns != 0)
      return getOwner(vector)->emitOpError("has a value of type ")
             << type << ", which is not a multiple of the block " << block.rows << "x"
             << block.columns << " that the hardware takes; choose a subgroup tile that is";
    llvm::append_range(worklist, getTiedValues(vector));
  }
  return success();
}

LogicalResult XeTileToXeGPUAnalysis::findBlocks(Operation *root, StringRef chip) {
  auto visitMma = [&](TileMmaOp op) -> WalkResult {
    const TargetInfo *target = getTarget(op, chip);
    if (!target || failed(checkMma(op, *target)))
      return failure();
    unsigned bits = cast<VectorType>(op.getA().getType()).getElementTypeBitWidth();
    auto blockOf = [&](DpasOperand operand) { return getOperandBlock(*target, operand, bits); };
    if (failed(assignBlock(op.getA(), blockOf(DpasOperand::A))) ||
        failed(assignBlock(op.getB(), blockOf(DpasOperand::B))) ||
        failed(assignBlock(op.getResult(), blockOf(DpasOperand::C))))
      return failure();
    return WalkResult(op.getC() ? assignBlock(op.getC(), blockOf(DpasOperand::C)) : success());
  };
  if (root->walk(visitMma).wasInterrupted())
    return failure();
  auto visitMemory = [&](Operation *op) -> WalkResult {
    Value value;
    if (auto load = dyn_cast<LoadTileOp>(op))
      value = load.getValue();
    else if (auto store = dyn_cast<StoreTileOp>(op))
      value = store.getValue();
    if (!value || blocks.contains(value))
      return WalkResult::advance();
    const TargetInfo *target = getTarget(op, chip);
    return WalkResult(target ? assignBlock(value, getPlainBlock(*target)) : failure());
  };
  return failure(root->walk(visitMemory).wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult XeTileToXeGPUAnalysis::checkMma(TileMmaOp op, const TargetInfo &target) {
  auto a = cast<VectorType>(op.getA().getType()), b = cast<VectorType>(op.getB().getType());
  auto result = cast<VectorType>(op.getResult().getType());
  if (op.getWgMapAttr())
    return op.emitOpError("has a wg_map: expected subgroup-level code, run xetile-wg-to-sg before");
  Type element = a.getElementType(), sum = result.getElementType();
  bool isFloat = (element.isF16() || element.isBF16()) && sum.isF32();
  bool isInteger =
      element.isSignlessInteger(8) && b.getElementType() == element && sum.isSignlessInteger(32);
  if (!isFloat && !isInteger)
    return op.emitOpError("has no lowering for (")
           << element << ", " << b.getElementType() << ") -> " << sum
           << "; expected (f16, f16) -> f32, (bf16, bf16) -> f32 or (i8, i8) -> i32";
  return chooseKSlice(op, target);
}

/// The bytes that `value` elements take, if they are known.
static std::optional<int64_t> getStaticBytes(OpFoldResult value, int64_t elementBits) {
  std::optional<int64_t> elements = getConstantIntValue(value);
  if (!elements)
    return std::nullopt;
  return *elements * elementBits / 8;
}

LogicalResult XeTileToXeGPUAnalysis::checkMemoryAccess(Operation *op, Value value,
                                                       const TargetInfo &target) {
  auto tile = cast<TileType>(value.getType());
  if (tile.getWgMap())
    return op->emitOpError(
        "has a tile with a wg_map: expected subgroup-level code, run xetile-wg-to-sg before");
  if (tile.isColumnMajor())
    return op->emitOpError(
        "has a column-major tile (order = [0, 1]), which has no lowering yet; expected row-major");
  const TileBase &base = getBase(value);
  DominanceInfo dominance;
  auto dominates = [&](OpFoldResult part) {
    auto operand = dyn_cast<Value>(part);
    return !operand || dominance.properlyDominates(operand, op);
  };
  if (!dominates(base.source) || !llvm::all_of(base.shape, dominates) ||
      !llvm::all_of(base.strides, dominates))
    return op->emitOpError(
        "has a tile whose base matrix is defined in a region that does not enclose it");

  // The 2D unit takes a surface by its pitch, width and height; what cannot be checked here must
  // not be guessed.
  int64_t bits = tile.getElementTypeBitWidth();
  auto memref = dyn_cast<MemRefType>(base.source.getType());
  if (base.strides.empty())
    return op->emitOpError("has a tile of ")
           << memref << ", whose row stride is not static; expected a static one";
  std::optional<int64_t> width = getStaticBytes(base.shape[1], bits),
                         pitch = getStaticBytes(base.strides[0], bits);
  if (!width || !pitch)
    return op->emitOpError("has a base matrix with ")
           << (width ? "a row stride" : "a number of columns")
           << " that is not a constant, so that the limits of 2D block "
              "messages cannot be checked; expected constants";
  int64_t height = getConstantIntValue(base.shape[0]).value_or(1);
  if (std::optional<std::string> problem = target.checkSurface(*width, height, *pitch, bits))
    return op->emitOpError("has a base matrix that 2D block messages cannot take: ") << *problem;
  if (memref) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memref.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset))
      return op->emitOpError("has a base matrix ")
             << memref
             << " with an offset that is not static, so that its "
                "alignment cannot be checked";
    if (offset != 0)
      if (std::optional<std::string> problem =
              target.checkBaseAlign(uint64_t(offset) * bits / 8 & -(uint64_t(offset) * bits / 8)))
        return op->emitOpError("has a base matrix ")
               << memref << " that starts " << offset * bits / 8
               << " bytes into its buffer: " << *problem;
  }
  return success();
}

LogicalResult XeTileToXeGPUAnalysis::planMessages(Operation *op, TileType tile,
                                                  const TargetInfo &target) {
  PlanRequest request;
  request.target = &target;
  request.elemBits = tile.getElementTypeBitWidth();
  request.shape = {uint64_t(tile.getDimSize(0)), uint64_t(tile.getDimSize(1))};
  VectorBlock block = getPlainBlock(target);
  if (auto load = dyn_cast<LoadTileOp>(op))
    block = *getBlock(load.getValue());
  else if (auto store = dyn_cast<StoreTileOp>(op))
    block = *getBlock(store.getValue());
  request.access = isa<LoadTileOp>(op)    ? BlockAccess::Load
                   : isa<StoreTileOp>(op) ? BlockAccess::Store
                                          : BlockAccess::Prefetch;
  request.dpas = largestDpas(target, block.elemBits);
  // What is converted to an operand's elements afterwards comes as results do, a column per lane.
  request.operand = request.elemBits == block.elemBits ? block.operand : DpasOperand::C;

  PlanKey key{&target,        request.access,   request.operand,
              block.elemBits, request.elemBits, request.shape};
  auto known = plans.find(key);
  if (known == plans.end()) {
    Result<TileMessages> plan = planTile(request);
    if (!plan)
      return op->emitOpError("has no 2D block message for ")
             << tile << ": " << plan.error().message;
    known = plans.emplace(key, *std::move(plan)).first;
  }
  const BlockShape &shape = known->second.shape;
  bool isWhole = shape.elemBits == request.elemBits && !shape.transpose;
  if (request.access == BlockAccess::Load)
    isWhole &= shape.width == block.columns && shape.height % block.rows == 0;
  if (request.access == BlockAccess::Store)
    isWhole &= shape.width == block.columns && block.rows % shape.height == 0;
  if (!isWhole)
    return op->emitOpError("has messages of ")
           << shape.height << "x" << shape.width << " elements of " << shape.elemBits
           << " bits for " << tile << ", which do not fit the blocks of " << block.rows << "x"
           << block.columns
           << " that its vector is cut into; load elements of the operand's own type";
  messages[op] = &known->second;
  return success();
}

LogicalResult XeTileToXeGPUAnalysis::check(Operation *op, StringRef chip) {
  auto isConverted = [&](Value value) {
    return blocks.contains(value) || isa<TileType>(value.getType());
  };
  auto isForeignTile = [&](Value value) {
    return isa<TileType>(value.getType()) && !bases.contains(value);
  };
  if (llvm::any_of(op->getOperands(), isForeignTile) ||
      llvm::any_of(op->getResults(), isForeignTile))
    return op->emitOpError(
        "has a tile whose init_tile is not visible; expected one that reaches it through scf.for, "
        "scf.if and update_tile_offset only");
  // Tiles of functions that nothing uses, or that have no body.
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    for (Type type :
         llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
      if (isa<TileType>(type))
        return op->emitOpError("has a tile in its signature, ")
               << type << ", whose init_tile is not visible; expected memrefs or addresses";
  bool isXeTile = isa_and_present<XeTileDialect>(op->getDialect());
  if (!isXeTile) {
    if (llvm::none_of(op->getOperands(), isConverted) &&
        llvm::none_of(op->getResults(), isConverted))
      return success();
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op) || isElementwiseOnVectors(op) ||
        (constant && isa<SplatElementsAttr>(constant.getValue())))
      return success();
    return op->emitOpError(
        "has no rule to cut its vectors into hardware blocks; expected xetile operations, scf.for, "
        "scf.if, elementwise operations or constants with equal elements");
  }
  Value tile;
  if (auto load = dyn_cast<LoadTileOp>(op)) {
    if (!load.hasZeroPadding())
      return op->emitOpError("has padding ") << *load.getPadding()
                                             << ", which has no lowering yet: 2D block messages "
                                                "give zero out of bounds";
    tile = load.getTile();
  } else if (auto store = dyn_cast<StoreTileOp>(op)) {
    tile = store.getTile();
  } else if (auto prefetch = dyn_cast<PrefetchTileOp>(op)) {
    tile = prefetch.getTile();
  } else {
    return success();
  }
  const TargetInfo *target = getTarget(op, chip);
  if (!target || failed(checkMemoryAccess(op, tile, *target)))
    return failure();
  auto type = cast<TileType>(tile.getType());
  if (isa<PrefetchTileOp>(op))
    return planMessages(op, type, *target);
  Value loaded = isa<LoadTileOp>(op) ? op->getResult(0) : Value();
  auto sliced = slicedLoads.find(loaded);
  if (sliced == slicedLoads.end())
    return failure(failed(checkRegisters(op, type.getVectorType(), *target)) ||
                   failed(planMessages(op, type, *target)));
  OpOperand &use = *loaded.use_begin();
  SmallVector<int64_t> shape(type.getShape());
  shape[use.getOperandNumber() == 0 ? 1 : 0] = kSlices.lookup(use.getOwner());
  if (failed(planMessages(op, TileType::get(shape, type.getElementType()), *target)))
    return failure();
  sliced->second.messages = messages.lookup(op);
  return success();
}

/// Refuses vectors that come from outside and would have to be cut there: only scf.for hands blocks
/// on.
LogicalResult XeTileToXeGPUAnalysis::checkArguments() {
  for (auto [value, block] : blocks) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto type = cast<VectorType>(value.getType());
    bool isOneBlock = type.getShape() == ArrayRef<int64_t>{block.rows, block.columns};
    Operation *owner = argument ? argument.getOwner()->getParentOp() : nullptr;
    if (owner && !isOneBlock && !isa<scf::ForOp>(owner))
      return owner->emitOpError("has argument #")
             << argument.getArgNumber() << " of type " << type
             << ", which has no rule to cut it into hardware blocks; expected vectors to be loaded "
                "where they are used, or to be carried by scf.for";
  }
  return success();
}

/// Refuses the operations and kinds of tiles that have no lowering to XeGPU yet.
static LogicalResult checkSupported(Operation *op) {
  if (!isa_and_present<XeTileDialect>(op->getDialect()))
    return success();
  if (!isa<InitTileOp, UpdateTileOffsetOp, LoadTileOp, StoreTileOp, PrefetchTileOp, TileMmaOp>(op))
    return op->emitOpError("has no lowering to XeGPU yet; expected init_tile, update_tile_offset, "
                           "load_tile, store_tile, prefetch_tile or tile_mma");
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    auto tile = dyn_cast<TileType>(type);
    auto vector = dyn_cast<VectorType>(type);
    if (tile && (tile.isScattered() || !tile.getInnerBlocks().empty() ||
                 tile.getMemorySpace() != MemorySpace::Global))
      return op->emitOpError("has a tile that has no lowering to XeGPU yet: ")
             << tile << "; expected one without scatter and inner_blocks, in global memory";
    if (vector && vector.getRank() != 2)
      return op->emitOpError("has a blocked vector, which has no lowering to XeGPU yet: ")
             << vector << "; expected 2D vectors";
  }
  return success();
}

LogicalResult XeTileToXeGPUAnalysis::run(Operation *root, StringRef chip) {
  auto supported = [](Operation *op) { return WalkResult(checkSupported(op)); };
  if (root->walk(supported).wasInterrupted())
    return failure();
  cloneVectorConstantsPerUse(root);
  if (failed(findBases(root)) || failed(findBlocks(root, chip)))
    return failure();
  auto visit = [&](Operation *op) { return WalkResult(check(op, chip)); };
  return failure(root->walk(visit).wasInterrupted() || failed(checkArguments()));
}

} // namespace xetile
