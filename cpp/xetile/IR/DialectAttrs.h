//===- DialectAttrs.h - what passes tell one another -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect's attributes on operations and arguments of other dialects. docs/attributes.md tells
// who writes and reads each of them, DialectAttrs.cpp has the types that the verifier demands.
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_IR_DIALECTATTRS_H
#define XETILE_IR_DIALECTATTRS_H

#include "llvm/ADT/StringRef.h"

namespace xetile {

/// Of an argument: its elements are those of earlier calls, so that what depends on nothing else is
/// computed once.
inline constexpr llvm::StringLiteral kFrozenAttr = "xetile.frozen";
/// Of arguments of functions that were split: the number among those of the whole function, or
/// among the results of what was split off.
inline constexpr llvm::StringLiteral kArgumentAttr = "xetile.argument";
inline constexpr llvm::StringLiteral kPackedAttr = "xetile.packed";
/// Of an argument that is memory of the device, which its caller allocated there.
inline constexpr llvm::StringLiteral kOnDeviceAttr = "xetile.on_device";
/// Of an argument that is memory for a result.
inline constexpr llvm::StringLiteral kResultAttr = "xetile.result";
/// Of an argument whose memory the function writes, in the entry that checks.
inline constexpr llvm::StringLiteral kWrittenAttr = "xetile.written";

/// Of an op on tensors or a module: the name of the schedule that takes it.
inline constexpr llvm::StringLiteral kScheduleAttr = "xetile.schedule";
/// Of an op on tensors: the number of the kernel that computes it.
inline constexpr llvm::StringLiteral kKernelAttr = "xetile.kernel";
/// Of a nested module: that isolate_kernel took it out of the one around it.
inline constexpr llvm::StringLiteral kIsolatedAttr = "xetile.isolated";

/// Of a contraction: the fields of its configuration that are given, and whether it packs.
inline constexpr llvm::StringLiteral kConfigAttr = "xetile.matmul_config";
inline constexpr llvm::StringLiteral kPackAttr = "xetile.matmul_pack";
/// Of a contraction in an scf.for, all of whose steps read the same B: that is copied to packed
/// blocks once, before the loop.
inline constexpr llvm::StringLiteral kPackBeforeLoopAttr = "xetile.matmul_pack_before_loop";
/// Of a contraction: what its measured configurations are found by, and what may be measured.
inline constexpr llvm::StringLiteral kMatmulKeyAttr = "xetile.matmul_key";
inline constexpr llvm::StringLiteral kMatmulCandidatesAttr = "xetile.matmul_candidates";
/// Of the batch-reduce matmul that the deep-tiled one leaves: the largest m and n that it is called
/// with.
inline constexpr llvm::StringLiteral kMicrokernelAttr = "xetile.microkernel";
/// [columns, steps, lines] of a microkernel: the `memref.prefetch` before it stands for the lines
/// of rows of so many elements, from its place on, so many after every so many of its steps of k.
/// (Not on the prefetch: MLIR 22 prints attributes there that it does not parse.)
inline constexpr llvm::StringLiteral kFetchedAttr = "xetile.fetched";
/// Of an scf.forall whose steps are blocks of rows, any number of which one thread may do.
inline constexpr llvm::StringLiteral kRowsAttr = "xetile.rows";
/// Of a load of an AMX tile that is not to push others out of the first-level cache.
inline constexpr llvm::StringLiteral kStreamedAttr = "xetile.streamed";

/// Of a function that checks: its conditions, one [left, sign, right, reason] each.
inline constexpr llvm::StringLiteral kConditionsAttr = "xetile.conditions";
/// Of @xetile_expect, then of the functions that report: what they expect, one [place, text] each.
inline constexpr llvm::StringLiteral kExpectationsAttr = "xetile.expectations";

/// Of a function: the tiling that was chosen for its matmul.
inline constexpr llvm::StringLiteral kTilingAttr = "xetile.tiling";
/// Of a distributed kernel: over how many subgroups, and the shared memory of its exchanges.
inline constexpr llvm::StringLiteral kSubgroupsAttr = "xetile.subgroups";
inline constexpr llvm::StringLiteral kSlmBytesAttr = "xetile.slm_bytes";
/// Of an xegpu.convert_layout that the inference of layouts wrote.
inline constexpr llvm::StringLiteral kInsertedAttr = "xetile.inserted";
/// Of an xegpu.dpas of si8: "a" or "b", the operand whose bytes are unsigned. Its operands have
/// one type, which cannot say so.
inline constexpr llvm::StringLiteral kUnsignedOperandAttr = "xetile.unsigned_operand";
/// The layouts of an operation's results (scf.for's are those of its carried values, too), a unit
/// for what is no vector.
inline constexpr llvm::StringLiteral lanesAttr = "xetile.lanes";
/// The layouts of a function's arguments and of the values that scf.while carries to its condition.
inline constexpr llvm::StringLiteral laneArgsAttr = "xetile.lane_args";
/// The estimated register pressure of a kernel's machine code, on its function: a dictionary with
/// `registers` and a text that names `values`.
inline constexpr llvm::StringLiteral registerEstimateAttr = "xetile.register_estimate";

} // namespace xetile

#endif // XETILE_IR_DIALECTATTRS_H
