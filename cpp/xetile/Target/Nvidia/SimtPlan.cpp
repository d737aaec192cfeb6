//===- SimtPlan.cpp - which thread has which elements of a tile --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a kernel of workgroup-level XeTile without products. Out: chunks of 16 bytes, threads.
// Refused: operations between other elements, tiles of several sizes, accesses to memory other than
// load_tile and store_tile.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/SimtPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/RingPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

namespace {

/// A thread has 16 elements of 2 bytes as of 4: more of them take registers, which few threads
/// have.
constexpr int64_t kMostThreads = 512, kElementsOfThread = 16, kMostChunks = 4, kChunkBytes = 16;

int64_t bytesOf(Type type) {
  return type.isIndex() ? 8 : std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1);
}

/// True for an operation that gives each element from those of its operands at the same place.
bool isByElement(Operation *op) {
  if (isa<TileBroadcastOp, TileConvLayoutOp>(op))
    return true;
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return !isa<VectorType>(broadcast.getSource().getType());
  if (isa<vector::StepOp>(op))
    return llvm::all_of(op->getUsers(), llvm::IsaPred<vector::ShapeCastOp>);
  if (sliceOf(op) || isa_and_present<vector::ExtractOp>(op))
    return bool(sliceOf(op));
  if (auto cast = dyn_cast<vector::ShapeCastOp>(op))
    return cast.getSource().getDefiningOp<vector::StepOp>() || isOfScan(cast);
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return constant.isSplat();
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
         op->getNumRegions() == 0;
}

bool isReducible(TileReduceOp reduce) {
  auto type = cast<VectorType>(reduce.getVector().getType());
  unsigned bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 0;
  return type.getRank() == 2 && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
}

bool isScannable(vector::ScanOp scan) {
  VectorType type = scan.getSourceType();
  unsigned bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 0;
  return type.getRank() == 2 && scan.getReductionDim() == 1 && scan.getInclusive() &&
         (bits == 8 || bits == 16 || bits == 32 || bits == 64);
}

LogicalResult checkOp(Operation *op) {
  auto hasVector = [](TypeRange types) { return llvm::any_of(types, llvm::IsaPred<VectorType>); };
  if (auto load = dyn_cast<LoadTileOp>(op)) {
    if (cast<VectorType>(load.getValue().getType()).getRank() != 2)
      return op->emitOpError("loads blocks; expected a tile of a workgroup");
    return success();
  }
  if (auto init = dyn_cast<InitTileOp>(op)) {
    if (init.getIndices())
      return success();
    if (!isa<MemRefType>(init.getSource().getType()))
      return op->emitOpError("describes a tile of an address; expected one of a memref");
    if (!describesSource(init))
      return op->emitOpError("describes a part of a matrix by itself; expected the sizes and "
                             "strides of the memref");
    return success();
  }
  if (auto update = dyn_cast<AtomicRMWScatterOp>(op); update && !atomicOf(update.getKind()))
    return op->emitOpError("multiplies what is in memory, which ")
           << kChip << " has no operation for; expected sums, extremes or what replaces it. "
           << "The schedule 'rows' computes products, one row after the other";
  if (isa<StoreTileOp, PrefetchTileOp, LoadGatherOp, StoreScatterOp, AtomicRMWScatterOp>(op))
    return success();
  if (auto reduce = dyn_cast<TileReduceOp>(op)) {
    if (isReducible(reduce))
      return success();
    return op->emitOpError("reduces ")
           << reduce.getVector().getType() << "; expected numbers of 8 to 64 bits on " << kChip;
  }
  if (auto scan = dyn_cast<vector::ScanOp>(op)) {
    if (isScannable(scan))
      return success();
    return op->emitOpError("scans ")
           << scan.getSourceType() << "; expected rows of numbers of 8 to 64 bits, each element "
           << "with those before it and itself, on " << kChip;
  }
  if (isa<scf::ForOp, scf::YieldOp>(op))
    return success();
  if (!hasVector(op->getOperandTypes()) && !hasVector(op->getResultTypes())) {
    bool isOther = op->getDialect()->getNamespace() == "xetile" || isa<gpu::BarrierOp>(op) ||
                   (op->getNumRegions() != 0 && !isa<gpu::GPUFuncOp>(op));
    if (!isOther)
      return success();
  } else if (isByElement(op)) {
    return success();
  }
  return op->emitOpError("has no lowering for ")
         << kChip << " beside matmuls and attentions: expected tiles that are loaded and stored, "
         << "elementwise operations, broadcasts, reductions and scans of them, in loops";
}

/// True if `type`, of an operand or a result of `op`, is a vector that threads share by the plan.
bool isShared(Operation *op, VectorType type) {
  if (isa<vector::StepOp, vector::ExtractOp>(op))
    return false;
  bool isConstant = op->hasTrait<OpTrait::ConstantLike>();
  if (isa<vector::ScanOp>(op) ||
      (isConstant && llvm::all_of(op->getUsers(), llvm::IsaPred<vector::ScanOp>)))
    return type.getRank() == 2;
  if (auto load = dyn_cast<LoadTileOp>(op))
    return !isSliced(load);
  std::optional<Slice> slice = sliceOf(op);
  return !slice || type == op->getResult(0).getType();
}

/// The tile that all vectors are a part of.
LogicalResult findTile(gpu::GPUFuncOp kernel, SimtPlan &plan, int64_t &narrowest) {
  auto each = [&](llvm::function_ref<LogicalResult(Operation *, VectorType)> body) {
    WalkResult result = kernel.walk([&](Operation *op) {
      for (Type type : llvm::concat<Type>(op->getResultTypes(), op->getOperandTypes()))
        if (auto vector = dyn_cast<VectorType>(type); vector && isShared(op, vector))
          if (!isa<vector::ShapeCastOp>(op) || vector.getRank() == 2)
            if (failed(body(op, vector)))
              return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  };
  LogicalResult areMatrices = each([&](Operation *op, VectorType type) -> LogicalResult {
    if (type.getRank() != 2)
      return op->emitOpError("computes with ") << type << "; expected two dimensions";
    plan.rows = std::max(plan.rows, type.getDimSize(0));
    plan.columns = std::max(plan.columns, type.getDimSize(1));
    return success();
  });
  if (failed(areMatrices))
    return failure();
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadTileOp>(op))
      narrowest = std::min(narrowest, bytesOf(getElementTypeOrSelf(load.getValue().getType())));
    if (auto load = dyn_cast<LoadGatherOp>(op))
      narrowest = std::min(narrowest, bytesOf(getElementTypeOrSelf(load.getValue().getType())));
    if (auto store = dyn_cast<StoreTileOp>(op))
      narrowest = std::min(narrowest, bytesOf(getElementTypeOrSelf(store.getValue().getType())));
  });
  return each([&](Operation *op, VectorType type) -> LogicalResult {
    auto isPart = [](int64_t size, int64_t all) { return size == 1 || size == all; };
    if (isPart(type.getDimSize(0), plan.rows) && isPart(type.getDimSize(1), plan.columns))
      return success();
    return op->emitOpError("computes with ")
           << type << " in a kernel of tiles of " << plan.rows << " x " << plan.columns
           << "; expected vectors of that size, or with one row or column of it";
  });
}

/// True if tiles read numbers of rows and numbers of columns, each of which serves several places
/// of a thread. Those of kernels that reduce do not.
bool sharesLoads(gpu::GPUFuncOp kernel, const SimtPlan &plan) {
  bool ofRows = false, ofColumns = false;
  auto count = [&](VectorType type) {
    ofRows |= plan.rows > 1 && type.getDimSize(0) == plan.rows && type.getDimSize(1) == 1;
    ofColumns |= plan.columns > 1 && type.getDimSize(0) == 1 && type.getDimSize(1) == plan.columns;
  };
  WalkResult reduces = kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadTileOp>(op); load && !isSliced(load))
      count(cast<VectorType>(load.getValue().getType()));
    if (auto load = dyn_cast<LoadGatherOp>(op))
      count(cast<VectorType>(load.getValue().getType()));
    return isa<TileReduceOp, vector::ScanOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return ofRows && ofColumns && !reduces.wasInterrupted();
}

/// Elements of a chunk that one access takes in all tiles of memory. What is read or written one by
/// one is coalesced where neighbours of a row belong to neighbouring threads. Scans exchange less
/// of wider chunks: caches serve what they read one by one.
int64_t widthInMemory(gpu::GPUFuncOp kernel, const SimtPlan &plan) {
  int64_t width = plan.width;
  auto count = [&](TypedValue<TileType> tile) {
    auto init = tile.getDefiningOp<InitTileOp>();
    ArrayRef<int64_t> shape = tile.getType().getShape();
    if (shape[1] != plan.columns || plan.columns == 1)
      return;
    std::optional<int64_t> aligned =
        init.getIndices() ? int64_t(1) : alignedElements(init, shape[0] == 1);
    width = std::min(width, aligned.value_or(width));
  };
  bool scans = kernel.walk([](vector::ScanOp) { return WalkResult::interrupt(); }).wasInterrupted();
  WalkResult reduces = kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadTileOp>(op); load && !isSliced(load) && !scans)
      count(load.getTile());
    if (auto store = dyn_cast<StoreTileOp>(op))
      count(store.getTile());
    if (auto load = dyn_cast<LoadGatherOp>(op); load && !scans)
      count(load.getTile());
    if (auto store = dyn_cast<StoreScatterOp>(op))
      count(store.getTile());
    return isa<TileReduceOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return reduces.wasInterrupted() ? plan.width : width;
}

/// Bytes of a tile in shared memory, in whole ones of 16.
int64_t copyBytes(LoadTileOp load) {
  auto type = cast<VectorType>(load.getValue().getType());
  return int64_t(llvm::alignTo(type.getNumElements() * bytesOf(type.getElementType()), 16));
}

} // namespace

int64_t SimtPlan::firstOfSame(int64_t at, bool oneRow, bool oneColumn) const {
  if (!isEven())
    return at;
  if (oneRow && oneColumn)
    return 0;
  // Chunks beside one another in a row, before the next one.
  int64_t inRow = std::max<int64_t>(chunksOfRow() / threads, 1);
  bool isRegular = chunksOfRow() % threads == 0;
  if (oneRow)
    return isRegular || threads % chunksOfRow() == 0 ? at % inRow : at;
  return oneColumn && isRegular ? at / inRow * inRow : at;
}

bool hopper::isSliced(LoadTileOp load) {
  return !load->use_empty() && llvm::all_of(load->getUsers(), [](Operation *user) {
    if (auto row = dyn_cast<vector::ExtractOp>(user))
      return row.getNumIndices() == 1 && !row.hasDynamicPosition() &&
             isa<VectorType>(row.getType()) && llvm::all_of(row->getUsers(), [](Operation *next) {
               auto cast = dyn_cast<vector::ShapeCastOp>(next);
               return cast && cast.getResultVectorType().getRank() == 2 &&
                      cast.getResultVectorType().getDimSize(0) == 1;
             });
    auto part = dyn_cast<vector::ExtractStridedSliceOp>(user);
    return part && part.getSizes().size() == 2 && !part.hasNonUnitStrides() &&
           llvm::is_contained(cast<VectorType>(part.getType()).getShape(), 1);
  });
}

bool hopper::isOfScan(vector::ShapeCastOp cast) {
  auto scan = cast.getSource().getDefiningOp<vector::ScanOp>();
  if (scan && cast.getSource() == scan.getAccumulatedValue())
    return cast.getResultVectorType().getRank() == 2 &&
           cast.getResultVectorType().getDimSize(1) == 1;
  return !cast->use_empty() && cast.getSourceVectorType().getRank() == 2 &&
         cast.getSourceVectorType().getDimSize(1) == 1 &&
         llvm::all_of(cast->getUses(), [](OpOperand &use) {
           auto scan = dyn_cast<vector::ScanOp>(use.getOwner());
           return scan && scan.getInitialValue() == use.get();
         });
}

std::optional<Slice> hopper::sliceOf(Operation *op) {
  Slice slice;
  Value from;
  if (auto part = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    if (part.getOffsets().size() != 2)
      return std::nullopt;
    from = part.getSource();
    slice.row = cast<IntegerAttr>(part.getOffsets()[0]).getInt();
    slice.column = cast<IntegerAttr>(part.getOffsets()[1]).getInt();
  } else {
    auto shaped = dyn_cast<vector::ShapeCastOp>(op);
    auto row = shaped ? shaped.getSource().getDefiningOp<vector::ExtractOp>()
                      : dyn_cast<vector::ExtractOp>(op);
    if (!row || row.getNumIndices() != 1 || row.hasDynamicPosition())
      return std::nullopt;
    from = row.getSource();
    slice.row = row.getStaticPosition()[0];
  }
  slice.load = from.getDefiningOp<LoadTileOp>();
  return slice.load && isSliced(slice.load) ? std::optional<Slice>(slice) : std::nullopt;
}

int64_t hopper::placeOfSliced(const SimtPlan &plan, LoadTileOp load) {
  int64_t bytes = int64_t(llvm::alignTo(plan.exchangedBytes, 16));
  load->getParentOfType<gpu::GPUFuncOp>().walk([&](LoadTileOp other) {
    if (other == load)
      return WalkResult::interrupt();
    if (isSliced(other))
      bytes += copyBytes(other);
    return WalkResult::advance();
  });
  return bytes;
}

bool hopper::isFirstOfTwo(TileReduceOp reduce) {
  if (reduce.getReductionDims() != ArrayRef<int64_t>{0} || !reduce->hasOneUse())
    return false;
  auto next = dyn_cast<TileReduceOp>(*reduce->user_begin());
  return next && next.getReductionDims() == ArrayRef<int64_t>{1} &&
         next.getKind() == reduce.getKind() && next->getBlock() == reduce->getBlock();
}

Exchange hopper::exchangeOf(const SimtPlan &plan, TileReduceOp reduce) {
  ArrayRef<int64_t> shape = cast<VectorType>(reduce.getVector().getType()).getShape();
  auto reduces = [&](int64_t dim) {
    return shape[dim] > 1 && llvm::is_contained(reduce.getReductionDims(), dim);
  };
  bool areRows = reduces(0), areColumns = reduces(1);
  if (!areRows && !areColumns)
    return Exchange::None;
  auto first = reduce.getVector().getDefiningOp<TileReduceOp>();
  bool isSecond = first && isFirstOfTwo(first) && areColumns;
  if (isSecond)
    areRows = cast<VectorType>(first.getVector().getType()).getDimSize(0) > 1;
  bool isRegular = plan.isEven() && llvm::isPowerOf2_64(plan.chunksOfRow());
  bool isFull = plan.isEven() && shape[1] == plan.columns &&
                (isSecond ? cast<VectorType>(first.getVector().getType()).getDimSize(0)
                          : shape[0]) == plan.rows;
  if (areRows && areColumns)
    return isFull ? Exchange::All : Exchange::Memory;
  if (!isRegular)
    return Exchange::Memory;
  return areColumns ? Exchange::Neighbours : Exchange::Strided;
}

FailureOr<SimtPlan> hopper::planSimt(gpu::GPUFuncOp kernel) {
  SimtPlan plan;
  WalkResult known = kernel.walk([&](Operation *op) {
    return op == kernel || succeeded(checkOp(op)) ? WalkResult::advance() : WalkResult::interrupt();
  });
  int64_t narrowest = kChunkBytes;
  if (known.wasInterrupted() || failed(findTile(kernel, plan, narrowest)))
    return failure();
  plan.width = kChunkBytes / narrowest;
  while (plan.columns % plan.width != 0)
    plan.width /= 2;
  plan.width = widthInMemory(kernel, plan);
  int64_t all = plan.allChunks();
  plan.sharesLoads = sharesLoads(kernel, plan);
  int64_t most = plan.sharesLoads ? kElementsOfThread : kMostChunks;
  int64_t chunks = std::clamp<int64_t>(kElementsOfThread / plan.width, 1, most);
  while (plan.threads < kMostThreads && all % (2 * plan.threads) == 0 &&
         2 * plan.threads * chunks <= all)
    plan.threads *= 2;
  kernel.walk([&](TileReduceOp reduce) {
    int64_t bytes =
        std::max<int64_t>(bytesOf(getElementTypeOrSelf(reduce.getVector().getType())), 4);
    Exchange exchange = exchangeOf(plan, reduce);
    if (exchange == Exchange::None)
      return;
    int64_t elements = exchange == Exchange::Memory
                           ? plan.rows * plan.columns
                           : plan.threads * std::max(plan.width, plan.chunks());
    plan.sharedBytes = std::max(plan.sharedBytes, bytes * elements);
  });
  LogicalResult scans = success();
  kernel.walk([&](vector::ScanOp scan) {
    plan.sharedBytes = std::max(plan.sharedBytes, scanBytes(plan, scan));
    ArrayRef<int64_t> shape = scan.getSourceType().getShape();
    if (shape[0] != plan.rows || shape[1] != plan.columns || !plan.isEven() ||
        !llvm::isPowerOf2_64(plan.chunksOfRow()))
      scans = scan->emitOpError("scans rows of ")
              << shape[1] << " elements, " << plan.width << " of them a chunk, with "
              << plan.threads
              << " threads; expected a power of two of chunks in a row, and as many "
              << "for each thread: make workgroup_n a power of two";
  });
  if (failed(scans))
    return failure();
  plan.exchangedBytes = plan.sharedBytes;
  kernel.walk([&](LoadTileOp load) {
    if (isSliced(load))
      plan.sharedBytes = placeOfSliced(plan, load) + copyBytes(load);
  });
  if (plan.sharedBytes > kSharedBytes)
    return kernel.emitOpError("needs ")
           << plan.sharedBytes << " bytes of shared memory for reductions and products of tiles of "
           << plan.rows << " x " << plan.columns << "; expected at most " << kSharedBytes
           << ": make workgroup_m or workgroup_n smaller";
  return plan;
}
