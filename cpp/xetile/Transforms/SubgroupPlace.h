//===- SubgroupPlace.h - which pieces are a subgroup's own, at run time -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_SUBGROUPPLACE_H
#define XETILE_TRANSFORMS_SUBGROUPPLACE_H

#include "mlir/IR/Builders.h"
#include "xetile/Transforms/Ownership.h"

namespace xetile {

/// The one place that knows how a subgroup finds out which pieces are its own. Everything is
/// computed once, where the code of a workgroup begins, and from one gpu.subgroup_id.
class SubgroupPlace {
public:
  /// The operation whose body the subgroups of a workgroup run: the function or gpu.launch around
  /// `op`.
  static mlir::Operation *getScope(mlir::Operation *op);

  /// The number of the subgroup's first piece along a dimension of what `ownership` shares out. An
  /// index; null where it is always 0.
  mlir::Value getFirstPiece(mlir::OpBuilder &builder, const Ownership &ownership, unsigned dim);
  /// The same in elements, for pieces of `size`.
  mlir::Value getFirstElement(mlir::OpBuilder &builder, const Ownership &ownership, unsigned dim,
                              int64_t size);
  /// The same for a later round, with the constant of the round added.
  mlir::OpFoldResult getOffset(mlir::OpBuilder &builder, mlir::Location loc,
                               const Ownership &ownership, unsigned dim, int64_t size,
                               int64_t round);
  /// True if the subgroup is the first owner of its pieces: an i1.
  mlir::Value getIsFirstOwner(mlir::OpBuilder &builder, const Ownership &ownership);

  /// Runs `create` where the code of the workgroup around the insertion point begins, behind what
  /// was made there before.
  mlir::Operation *createAtStart(mlir::OpBuilder &builder,
                                 llvm::function_ref<mlir::Operation *()> create);

private:
  /// A number from an operation that is created once for each workgroup's code.
  mlir::Value once(mlir::OpBuilder &builder, llvm::StringRef what, llvm::ArrayRef<int64_t> numbers,
                   llvm::function_ref<mlir::Operation *()> create);
  mlir::Value getId(mlir::OpBuilder &builder, const Ownership &ownership);
  mlir::Value getConstant(mlir::OpBuilder &builder, int64_t value);

  llvm::DenseMap<mlir::Block *, mlir::Operation *> last;
  llvm::DenseMap<std::pair<mlir::Block *, mlir::Attribute>, mlir::Value> values;
};

} // namespace xetile

#endif // XETILE_TRANSFORMS_SUBGROUPPLACE_H
