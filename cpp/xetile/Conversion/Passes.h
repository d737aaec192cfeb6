//===- Passes.h - conversions between XeTile and other dialects ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_CONVERSION_PASSES_H
#define XETILE_CONVERSION_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/Pass/Pass.h"
#include "xetile/IR/XeTileDialect.h"

namespace xetile {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xetile/Conversion/Passes.h.inc"
} // namespace xetile

#endif // XETILE_CONVERSION_PASSES_H
