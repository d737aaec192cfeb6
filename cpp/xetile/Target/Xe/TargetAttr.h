//===- TargetAttr.h - the #xevm.target of a gpu.module ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_TARGETATTR_H
#define XETILE_TARGET_XE_TARGETATTR_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "xetile/Facts/TargetInfo.h"

namespace xetile {

/// The flag that holds the chip's own name where the attribute names the one that stands for it.
inline constexpr llvm::StringLiteral chipFlag = "xetile.chip";

mlir::xevm::XeVMTargetAttr makeTargetAttr(mlir::MLIRContext *context, const TargetInfo &target,
                                          unsigned optLevel);

/// The first XeVM target of the module, or null.
mlir::xevm::XeVMTargetAttr findTargetAttr(mlir::gpu::GPUModuleOp module);

/// The device of the module, or null after an error at it. One that nothing can be compiled for is
/// an error, too, unless `mayLackCode`: its layouts are known.
const TargetInfo *findTarget(mlir::gpu::GPUModuleOp module, bool mayLackCode = false);

/// The chip that was asked for.
llvm::StringRef chipOf(mlir::xevm::XeVMTargetAttr attr);

/// The device that `op` is compiled for: that of its gpu.module, else `chip`. Emits an error if
/// none is known.
const TargetInfo *getTargetOf(mlir::Operation *op, llvm::StringRef chip);

} // namespace xetile

#endif // XETILE_TARGET_XE_TARGETATTR_H
