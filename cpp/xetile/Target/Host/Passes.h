//===- Passes.h - host code of kernels ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_PASSES_H
#define XETILE_TARGET_HOST_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "xetile/IR/DialectAttrs.h"

namespace xetile {

/// The functions that check what @f is called with are @f_check (sizes that must fit together) and
/// @f_check_memory (descriptors); @f_checked, for C, calls them and @f.
constexpr llvm::StringLiteral kCheckSuffix = "_check", kCheckMemorySuffix = "_check_memory",
                              kCheckedSuffix = "_checked";

/// Of code in the LLVM dialect: a variable that points to a text about what its constructors did
/// not get from the system, or null. Whoever calls looks at it before.
constexpr llvm::StringLiteral kRefusal = "xetile_refused";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

#endif // XETILE_TARGET_HOST_PASSES_H
