//===- ScanLoop.h - loops that combine each element with those before -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_BLOCKS_SCANS_SCANLOOP_H
#define XETILE_TARGET_CPU_BLOCKS_SCANS_SCANLOOP_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xetile {

/// A loop on tensors that does nothing else than, at each place p,
///   sum = combine(sum, convert(input[.., p])); output[.., p] = convert(sum)
struct ScanLoop {
  /// None if `loop` is no such loop.
  static std::optional<ScanLoop> match(mlir::scf::ForOp loop);

  mlir::scf::ForOp loop;
  mlir::tensor::ExtractOp read;
  /// The cast of the element to the type of sums, or none.
  mlir::Operation *widen;
  /// Commutative, with the neutral element `neutral`.
  mlir::Operation *combine;
  mlir::TypedAttr neutral;
  /// The same as an element of the input.
  mlir::TypedAttr padding;
  /// The cast of a sum to the output's type, or none.
  mlir::Operation *narrow;
  mlir::tensor::InsertOp write;
  /// Which of the loop's results is the output, which the last sum.
  unsigned outputNumber, sumNumber;
};

/// Takes the loops around `scan` that do nothing else than it for each row to an scf.forall with
/// `xetile.rows`, whose steps are rows; `scan` moves there. Where there are none nothing changes.
void shareRows(mlir::RewriterBase &b, ScanLoop &scan);

} // namespace xetile

#endif // XETILE_TARGET_CPU_BLOCKS_SCANS_SCANLOOP_H
