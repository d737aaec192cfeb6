//===- BlockChoice.cpp - the blocks that vectors and tiles are cut into ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile of one subgroup on 2D vectors. Out: the block of each vector: what dpas takes where a
// value is tied to an operand, else 8x16; the block of each load and store, by the planner.
// Refused: operands of tile_mma that blocks do not fill, values larger than the registers.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Xe/TargetAttr.h"
#include "xetile/Target/Xe/ToXeGPU/Blocks.h"
#include "xetile/Target/Xe/ToXeGPU/LocalTiles.h"
#include "xetile/Target/Xe/ToXeGPU/Surface.h"
#include "xetile/Transforms/TiedValues.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "xetile-blocking"

using namespace mlir;
using namespace xetile;

// Values without a dpas as user are cut like its results of f32 and i32.
static constexpr int64_t kPlainRows = 8, kPlainColumns = 16;
// Of memory that no message takes: a lane has four neighbours, so that sixteen have a row.
static constexpr int64_t kLongColumns = 64;
// Vectors of so few elements stay whole if sixteen lanes do not share their rows.
static constexpr int64_t kWholeElements = 512;

/// The largest power of two that divides `size`, `most` at most.
static int64_t getPowerOfTwo(int64_t size, int64_t most) { return std::min(size & -size, most); }

VectorType xetile::getBlockedType(VectorType type, ArrayRef<int64_t> block) {
  return VectorType::get(
      {type.getDimSize(0) / block[0], type.getDimSize(1) / block[1], block[0], block[1]},
      type.getElementType());
}

/// The largest divisor of `size`, `most` at most.
static int64_t getDivisor(int64_t size, int64_t most) {
  int64_t divisor = std::min(size, most);
  while (size % divisor)
    --divisor;
  return divisor;
}

/// The block of values that no dpas takes; none for small ones with sides that lanes would not
/// share evenly.
static std::optional<VectorBlock> getPlainBlock(VectorType type,
                                                int64_t longColumns = kPlainColumns) {
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  if (columns % longColumns == 0)
    return VectorBlock{getPowerOfTwo(rows, kPlainRows), longColumns};
  if (columns % kPlainColumns == 0)
    return VectorBlock{getPowerOfTwo(rows, kPlainRows), kPlainColumns};
  if (columns == 1)
    return VectorBlock{getPowerOfTwo(rows, kPlainRows), 1};
  if (rows * columns <= kWholeElements)
    return std::nullopt;
  return VectorBlock{getDivisor(rows, kPlainRows), getDivisor(columns, kPlainColumns)};
}

void BlockChoice::assign(Value root, const VectorBlock &block) {
  SmallVector<Value> worklist{root};
  while (!worklist.empty()) {
    Value vector = worklist.pop_back_val();
    auto type = dyn_cast<VectorType>(vector.getType());
    if (!type || type.getRank() != 2 || type.getDimSize(0) % block.rows ||
        type.getDimSize(1) % block.columns)
      continue;
    if (blocks.insert({vector, block}).second)
      llvm::append_range(worklist, getTiedValues(vector));
  }
}

void BlockChoice::assignPlain(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getRank() != 2 || blocks.contains(vector))
    return;
  if (std::optional<VectorBlock> block = getPlainBlock(type, plainColumns))
    assign(vector, *block);
}

/// True if no message takes the rows of any matrix, and only elementwise ops constrain
/// lanes.
static bool hasLongRowsOnly(Operation *root, StringRef chip) {
  bool any = false;
  auto visit = [&](Operation *op) -> WalkResult {
    if (isa<TileMmaOp, TileReduceOp, TileTransposeOp, TileConvLayoutOp, LoadGatherOp,
            StoreScatterOp, AtomicRMWTileOp, AtomicRMWScatterOp>(op))
      return WalkResult::interrupt();
    if (!isa<LoadTileOp, StoreTileOp>(op))
      return WalkResult::advance();
    InitTileOp init = getLocalInit(op);
    TileType tile = init.getTile().getType();
    const TargetInfo *target = getTargetOf(op, chip);
    if (!target || tile.getMemorySpace() != MemorySpace::Global || tile.isColumnMajor())
      return WalkResult::interrupt();
    if (tile.getDimSize(0) == 1 || tile.getDimSize(1) == 1)
      return WalkResult::advance();
    any = true;
    bool isLong = tile.getDimSize(1) % kLongColumns == 0 &&
                  Surface::of(init).classify(*target) == SurfaceKind::Other;
    return isLong ? WalkResult::advance() : WalkResult::interrupt();
  };
  return !root->walk(visit).wasInterrupted() && any;
}

LogicalResult BlockChoice::chooseForMma(TileMmaOp op, const TargetInfo &target) {
  VectorType result = op.getResult().getType();
  if (result.getRank() != 2)
    return success();
  unsigned bits = memoryBits(cast<VectorType>(op.getA().getType()).getElementType());
  DpasParams dpas = largestDpas(target, bits);
  dpas.repeatCount = getPowerOfTwo(result.getDimSize(0), dpas.repeatCount);
  // The result first: it is what loops carry.
  for (auto [operand, value] :
       {std::pair(DpasOperand::C, op.getResult()), std::pair(DpasOperand::C, op.getC()),
        std::pair(DpasOperand::B, op.getB()), std::pair(DpasOperand::A, op.getA())}) {
    if (!value)
      continue;
    auto type = cast<VectorType>(value.getType());
    Shape2D shape = instructionShape(dpas, operand);
    VectorBlock block{int64_t(shape[0]), int64_t(shape[1]), operand, bits};
    if (type.getDimSize(0) % block.rows || type.getDimSize(1) % block.columns)
      return op.emitOpError("has a value of type ")
             << type << ", which is not a multiple of the block " << block.rows << "x"
             << block.columns
             << " that the hardware takes; choose a subgroup tile that is (it may hang over the "
                "matrix's edges)";
    LDBG() << value << ": blocks of " << block.rows << "x" << block.columns;
    assign(value, block);
  }
  return success();
}

/// A vector that is there as a whole must fit the registers.
static LogicalResult checkRegisters(Operation *op, VectorType vector, const TargetInfo &target) {
  int64_t available = int64_t(target.largeRegisters) * target.registerBytes;
  int64_t bytes = vector.getNumElements() * memoryBits(vector.getElementType()) / 8;
  if (bytes <= available)
    return success();
  return op->emitOpError("needs ")
         << bytes << " bytes of registers for a value of type " << vector << "; " << target.chip
         << " has " << available << " per subgroup; choose a smaller subgroup tile";
}

/// The block of a reduced or not yet repeated vector, from that of the whole one.
static VectorBlock getFlatBlock(VectorBlock whole, ArrayRef<int64_t> dims) {
  for (int64_t dim : dims)
    (dim % 2 == 0 ? whole.rows : whole.columns) = 1;
  return whole;
}

void BlockChoice::assignThroughShared(Operation *root) {
  llvm::DenseMap<Value, VectorBlock> ofBuffers;
  auto bufferOf = [](Operation *access) {
    InitTileOp init = getLocalInit(access);
    bool isShared = init.getTile().getType().getMemorySpace() == MemorySpace::SLM;
    return isShared ? Value(init.getSource()) : Value();
  };
  root->walk([&](LoadTileOp op) {
    if (Value buffer = bufferOf(op); buffer && get(op.getValue()))
      ofBuffers.insert({buffer, *get(op.getValue())});
  });
  root->walk([&](StoreTileOp op) {
    if (auto entry = ofBuffers.find(bufferOf(op)); entry != ofBuffers.end())
      assign(op.getValue(), entry->second);
  });
}

LogicalResult BlockChoice::run(Operation *root, StringRef chip) {
  if (hasLongRowsOnly(root, chip))
    plainColumns = kLongColumns;
  auto visitMma = [&](TileMmaOp op) -> WalkResult {
    const TargetInfo *target = getTargetOf(op, chip);
    return WalkResult(target ? chooseForMma(op, *target) : failure());
  };
  if (root->walk(visitMma).wasInterrupted())
    return failure();
  assignThroughShared(root);
  // Scattered accesses take their vectors whole: what these are made of is one block.
  root->walk([&](Operation *op) {
    if (!isa<LoadGatherOp, StoreScatterOp, AtomicRMWScatterOp>(op))
      return;
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    if (InitTileOp init = getLocalInit(op))
      values.push_back(init.getIndices());
    for (Value value : values)
      if (auto type = dyn_cast<VectorType>(value.getType()); type && type.getRank() == 2)
        if (std::optional<VectorBlock> block = getPlainBlock(type); block && !get(value)) {
          block->rows = type.getDimSize(0);
          block->columns = type.getDimSize(1);
          assign(value, *block);
        }
  });
  auto visitMemory = [&](Operation *op) -> WalkResult {
    if (!isTileAccess(op) || isa<PrefetchTileOp>(op))
      return WalkResult::advance();
    const TargetInfo *target = getTargetOf(op, chip);
    Value value = op->getNumResults() ? Value(op->getResult(0)) : op->getOperand(0);
    auto type = cast<VectorType>(value.getType());
    if (!target || failed(checkRegisters(op, type, *target)))
      return failure();
    if (!isa<LoadGatherOp, StoreScatterOp, AtomicRMWScatterOp>(op))
      assignPlain(value);
    return WalkResult::advance();
  };
  if (root->walk(visitMemory).wasInterrupted())
    return failure();
  root->walk([&](Operation *op) {
    if (auto reduce = dyn_cast<TileReduceOp>(op))
      assignPlain(reduce.getVector());
    else if (auto broadcast = dyn_cast<TileBroadcastOp>(op))
      assignPlain(broadcast.getResult());
  });
  root->walk([&](Operation *op) {
    auto reduce = dyn_cast<TileReduceOp>(op);
    auto broadcast = dyn_cast<TileBroadcastOp>(op);
    if (!reduce && !broadcast)
      return;
    Value whole = reduce ? reduce.getVector() : broadcast.getResult();
    Value flat = reduce ? reduce.getResult() : broadcast.getVector();
    ArrayRef<int64_t> dims = reduce ? reduce.getReductionDims() : broadcast.getBroadcastDims();
    if (const VectorBlock *block = get(whole); block && !blocks.contains(flat))
      assign(flat, getFlatBlock(*block, dims));
  });
  return success();
}

SmallVector<int64_t> xetile::chooseInnerBlocks(TileType tile, const VectorBlock &block,
                                               BlockAccess access, const TargetInfo &target) {
  bool isTransposed = tile.isColumnMajor();
  if (block.columns == kLongColumns || tile.getMemorySpace() != MemorySpace::Global ||
      (access == BlockAccess::Store && isTransposed))
    return SmallVector<int64_t>(block.sides());
  PlanRequest request;
  request.target = &target;
  request.access = access;
  request.elemBits = memoryBits(tile.getElementType());
  request.shape = {uint64_t(tile.getDimSize(0)), uint64_t(tile.getDimSize(1))};
  request.contiguousDim = isTransposed ? 0 : 1;
  request.dpas = largestDpas(target, block.elemBits);
  // Values converted to an operand's type later are laid out as results, a column per lane.
  request.operand = request.elemBits == block.elemBits ? block.operand : DpasOperand::C;
  if (request.operand != DpasOperand::B)
    request.dpas.repeatCount = getPowerOfTwo(tile.getDimSize(0), request.dpas.repeatCount);
  Result<TileMessages> plan = planTile(request);
  if (!plan)
    return SmallVector<int64_t>(block.sides());
  int64_t pack = plan->shape.elemBits / request.elemBits;
  SmallVector<int64_t> sides{plan->shape.height, plan->shape.width * pack};
  if (isTransposed)
    std::swap(sides[0], sides[1]);
  return sides;
}
