//===- LaneLowering.h - from vectors of a subgroup to those of its lanes -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANELOWERING_H
#define XETILE_TARGET_XE_LANES_LANELOWERING_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/Target/Xe/Lanes/LaneMessages.h"
#include "xetile/Target/Xe/Lanes/LaneRules.h"
#include <map>

namespace xetile {

/// Rewrites the functions of a module in place: a vector becomes one flat vector a block (a piece),
/// a descriptor the values that it is made of.
class LaneLowering {
public:
  /// With `printCosts` operations that move elements say at what cost.
  LaneLowering(mlir::gpu::GPUModuleOp module, const TargetInfo &target, bool printCosts)
      : module(module), target(target), lanes(target.subgroupSize), printCosts(printCosts),
        b(module.getContext()), planner(target) {}

  llvm::LogicalResult run();

private:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;

  // What lanes hold (LaneLowering.cpp).
  llvm::LogicalResult lowerFunction(mlir::FunctionOpInterface function);
  llvm::LogicalResult lowerBlock(mlir::Block &block);
  llvm::LogicalResult lowerOp(mlir::Operation *op);
  llvm::LogicalResult lowerFor(mlir::scf::ForOp op);
  llvm::LogicalResult lowerIf(mlir::scf::IfOp op);
  llvm::LogicalResult lowerWhile(mlir::scf::WhileOp op);
  llvm::LogicalResult lowerTerminator(mlir::Operation *op);
  llvm::LogicalResult lowerCall(mlir::func::CallOp op);
  llvm::LogicalResult lowerElementwise(mlir::Operation *op);
  llvm::LogicalResult lowerFree(mlir::Operation *op);
  /// Whether values of the type are cut into others.
  static bool isCut(mlir::Type type);
  LaneLayoutAttr layoutOf(Value value);
  const LaneTable &tableOf(Value value);
  const LaneTable &tableFor(LaneLayoutAttr layout, llvm::ArrayRef<int64_t> shape);
  /// The flat vector that a lane holds of a block.
  mlir::VectorType pieceType(Value value);
  /// The type of an element in registers.
  mlir::Type storedType(mlir::Type element);
  void define(Value value, Values pieces) { held[value] = std::move(pieces); }
  Values &piecesOf(Value value) { return held[value]; }
  /// The types that a value of a region or function is replaced by.
  llvm::SmallVector<mlir::Type> typesOf(Value value);
  /// Replaces arguments of `block` that are cut.
  void cutArguments(mlir::Block &block, unsigned first,
                    llvm::ArrayRef<llvm::SmallVector<mlir::Type>> types);
  void flatten(mlir::ValueRange values, Values &flat);

  // Numbers that depend on the lane (LaneNumbers.cpp).
  Value laneId();
  /// values[lane], as i32.
  Value laneTable(llvm::ArrayRef<int64_t> values);
  Value laneIndex(llvm::ArrayRef<int64_t> values);
  /// Whether the lane is one of the mask's bits.
  Value laneIn(uint64_t mask);
  Value selectByLane(llvm::ArrayRef<std::pair<uint64_t, Value>> choices);
  Value constant(mlir::Type type, int64_t value);
  Value index(int64_t value) { return constant(b.getIndexType(), value); }
  Value add(Value left, Value right);
  Value mul(Value left, Value right);
  /// `value` of lane table[lane].
  Value shuffle(Value value, llvm::ArrayRef<int64_t> table);
  /// How many values of a type a shuffle moves at once.
  static size_t valuesInWord(mlir::Type type);
  /// The same of several values of one type, as many at once.
  Values shuffleTogether(llvm::ArrayRef<Value> values, llvm::ArrayRef<int64_t> table);
  Value callBuiltin(llvm::StringRef name, mlir::Type result, mlir::ValueRange arguments,
                    bool convergent = true);
  Value element(Value piece, unsigned reg);
  Value build(mlir::VectorType type, llvm::ArrayRef<Value> elements);

  // Elements that move (LaneGather.cpp).
  struct Source {
    llvm::ArrayRef<Value> pieces;
    const LaneTable &table;
  };
  /// From which source, and which of its elements, an element of the result comes.
  using ElementMap = llvm::function_ref<std::pair<unsigned, int64_t>(int64_t)>;
  struct Place {
    unsigned source, flat, lane;
  };
  /// Lanes of `mask` take a register of a source: their own, or that of `senders`.
  struct Choice {
    uint64_t mask;
    unsigned source, flat;
    llvm::SmallVector<int64_t> senders;
  };
  Values gather(mlir::VectorType piece, const LaneTable &result, llvm::ArrayRef<Source> sources,
                ElementMap map);
  llvm::SmallVector<Choice> planRegister(llvm::ArrayRef<int64_t> row,
                                         llvm::ArrayRef<Source> sources, ElementMap map) const;
  llvm::SmallVector<unsigned> findExchange(const LaneTable &result, const LaneTable &source,
                                           ElementMap map) const;
  Values exchange(mlir::VectorType piece, const LaneTable &result, Source source,
                  llvm::ArrayRef<unsigned> origin);
  Source sourceOf(Value value) { return {piecesOf(value), tableOf(value)}; }
  Value scalarOf(Value vector, int64_t element);
  llvm::LogicalResult lowerStructural(mlir::Operation *op);
  llvm::LogicalResult lowerMultiReduction(mlir::vector::MultiDimReductionOp op);
  llvm::LogicalResult lowerReduction(mlir::vector::ReductionOp op);
  llvm::LogicalResult lowerBitcast(mlir::vector::BitCastOp op);
  llvm::LogicalResult lowerExtract(mlir::vector::ExtractOp op);
  llvm::LogicalResult lowerInsert(mlir::vector::InsertOp op);
  /// Combines each value with those of the lanes at the distances; all of these get the result.
  void reduceAcross(llvm::MutableArrayRef<mlir::Value> sums, llvm::ArrayRef<unsigned> distances,
                    mlir::vector::CombiningKind kind);
  /// Folds all elements of `source` that `map` sends to one of the result's, over all lanes.
  Values reduce(Source source, const LaneMap &sourceMap, const LaneTable &result,
                mlir::VectorType piece, mlir::vector::CombiningKind kind,
                llvm::function_ref<int64_t(int64_t)> map);

  // Elements that move through shared local memory (LaneScratch.cpp).
  /// Instructions, about: a message waits for memory, a shuffle reads its register by an index.
  static constexpr unsigned selectCost = 1, shuffleCost = 2, messageCost = 8;
  bool isCheaperInMemory(unsigned cost, mlir::VectorType piece, const LaneTable &result,
                         Source source, ElementMap map);
  Values moveThroughMemory(mlir::VectorType piece, const LaneTable &result, Source source,
                           ElementMap map);
  /// Bytes of shared memory that a subgroup may have, 0 if there is none.
  int64_t scratchLimit();
  /// The subgroup's memory, of at least `bytes`, as i64.
  Value scratchAddress(int64_t bytes);
  /// Once it is known how much all moves of a function need.
  void finishScratch();
  void subgroupBarrier();

  // Blocks of memory (LaneBlocks.cpp). A descriptor is address, sizes, strides, offsets.
  struct Surface {
    Value address; // i64, of element 0
    llvm::ArrayRef<Value> sizes, strides, offsets;
  };
  Surface surfaceOf(Value descriptor);
  llvm::LogicalResult lowerCreateNd(mlir::xegpu::CreateNdDescOp op);
  llvm::LogicalResult lowerUpdateNd(mlir::xegpu::UpdateNdOffsetOp op);
  llvm::LogicalResult lowerLoadNd(mlir::xegpu::LoadNdOp op);
  llvm::LogicalResult lowerStoreNd(mlir::xegpu::StoreNdOp op);
  llvm::LogicalResult lowerPrefetchNd(mlir::xegpu::PrefetchNdOp op);
  /// Where an access starts: offsets of the descriptor and its own.
  template <typename Op> llvm::FailureOr<Values> placeOf(Op op, const Surface &surface);
  /// Whether the 2D unit takes the surface, as far as constants tell.
  bool isBlockSurface(const Surface &surface, llvm::ArrayRef<Value> place,
                      mlir::xegpu::TensorDescType tile);
  struct BlockOperands {
    Value pointer, width, height, pitch, x, y;
  };
  BlockOperands blockOperands(const Surface &surface, llvm::ArrayRef<Value> place,
                              mlir::xegpu::TensorDescType tile, const BlockShape &shape);

  // dpas (LaneDpas.cpp).
  llvm::LogicalResult lowerDpas(mlir::xegpu::DpasOp op);

  // Memory that each lane accesses itself (LaneMemory.cpp).
  struct Matrix {
    Value address;  // i64
    unsigned space; // 1: global, 3: shared
    Values strides; // in elements
    Values offsets; // of the access
    Values sizes;   // bounds, or none
    Value mask;     // i1 of all, or null
  };
  /// Coordinate `dim` of an element of the vector.
  using Coordinate = llvm::function_ref<int64_t(int64_t element, unsigned dim)>;
  Values loadLanes(mlir::VectorType piece, const LaneTable &table, const Matrix &matrix,
                   Coordinate coordinate, llvm::function_ref<Value(unsigned)> maskOf,
                   llvm::function_ref<Value(unsigned)> otherwise);
  void storeLanes(llvm::ArrayRef<Value> pieces, mlir::Type element, const LaneTable &table,
                  const Matrix &matrix, Coordinate coordinate,
                  llvm::function_ref<Value(unsigned)> maskOf);
  struct LaneAddress {
    Value pointer, mask;
  };
  LaneAddress addressOf(const LaneTable &table, unsigned flat, unsigned bytes, const Matrix &matrix,
                        Coordinate coordinate, llvm::function_ref<Value(unsigned)> maskOf);
  /// Registers from `flat` on that lie side by side in memory, a power of two.
  unsigned runLength(const LaneTable &table, unsigned flat, const Matrix &matrix,
                     Coordinate coordinate);
  llvm::FailureOr<Matrix> matrixOf(mlir::Operation *op, Value memref);
  Matrix matrixOf(const Surface &surface, llvm::ArrayRef<Value> place,
                  mlir::xegpu::TensorDescType tile);
  Value pointerTo(Value address, unsigned space);
  Value loadElement(mlir::Type type, Value pointer, unsigned align);
  void storeElement(Value value, Value pointer, unsigned align);
  llvm::LogicalResult lowerMemory(mlir::Operation *op);
  /// What a vector.transfer accesses: for each dimension of the memory that of the vector, or -1.
  struct Transfer {
    Matrix matrix;
    llvm::SmallVector<int> dims;
    Values masks; // pieces, or none
  };
  template <typename Op> llvm::FailureOr<Transfer> transferOf(Op op, Value vector);
  llvm::LogicalResult lowerTransfer(mlir::Operation *op);
  llvm::LogicalResult lowerScattered(mlir::Operation *op);
  llvm::LogicalResult lowerAtomic(mlir::xegpu::AtomicRMWOp op);
  llvm::LogicalResult lowerMatrix(mlir::Operation *op);

  // Barriers (LaneBarriers.cpp).
  llvm::LogicalResult lowerBarrier(mlir::Operation *op);

  mlir::gpu::GPUModuleOp module;
  const TargetInfo &target;
  unsigned lanes;
  bool printCosts;
  unsigned numSelects = 0, numShuffles = 0, numMessages = 0; // of the operation
  mlir::OpBuilder b;
  mlir::Location loc = mlir::UnknownLoc::get(b.getContext());
  MessagePlanner planner;
  llvm::DenseMap<Value, Values> held;
  llvm::DenseMap<Value, unsigned> rankOf; // of the memory that a descriptor describes
  llvm::DenseMap<Value, LaneLayoutAttr> layouts;
  std::map<std::pair<const void *, std::vector<int64_t>>, std::unique_ptr<LaneTable>> tables;
  std::map<std::vector<int64_t>, Value> laneTables; // of the function
  std::map<uint64_t, Value> laneMasks;
  Value laneNumber;
  /// What a function's moves through memory share: the global, a subgroup's bytes of it, and where
  /// these begin.
  struct Scratch {
    int64_t subgroups = 0, limit = 0, bytes = 0;
    mlir::LLVM::GlobalOp global;
    mlir::arith::ConstantOp size;
    Value address;
  } scratch;
  /// What depends on the lane alone is computed before it, in order.
  mlir::Operation *top = nullptr;
  llvm::SmallVector<mlir::Operation *> dead;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANELOWERING_H
