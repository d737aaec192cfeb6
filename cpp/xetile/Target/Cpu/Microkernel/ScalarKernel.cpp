//===- ScalarKernel.cpp - contractions that vectors cannot be read from ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: contractions of floats on memrefs, results narrower than f32. Out: loops over single elements
// with the sum in a register, in f32, rounded once. Refused: nothing; others are not passed here.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/ScalarKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace xetile;

bool xetile::roundsEverySum(const Contraction &kernel) {
  Type result = kernel.elementType(2);
  return isa<FloatType>(result) && result.getIntOrFloatBitWidth() < 32;
}

namespace {

class ScalarEmitter {
public:
  ScalarEmitter(RewriterBase &rewriter, const Contraction &kernel)
      : b(rewriter), loc(kernel.op.getLoc()), kernel(kernel), place(kernel.sizes.size()) {}

  void emit() {
    b.setInsertionPoint(kernel.op);
    SmallVector<unsigned> parallel, reduction;
    for (auto [dim, kind] : llvm::enumerate(kernel.op.getIteratorTypesArray()))
      (kind == utils::IteratorType::reduction ? reduction : parallel).push_back(dim);
    overParallel(parallel, reduction);
    b.eraseOp(kernel.op);
  }

private:
  /// A loop over all of `dim`, or none where it has one step only.
  template <typename Body> Value overDim(unsigned dim, Value carried, Body body) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    if (kernel.sizes[dim] == 1) {
      place[dim] = zero;
      return body(carried);
    }
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    ValueRange carries = carried ? ValueRange(carried) : ValueRange();
    auto loop = scf::ForOp::create(b, loc, zero, extentOf(dim), one, carries);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    place[dim] = loop.getInductionVar();
    Value next = body(carried ? Value(loop.getRegionIterArg(0)) : Value());
    if (!carried)
      return {};
    scf::YieldOp::create(b, loc, next);
    return loop.getResult(0);
  }

  void overParallel(ArrayRef<unsigned> parallel, ArrayRef<unsigned> reduction) {
    if (!parallel.empty()) {
      overDim(parallel[0], {}, [&](Value) {
        overParallel(parallel.drop_front(), reduction);
        return Value();
      });
      return;
    }
    Value sum = overReduction(reduction, load(2));
    Value rounded = arith::TruncFOp::create(b, loc, kernel.elementType(2), sum);
    memref::StoreOp::create(b, loc, rounded, kernel.op->getOperand(2), at(2));
  }

  Value overReduction(ArrayRef<unsigned> dims, Value sum) {
    if (!dims.empty())
      return overDim(dims[0], sum,
                     [&](Value carried) { return overReduction(dims.drop_front(), carried); });
    Value product = arith::MulFOp::create(b, loc, load(0), load(1));
    return arith::AddFOp::create(b, loc, sum, product);
  }

  Value extentOf(unsigned dim) {
    if (!ShapedType::isDynamic(kernel.sizes[dim]))
      return arith::ConstantIndexOp::create(b, loc, kernel.sizes[dim]);
    for (unsigned operand = 0; operand < 3; ++operand)
      if (auto where = kernel.map(operand).getResultPosition(b.getAffineDimExpr(dim)))
        return memref::DimOp::create(b, loc, kernel.op->getOperand(operand), *where);
    return {}; // a contraction's dimensions all index an operand
  }

  SmallVector<Value> at(unsigned operand) {
    return llvm::map_to_vector(kernel.map(operand).getResults(), [&](AffineExpr expr) {
      return place[cast<AffineDimExpr>(expr).getPosition()];
    });
  }

  Value load(unsigned operand) {
    Value value = memref::LoadOp::create(b, loc, kernel.op->getOperand(operand), at(operand));
    return value.getType().isF32() ? value
                                   : arith::ExtFOp::create(b, loc, b.getF32Type(), value).getOut();
  }

  RewriterBase &b;
  Location loc;
  const Contraction &kernel;
  SmallVector<Value> place;
};

} // namespace

void xetile::emitScalarKernel(RewriterBase &rewriter, const Contraction &kernel) {
  ScalarEmitter(rewriter, kernel).emit();
}
