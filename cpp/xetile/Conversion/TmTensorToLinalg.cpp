//===- TmTensorToLinalg.cpp - scans of torch-mlir as linalg on tensors --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tm_tensor.scan in its generic form, of a dialect that is not registered here. Out: a
// linalg.generic that combines each element with those before. Refused: exclusive scans, last
// values that are used, other bodies than one op with a neutral element; other ops of that dialect.
// Scatters are those of TmTensorScatters.cpp.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Conversion/Passes.h"
#include "xetile/Conversion/TmTensorScatters.h"
#include "xetile/Linalg/Scan.h"

namespace xetile {
#define GEN_PASS_DEF_CONVERTTMTENSORTOLINALG
#include "xetile/Conversion/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

/// A scan whose body is `combine`.
struct TheirScan {
  static FailureOr<TheirScan> match(Operation *op);
  Value emit(OpBuilder &b);

  Location loc;
  Value input;
  int64_t dim;
  Operation *combine;
  TypedAttr neutral;
  /// The accumulator's type: floats of twice the width, as PyTorch uses on CPUs.
  Type wide;
};

} // namespace

FailureOr<TheirScan> TheirScan::match(Operation *op) {
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
  return TheirScan{op->getLoc(), op->getOperand(0), dimension.getInt(), combine, *neutral, wide};
}

Value TheirScan::emit(OpBuilder &b) {
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  bool widens = wide != element;
  return xetile::createScan(
      b, loc, input, dim, element, neutral,
      [&](OpBuilder &inside, Value read, Value last) -> std::pair<Value, Value> {
        if (widens)
          read = arith::ExtFOp::create(inside, loc, wide, read);
        Value sum = xetile::combineLike(inside, loc, combine, last, read);
        Value rounded = widens ? arith::TruncFOp::create(inside, loc, element, sum) : sum;
        return {rounded, sum};
      });
}

namespace {
struct ConvertTmTensorToLinalg
    : xetile::impl::ConvertTmTensorToLinalgBase<ConvertTmTensorToLinalg> {
  using ConvertTmTensorToLinalgBase::ConvertTmTensorToLinalgBase;
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (op->getName().getDialectNamespace() == "tm_tensor" &&
          op->getName().stripDialect() != "yield")
        ops.push_back(op);
    });
    bool scatters = false;
    for (Operation *op : ops) {
      StringRef name = op->getName().stripDialect();
      if (name == "scatter") {
        OpBuilder builder(op);
        FailureOr<Value> result = xetile::convertTmTensorScatter(builder, op, asserts);
        if (failed(result))
          return signalPassFailure();
        op->getResult(0).replaceAllUsesWith(*result);
        op->erase();
        scatters = true;
        continue;
      }
      if (name != "scan") {
        op->emitError() << "expected no op of torch-mlir's own dialect but tm_tensor.scan and "
                           "tm_tensor.scatter, got "
                        << op->getName();
        return signalPassFailure();
      }
      FailureOr<TheirScan> scan = TheirScan::match(op);
      if (failed(scan))
        return signalPassFailure();
      OpBuilder builder(op);
      Value result = scan->emit(builder);
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
    if (scatters)
      xetile::splitIndexOps(getOperation());
  }
};
} // namespace
