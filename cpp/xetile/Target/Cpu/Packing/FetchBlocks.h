//===- FetchBlocks.h - lines of the block that is packed next ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_PACKING_FETCHBLOCKS_H
#define XETILE_TARGET_CPU_PACKING_FETCHBLOCKS_H

#include "xetile/Target/Cpu/LoopNest/ThreadNest.h"

namespace xetile {

/// [columns, steps] on a `memref.prefetch` before a microkernel: it stands for the lines of rows of
/// so many elements, from its place on, one after every so many of the microkernel's steps of k.
constexpr llvm::StringLiteral kFetchedAttr = "xetile.fetched";

/// What the call of the microkernel for `tile`, a piece of `block`, fetches of the block of B that
/// comes next. Past the end of B it fetches B's last rows again.
void fetchNextBlock(const ThreadNest &nest, const BlockPiece &block, const Piece &tile);

} // namespace xetile

#endif // XETILE_TARGET_CPU_PACKING_FETCHBLOCKS_H
