//===- Products.h - one step of k of a register tile -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MICROKERNEL_PRODUCTS_H
#define XETILE_TARGET_CPU_MICROKERNEL_PRODUCTS_H

#include "xetile/Target/Cpu/Microkernel/KernelBuilder.h"

namespace xetile {

/// The rows and vectors of columns of one register tile; masks are null for whole vectors.
struct RegisterPlaces {
  Values rows, columns, masks;
};

/// Adds to `sum` the products of lanes, or of groups of them where the plan has dot products.
mlir::Value multiplyAdd(const KernelBuilder &kernel, mlir::Value factor, mlir::Value column,
                        mlir::Value sum);

/// Adds the products of one step of k to `sums`, row by row.
Values addProducts(const KernelBuilder &kernel, Indices &place, const RegisterPlaces &tile,
                   mlir::ValueRange sums);

/// Subtracts from `sums` what an offset of A will add to them, in steps of k from `firstStep` on.
void correctOffset(const KernelBuilder &kernel, Index firstStep, Indices &place,
                   const RegisterPlaces &tile, Values &sums);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_PRODUCTS_H
