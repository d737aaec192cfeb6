//===- XeTileOps.h - the XeTile operations --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_XETILEOPS_H
#define XETILE_IR_XETILEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "xetile/IR/KnownAttrs.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/IR/XeTileTypes.h"

namespace xetile {
/// The strides of a 2D memref, in elements, dynamic ones included; also those of a static shape
/// whose layout is the permutation `(d0, d1) -> (d1, d0)`, which MLIR does not count as strided.
/// Nothing for other layouts.
std::optional<llvm::SmallVector<int64_t>> getMemRefStrides(mlir::MemRefType memref);

/// The memory space that a memref's attribute stands for, nothing for one that tiles cannot be in.
std::optional<MemorySpace> getMemorySpace(mlir::MemRefType memref);

/// True if tile_mma takes these element types (tile_mma_c4); and the list of them in words.
bool isMmaTypeCombination(mlir::Type a, mlir::Type b, mlir::Type result);
inline constexpr llvm::StringLiteral kMmaTypeCombinations =
    "element types (f16, f16) -> f32 or f16, (bf16, bf16) -> f32 or bf16, (f32, f32) or "
    "(tf32, tf32) -> f32, or (i8, i8) -> i32";
} // namespace xetile

#define GET_OP_CLASSES
#include "xetile/IR/XeTileOps.h.inc"

#endif // XETILE_IR_XETILEOPS_H
