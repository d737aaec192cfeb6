//===- WorkgroupOrder.h - orders of a grid that suit a shared cache -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_WORKGROUPORDER_H
#define XETILE_TRANSFORMS_WORKGROUPORDER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xetile {

/// Workgroups are started along x, then y. Each function here gives them other places of the same
/// grid, each place one workgroup, whatever its sizes. Kernels that do not ask for both
/// `gpu.block_id` x and y have no grid to order, and stay.

/// `rows` rows at a time, column by column: y fastest in such a group.
void orderByGroups(mlir::gpu::GPUFuncOp kernel, int64_t rows);

/// Squares of `side` x `side` one after the other along x, each along Hilbert's curve, on which
/// neighbours are neighbours in the grid; then what no square covers, at the right, then below.
/// `side` is a power of two.
void orderByHilbert(mlir::gpu::GPUFuncOp kernel, int64_t side);

} // namespace xetile

#endif // XETILE_TRANSFORMS_WORKGROUPORDER_H
