//===- BlockLoadPlan.h - which 2D block messages feed which registers --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LAYOUT_BLOCKLOADPLAN_H
#define XETILE_LAYOUT_BLOCKLOADPLAN_H

#include "xetile/Facts/TargetInfo.h"
#include "xetile/Layout/BlockMessage.h"
#include "xetile/Layout/DpasLayout.h"

namespace xetile {

constexpr unsigned maxPlanMessages = 4096;

/// Static facts of the matrix in memory; unknown ones must be tested at run time.
struct SurfaceFacts {
  std::optional<uint64_t> baseAlign; // bytes
  std::optional<uint64_t> width;     // bytes of a memory row
  std::optional<uint64_t> height;    // memory rows
  std::optional<uint64_t> pitch;     // bytes from one memory row to the next
  std::optional<uint64_t> xMultiple; // the tile's first element of a memory row is a multiple of it
};

/// An operand's tile in memory, and who wants it.
struct PlanRequest {
  const TargetInfo *target = nullptr;
  DpasParams dpas;
  DpasOperand operand = DpasOperand::A;
  unsigned elemBits = 16;
  Shape2D shape = {0, 0};        // of the workgroup's tile
  unsigned contiguousDim = 1;    // 1: rows are memory rows; 0: columns are (transposed in memory)
  bool oneMatrixPerLoad = false; // a message brings at most one DPAS operand
  BlockAccess access = BlockAccess::Load;
  SurfaceFacts surface;
};

/// Where a register of the operand comes from (a store: goes to): element `reg` of each lane's
/// array of message `message`. Lanes never change.
struct RegisterSource {
  uint32_t message, reg;
};

/// A run of registers that one message brings in order.
struct RegisterSlice {
  unsigned reg, message, source, count;
};

struct PlanCost {
  unsigned messages = 0;
  uint64_t bytes = 0;
  /// DPAS operands that are not one contiguous slice of one message, in registers as wide as the
  /// instruction wants them.
  unsigned shuffles = 0;
};

/// Messages of one shape and the register map, for one subgroup. All registers hold one element.
struct BlockLoadPlan {
  BlockShape shape;
  LinearLayout operand; // (register, lane, subgroup) -> (dim0, dim1)
  llvm::SmallVector<BlockMessage, 8> messages;
  llvm::SmallVector<RegisterSource, 0> registers; // of the whole operand; empty for a prefetch
  unsigned tileRegisters = 0;                     // registers of one DPAS operand
  unsigned messageRegisterBits = 0;               // how a message fills a lane's registers
  unsigned operandRegisterBits = 0;               // how DPAS wants them
  PlanCost cost;

  unsigned tiles() const { return tileRegisters ? registers.size() / tileRegisters : 0; }
  /// The register slices that make up DPAS operand `tile`.
  llvm::SmallVector<RegisterSlice, 4> slices(unsigned tile) const;
  /// The corner of a subgroup's part: to be added to `row` and `col` of each message.
  Shape2D subgroupOrigin(unsigned subgroup) const;
};

/// The plan with the fewest messages, then the fewest shuffles. It reads or writes exactly what the
/// subgroup owns. The error says which limit forbids any plan, so that the caller can fall back.
Result<BlockLoadPlan> planBlockAccess(const PlanRequest &request);

/// A prefetch of a whole rectangle of memory rows, whoever will read it. Its `operand` has no
/// lanes.
Result<BlockLoadPlan> planBlockPrefetch(const TargetInfo &target, unsigned elemBits, Shape2D shape);

/// Preconditions on the surface that are not known at compile time; each is a phrase.
llvm::SmallVector<std::string> surfaceAssumptions(const PlanRequest &request,
                                                  const BlockLoadPlan &plan);

/// How a plan grows from the DPAS tile. Outputs are memory rows and message elements (a
/// transforming load's row counts once per 32-bit value).
struct BlockLayouts {
  LinearLayout tile;       // offset -> place, of one DPAS operand
  LinearLayout iterations; // offset, iteration: of one message
  LinearLayout loads;      // offset, iteration, load: of the operand
};
Result<BlockLayouts> blockLayouts(const PlanRequest &request, const BlockLoadPlan &plan);

} // namespace xetile

#endif // XETILE_LAYOUT_BLOCKLOADPLAN_H
