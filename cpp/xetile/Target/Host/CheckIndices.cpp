//===- CheckIndices.cpp - elements that bodies read by computed indices -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops on tensors, tensor.generate and tensor.pad, whose bodies extract elements. Out:
// indices that are not proved to be in range are limited to it, and the function expects of the
// greatest of each that it was. Lanes of vector.gather that are outside of its tensor are masked.
// Refused: what HoistFromBody.cpp refuses; elements of tensors that the body itself makes;
// vector.gather in bodies.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Host/EntryPoints.h"
#include "xetile/Target/Host/Expectations.h"
#include "xetile/Target/Host/HoistFromBody.h"
#include "xetile/Target/Host/IntegerRanges.h"
#include "xetile/Target/Host/Passes.h"
#include "xetile/Target/Host/SizeBounds.h"
#include "xetile/Target/Host/SizeTerms.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKINDICES
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

static bool isInRange(tensor::ExtractOp extract, unsigned dim) {
  Value index = extract.getIndices()[dim], tensor = extract.getTensor();
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  ConstantIntRanges range = IntegerRanges().of(index);
  if (range.smin().isNegative())
    return false;
  if (!ShapedType::isDynamic(size))
    return range.smax().slt(size);
  AffineExpr next = getAffineDimExpr(0, extract.getContext()) + 1;
  return provesBound(SizeExpr(next, {SizeLeaf{index, {}, 0}}).variable(),
                     ValueBoundsConstraintSet::LE, SizeExpr(tensor, dim).variable());
}

namespace {
/// An index that was limited, in the body of `op`.
struct Limited {
  linalg::GenericOp op;
  tensor::ExtractOp extract;
  unsigned dim;
  arith::MinUIOp limit;
  Value size;
};

class Checker {
public:
  Checker(func::FuncOp function, RewriterBase &b)
      : function(function), b(b), expectations(function->getParentOfType<ModuleOp>()) {}
  LogicalResult run();

private:
  LogicalResult limit(tensor::ExtractOp extract);
  LogicalResult expect(Limited limited);
  LogicalResult expect(vector::GatherOp gather);

  func::FuncOp function;
  RewriterBase &b;
  Expectations expectations;
  SmallVector<Limited> all;
};

LogicalResult Checker::limit(tensor::ExtractOp extract) {
  SmallVector<unsigned> open;
  for (unsigned dim = 0; dim < extract.getIndices().size(); ++dim)
    if (!isInRange(extract, dim))
      open.push_back(dim);
  Operation *owner = bodyOwner(extract);
  if (open.empty())
    return success();
  FailureOr<linalg::GenericOp> op = toGeneric(b, owner);
  if (failed(op))
    return extract.emitOpError("is in an operation whose indices cannot be checked: expected it in "
                               "the body of a linalg operation");
  Value tensor = extract.getTensor();
  if (op->getOperation()->isProperAncestor(tensor.getParentBlock()->getParentOp()) ||
      tensor.getParentBlock() == op->getBody())
    return extract.emitOpError("reads a tensor that the body itself makes by an index that is not "
                               "known to be in range: expected a tensor from outside of the body");
  Location loc = extract.getLoc();
  Value isEmpty;
  for (unsigned dim : open) {
    b.setInsertionPoint(*op);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value size = b.createOrFold<tensor::DimOp>(loc, tensor, int64_t(dim));
    Value last = b.createOrFold<arith::SubIOp>(loc, size, one);
    if (cast<RankedTensorType>(tensor.getType()).getDimSize(dim) <= 0) {
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, size, zero);
      isEmpty = isEmpty ? arith::OrIOp::create(b, loc, isEmpty, none).getResult() : none;
    }
    b.setInsertionPoint(extract);
    auto limit = arith::MinUIOp::create(b, loc, extract.getIndices()[dim], last);
    extract.getIndicesMutable()[dim].set(limit);
    all.push_back({*op, extract, dim, limit, size});
  }
  // There is nothing to read then.
  if (isEmpty) {
    b.setInsertionPoint(extract);
    auto branch = scf::IfOp::create(b, loc, extract.getType(), isEmpty, /*withElseRegion=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    Value nothing = arith::ConstantOp::create(b, loc, b.getZeroAttr(extract.getType()));
    scf::YieldOp::create(b, loc, nothing);
    b.replaceAllUsesWith(extract.getResult(), branch.getResult(0));
    b.moveOpBefore(extract, branch.elseBlock(), branch.elseBlock()->end());
    b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(b, loc, extract.getResult());
  }
  return success();
}

LogicalResult Checker::expect(Limited limited) {
  Location loc = limited.extract.getLoc();
  Value index = limited.limit.getLhs();
  // 0 is for a body that never runs: the next number for those from 0 on, negative ones as they
  // are, which are greater than all of these.
  FailureOr<Value> told =
      greatestInBody(b, limited.op, limited.limit, limited.extract, index,
                     [&](OpBuilder &nested, Location where, const IRMapping &map) -> Value {
                       Value here = arith::IndexCastOp::create(nested, where, nested.getI64Type(),
                                                               map.lookupOrDefault(index));
                       Value zero = arith::ConstantIntOp::create(nested, where, here.getType(), 0);
                       Value one = arith::ConstantIntOp::create(nested, where, here.getType(), 1);
                       Value negative = arith::CmpIOp::create(
                           nested, where, arith::CmpIPredicate::slt, here, zero);
                       Value next = arith::AddIOp::create(nested, where, here, one);
                       return arith::SelectOp::create(nested, where, negative, here, next);
                     });
  if (failed(told))
    return failure();
  b.setInsertionPoint(limited.op);
  Value size = arith::IndexCastOp::create(b, loc, b.getI64Type(), limited.size);
  Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, *told, size);
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
  Value one = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 1);
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, *told, zero);
  Value previous = arith::SubIOp::create(b, loc, *told, one);
  Value got = arith::SelectOp::create(b, loc, negative, *told, previous);
  return expectations.expect(b, limited.extract,
                             "expected an index within dimension " + llvm::Twine(limited.dim),
                             holds, got, size);
}

LogicalResult Checker::expect(vector::GatherOp gather) {
  if (bodyOwner(gather))
    return gather.emitOpError("is in a body, where its indices cannot be checked: expected "
                              "tensor.extract there");
  Location loc = gather.getLoc();
  b.setInsertionPoint(gather);
  Type i64 = b.getI64Type();
  VectorType indexType = gather.getIndexVectorType();
  VectorType wide = VectorType::get(indexType.getShape(), i64);
  // Counted from the first element, in C order, as memory is.
  Value start = arith::ConstantIndexOp::create(b, loc, 0);
  Value size = arith::ConstantIndexOp::create(b, loc, 1);
  for (auto [dim, offset] : llvm::enumerate(gather.getOffsets())) {
    Value length = b.createOrFold<tensor::DimOp>(loc, gather.getBase(), int64_t(dim));
    start = b.createOrFold<arith::MulIOp>(loc, start, length);
    start = b.createOrFold<arith::AddIOp>(loc, start, offset);
    size = b.createOrFold<arith::MulIOp>(loc, size, length);
  }
  auto splat = [&](Value value) -> Value {
    return vector::BroadcastOp::create(b, loc, wide, value);
  };
  auto number = [&](Value index) -> Value {
    return arith::IndexCastOp::create(b, loc, i64, index);
  };
  Value index = gather.getIndices();
  if (indexType.getElementType().isIndex())
    index = arith::IndexCastOp::create(b, loc, wide, index);
  else if (indexType.getElementType() != i64)
    index = arith::ExtSIOp::create(b, loc, wide, index);
  Value bound = number(size);
  Value places = arith::AddIOp::create(b, loc, index, splat(number(start)));
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, places, splat(bound));
  Value mask = gather.getMask();
  Value safe = arith::AndIOp::create(b, loc, mask, inside);
  Value wrong = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, mask, safe);
  Value zero = arith::ConstantIntOp::create(b, loc, i64, 0);
  Value outside = arith::SelectOp::create(b, loc, wrong, places, splat(zero));
  auto greatest = [&](Value vector) -> Value {
    auto flat = VectorType::get(wide.getNumElements(), i64);
    if (vector.getType() != flat)
      vector = vector::ShapeCastOp::create(b, loc, flat, vector);
    return vector::ReductionOp::create(b, loc, vector::CombiningKind::MAXUI, vector);
  };
  Value got = greatest(outside);
  Value any = greatest(arith::ExtUIOp::create(b, loc, wide, wrong));
  Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, any, zero);
  gather.getMaskMutable().set(safe);
  return expectations.expect(b, gather, "expected indices within the tensor", holds, got, bound);
}

LogicalResult Checker::run() {
  SmallVector<tensor::ExtractOp> extracts;
  function.walk([&](tensor::ExtractOp extract) {
    if (bodyOwner(extract))
      extracts.push_back(extract);
  });
  SmallVector<vector::GatherOp> gathers;
  function.walk([&](vector::GatherOp gather) {
    if (isa<RankedTensorType>(gather.getBase().getType()))
      gathers.push_back(gather);
  });
  for (vector::GatherOp gather : gathers)
    if (failed(expect(gather)))
      return failure();
  // All are limited before any is copied.
  for (tensor::ExtractOp extract : extracts)
    if (failed(limit(extract)))
      return failure();
  for (const Limited &limited : all)
    if (failed(expect(limited)))
      return failure();
  return success();
}

struct CheckIndices : xetile::impl::CheckIndicesBase<CheckIndices> {
  void runOnOperation() override {
    IRRewriter b(&getContext());
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal() && failed(Checker(function, b).run()))
        return signalPassFailure();
  }
};
} // namespace
