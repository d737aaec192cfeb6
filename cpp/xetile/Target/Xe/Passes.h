//===- Passes.h - from XeTile to SPIR-V and machine code -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_PASSES_H
#define XETILE_TARGET_XE_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/Pass/Pass.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/Target/Xe/RegisterFile.h"

namespace xetile {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

#endif // XETILE_TARGET_XE_PASSES_H
