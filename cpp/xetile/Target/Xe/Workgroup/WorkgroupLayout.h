//===- WorkgroupLayout.h - what layouts of XeGPU say about subgroups ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_WORKGROUP_WORKGROUPLAYOUT_H
#define XETILE_TARGET_XE_WORKGROUP_WORKGROUPLAYOUT_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/Facts/Result.h"
#include "xetile/Transforms/Ownership.h"
#include "xetile/Transforms/TiedValues.h"

namespace xetile {

/// True for layouts that distribute a value over subgroups.
bool isWorkgroupLayout(mlir::xegpu::DistributeLayoutAttr layout);

/// The layout that a descriptor's type states; null for other types.
mlir::xegpu::DistributeLayoutAttr layoutOfDescriptor(mlir::Type type);

/// Who owns which pieces of a value of `shape`. Ids of subgroups count along the dimensions as
/// `order` lists them; subgroups along a dimension that a slice drops own the same. A dimension has
/// as many pieces as subgroups, a multiple (rounds) or a fraction (shared pieces). An error says
/// what does not fit.
Result<Ownership> ownershipOfLayout(mlir::xegpu::DistributeLayoutAttr layout,
                                    llvm::ArrayRef<int64_t> shape);

/// The same without what concerns subgroups; null if nothing is left.
mlir::xegpu::DistributeLayoutAttr dropSubgroups(mlir::xegpu::DistributeLayoutAttr layout);

/// The shape of what is shared out: a vector, or what a scattered descriptor points to. Nothing for
/// other types.
std::optional<llvm::ArrayRef<int64_t>> getSharedShape(mlir::Type type);

/// A piece's type.
mlir::Type getPieceType(const Ownership &ownership, mlir::Type type);

/// Who owns the elements of a value of `to` that has those of a value shared out as `from` in
/// another shape, so that all stay where they are. Nothing if there is no such ownership.
std::optional<Ownership> castOwnership(const Ownership &from, llvm::ArrayRef<int64_t> to);

/// For an operation that gives and takes vectors: how an operand has to be shared out if the result
/// is as `result`, and how the result is if an operand is as `operand`, where no element needs to
/// move. Nothing if that is open.
std::optional<Ownership> ownershipOfOperand(mlir::OpOperand &operand, const Ownership &result);
std::optional<Ownership> ownershipOfResult(mlir::OpOperand &operand, const Ownership &ownership);

/// The ownership that an operation can produce where `result` is asked for: dimensions that slices
/// and insertions cut are whole for each subgroup.
Ownership ownershipMade(mlir::Operation *op, const Ownership &result);

/// Of the tile in memory from which a load_nd brings a vector: without its transposition and
/// packing.
Ownership tileOfLoad(mlir::xegpu::LoadNdOp op, const Ownership &vector);
/// The reverse. Nothing if packing would take elements from two pieces.
std::optional<Ownership> vectorOfLoad(mlir::xegpu::LoadNdOp op, const Ownership &tile);

} // namespace xetile

#endif // XETILE_TARGET_XE_WORKGROUP_WORKGROUPLAYOUT_H
