//===- TmTensorScatters.cpp - scatters of torch-mlir as linalg on tensors ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tm_tensor.scatter in its generic form. Out: the numbers of the rows that are updated, as one
// number each, and a linalg.generic that combines updates with these rows. Refused: updates of
// parts of a row, bodies other than one op with a neutral element or the update itself.
//===----------------------------------------------------------------------===//
#include "xetile/Conversion/TmTensorScatters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/Linalg/Scan.h"
#include "xetile/Linalg/Scatter.h"

using namespace mlir;

namespace {

/// A scatter on its way. The first `depth` dimensions of `original` are those that are indexed.
class TheirScatter {
public:
  TheirScatter(OpBuilder &b, Operation *op, bool asserts)
      : b(b), op(op), loc(op->getLoc()), asserts(asserts) {}

  LogicalResult match();
  Value emit();

private:
  InFlightDiagnostic fail(const Twine &why) {
    return op->emitError() << "a scatter of torch-mlir: " << why;
  }
  LogicalResult matchBody();
  LogicalResult matchShapes();
  Value size(unsigned dim);
  Value column(unsigned number, OpFoldResult count);
  Value rows();
  Value castTo(OpBuilder &inside, Value value, Type to);
  Value castAll(Value tensor, Type to);

  OpBuilder &b;
  Operation *op;
  Location loc;
  /// True if indices are asserted to be in bounds.
  bool asserts;
  Value updates, indices, original;
  RankedTensorType type;
  unsigned depth = 0;
  SmallVector<int64_t> dims;
  /// Null for updates that replace what is there.
  Operation *combine = nullptr;
  /// The number that is combined where it is no update.
  Value constant;
  /// In which elements are combined: floats of f32 at least, bits as bytes.
  Type wide;
  TypedAttr neutral;
  /// How bits are combined.
  enum class Bits { None, Any, All } bits = Bits::None;
};

} // namespace

LogicalResult TheirScatter::matchBody() {
  Block &body = op->getRegion(0).front();
  Type element = type.getElementType();
  wide = element;
  Value yielded = body.back().getNumOperands() == 1 ? body.back().getOperand(0) : Value();
  if (body.getNumArguments() != 2 || !yielded)
    return fail("expected a body of an update and an element that gives one number");
  if (yielded == body.getArgument(0))
    return success();
  Operation *last = yielded.getDefiningOp();
  std::optional<TypedAttr> found;
  if (last && last->getBlock() == &body && llvm::hasNItems(body, 2) &&
      last->getNumOperands() == 2 && last->hasTrait<OpTrait::IsCommutative>() &&
      llvm::is_contained(last->getOperands(), body.getArgument(1)))
    found = arith::getNeutralElement(last);
  Value other;
  if (found)
    other = last->getOperand(last->getOperand(0) == body.getArgument(1) ? 1 : 0);
  if (!found || (other != body.getArgument(0) && other.getParentBlock() == &body))
    return fail("expected a body of one commutative op with a neutral element, as arith.addf, of "
                "an update and an element, or of the update alone");
  combine = last;
  neutral = *found;
  if (other != body.getArgument(0))
    constant = other;
  bool sums = isa<arith::AddFOp, arith::MulFOp>(last);
  if (sums && element.getIntOrFloatBitWidth() < 32)
    wide = b.getF32Type();
  if (element.isInteger(1))
    wide = b.getI8Type();
  // Numbers that -0 is added to stay as they are.
  if (auto value = dyn_cast<FloatAttr>(neutral))
    neutral = b.getFloatAttr(wide, isa<arith::AddFOp>(last) ? -0.0 : value.getValueAsDouble());
  // Bits are true or not, without a sign: PyTorch's sums and maxima of them are what one of them
  // is.
  if (element.isInteger(1)) {
    bits = isa<arith::AddIOp, arith::MaxSIOp, arith::OrIOp>(last) ? Bits::Any : Bits::All;
    neutral = b.getIntegerAttr(wide, bits == Bits::Any ? 0 : -1);
  }
  return success();
}

LogicalResult TheirScatter::matchShapes() {
  auto ofUpdates = dyn_cast<RankedTensorType>(updates.getType());
  auto ofIndices = dyn_cast<RankedTensorType>(indices.getType());
  auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  auto map =
      properties ? properties.getAs<DenseI64ArrayAttr>("dimension_map") : DenseI64ArrayAttr();
  if (!type || !ofUpdates || !ofIndices || ofIndices.getRank() != 2 ||
      !ofIndices.getElementType().isSignlessInteger() || !map)
    return fail("expected tensors, with a matrix of integers as indices, and `dimension_map`");
  dims.assign(map.asArrayRef().begin(), map.asArrayRef().end());
  depth = dims.size();
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  if (depth == 0 || ofIndices.getDimSize(1) != depth || depth > type.getRank() ||
      !llvm::equal(sorted, llvm::seq<int64_t>(0, depth)))
    return fail("expected indices of the first dimensions, one column for each number of "
                "`dimension_map`");
  // Either with a dimension of one element for each that is indexed, or without them.
  SmallVector<int64_t> rest(type.getShape().drop_front(depth));
  ArrayRef<int64_t> shape = ofUpdates.getShape();
  bool hasUnits = ofUpdates.getRank() == type.getRank() + 1 &&
                  llvm::all_of(shape.slice(1, depth), [](int64_t extent) { return extent == 1; });
  if (ofUpdates.getRank() < 1 || ofUpdates.getElementType() != type.getElementType() ||
      (!hasUnits && ofUpdates.getRank() != type.getRank() - depth + 1) ||
      shape.take_back(rest.size()) != ArrayRef(rest))
    return fail("expected an update of each row, in all of its other dimensions, got ")
           << ofUpdates << " for " << type;
  return success();
}

LogicalResult TheirScatter::match() {
  if (op->getNumOperands() != 3 || op->getNumResults() != 1 || op->getNumRegions() != 1 ||
      !op->getRegion(0).hasOneBlock())
    return fail("expected updates, indices, an output and a body");
  updates = op->getOperand(0);
  indices = op->getOperand(1);
  original = op->getOperand(2);
  type = dyn_cast<RankedTensorType>(original.getType());
  return failure(failed(matchShapes()) || failed(matchBody()));
}

/// The size of a dimension that is indexed, as an index is.
Value TheirScatter::size(unsigned dim) {
  Type integer = cast<RankedTensorType>(indices.getType()).getElementType();
  if (!type.isDynamicDim(dim))
    return arith::ConstantIntOp::create(b, loc, integer, type.getDimSize(dim));
  return arith::IndexCastOp::create(b, loc, integer, tensor::DimOp::create(b, loc, original, dim));
}

/// All indices of one dimension.
Value TheirScatter::column(unsigned number, OpFoldResult count) {
  auto from = cast<RankedTensorType>(indices.getType());
  auto to = RankedTensorType::get({from.getDimSize(0)}, from.getElementType());
  OpFoldResult one = b.getIndexAttr(1);
  if (depth == 1)
    return tensor::CollapseShapeOp::create(b, loc, to, indices,
                                           ArrayRef<ReassociationIndices>({{0, 1}}));
  return tensor::ExtractSliceOp::create(
      b, loc, to, indices, ArrayRef<OpFoldResult>({b.getIndexAttr(0), b.getIndexAttr(number)}),
      ArrayRef<OpFoldResult>({count, one}), ArrayRef<OpFoldResult>({one, one}));
}

/// The number of the row that each update goes to, of all dimensions that are indexed as one; -1
/// for indices that are out of bounds. Negative ones count from the end.
Value TheirScatter::rows() {
  OpFoldResult count = tensor::getMixedSize(b, loc, indices, 0);
  Type integer = cast<RankedTensorType>(indices.getType()).getElementType();
  SmallVector<Value> columns, sizes, strides(depth);
  for (unsigned dim = 0; dim < depth; ++dim) {
    columns.push_back(column(dim, count));
    sizes.push_back(size(dim));
  }
  Value all = arith::ConstantIntOp::create(b, loc, integer, 1);
  for (int64_t dim = depth - 1; dim >= 0; --dim) {
    strides[dim] = all;
    all = b.createOrFold<arith::MulIOp>(loc, all, sizes[dim]);
  }
  Value empty = tensor::EmptyOp::create(b, loc, {count}, integer);
  SmallVector<AffineMap> maps(depth + 1, b.getMultiDimIdentityMap(1));
  auto rows = linalg::GenericOp::create(
      b, loc, empty.getType(), columns, empty, maps,
      ArrayRef<utils::IteratorType>(utils::IteratorType::parallel),
      [&](OpBuilder &inside, Location at, ValueRange values) {
        Value zero = arith::ConstantIntOp::create(inside, at, integer, 0), row, exists;
        for (unsigned number = 0; number < depth; ++number) {
          Value index = values[number], size = sizes[dims[number]];
          Value isNegative =
              arith::CmpIOp::create(inside, at, arith::CmpIPredicate::slt, index, zero);
          Value fromEnd = arith::AddIOp::create(inside, at, index, size);
          index = arith::SelectOp::create(inside, at, isNegative, fromEnd, index);
          Value isInside =
              arith::CmpIOp::create(inside, at, arith::CmpIPredicate::ult, index, size);
          exists =
              exists ? arith::AndIOp::create(inside, at, exists, isInside).getResult() : isInside;
          index = inside.createOrFold<arith::MulIOp>(at, index, strides[dims[number]]);
          row = row ? arith::AddIOp::create(inside, at, row, index).getResult() : index;
        }
        if (asserts)
          cf::AssertOp::create(inside, at, exists, "an index of what is updated is out of bounds");
        Value none = arith::ConstantIntOp::create(inside, at, integer, -1);
        Value result = arith::SelectOp::create(inside, at, exists, row, none);
        linalg::YieldOp::create(inside, at, result);
      });
  return rows.getResult(0);
}

/// Floats as wider or narrower ones, bits as bytes and back.
Value TheirScatter::castTo(OpBuilder &inside, Value value, Type to) {
  Type from = value.getType();
  if (from == to)
    return value;
  unsigned before = from.getIntOrFloatBitWidth(), after = to.getIntOrFloatBitWidth();
  if (isa<FloatType>(from))
    return before < after ? arith::ExtFOp::create(inside, loc, to, value).getResult()
                          : arith::TruncFOp::create(inside, loc, to, value);
  if (before < after)
    return arith::ExtUIOp::create(inside, loc, to, value);
  Value zero = arith::ConstantIntOp::create(inside, loc, from, 0);
  return arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::ne, value, zero);
}

Value TheirScatter::castAll(Value tensor, Type to) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from.getElementType() == to)
    return tensor;
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor), to);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(from.getRank()));
  SmallVector<utils::IteratorType> kinds(from.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, empty.getType(), tensor, empty, maps, kinds,
                                   [&](OpBuilder &inside, Location at, ValueRange values) {
                                     linalg::YieldOp::create(inside, at,
                                                             castTo(inside, values[0], to));
                                   })
      .getResult(0);
}

Value TheirScatter::emit() {
  Value numbers = rows();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, original);
  auto grouped = [&](unsigned first, int64_t rank) {
    SmallVector<ReassociationIndices> groups(1);
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (dim < first)
        groups.front().push_back(dim);
      else
        groups.push_back({dim});
    }
    return groups;
  };
  SmallVector<ReassociationIndices> groups = grouped(depth, type.getRank());
  Value init =
      depth == 1 ? original : tensor::CollapseShapeOp::create(b, loc, original, groups).getResult();
  auto ofUpdates = cast<RankedTensorType>(updates.getType());
  Value rest = updates;
  if (ofUpdates.getRank() == type.getRank() + 1)
    rest =
        tensor::CollapseShapeOp::create(b, loc, updates, grouped(depth + 1, ofUpdates.getRank()));
  auto apply = [&](OpBuilder &inside, Value before, Value update) -> Value {
    if (bits == Bits::Any)
      return arith::OrIOp::create(inside, loc, before, update);
    if (bits == Bits::All)
      return arith::AndIOp::create(inside, loc, before, update);
    return xetile::combineLike(inside, loc, combine, before, update);
  };
  auto widen = [&](OpBuilder &inside, Value update) {
    return castTo(inside, constant ? constant : update, wide);
  };
  Value result =
      xetile::createScatter(b, loc, castAll(init, wide), numbers, rest, neutral, apply, widen);
  result = castAll(result, type.getElementType());
  if (depth == 1)
    return result;
  return tensor::ExpandShapeOp::create(b, loc, type, result, groups, sizes);
}

FailureOr<Value> xetile::convertTmTensorScatter(OpBuilder &b, Operation *op, bool asserts) {
  TheirScatter scatter(b, op, asserts);
  if (failed(scatter.match()))
    return failure();
  return scatter.emit();
}

/// Result `number` of `op`, as a tensor of the loops' shape.
static Value splitResult(OpBuilder &b, linalg::GenericOp op, unsigned number) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult(number).getType());
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(number));
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (isa<AffineDimExpr>(expr)) {
      shape.push_back(type.getDimSize(dim));
      groups.emplace_back();
    }
    groups.back().push_back(dim);
  }
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  auto single = linalg::GenericOp::create(
      b, loc, empty.getType(), ValueRange(), empty, b.getMultiDimIdentityMap(shape.size()),
      op.getIteratorTypesArray(), [&](OpBuilder &inside, Location at, ValueRange) {
        IRMapping mapping;
        for (Operation &each : op.getBody()->without_terminator())
          inside.clone(each, mapping);
        linalg::YieldOp::create(
            inside, at, mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(number)));
      });
  if (static_cast<int64_t>(shape.size()) == type.getRank())
    return single.getResult(0);
  return tensor::ExpandShapeOp::create(b, loc, type, single.getResult(0), groups);
}

void xetile::splitIndexOps(Operation *root) {
  SmallVector<linalg::GenericOp> found;
  root->walk([&](linalg::GenericOp op) {
    bool splits = op.getNumResults() > 1 && op.getNumDpsInputs() == 0 && !op.hasDynamicShape() &&
                  op.getNumParallelLoops() == op.getNumLoops() && op.hasPureTensorSemantics() &&
                  llvm::all_of(op.getBody()->getArguments(),
                               [](BlockArgument each) { return each.use_empty(); });
    // Of each loop a dimension, in their order, and numbers between them.
    for (AffineMap map : op.getIndexingMapsArray()) {
      unsigned next = 0;
      for (auto [at, expr] : llvm::enumerate(map.getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        splits &= dim ? dim.getPosition() == next : isa<AffineConstantExpr>(expr) && at > 0;
        next += dim ? 1 : 0;
      }
      splits &= next == op.getNumLoops();
    }
    if (splits)
      found.push_back(op);
  });
  for (linalg::GenericOp op : found) {
    OpBuilder b(op);
    for (unsigned number = 0; number < op.getNumResults(); ++number)
      op.getResult(number).replaceAllUsesWith(splitResult(b, op, number));
    op->erase();
  }
}
