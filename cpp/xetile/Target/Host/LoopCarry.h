//===- LoopCarry.h - what a loop of the host carries ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_LOOPCARRY_H
#define XETILE_TARGET_HOST_LOOPCARRY_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"

namespace xetile {

/// The values that an scf.for or scf.while carries, by their numbers: a step of scf.while is both
/// of its regions.
class LoopCarry {
public:
  explicit LoopCarry(mlir::Operation *loop) : loop(loop) {}

  mlir::Operation *op() const { return loop; }
  /// The blocks of a step.
  llvm::SmallVector<mlir::Block *> blocks() const;
  /// The terminator that hands values to the next step.
  mlir::Operation *end() const;
  /// As a step gets them.
  mlir::Block::BlockArgListType carried() const;
  unsigned numberOf(mlir::BlockArgument argument) const;

  mlir::OperandRange inits() const;
  mlir::Value init(unsigned number) const { return inits()[number]; }
  void setInit(unsigned number, mlir::Value value);
  mlir::Value yielded(unsigned number) const { return end()->getOperand(number); }
  void setYielded(unsigned number, mlir::Value value) { end()->setOperand(number, value); }

  /// Carries `init` on, besides the others; the op is another one then. Returns its number.
  unsigned add(mlir::RewriterBase &rewriter, mlir::Value init);
  /// A value that was added, or that an scf.for carries, as `block` of `blocks()` sees it.
  mlir::Value in(unsigned number, mlir::Block *block) const;
  /// The same as what ends a step sees it.
  mlir::Value seenAtEnd(unsigned number) const { return in(number, end()->getBlock()); }

  /// True if one of `values` is a result of the loop.
  bool leaves(const llvm::SmallPtrSetImpl<mlir::Value> &values) const;

private:
  void addToWhile(mlir::RewriterBase &rewriter, mlir::scf::WhileOp op, mlir::Value init);

  mlir::Operation *loop;
  /// Of what was added to an scf.while: the number among the arguments of its second region.
  llvm::DenseMap<unsigned, unsigned> handedOn;
};

} // namespace xetile

#endif // XETILE_TARGET_HOST_LOOPCARRY_H
