//===- DpasLayout.h - what each lane holds of a DPAS operand -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// D[m,n] = A[m,k] * B[k,n] + C[m,n] on a tile of a workgroup, as linear layouts.
#ifndef XETILE_LAYOUT_DPASLAYOUT_H
#define XETILE_LAYOUT_DPASLAYOUT_H

#include "xetile/Facts/TargetInfo.h"
#include "xetile/Layout/LinearLayout.h"
#include <array>

namespace xetile {

enum class DpasOperand { A, B, C };

/// "A", "B" or "C".
llvm::StringRef toString(DpasOperand operand);

/// One DPAS instruction, and how a workgroup repeats it.
struct DpasParams {
  unsigned repeatCount = 8;    // rows m of one instruction
  unsigned systolicDepth = 8;  // steps of 32 bits along k
  unsigned executionSize = 16; // columns n
  unsigned opsPerChannel = 2;  // elements of A and B in 32 bits: 1, 2, 4, 8
  unsigned threadsPerWarp = 16;
  std::array<unsigned, 2> warpsPerCTA = {1, 1}; // subgroups along m and n
  std::array<unsigned, 2> repCluster = {1, 1};  // neighbouring instructions of one subgroup

  unsigned m() const { return repeatCount; }
  unsigned n() const { return executionSize; }
  unsigned k() const { return systolicDepth * opsPerChannel; }
  /// Bits of an element of A and B.
  unsigned elemBits() const { return 32 / opsPerChannel; }
  unsigned subgroups() const { return warpsPerCTA[0] * warpsPerCTA[1]; }
};

/// The target's largest instruction on A and B of `elemBits` bits, once and by one subgroup; no
/// instruction (opsPerChannel = 0) for elements that it does not multiply.
DpasParams largestDpas(const TargetInfo &target, unsigned elemBits);

/// Rows and columns of an operand.
using Shape2D = std::array<uint64_t, 2>;

/// Operand shapes of one instruction: A is m x k, B is k x n, C is m x n.
Shape2D instructionShape(const DpasParams &dpas, DpasOperand operand);
/// The rows and columns that one subgroup holds without gaps: A repeats along m only, B along n.
Shape2D clusterShape(const DpasParams &dpas, DpasOperand operand);

/// Verifies the parameters, the element type or the shape.
std::optional<Error> checkDpasParams(const DpasParams &dpas);
std::optional<Error> checkDpasElement(const DpasParams &dpas, DpasOperand operand,
                                      unsigned elemBits);
std::optional<Error> checkDpasShape(const DpasParams &dpas, DpasOperand operand, Shape2D shape);

/// (register, lane) -> (dim0, dim1) of one instruction. A register holds one element.
///
/// - A: lane l holds columns p*l to p*l+p-1 of each row, p = k / lanes; with fewer columns than
///   lanes (tf32) a row takes only the first lanes and the next row the others.
/// - B: lane n holds column n; its register k is row k, so that 32 bits hold neighbours along k.
/// - C: lane n holds column n; its register m is row m.
Result<LinearLayout> dpasTileLayout(const DpasParams &dpas, DpasOperand operand);

/// (register, lane, subgroup) -> (dim0, dim1) of a workgroup's tile.
///
/// Instructions repeat within the cluster (C: along m, then n), then over subgroups, whose linear
/// ids run along n first, then along k (C: n), then along what is left. Subgroups that are not
/// needed along a dimension hold the same as others: A is shared along n, B along m, and ids wrap
/// around where the tile is smaller than all subgroups together.
Result<LinearLayout> dpasLayout(const DpasParams &dpas, DpasOperand operand, unsigned elemBits,
                                Shape2D shape);

/// Register bits that a DPAS instruction addresses per lane: 16 for A of 16 bits and less, else 32;
/// C: its element.
unsigned dpasRegisterBits(const DpasParams &dpas, DpasOperand operand, unsigned elemBits);

} // namespace xetile

#endif // XETILE_LAYOUT_DPASLAYOUT_H
