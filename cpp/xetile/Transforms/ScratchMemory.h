//===- ScratchMemory.h - shared local memory for what subgroups exchange ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_SCRATCHMEMORY_H
#define XETILE_TRANSFORMS_SCRATCHMEMORY_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Transforms/SubgroupPlace.h"

namespace xetile {

/// The buffers through which the subgroups of a workgroup exchange values. Code is written as if
/// each had memory of its own and as if subgroups ran in step; `finish` gives them places in one
/// buffer and inserts the barriers that make it right.
class ScratchMemory {
public:
  explicit ScratchMemory(SubgroupPlace &place) : place(place) {}

  /// A buffer for the code of the workgroup around the insertion point.
  mlir::Value create(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                     mlir::Type element);
  /// `guard` is run by some subgroups only: barriers for what is in it go in front of it.
  void addGuard(mlir::Operation *guard) { guards.insert(guard); }

  /// Places the buffers in at most `limit` bytes, those that would need a barrier between them side
  /// by side while there is room; inserts a gpu.barrier between the writes and the reads of a
  /// buffer, and before a write to memory that may still be read. States the bytes that a function
  /// takes as its attribute `xetile.slm_bytes`.
  void finish(int64_t limit);

private:
  SubgroupPlace &place;
  llvm::SmallVector<mlir::memref::AllocaOp> buffers;
  llvm::DenseSet<mlir::Operation *> guards;
};

/// The bytes of a buffer.
int64_t getBufferBytes(llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Shared local memory that the code of a workgroup has besides, by memref.alloca and as workgroup
/// attributions.
int64_t getOtherSharedBytes(mlir::Operation *scope);

} // namespace xetile

#endif // XETILE_TRANSFORMS_SCRATCHMEMORY_H
