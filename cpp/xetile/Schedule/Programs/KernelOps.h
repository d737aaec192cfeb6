//===- KernelOps.h - what an op of a program is to its kernels ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMS_KERNELOPS_H
#define XETILE_SCHEDULE_PROGRAMS_KERNELOPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xetile/Facts/Result.h"
#include "xetile/IR/DialectAttrs.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace xetile::transform_ops {

/// Ops of one kernel at most, unless a user numbered them: bounds what is computed in registers at
/// once.
constexpr size_t kMostOps = 40;

/// Ops of one kernel, in the order of the block.
struct KernelOps {
  llvm::StringRef schedule;
  llvm::SetVector<mlir::Operation *> ops;
  /// True if the user numbered its ops.
  bool given = false;
  /// Of each op, why it is in this kernel, where `partition` decided.
  llvm::SmallVector<std::string> reasons;
};

/// True if each kernel that uses the results of `op` gets a clone of `op`: constants, fills,
/// uninitialized tensors, views of the same elements.
bool isCopiedToKernels(mlir::Operation *op);

/// True if `op` computes tensors from tensors, and thus belongs to a kernel.
bool belongsToKernel(mlir::Operation *op);

/// True if `op` is control flow of a program, whose regions are the host's: it stays around
/// kernels.
bool isHostControl(mlir::Operation *op);

/// True if a program computes `op` wherever it is needed: in each kernel, and on the host. These
/// are what `isCopiedToKernels` takes, and arithmetic on numbers. Elements that the host reads are
/// read once.
bool isComputedAnywhere(mlir::Operation *op);

/// Why neither a kernel nor the host around kernels can run `op`, of one of `hostBlocks`; nothing
/// if one of them can.
Problem whyNotOnHost(mlir::Operation *op);

/// The blocks of a function that hold ops for kernels: its body, and those of the control flow in
/// it. Each comes behind the one around it.
llvm::SmallVector<mlir::Block *> hostBlocks(mlir::FunctionOpInterface func);

/// A user of a value in the value's block: the op, the use in it or in its regions, and whether it
/// reads a view of the value.
struct Reader {
  mlir::Operation *op;
  mlir::OpOperand *operand;
  bool viewed;
};

/// All that read `value`, also through what is copied to kernels; the block's terminator is among
/// them.
llvm::SmallVector<Reader> readersOf(mlir::Value value);

/// True if `op` collapses several non-unit dimensions: a tile would run along some of each.
bool joinsDimensions(mlir::Operation *op);

/// Results of a kernel's ops that others read, or the caller.
llvm::SmallVector<mlir::Value> outputsOf(const KernelOps &kernel);

/// The buffers that exist before the kernel runs and that it reads, each with the views that it
/// reads it by.
llvm::MapVector<mlir::Value, llvm::SetVector<mlir::Value>> memoryReadBy(const KernelOps &kernel);

/// True if `kernel` with `more` ops would have more arguments than SPIR-V's functions take, 255:
/// two of each array that it reads or writes, an offset, and two of each dimension.
bool takesTooMuch(const KernelOps &kernel, llvm::ArrayRef<mlir::Operation *> more);

/// The ops of `block` whose results `op`, or an op in its regions, reads: also through what is
/// computed anywhere.
llvm::SmallVector<mlir::Operation *> sourcesOf(mlir::Operation *op, mlir::Block &block);

/// The kernels of a block, and the ops between them that stay on the host, in an order in which
/// they can run.
struct HostSteps {
  /// A kernel by its place, or an op.
  struct Step {
    std::optional<unsigned> kernel;
    mlir::Operation *op = nullptr;
  };
  llvm::SmallVector<Step> steps;
  /// An op of those that wait for one another, if there are some; there are no steps then.
  mlir::Operation *waiting = nullptr;
};

/// Orders `kernels` and the host's ops of `block` such that each comes behind those whose results
/// it reads, and ops with effects stay in their order; as they are in the program as far as that
/// leaves it open.
HostSteps orderSteps(llvm::ArrayRef<KernelOps> kernels, mlir::Block &block);

/// Who reads what the terminator of `block` takes, for messages; `too` where others do as well.
llvm::StringRef readerBehind(mlir::Block &block, bool too = false);

/// The schedule of a kernel that `op` is the anchor of: what `xetile.anchor` says, else "matmul"
/// where a matrix unit multiplies, "scan" where each element is combined with those before, "rows"
/// where something else is reduced, and "elementwise".
llvm::StringRef scheduleOfAnchor(mlir::Operation *op);

/// True if `op` sums up products of tiles of two matrices, whatever multiplies them.
bool isProductInTiles(mlir::Operation *op);

/// True if a matrix unit multiplies what `op` sums up, exactly and on every chip.
bool isProductOfMatrixUnit(mlir::Operation *op);

/// True if `op` computes each element by itself, of elements at indices that it computes, too.
bool readsByIndices(mlir::Operation *op);

/// True for schedules of kernels whose workgroups walk over all that they reduce: "rows", and
/// "windows" and "convolution" beside it.
bool walksOverReduced(llvm::StringRef schedule);

/// True for schedules of kernels that compute each element by itself: "elementwise", "gather".
bool isOfElements(llvm::StringRef schedule);

/// True if `op` is a linalg op with a reduction dimension.
bool reduces(mlir::Operation *op);

/// True if recomputing elements of `op` costs next to nothing: casts, a sum with a constant,
/// padding.
bool isCheap(mlir::Operation *op);

/// True if a reshape between `op` and a user of it collapses dimensions.
bool isCollapsed(mlir::Operation *op, const Reader &reader);

/// Describes an op that starts a kernel of `schedule`, for messages.
llvm::StringRef whatStarts(llvm::StringRef schedule);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_PROGRAMS_KERNELOPS_H
