//===- FreshBlockNumbers.h - block numbers that LLVM never saw --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_FRESHBLOCKNUMBERS_H
#define XETILE_TARGET_XE_LLVM_FRESHBLOCKNUMBERS_H

namespace xetile {

/// From the first call on, LLVM's SPIR-V backend sees a pair of machine function (by its address)
/// and block number once in the life of the process. LLVM 22 keeps the ids of blocks by that pair
/// and never forgets them, so that a function at the address of an earlier one would get ids of
/// another module: defined twice, or beyond the bound.
void numberBlocksAfresh();

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_FRESHBLOCKNUMBERS_H
