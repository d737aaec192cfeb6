//===- LaneGather.h - elements that move between registers and lanes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANEGATHER_H
#define XETILE_TARGET_XE_LANES_LANEGATHER_H

#include "xetile/Target/Xe/Lanes/LaneContext.h"

namespace xetile {

/// From which source, and which of its elements, an element of the result comes.
using ElementMap = llvm::function_ref<std::pair<unsigned, int64_t>(int64_t)>;
/// From a single source, in its order.
inline std::pair<unsigned, int64_t> sameElement(int64_t element) { return {0, element}; }

/// Pieces of type `piece` that hold what `result` says, brought from the sources.
Values gather(LaneContext &lanes, mlir::VectorType piece, const LaneTable &result,
              llvm::ArrayRef<LaneSource> sources, ElementMap map);
/// Defines `result` by elements of the operands, in its own lanes.
void defineByElements(LaneContext &lanes, mlir::Value result, llvm::ArrayRef<mlir::Value> operands,
                      ElementMap map);
/// An element, in all lanes.
mlir::Value scalarOf(LaneContext &lanes, mlir::Value vector, int64_t element);

// The strategies of `gather`. Costs are instructions, about: a message waits for memory, a shuffle
// reads its register by an index.
constexpr unsigned selectCost = 1, shuffleCost = 2, messageCost = 8;

/// For each bit of a place in the result, lanes first, the bit of the source's that it comes from,
/// if elements change between lanes and registers, and only bits of their numbers change places.
llvm::SmallVector<unsigned> findExchange(unsigned lanes, const LaneTable &result,
                                         const LaneTable &source, ElementMap map);
unsigned exchangeCost(unsigned lanes, const LaneTable &result, llvm::ArrayRef<unsigned> origin);
/// One shuffle for each two registers and bit that goes to lanes.
Values exchange(LaneContext &lanes, mlir::VectorType piece, const LaneTable &result,
                LaneSource source, llvm::ArrayRef<unsigned> origin);

bool isCheaperInMemory(LaneContext &lanes, unsigned cost, mlir::VectorType piece,
                       const LaneTable &result, LaneSource source, ElementMap map);
Values moveThroughMemory(LaneContext &lanes, mlir::VectorType piece, const LaneTable &result,
                         LaneSource source, ElementMap map);

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANEGATHER_H
