//===- TmTensorToScf.cpp - scans of torch-mlir as loops on tensors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tm_tensor.scan in its generic form, of a dialect that is not registered here. Out: scf.for
// around a combination of elements, or of rows of them. Refused: exclusive scans, last values that
// are used, other bodies than one op with a neutral element; other ops of that dialect.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Conversion/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_CONVERTTMTENSORTOSCF
#include "xetile/Conversion/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

/// A scan whose body is `combine`.
struct Scan {
  static FailureOr<Scan> match(Operation *op);
  Value emit(OpBuilder &b);

  /// The loops around the scan's own, one for each of `dims`, with the places in `offsets`.
  Value emitLoops(OpBuilder &b, ArrayRef<int64_t> dims, Value out);
  Value emitScan(OpBuilder &b, Value out);
  Value emitElement(OpBuilder &b, Value before, Value element);
  Value size(OpBuilder &b, int64_t which) {
    return b.createOrFold<tensor::DimOp>(loc, input, which);
  }
  RankedTensorType type() { return cast<RankedTensorType>(input.getType()); }
  Type element() { return type().getElementType(); }
  Value widen(OpBuilder &b, Value value) {
    return wide == element() ? value : arith::ExtFOp::create(b, loc, wide, value).getResult();
  }
  Value narrow(OpBuilder &b, Value value) {
    return wide == element() ? value : arith::TruncFOp::create(b, loc, element(), value);
  }

  Location loc;
  Value input;
  int64_t dim;
  Operation *combine;
  TypedAttr neutral;
  /// What is combined: twice as wide floats, as PyTorch does it on CPUs.
  Type wide;
  /// Where rows are combined, not elements: the last dimension. Else none.
  std::optional<int64_t> row;
  /// Where the loops around are, along each dimension.
  SmallVector<OpFoldResult> offsets;
};

} // namespace

FailureOr<Scan> Scan::match(Operation *op) {
  auto fail = [&](const Twine &why) -> InFlightDiagnostic {
    return op->emitError() << "a scan of torch-mlir: " << why;
  };
  if (op->getNumOperands() != 3 || op->getNumResults() != 2 || op->getNumRegions() != 1 ||
      !op->getRegion(0).hasOneBlock())
    return fail("expected an input, two outputs and a body");
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (!type || type.getRank() == 0 || op->getResult(0).getType() != type)
    return fail("expected tensors of one type, with dimensions, got ")
           << op->getOperand(0).getType() << " and " << op->getResult(0).getType();
  auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  auto dimension = properties ? properties.getAs<IntegerAttr>("dimension") : IntegerAttr();
  auto inclusive = properties ? properties.getAs<BoolAttr>("inclusive") : BoolAttr();
  if (!dimension || dimension.getInt() < 0 || dimension.getInt() >= type.getRank())
    return fail("expected `dimension` to be one of its ") << type.getRank();
  if (!inclusive || !inclusive.getValue())
    return fail("expected `inclusive = true`; shift the result of such a one instead");
  if (!op->getResult(1).use_empty())
    return fail("expected no use of the second result; the last values of the first are it");
  Block &body = op->getRegion(0).front();
  // And what yields it.
  bool isOne = body.getNumArguments() == 2 && llvm::hasNItems(body, 2) &&
               body.back().getOperands() == body.front().getResults();
  Operation *combine = isOne ? &body.front() : nullptr;
  std::optional<TypedAttr> neutral;
  if (combine && combine->getNumOperands() == 2 && combine->hasTrait<OpTrait::IsCommutative>() &&
      llvm::all_of(body.getArguments(),
                   [&](Value each) { return llvm::is_contained(combine->getOperands(), each); }))
    neutral = arith::getNeutralElement(combine);
  if (!neutral)
    return fail("expected a body of one commutative op with a neutral element, as arith.addf, of "
                "both values");
  Builder b(op->getContext());
  Type wide = type.getElementType();
  if (wide.isF32())
    wide = b.getF64Type();
  else if (isa<FloatType>(wide) && wide.getIntOrFloatBitWidth() < 32)
    wide = b.getF32Type();
  if (auto value = dyn_cast<FloatAttr>(*neutral))
    neutral = b.getFloatAttr(wide, value.getValueAsDouble());
  std::optional<int64_t> row;
  if (dimension.getInt() != type.getRank() - 1)
    row = type.getRank() - 1;
  return Scan{
      op->getLoc(), op->getOperand(0), dimension.getInt(), combine, *neutral, wide, row, {}};
}

/// `before` and an element, both of the wide type.
Value Scan::emitElement(OpBuilder &b, Value before, Value element) {
  OperationState state(loc, combine->getName(), {before, element}, {wide}, combine->getAttrs());
  return b.create(state)->getResult(0);
}

Value Scan::emit(OpBuilder &b) {
  SmallVector<int64_t> outer;
  SmallVector<OpFoldResult> sizes;
  for (int64_t each = 0; each < type().getRank(); ++each) {
    sizes.push_back(tensor::getMixedSize(b, loc, input, each));
    if (each != dim && each != row)
      outer.push_back(each);
  }
  offsets.assign(type().getRank(), b.getIndexAttr(0));
  return emitLoops(b, outer, tensor::EmptyOp::create(b, loc, sizes, element()));
}

Value Scan::emitLoops(OpBuilder &b, ArrayRef<int64_t> dims, Value out) {
  if (dims.empty())
    return emitScan(b, out);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(
      b, loc, zero, size(b, dims.front()), one, out,
      [&](OpBuilder &inside, Location, Value place, ValueRange carried) {
        offsets[dims.front()] = place;
        scf::YieldOp::create(inside, loc, emitLoops(inside, dims.drop_front(), carried[0]));
      });
  return loop.getResult(0);
}

Value Scan::emitScan(OpBuilder &b, Value out) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value first = arith::ConstantOp::create(b, loc, neutral);
  SmallVector<OpFoldResult> sizes(type().getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> strides(type().getRank(), b.getIndexAttr(1));
  RankedTensorType rowType;
  if (row) {
    sizes[*row] = tensor::getMixedSize(b, loc, input, *row);
    rowType = RankedTensorType::get({type().getDimSize(*row)}, element());
    Value values = tensor::EmptyOp::create(b, loc, {sizes[*row]}, wide);
    first = linalg::FillOp::create(b, loc, first, values).getResult(0);
  }
  auto step = [&](OpBuilder &inside, Location, Value place, ValueRange carried) {
    offsets[dim] = place;
    if (!row) {
      SmallVector<Value> places = getValueOrCreateConstantIndexOp(inside, loc, offsets);
      Value read = tensor::ExtractOp::create(inside, loc, input, places);
      Value sum = emitElement(inside, carried[1], widen(inside, read));
      Value all = tensor::InsertOp::create(inside, loc, narrow(inside, sum), carried[0], places);
      scf::YieldOp::create(inside, loc, {all, sum});
      return;
    }
    Value read =
        tensor::ExtractSliceOp::create(inside, loc, rowType, input, offsets, sizes, strides);
    Value rounded =
        tensor::ExtractSliceOp::create(inside, loc, rowType, carried[0], offsets, sizes, strides);
    AffineMap map = inside.getMultiDimIdentityMap(1);
    auto sums = linalg::GenericOp::create(
        inside, loc, TypeRange{rowType, carried[1].getType()}, read,
        ValueRange{rounded, carried[1]}, {map, map, map}, {utils::IteratorType::parallel},
        [&](OpBuilder &element, Location, ValueRange values) {
          Value sum = emitElement(element, values[2], widen(element, values[0]));
          linalg::YieldOp::create(element, loc, ValueRange{narrow(element, sum), sum});
        });
    Value all = tensor::InsertSliceOp::create(inside, loc, sums.getResult(0), carried[0], offsets,
                                              sizes, strides);
    scf::YieldOp::create(inside, loc, ValueRange{all, sums.getResult(1)});
  };
  return scf::ForOp::create(b, loc, zero, size(b, dim), one, {out, first}, step).getResult(0);
}

namespace {
struct ConvertTmTensorToScf : xetile::impl::ConvertTmTensorToScfBase<ConvertTmTensorToScf> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (op->getName().getDialectNamespace() == "tm_tensor" &&
          op->getName().stripDialect() != "yield")
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (op->getName().stripDialect() != "scan") {
        op->emitError() << "expected no op of torch-mlir's own dialect but tm_tensor.scan, got "
                        << op->getName();
        return signalPassFailure();
      }
      FailureOr<Scan> scan = Scan::match(op);
      if (failed(scan))
        return signalPassFailure();
      OpBuilder builder(op);
      Value result = scan->emit(builder);
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }
};
} // namespace
