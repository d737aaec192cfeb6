//===- Fusion.cpp - elementwise work before and after a matmul ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction among elementwise ops on tensors. Out: one linalg.generic before each operand
// and one after the result. Refused: nothing; what cannot be merged stays outside of the loops.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/Fusion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Target/Host/Frozen.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xetile;

Value xetile::cloneOnVectors(OpBuilder &builder, Location loc, mlir::Block &body,
                             ValueRange arguments, int64_t count) {
  SmallVector<SmallVector<Value>> alone = {SmallVector<Value>(arguments)};
  return cloneInterleaved(builder, loc, body, alone, count).front();
}

SmallVector<Value> xetile::cloneInterleaved(OpBuilder &builder, Location loc, mlir::Block &body,
                                            ArrayRef<SmallVector<Value>> arguments, int64_t count) {
  auto vectorOf = [&](Type element) -> Type { return VectorType::get({count}, element); };
  SmallVector<IRMapping> maps(arguments.size());
  for (auto [map, values] : llvm::zip_equal(maps, arguments))
    map.map(body.getArguments(), values);
  auto onVector = [&](IRMapping &map, Value value) -> Value {
    Value mapped = map.lookupOrDefault(value);
    if (isa<VectorType>(mapped.getType()))
      return mapped;
    mapped = vector::BroadcastOp::create(builder, loc, vectorOf(mapped.getType()), mapped);
    map.map(value, mapped);
    return mapped;
  };
  for (Operation &op : body.without_terminator()) {
    for (IRMapping &map : maps) {
      if (op.hasTrait<OpTrait::ConstantLike>()) {
        builder.clone(op, map);
        continue;
      }
      SmallVector<Value> operands;
      for (Value operand : op.getOperands())
        operands.push_back(onVector(map, operand));
      SmallVector<Type> types = llvm::map_to_vector(op.getResultTypes(), vectorOf);
      Operation *clone =
          builder.create(op.getLoc(), op.getName().getIdentifier(), operands, types, op.getAttrs());
      map.map(op.getResults(), clone->getResults());
    }
  }
  return llvm::map_to_vector(
      maps, [&](IRMapping &map) { return onVector(map, body.getTerminator()->getOperand(0)); });
}

/// The one op of the same block that uses `value`, maybe several times.
static Operation *soleUser(Value value) {
  Operation *user = nullptr;
  for (Operation *next : value.getUsers()) {
    if ((user && next != user) || next->getBlock() != value.getParentBlock())
      return nullptr;
    user = next;
  }
  return user;
}

/// True if `op` reads all of `value` once per result, possibly transposed.
static bool readsWhole(Operation *op, Value value) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return true;
  AffineMap map;
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.get() != value)
      continue;
    AffineMap next = linalgOp.getMatchingIndexingMap(&operand);
    if ((map && map != next) || !next.isPermutation())
      return false;
    map = next;
  }
  return true;
}

/// `op`, which updates `value` in place, as one that reads it: its result gets a place of its own.
static Operation *readInsteadOfUpdate(RewriterBase &rewriter, linalg::LinalgOp op, Value value) {
  OpOperand *init = op.getDpsInitOperand(0);
  if (init->get() != value || !op.payloadUsesValueFromOperand(init))
    return op;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.push_back(maps.back());
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs.push_back(value);
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(rewriter, loc, tensor::getMixedSizes(rewriter, loc, value),
                                        type.getElementType());
  auto reader = linalg::GenericOp::create(rewriter, loc, TypeRange(type), inputs, ValueRange(empty),
                                          maps, op.getIteratorTypesArray());
  // The output's block argument becomes the last input's.
  rewriter.inlineRegionBefore(op->getRegion(0), reader.getRegion(), reader.getRegion().begin());
  reader.getRegion().front().addArgument(type.getElementType(), loc);
  rewriter.replaceOp(op, reader);
  return reader;
}

/// Asks the destination for sizes of a result, which it has too: they are no uses of the result.
static void forwardSizes(RewriterBase &rewriter, Value value) {
  auto op = value.getDefiningOp<DestinationStyleOpInterface>();
  if (!op)
    return;
  Value init = op.getTiedOpOperand(cast<OpResult>(value))->get();
  for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
    if (auto dim = dyn_cast<tensor::DimOp>(user))
      rewriter.modifyOpInPlace(dim, [&] { dim.getSourceMutable().assign(init); });
}

using Cluster = llvm::SetVector<Operation *>;

/// Adds the elementwise ops before `value` that nothing else uses. What is computed once for all
/// calls stays outside of the loops.
static void addProducers(Value value, mlir::Block *block, Cluster &cluster) {
  Operation *op = value.getDefiningOp();
  if (!op || isFrozen(value) || op->getBlock() != block || soleUser(value) == nullptr ||
      !isMergeable(op) || cluster.contains(op))
    return;
  // Work on another matmul's result belongs there.
  if (llvm::any_of(op->getOperands(), [](Value operand) {
        return isContraction(operand.getDefiningOp()) && soleUser(operand);
      }))
    return;
  cluster.insert(op);
  for (Value operand : op->getOperands())
    addProducers(operand, block, cluster);
}

/// Adds what several users of `value` compute up to the first op that all of it leads to, as in
/// y * sigmoid(y): merged into that one, it is the only user of `value`. Adds nothing without one.
static void addUsers(RewriterBase &rewriter, Value value, mlir::Block *block, Cluster &cluster) {
  constexpr size_t kMost = 32; // of one function like GELU, not of a whole model
  Cluster users;
  auto isOutside = [&](Operation *user) { return !users.contains(user); };
  while (users.size() < kMost) {
    SmallVector<Operation *> next;
    llvm::copy_if(value.getUsers(), std::back_inserter(next), isOutside);
    for (Operation *op : users)
      llvm::copy_if(op->getResult(0).getUsers(), std::back_inserter(next), isOutside);
    if (!llvm::all_of(next, [&](Operation *user) { return user->getBlock() == block; }))
      return;
    Operation *first = nullptr;
    for (Operation *user : next)
      if (!first || user->isBeforeInBlock(first))
        first = user;
    if (!first || !isMergeable(first))
      return;
    forwardSizes(rewriter, first->getResult(0));
    users.insert(first);
    if (!llvm::all_equal(next))
      continue;
    cluster.insert_range(users);
    return;
  }
}

/// True if tiles of the op's operands are vectors along the result's last dimension. The results
/// `batch` of the result's map do not count: a tile has one element of them.
static bool readsRows(Operation *op, ArrayRef<unsigned> batch = {}) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return true;
  AffineMap result = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0));
  SmallVector<unsigned> dims; // of blocks
  for (unsigned place : llvm::seq(result.getNumResults()))
    if (!llvm::is_contained(batch, place))
      dims.push_back(result.getDimPosition(place));
  if (linalgOp.payloadUsesValueFromOperand(linalgOp.getDpsInitOperand(0)))
    return false;
  return llvm::all_of(linalgOp.getDpsInputOperands(), [&](OpOperand *operand) {
    Type element = getElementTypeOrSelf(operand->get().getType());
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8)
      return false;
    SmallVector<unsigned> read;
    for (AffineExpr expr : linalgOp.getMatchingIndexingMap(operand).getResults())
      if (unsigned dim = cast<AffineDimExpr>(expr).getPosition(); llvm::is_contained(dims, dim))
        read.push_back(dim);
    return !llvm::is_contained(ArrayRef(read).drop_back(read.empty() ? 0 : 1), dims.back());
  });
}

/// The dimensions of an operand's tensor that its matmul has no sums or tiles along.
static SmallVector<unsigned> batchPlaces(const Contraction &matmul, unsigned operand) {
  AffineMap map = matmul.map(operand);
  SmallVector<unsigned> places;
  for (unsigned place : llvm::seq(map.getNumResults()))
    if (llvm::is_contained(matmul.batch, map.getDimPosition(place)))
      places.push_back(place);
  return places;
}

/// The elementwise ops around `matmul` that its loops can do.
static Cluster findNeighbours(RewriterBase &rewriter, const Contraction &matmul) {
  Operation *op = matmul.op;
  mlir::Block *block = op->getBlock();
  Cluster cluster;
  for (unsigned operand : {0, 1}) {
    Value value = op->getOperand(operand);
    if (matmul.map(operand).getNumResults() != 2 + matmul.batch.size() ||
        op->getOperand(1 - operand) == value)
      continue;
    Cluster before;
    addProducers(value, block, before);
    if (llvm::all_of(before, [](Operation *op) { return readsRows(op); }))
      cluster.insert_range(before);
  }
  for (Value value = op->getResult(0);;) {
    forwardSizes(rewriter, value);
    Operation *user = soleUser(value);
    if (!user)
      addUsers(rewriter, value, block, cluster);
    if (!user || !isMergeable(user) || !readsWhole(user, value))
      break;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(user))
      user = readInsteadOfUpdate(rewriter, linalgOp, value);
    cluster.insert(user);
    for (Value operand : user->getOperands())
      if (operand != value)
        addProducers(operand, block, cluster);
    value = user->getResult(0);
  }
  return cluster;
}

Fusion xetile::mergeNeighbours(RewriterBase &rewriter, const Contraction &matmul) {
  Operation *op = matmul.op;
  mlir::Block *block = op->getBlock();
  GreedyRewriteConfig config =
      plainRewrites(dyn_cast_if_present<RewriterBase::Listener>(rewriter.getListener()));
  // First all of them become linalg.generic: merging looks at pairs of these. Without convergence
  // the ops are valid all the same, and are looked at again below.
  RewritePatternSet toGeneric(op->getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(toGeneric);
  linalg::populateLinalgNamedOpsGeneralizationPatterns(toGeneric);
  Cluster named = findNeighbours(rewriter, matmul);
  (void)applyOpPatternsGreedily(named.getArrayRef(), std::move(toGeneric), config);

  mergeElementwise(
      op->getContext(), [&] { return findNeighbours(rewriter, matmul).takeVector(); },
      [](OpOperand *operand) {
        auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
        return producer && producer->getBlock() == operand->getOwner()->getBlock() &&
               producer->hasOneUse() && isMergeable(producer) && !isFrozen(operand->get()) &&
               !producer.payloadUsesValueFromOperand(producer.getDpsInitOperand(0));
      },
      config);

  Fusion fusion;
  for (unsigned operand : {0, 1}) {
    auto producer = op->getOperand(operand).getDefiningOp<linalg::GenericOp>();
    if (producer && matmul.map(operand).getNumResults() == 2 + matmul.batch.size() &&
        producer->getBlock() == block && producer->hasOneUse() && isMergeable(producer) &&
        !isFrozen(producer.getResult(0)) && readsRows(producer, batchPlaces(matmul, operand)))
      fusion.producers[operand] = producer;
  }
  auto consumer = dyn_cast_or_null<linalg::GenericOp>(soleUser(op->getResult(0)));
  if (consumer && isMergeable(consumer) && readsWhole(consumer, op->getResult(0)) &&
      consumer.getDpsInits()[0] != op->getResult(0))
    fusion.consumer = consumer;
  return fusion;
}
