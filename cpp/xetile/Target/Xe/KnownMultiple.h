//===- KnownMultiple.h - what divides a value that only the run knows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_KNOWNMULTIPLE_H
#define XETILE_TARGET_XE_KNOWNMULTIPLE_H

#include "mlir/IR/OpDefinition.h"

namespace xetile {

/// A number that divides an integer or index whenever it is computed: 0 for a constant zero, 1
/// where nothing is known.
uint64_t getKnownMultiple(mlir::OpFoldResult value);

/// The bytes that the first element of a memref is known to be aligned to. Memory that comes in
/// with no offset in its type begins on a cache line: the runtime's allocations do.
uint64_t getKnownAlignment(mlir::Value memref, uint64_t ofBuffer);

} // namespace xetile

#endif // XETILE_TARGET_XE_KNOWNMULTIPLE_H
