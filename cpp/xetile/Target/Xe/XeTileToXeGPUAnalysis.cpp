//===- XeTileToXeGPUAnalysis.cpp - what the conversion to XeGPU must know first ----===//
#include "xetile/Conversion/XeTileToXeGPUAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "xetile/Binary/TargetAttr.h"
#include "xetile/Transforms/TiedValues.h"

using namespace mlir;

namespace xetile {

static constexpr int64_t kDpasRows = 8; // repeat count; smaller ones gain nothing on whole tiles

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

LogicalResult XeTileToXeGPUAnalysis::assignBlock(Value root, BlockShape block) {
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
    Type element = cast<VectorType>(op.getA().getType()).getElementType();
    int64_t k = target->dpasK(element.getIntOrFloatBitWidth()), n = target->dpas.n;
    if (failed(assignBlock(op.getA(), {kDpasRows, k})) || failed(assignBlock(op.getB(), {k, n})) ||
        failed(assignBlock(op.getResult(), {kDpasRows, n})))
      return failure();
    return WalkResult(op.getC() ? assignBlock(op.getC(), {kDpasRows, n}) : success());
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
    return WalkResult(target ? assignBlock(value, {kDpasRows, target->dpas.n}) : failure());
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
  auto bytes = [](VectorType type) {
    return type.getNumElements() * type.getElementTypeBitWidth() / 8;
  };
  int64_t needed = bytes(a) + bytes(b) + bytes(result);
  int64_t available = int64_t(target.largeRegisters) * target.registerBytes;
  if (needed > available)
    return op.emitOpError("needs ")
           << needed << " bytes of registers per subgroup for a, b and the result; " << target.chip
           << " has " << available << "; choose a smaller subgroup tile or k step";
  return success();
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
  if (!bases.contains(value))
    return op->emitOpError(
        "has a tile whose init_tile is not visible; expected one that reaches it through scf.for, "
        "scf.if and update_tile_offset only");
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

/// The tallest and widest message of whole blocks that the device takes and that cuts the tile
/// evenly.
LogicalResult XeTileToXeGPUAnalysis::chooseMessage(Operation *op, TileType tile,
                                                   const TargetInfo &target) {
  int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1),
          bits = tile.getElementTypeBitWidth();
  bool isLoad = isa<LoadTileOp>(op);
  BlockShape block{1, std::min<int64_t>(columns, target.dpas.n)};
  if (isLoad)
    block = blocks.find(cast<LoadTileOp>(op).getValue())->second;
  std::optional<std::string> problem;
  for (int64_t height = std::min<int64_t>(rows, target.block.maxLoadHeight); height >= block.rows;
       --height) {
    // The hardware takes any height; upstream's XeVM operations take powers of two.
    if (rows % height != 0 || height % block.rows != 0 || !llvm::isPowerOf2_64(height))
      continue;
    for (int64_t count : {4, 2, 1}) {
      if (columns % (block.columns * count) != 0)
        continue;
      problem = isLoad ? target.check2DBlockLoad(bits, block.columns, height, count, false, false)
                       : target.check2DBlockPrefetch(bits, block.columns, height, count);
      if (!problem) {
        messages[op] = {height, block.columns, count};
        return success();
      }
    }
  }
  InFlightDiagnostic error = op->emitOpError("has no 2D block message for ") << tile;
  if (problem)
    error << ": " << *problem;
  else
    error << ": " << columns << " columns are not a multiple of " << block.columns;
  return error;
}

LogicalResult XeTileToXeGPUAnalysis::check(Operation *op, StringRef chip) {
  auto isConverted = [&](Value value) {
    return blocks.contains(value) || isa<TileType>(value.getType());
  };
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
  return isa<StoreTileOp>(op) ? success()
                              : chooseMessage(op, cast<TileType>(tile.getType()), *target);
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
  return failure(root->walk(visit).wasInterrupted());
}

} // namespace xetile
