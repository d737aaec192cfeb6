//===- Reduction.cpp - patterns of mlir-reduce for any op --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an op that the pass reduction-tree tries to do without. Out: its results are an operand of
// the same type, or zeros. Refused: terminators, symbols, results of types that have no zero.
#include "Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;

namespace {

/// Says if an op may go at all, and is no value that one of the patterns put into the place of
/// another.
bool mayGo(Operation *op) {
  return op->getNumResults() > 0 && !op->hasTrait<OpTrait::IsTerminator>() &&
         !op->hasTrait<OpTrait::ConstantLike>() && !isa<SymbolOpInterface>(op) &&
         !isa<tensor::EmptyOp, memref::AllocOp>(op);
}

/// Zeros of a type; nothing if it has none, or sizes that only a run knows.
Value makeZero(OpBuilder &builder, Location loc, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && !shaped.hasStaticShape())
    return {};
  if (isa<RankedTensorType>(type))
    return tensor::EmptyOp::create(builder, loc, shaped.getShape(), shaped.getElementType());
  if (auto memory = dyn_cast<MemRefType>(type))
    return memory.getLayout().isIdentity() ? memref::AllocOp::create(builder, loc, memory)
                                           : Value();
  TypedAttr zero = builder.getZeroAttr(type);
  return zero ? arith::ConstantOp::create(builder, loc, type, zero) : Value();
}

/// Values in the place of results: an operand of the same type for each, or zeros for all.
enum class Instead { Operands, Zeros };

/// The values that stand for the results of an op; none if there are no such.
SmallVector<Value> makeInstead(Instead instead, Operation *op, OpBuilder &builder) {
  SmallVector<Value> values;
  for (Type type : op->getResultTypes()) {
    Value value;
    if (instead == Instead::Zeros)
      value = makeZero(builder, op->getLoc(), type);
    else
      for (Value operand : op->getOperands())
        if (!value && operand.getType() == type)
          value = operand;
    if (!value)
      return {};
    values.push_back(value);
  }
  return values;
}

/// Replaces an op where the module stays interesting. It is tried on a copy: reduction-tree itself
/// crashes where patterns that it applies to all ops of a region make the module uninteresting.
struct ReplaceResults : RewritePattern {
  ReplaceResults(MLIRContext *context, const Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!mayGo(op))
      return failure();
    for (Instead instead : {Instead::Operands, Instead::Zeros}) {
      if (!isInteresting(op, instead))
        continue;
      rewriter.replaceOp(op, makeInstead(instead, op, rewriter));
      return success();
    }
    return failure();
  }

private:
  bool isInteresting(Operation *op, Instead instead) const {
    Operation *module = op;
    while (module->getParentOp())
      module = module->getParentOp();
    IRMapping mapping;
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(mapping));
    Operation *twin = mapping.lookup(op);
    OpBuilder builder(twin);
    SmallVector<Value> values = makeInstead(instead, twin, builder);
    if (values.empty())
      return false;
    twin->replaceAllUsesWith(values);
    twin->erase();
    return tester.isInteresting(*copy).first == Tester::Interestingness::True;
  }

  const Tester &tester;
};

struct ReduceAnyOp : DialectReductionPatternInterface {
  explicit ReduceAnyOp(Dialect *dialect) : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &patterns) const override {}

  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<ReplaceResults>(patterns.getContext(), tester);
  }
};

} // namespace

void xetile::registerReduction(DialectRegistry &registry) {
  // Of a dialect that every module has: reductions are no dialect's own.
  registry.addExtension(+[](MLIRContext *context, BuiltinDialect *dialect) {
    dialect->addInterfaces<ReduceAnyOp>();
    context->loadDialect<arith::ArithDialect, memref::MemRefDialect, tensor::TensorDialect>();
  });
}
