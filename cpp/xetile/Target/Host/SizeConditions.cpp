//===- SizeConditions.cpp - what ops want of the sizes of their tensors ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: one op on tensors. Out: conditions without which it would read or write out of bounds.
// Refused: ops on tensors of sizes known at run time only whose conditions are not known here.
// Indices that the body of a linalg op computes are left to CheckIndices.cpp.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/SizeConditions.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Linalg/HasElements.h"

using namespace mlir;
using namespace xetile;

namespace {

bool isDynamic(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && (!tensor.hasRank() || !tensor.hasStaticShape());
}

class Conditions {
public:
  Conditions(Operation *op, ConditionSink sink) : op(op), sink(sink), b(op->getContext()) {}
  LogicalResult find();

private:
  using Relation = SizeCondition::Relation;
  LogicalResult equal(SizeExpr left, SizeExpr right) {
    return sink({std::move(left), Relation::Equal, std::move(right)});
  }
  LogicalResult atMost(SizeExpr left, SizeExpr right, ArrayRef<SizeLeaf> unless = {}) {
    return sink({std::move(left), Relation::AtMost, std::move(right), llvm::to_vector(unless)});
  }
  LogicalResult notNegative(OpFoldResult size) {
    return atMost(OpFoldResult(b.getIndexAttr(0)), size);
  }
  LogicalResult notNegative(ArrayRef<OpFoldResult> list) {
    for (OpFoldResult size : list)
      if (failed(notNegative(size)))
        return failure();
    return success();
  }
  LogicalResult sameSizes(ValueRange values);
  LogicalResult ofLinalg(linalg::LinalgOp linalgOp);
  /// The smallest and largest value of an index.
  std::optional<std::pair<AffineExpr, AffineExpr>> range(AffineExpr expr,
                                                         ArrayRef<std::optional<SizeLeaf>> extents);
  LogicalResult inBounds(Value tensor, ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> lengths, ArrayRef<OpFoldResult> strides);
  LogicalResult ofInsertion(Value source, Value into, OffsetSizeAndStrideOpInterface slice,
                            const llvm::SmallBitVector &dropped);
  LogicalResult ofIndices(Value tensor, ValueRange indices);
  LogicalResult ofTransfer(VectorTransferOpInterface transfer);
  LogicalResult ofExpand(tensor::ExpandShapeOp expand);
  LogicalResult ofPad(tensor::PadOp pad);
  LogicalResult ofConcat(tensor::ConcatOp concat);
  LogicalResult ofLoop(scf::ForOp loop);

  Operation *op;
  ConditionSink sink;
  OpBuilder b;
};

LogicalResult Conditions::sameSizes(ValueRange values) {
  Value first;
  for (Value value : values) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    if (!first)
      first = value;
    for (int64_t dim = 0; dim < cast<RankedTensorType>(first.getType()).getRank(); ++dim)
      if (value != first && failed(equal({first, dim}, {value, dim})))
        return failure();
  }
  return success();
}

std::optional<std::pair<AffineExpr, AffineExpr>>
Conditions::range(AffineExpr expr, ArrayRef<std::optional<SizeLeaf>> extents) {
  AffineExpr zero = b.getAffineConstantExpr(0);
  if (isa<AffineConstantExpr>(expr))
    return std::pair(expr, expr);
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    if (!extents[dim.getPosition()])
      return std::nullopt;
    return std::pair(zero, expr - 1);
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto left = range(binary.getLHS(), extents);
  if (!left)
    return std::nullopt;
  auto [low, high] = *left;
  if (expr.getKind() == AffineExprKind::Add) {
    auto right = range(binary.getRHS(), extents);
    if (!right)
      return std::nullopt;
    return std::pair(low + right->first, high + right->second);
  }
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!factor)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    if (factor.getValue() < 0)
      std::swap(low, high);
    return std::pair(low * factor, high * factor);
  case AffineExprKind::FloorDiv:
    return std::pair(low.floorDiv(factor), high.floorDiv(factor));
  case AffineExprKind::CeilDiv:
    return std::pair(low.ceilDiv(factor), high.ceilDiv(factor));
  default:
    return std::pair(zero, b.getAffineConstantExpr(factor.getValue() - 1));
  }
}

LogicalResult Conditions::ofLinalg(linalg::LinalgOp linalgOp) {
  SmallVector<std::optional<SizeLeaf>> extents(linalgOp.getNumLoops());
  struct Indexed {
    Value tensor;
    int64_t dim;
    AffineExpr by;
  };
  SmallVector<Indexed> others;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    for (auto [place, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim) {
        others.push_back({operand.get(), int64_t(place), expr});
        continue;
      }
      std::optional<SizeLeaf> &extent = extents[dim.getPosition()];
      if (!extent)
        extent = SizeLeaf{{}, operand.get(), int64_t(place)};
      else if (failed(equal({extent->tensor, extent->dim}, {operand.get(), int64_t(place)})))
        return failure();
    }
  }
  // Loops without rounds read nothing.
  if (!hasElements(linalgOp))
    return success();
  for (const Indexed &indexed : others) {
    auto bounds = range(indexed.by, extents);
    if (!bounds)
      return op->emitOpError("has an index whose range is not known: expected sums of dimensions "
                             "that index a tensor alone");
    SmallVector<SizeLeaf> leaves;
    for (const std::optional<SizeLeaf> &extent : extents)
      leaves.push_back(extent.value_or(SizeLeaf{b.getIndexAttr(1), {}, 0}));
    SmallVector<SizeLeaf> unless;
    for (const SizeLeaf &leaf : leaves)
      if (leaf.tensor && cast<RankedTensorType>(leaf.tensor.getType()).isDynamicDim(leaf.dim))
        unless.push_back(leaf);
    SizeExpr low(bounds->first, leaves), high(bounds->second + 1, leaves);
    if (failed(atMost(OpFoldResult(b.getIndexAttr(0)), low, unless)) ||
        failed(atMost(high, {indexed.tensor, indexed.dim}, unless)))
      return failure();
  }
  return success();
}

LogicalResult Conditions::inBounds(Value tensor, ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> lengths, ArrayRef<OpFoldResult> strides) {
  for (auto [dim, offset, length, stride] : llvm::enumerate(offsets, lengths, strides)) {
    if (failed(notNegative(offset)) || failed(notNegative(length)))
      return failure();
    std::optional<int64_t> step = getConstantIntValue(stride);
    if (!step || *step < 0)
      return op->emitOpError("has a stride that is not a constant: expected one of at least 0");
    AffineExpr start = b.getAffineDimExpr(0), count = b.getAffineDimExpr(1);
    SizeLeaf length_{length, {}, 0};
    // An empty slice may start at the end.
    AffineExpr end = *step == 1 ? start + count : start + (count - 1) * *step + 1;
    SmallVector<SizeLeaf> unless;
    if (*step != 1)
      unless.push_back(length_);
    if (failed(atMost({end, {{offset, {}, 0}, length_}}, {tensor, int64_t(dim)}, unless)))
      return failure();
  }
  return success();
}

LogicalResult Conditions::ofInsertion(Value source, Value into,
                                      OffsetSizeAndStrideOpInterface slice,
                                      const llvm::SmallBitVector &dropped) {
  if (failed(
          inBounds(into, slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides())))
    return failure();
  int64_t dim = 0;
  for (auto [place, length] : llvm::enumerate(slice.getMixedSizes()))
    if (!dropped.test(place) && failed(equal({source, dim++}, length)))
      return failure();
  return success();
}

LogicalResult Conditions::ofIndices(Value tensor, ValueRange indices) {
  // Bodies index by what they read and compute.
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<linalg::LinalgOp, tensor::GenerateOp, tensor::PadOp>(parent))
      return success();
  AffineExpr index = b.getAffineDimExpr(0);
  for (auto [dim, value] : llvm::enumerate(indices))
    if (failed(notNegative(OpFoldResult(value))) ||
        failed(atMost({index + 1, {{value, {}, 0}}}, {tensor, int64_t(dim)})))
      return failure();
  return success();
}

LogicalResult Conditions::ofTransfer(VectorTransferOpInterface transfer) {
  if (!isa<RankedTensorType>(transfer.getShapedType()))
    return success();
  SmallVector<int64_t> lengths(transfer.getShapedType().getRank(), 1);
  SmallVector<bool> mayHangOver(lengths.size());
  VectorType vector = transfer.getVectorType();
  for (auto [place, expr] : llvm::enumerate(transfer.getPermutationMap().getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      lengths[dim.getPosition()] = vector.getDimSize(place);
      mayHangOver[dim.getPosition()] =
          transfer.getMask() || !transfer.isDimInBounds(place) || vector.getScalableDims()[place];
    }
  AffineExpr index = b.getAffineDimExpr(0);
  for (auto [dim, value] : llvm::enumerate(transfer.getIndices()))
    if (!mayHangOver[dim] && (failed(notNegative(OpFoldResult(value))) ||
                              failed(atMost({index + lengths[dim], {{value, {}, 0}}},
                                            {transfer.getBase(), int64_t(dim)}))))
      return failure();
  return success();
}

LogicalResult Conditions::ofExpand(tensor::ExpandShapeOp expand) {
  SmallVector<OpFoldResult> shape = expand.getMixedOutputShape();
  if (failed(notNegative(shape)))
    return failure();
  for (auto [dim, group] : llvm::enumerate(expand.getReassociationIndices())) {
    AffineExpr product = b.getAffineConstantExpr(1);
    SmallVector<SizeLeaf> leaves;
    for (int64_t place : group) {
      product = product * b.getAffineDimExpr(leaves.size());
      leaves.push_back({shape[place], {}, 0});
    }
    if (failed(equal({product, leaves}, {expand.getSrc(), int64_t(dim)})))
      return failure();
  }
  return success();
}

LogicalResult Conditions::ofPad(tensor::PadOp pad) {
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
  if (failed(notNegative(low)) || failed(notNegative(high)))
    return failure();
  AffineExpr sum = b.getAffineDimExpr(0) + b.getAffineDimExpr(1) + b.getAffineDimExpr(2);
  for (int64_t dim = 0; dim < pad.getResultType().getRank(); ++dim)
    if (!pad.getResultType().isDynamicDim(dim) &&
        failed(equal({sum, {{{}, pad.getSource(), dim}, {low[dim], {}, 0}, {high[dim], {}, 0}}},
                     {pad.getResult(), dim})))
      return failure();
  return success();
}

LogicalResult Conditions::ofConcat(tensor::ConcatOp concat) {
  auto type = cast<RankedTensorType>(concat.getResult().getType());
  Value first = concat.getInputs()[0];
  AffineExpr sum = b.getAffineConstantExpr(0);
  SmallVector<SizeLeaf> leaves;
  int64_t along = concat.getDim();
  for (Value input : concat.getInputs()) {
    sum = sum + b.getAffineDimExpr(leaves.size());
    leaves.push_back({{}, input, along});
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != along && input != first && failed(equal({first, dim}, {input, dim})))
        return failure();
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!type.isDynamicDim(dim) &&
        failed(equal(dim == along ? SizeExpr(sum, leaves) : SizeExpr(first, dim),
                     {concat.getResult(), dim})))
      return failure();
  return success();
}

/// A loop's tensors keep their sizes.
LogicalResult Conditions::ofLoop(scf::ForOp loop) {
  for (auto [init, next] : llvm::zip(loop.getInitArgs(), loop.getYieldedValues()))
    if (failed(sameSizes({init, next})))
      return failure();
  return success();
}

LogicalResult Conditions::find() {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return ofLinalg(linalgOp);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return inBounds(slice.getSource(), slice.getMixedOffsets(), slice.getMixedSizes(),
                    slice.getMixedStrides());
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return ofInsertion(slice.getSource(), slice.getDest(), slice, slice.getDroppedDims());
  if (auto slice = dyn_cast<tensor::ParallelInsertSliceOp>(op))
    return ofInsertion(slice.getSource(), slice.getDest(), slice, slice.getDroppedDims());
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return ofIndices(extract.getTensor(), extract.getIndices());
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return ofIndices(insert.getDest(), insert.getIndices());
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op))
    return ofTransfer(transfer);
  if (auto cast = dyn_cast<tensor::CastOp>(op); cast && isa<RankedTensorType>(cast.getType()) &&
                                                isa<RankedTensorType>(cast.getSource().getType()))
    return sameSizes({cast.getSource(), cast.getResult()});
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return ofExpand(expand);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return ofPad(pad);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return ofConcat(concat);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return notNegative(empty.getMixedSizes());
  if (isa<tensor::GenerateOp, tensor::SplatOp, bufferization::AllocTensorOp>(op)) {
    for (Value operand : op->getOperands())
      if (operand.getType().isIndex() && failed(notNegative(OpFoldResult(operand))))
        return failure();
    return success();
  }
  if (isa<linalg::SoftmaxOp>(op))
    return sameSizes(op->getOperands());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return ofLoop(loop);
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    return sameSizes(values);
  }
  if (isa<tensor::DimOp, tensor::RankOp, tensor::CollapseShapeOp, tensor::BitcastOp,
          tensor::FromElementsOp, scf::IfOp, scf::ForallOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (llvm::any_of(op->getOperandTypes(), isDynamic) ||
      llvm::any_of(op->getResultTypes(), isDynamic))
    return op->emitOpError("takes or gives tensors of sizes known at run time only, and what sizes "
                           "fit together is not known for it: expected static shapes, or other "
                           "operations (linalg, tensor slices, concat, pad, expand_shape)");
  return success();
}

} // namespace

LogicalResult xetile::forEachSizeCondition(Operation *op, ConditionSink sink) {
  return Conditions(op, sink).find();
}
