//===- LoopNames.h - loops of a kernel's ops that walk over the same elements --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMS_LOOPNAMES_H
#define XETILE_SCHEDULE_PROGRAMS_LOOPNAMES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/Schedule/Programs/KernelOps.h"
#include "llvm/ADT/DenseSet.h"

namespace xetile::transform_ops {

/// A name for each loop of an op, or each dimension of a tensor: loops of two ops of a kernel have
/// one name where they walk over the same elements.
using Names = llvm::SmallVector<int64_t>;

/// The names that a kernel has given.
struct KernelLoops {
  int64_t next = 0;
  /// Loops that reductions walk over, and those that they keep.
  llvm::SmallDenseSet<int64_t> reduced, kept;
};

/// Names of the loops of a block's ops, which come from the last to the first.
class LoopNames {
public:
  explicit LoopNames(mlir::Block &block) : block(block) {}

  /// Names the loops of an op that starts a kernel; dimensions of its result have the first names.
  void start(mlir::Operation *op, KernelLoops &kernel);
  /// Names the loops of an op that joins the kernel of `readers`, by unifying them with theirs.
  void join(mlir::Operation *op, KernelLoops &kernel, llvm::ArrayRef<Reader> readers);
  /// Gives the loops of `op` the names of those of `other`, which are the same.
  void shareNames(mlir::Operation *op, mlir::Operation *other) {
    loopsOf[op] = loopsOf.lookup(other);
  }

  /// Names for the loops of a reduction, where the workgroup that reads its result walks over what
  /// it reduces anyway: y / sum(y) along rows. Of more than two such dimensions a workgroup has a
  /// part only; each would reduce anew.
  std::optional<Names> ofReduction(mlir::linalg::LinalgOp op, const KernelLoops &kernel,
                                   llvm::ArrayRef<Reader> readers) const;

private:
  /// Loops of readers, their readers and so on that use an element again, with their sizes.
  using Repetitions = llvm::SmallDenseMap<int64_t, int64_t>;

  std::optional<Names> namesFor(mlir::Value value, llvm::ArrayRef<Reader> readers) const;
  Repetitions repetitionsOf(const Names &names, llvm::ArrayRef<Reader> readers) const;
  Names nameLoops(mlir::Operation *op, KernelLoops &kernel, llvm::ArrayRef<Reader> readers) const;

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, Names> loopsOf;
  llvm::DenseMap<mlir::Operation *, Repetitions> repeated;
};

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_PROGRAMS_LOOPNAMES_H
