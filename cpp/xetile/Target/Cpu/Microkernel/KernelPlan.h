//===- KernelPlan.h - how a contraction is computed in registers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MICROKERNEL_KERNELPLAN_H
#define XETILE_TARGET_CPU_MICROKERNEL_KERNELPLAN_H

#include "xetile/Linalg/Contraction.h"

namespace xetile {

/// The registers and instructions that microkernels are written for.
struct MicrokernelTarget {
  int64_t vectorBits = 512, registers = 32;
  bool bf16Dot = false, int8Dot = false, amx = false;
  /// Bytes of the first-level cache.
  int64_t l1 = 32 << 10;
};

/// The form of a contraction on memrefs. Where C is column-major A and B have changed places, to
/// compute its transpose.
struct KernelPlan {
  const Contraction &kernel;
  MicrokernelTarget target;
  std::array<mlir::Value, 3> operands;
  std::array<mlir::AffineMap, 3> maps;
  std::array<llvm::SmallVector<unsigned>, 3> roles;
  bool swapped = false;
  /// Of C and of sums; the sums in a vector.
  mlir::Type element, sumType;
  int64_t length;
  /// The dimensions of the rows and columns of register tiles.
  unsigned rowDim, columnDim;
  /// The dimension of k whose elements lie side by side in B (VNNI layout), and its size.
  std::optional<unsigned> groupDim;
  int64_t group = 1;
  /// One instruction multiplies and adds a group.
  bool usesDot = false;
  /// Both inputs have the same signedness, which the instruction does not have: A is offset by 128.
  bool offsetsA = false;
  /// Tile registers keep sums.
  bool usesTiles = false;
  /// Both inputs are read along k: the lanes of a vector are parts of one sum.
  bool sumsLanes = false;

  KernelPlan(const Contraction &kernel, const MicrokernelTarget &target)
      : kernel(kernel), target(target) {}
  mlir::Type elementOf(unsigned operand) const {
    return llvm::cast<mlir::MemRefType>(operands[operand].getType()).getElementType();
  }
  /// The dimension at a place of an operand, counted from its last.
  unsigned lastDim(unsigned operand, unsigned back = 1) const {
    return maps[operand].getDimPosition(maps[operand].getNumResults() - back);
  }
  bool isUnsigned(unsigned operand) const {
    return kernel.isUnsigned(swapped ? 1 - operand : operand);
  }
  /// The stride of dimension `place` of an operand, kDynamic where it is not known.
  int64_t strideOf(unsigned operand, unsigned place) const;
  bool isContiguous(unsigned operand) const {
    return strideOf(operand, maps[operand].getNumResults() - 1) == 1;
  }
  /// True if an operand is contiguous along `dim`.
  bool runsAlong(unsigned operand, unsigned dim) const {
    return isContiguous(operand) && lastDim(operand) == dim;
  }
  /// The operand and its dimension that `dim` indexes, if any.
  std::optional<std::pair<unsigned, unsigned>> indexedBy(unsigned dim) const;
  /// A and B change places.
  void swap();
  /// The steps of k: its dimensions without the one of groups.
  llvm::SmallVector<unsigned> stepDims() const;
};

/// The operands of a contraction as microkernels read them.
struct KernelOperands {
  std::array<mlir::Value, 3> values;
  std::array<mlir::AffineMap, 3> maps;
};

/// Views of the operands of `kernel` in which a contiguous dimension of several elements is the
/// last one, if there is any.
KernelOperands viewOperands(mlir::RewriterBase &rewriter, const Contraction &kernel);

/// None if vectors cannot be read from the operands.
std::optional<KernelPlan> planKernel(const Contraction &kernel, const KernelOperands &operands,
                                     const MicrokernelTarget &target);

/// The init value of the sums, instead of C, and the bias that is added per column: null, or as ops
/// right before the kernel initialized C. `absorbed` are these ops, which are dead then.
struct SumStart {
  mlir::Value initial, bias;
  llvm::SmallVector<mlir::Operation *> absorbed;
};

SumStart findStart(const KernelPlan &plan);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_KERNELPLAN_H
