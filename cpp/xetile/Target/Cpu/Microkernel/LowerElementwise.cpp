//===- LowerElementwise.cpp - elementwise ops on memrefs to vector code ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg.generic without reductions on memrefs, as fusion leaves them on tiles. Out: loops of
// vectors along the last dimension, edges masked.
// Refused: nothing; ops that read against the grain are left for the lowering to scalar loops.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "xetile/Target/Cpu/Config/Machine.h"
#include "xetile/Target/Cpu/LoopNest/Fusion.h"
#include "xetile/Target/Cpu/LoopNest/LoopNest.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {
#define GEN_PASS_DEF_LOWERELEMENTWISE
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

class ElementwiseEmitter {
public:
  ElementwiseEmitter(RewriterBase &rewriter, linalg::LinalgOp op, int64_t vectorBits)
      : b(rewriter), loc(op.getLoc()), op(op), vectorBits(vectorBits),
        maps(op.getIndexingMapsArray()) {}

  /// Checks that elements lie in memory as vectors want them.
  bool prepare();
  void emit();

private:
  bool isMemory(unsigned operand) const {
    return isa<MemRefType>(op->getOperand(operand).getType());
  }
  void overRows(unsigned dim, SmallVector<Value> &place);
  void emitVectors(SmallVector<Value> &place);
  void emitVector(ArrayRef<Value> place, Value mask);
  Value read(unsigned operand, ArrayRef<Value> place, Value mask);
  SmallVector<Value> at(unsigned operand, ArrayRef<Value> place) const {
    return llvm::map_to_vector(maps[operand].getResults(), [&](AffineExpr expr) {
      return place[cast<AffineDimExpr>(expr).getPosition()];
    });
  }

  RewriterBase &b;
  Location loc;
  linalg::LinalgOp op;
  int64_t vectorBits;
  SmallVector<AffineMap> maps;
  unsigned column = 0;
  int64_t length = 1;
  SmallVector<Index> extents;
};

} // namespace

bool ElementwiseEmitter::prepare() {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 || op.hasIndexSemantics() ||
      op.getNumLoops() == 0 || op.getNumParallelLoops() != op.getNumLoops() ||
      !isElementwiseBody(op->getRegion(0).front()))
    return false;
  if (!maps.back().isPermutation())
    return false;
  column = maps.back().getDimPosition(maps.back().getNumResults() - 1);
  int64_t widest = 8;
  auto note = [&](Type type) {
    widest = std::max<int64_t>(widest, type.getIntOrFloatBitWidth());
    return true;
  };
  for (Operation &inner : op->getRegion(0).front().without_terminator())
    note(inner.getResult(0).getType());
  for (unsigned operand = 0; operand < op->getNumOperands(); ++operand) {
    Type element = getElementTypeOrSelf(op->getOperand(operand).getType());
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 ||
        !maps[operand].isProjectedPermutation())
      return false;
    note(element);
    if (!isMemory(operand))
      continue;
    std::optional<unsigned> place = maps[operand].getResultPosition(b.getAffineDimExpr(column));
    if (!place)
      continue;
    SmallVector<int64_t> strides;
    int64_t offset;
    auto type = cast<MemRefType>(op->getOperand(operand).getType());
    if (*place + 1 != maps[operand].getNumResults() ||
        failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
      return false;
  }
  length = vectorBits / widest;
  return length > 1;
}

void ElementwiseEmitter::emit() {
  b.setInsertionPoint(op);
  extents.resize(op.getNumLoops());
  unsigned result = op->getNumOperands() - 1;
  for (auto [place, expr] : llvm::enumerate(maps[result].getResults()))
    extents[cast<AffineDimExpr>(expr).getPosition()] =
        memref::getMixedSize(b, loc, op->getOperand(result), place);
  SmallVector<Value> place(op.getNumLoops());
  overRows(0, place);
  b.eraseOp(op);
}

void ElementwiseEmitter::overRows(unsigned dim, SmallVector<Value> &place) {
  if (dim == extents.size())
    return emitVectors(place);
  if (dim == column)
    return overRows(dim + 1, place);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, zero, asValue(b, loc, extents[dim]), one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  place[dim] = loop.getInductionVar();
  overRows(dim + 1, place);
}

void ElementwiseEmitter::emitVectors(SmallVector<Value> &place) {
  Index whole = mulIndex(b, loc, floorDivIndex(b, loc, extents[column], length), length);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  std::optional<int64_t> known = getConstantIntValue(whole);
  if (!known || *known > 0) {
    auto loop = scf::ForOp::create(b, loc, zero, asValue(b, loc, whole),
                                   arith::ConstantIndexOp::create(b, loc, length));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    place[column] = loop.getInductionVar();
    emitVector(place, {});
  }
  Index left = subIndex(b, loc, extents[column], whole);
  if (isZeroInteger(left))
    return;
  place[column] = asValue(b, loc, whole);
  auto maskType = VectorType::get({length}, b.getI1Type());
  emitVector(place, vector::CreateMaskOp::create(b, loc, maskType, asValue(b, loc, left)));
}

Value ElementwiseEmitter::read(unsigned operand, ArrayRef<Value> place, Value mask) {
  Value source = op->getOperand(operand);
  if (!isMemory(operand))
    return source;
  if (!maps[operand].isFunctionOfDim(column))
    return memref::LoadOp::create(b, loc, source, at(operand, place));
  auto type = VectorType::get({length}, cast<MemRefType>(source.getType()).getElementType());
  if (!mask)
    return vector::LoadOp::create(b, loc, type, source, at(operand, place));
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, loc, type, source, at(operand, place), mask, zeros);
}

void ElementwiseEmitter::emitVector(ArrayRef<Value> place, Value mask) {
  mlir::Block &body = op->getRegion(0).front();
  SmallVector<Value> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    // A result that is not read may hold anything.
    bool isRead = op.payloadUsesValueFromOperand(&operand);
    Type type = body.getArgument(operand.getOperandNumber()).getType();
    arguments.push_back(isRead
                            ? read(operand.getOperandNumber(), place, mask)
                            : arith::ConstantOp::create(b, loc, b.getZeroAttr(type)).getResult());
  }
  Value result = cloneOnVectors(b, loc, body, arguments, length);
  unsigned into = op->getNumOperands() - 1;
  if (mask)
    vector::MaskedStoreOp::create(b, loc, op->getOperand(into), at(into, place), mask, result);
  else
    vector::StoreOp::create(b, loc, result, op->getOperand(into), at(into, place));
}

namespace {
struct LowerElementwise : xetile::impl::LowerElementwiseBase<LowerElementwise> {
  using LowerElementwiseBase::LowerElementwiseBase;

  void runOnOperation() override {
    int64_t asked = vectorBits;
    if (asked != 0 && (asked < 128 || !llvm::isPowerOf2_64(asked))) {
      emitError(UnknownLoc::get(&getContext()))
          << "vector-bits = " << asked << ": expected 0 (the machine's) or a power of two from 128";
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    // Copies between strided memory would call a function of a runtime library, which is not there.
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) { copies.push_back(op); });
    for (memref::CopyOp op : copies) {
      auto from = dyn_cast<MemRefType>(op.getSource().getType());
      auto to = dyn_cast<MemRefType>(op.getTarget().getType());
      if (!from || !to || (from.getLayout().isIdentity() && to.getLayout().isIdentity()))
        continue;
      rewriter.setInsertionPoint(op);
      linalg::makeMemRefCopyOp(rewriter, op.getLoc(), op.getSource(), op.getTarget());
      rewriter.eraseOp(op);
    }
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      int64_t bits = asked;
      if (asked == 0) {
        FailureOr<Machine> machine = describeMachine(op, /*require=*/false);
        if (failed(machine))
          return signalPassFailure();
        bits = machine->vectorBits;
      }
      ElementwiseEmitter emitter(rewriter, op, bits);
      if (emitter.prepare())
        emitter.emit();
    }
  }
};
} // namespace
