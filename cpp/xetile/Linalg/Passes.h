//===- Passes.h - passes on linalg, for every target --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_PASSES_H
#define XETILE_LINALG_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace xetile {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

#endif // XETILE_LINALG_PASSES_H
