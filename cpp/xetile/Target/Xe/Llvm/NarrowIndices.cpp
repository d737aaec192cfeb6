//===- NarrowIndices.cpp - indices in 32 bits where they cost more in 64 -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: arithmetic on indices in kernels. Out: products, minima, maxima, quotients, remainders and
// comparisons of numbers that are known to lie between 0 and 2^31 - 1 in 32 bits. Refused: nothing.
//
// Vector engines have no such instructions of 64 bits: each is two to dozens. Sums stay as they
// are, as addresses are 64 bits: parts that are constant would end up on the other side of a
// conversion.
//===----------------------------------------------------------------------===//
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "xetile/Target/Xe/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_NARROWINDICES
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

constexpr unsigned kNarrow = 32;

/// Products with powers of two are shifts, which there are in 64 bits, too.
bool isShift(Operation *op) {
  return isa<arith::MulIOp>(op) && llvm::any_of(op->getOperands(), [](Value factor) {
           APInt number;
           return matchPattern(factor, m_ConstantInt(&number)) && number.isPowerOf2();
         });
}

bool costsMore(Operation *op) {
  return !isShift(op) &&
         isa<arith::MulIOp, arith::MinUIOp, arith::MinSIOp, arith::MaxUIOp, arith::MaxSIOp,
             arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp, arith::CmpIOp>(op);
}

/// Costs the same in 64 bits, and a conversion where what it reads or what reads it has 32.
bool follows(Operation *op) { return isShift(op) || isa<arith::AddIOp>(op); }

/// True if `value` is an index between 0 and 2^31 - 1: then it is the same with a sign and without.
bool fits(const DataFlowSolver &solver, Value value) {
  const auto *state = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
  if (!value.getType().isIndex() || !state || state->getValue().isUninitialized())
    return false;
  return state->getValue().getValue().umax().ult(uint64_t(1) << (kNarrow - 1));
}

bool isNarrow(const DataFlowSolver &solver, Operation *op) {
  auto isIndex = [&](Value value) { return fits(solver, value); };
  return llvm::all_of(op->getOperands(), isIndex) &&
         (isa<arith::CmpIOp>(op) || isIndex(op->getResult(0)));
}

Value narrowed(OpBuilder &b, Location loc, Value index) {
  Type type = b.getIntegerType(kNarrow);
  auto cast = index.getDefiningOp<arith::IndexCastUIOp>();
  if (cast && cast.getIn().getType() == type)
    return cast.getIn();
  return b.createOrFold<arith::IndexCastUIOp>(loc, type, index);
}

void narrow(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type type = b.getIntegerType(kNarrow), result = op->getResult(0).getType();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(narrowed(b, loc, operand));
  OperationState state(loc, op->getName(), operands, result.isIndex() ? type : result,
                       op->getAttrs());
  Value made = b.create(state)->getResult(0);
  if (result.isIndex())
    made = arith::IndexCastUIOp::create(b, loc, result, made);
  op->getResult(0).replaceAllUsesWith(made);
  op->erase();
}

/// True if a kernel has products on the matrix unit. Their loops add the same to each place that
/// they prefetch, which is found by these sums.
bool multiplies(gpu::GPUFuncOp kernel) {
  return kernel.walk([](xevm::MMAOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// The operations of a kernel that are to have 32 bits.
llvm::DenseSet<Operation *> findNarrow(const DataFlowSolver &solver, gpu::GPUFuncOp kernel) {
  llvm::DenseSet<Operation *> found;
  auto isFound = [&](Operation *op) { return op && found.contains(op); };
  auto comesFromFound = [&](Value value) { return isFound(value.getDefiningOp()); };
  auto isFoundOrConstant = [&](Value value) {
    return comesFromFound(value) || matchPattern(value, m_Constant());
  };
  auto reads = [&](Operation *op) {
    // A loop's counter has 64 bits, and so has what is added to it.
    return op->getParentOfType<LoopLikeOpInterface>()
               ? llvm::all_of(op->getOperands(), isFoundOrConstant)
               : llvm::any_of(op->getOperands(), comesFromFound);
  };
  kernel.walk([&](Operation *op) {
    if ((costsMore(op) || (follows(op) && reads(op))) && isNarrow(solver, op))
      found.insert(op);
  });
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (follows(op) && !op->use_empty() && llvm::all_of(op->getUsers(), isFound) &&
        isNarrow(solver, op))
      found.insert(op);
  });
  return found;
}

struct NarrowIndices : xetile::impl::NarrowIndicesBase<NarrowIndices> {
  void runOnOperation() override {
    SmallVector<gpu::GPUFuncOp> kernels = llvm::filter_to_vector(
        getOperation().getOps<gpu::GPUFuncOp>(), [](auto each) { return !multiplies(each); });
    if (kernels.empty())
      return;
    DataFlowSolver solver;
    dataflow::loadBaselineAnalyses(solver);
    solver.load<dataflow::IntegerRangeAnalysis>();
    if (failed(solver.initializeAndRun(getOperation())))
      return signalPassFailure();
    // All is found before anything changes: values that are made anew are known to nobody.
    SmallVector<llvm::DenseSet<Operation *>> found;
    for (gpu::GPUFuncOp kernel : kernels)
      found.push_back(findNarrow(solver, kernel));
    for (auto [kernel, ops] : llvm::zip_equal(kernels, found))
      kernel.walk([&ops = ops](Operation *op) {
        if (ops.contains(op))
          narrow(op);
      });
  }
};

} // namespace
