//===- LaneRules.h - how operations tie the lanes of their vectors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANERULES_H
#define XETILE_TARGET_XE_LANES_LANERULES_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Layout/DpasLayout.h"
#include "xetile/Target/Xe/Lanes/LaneMap.h"

namespace xetile {

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value vector) {
  return llvm::cast<mlir::VectorType>(vector.getType()).getShape();
}

/// Operations that act on each element alone: one layout for all vectors.
bool isElementwise(mlir::Operation *op);
/// Operations that make a vector out of nothing that lanes hold: any layout is free.
bool isFreeOfLanes(mlir::Operation *op);

// Operations that move elements take any layouts; these rules give those that cost nothing.

/// Of the result, if operand number `operand` has `map`; nothing where it does not follow.
std::optional<LaneMap> mapOfResult(mlir::Operation *op, unsigned operand, const LaneMap &map);
/// Of operand number `operand`, if the result has `map`.
std::optional<LaneMap> mapOfOperand(mlir::Operation *op, unsigned operand, const LaneMap &map);

/// How a multiplication is done.
struct DpasForm {
  DpasParams params;
  int64_t m, n, k;       // of the operation
  unsigned elemBits;     // of A and B
  bool packedA, packedB; // 3D operands, neighbours along k last
  LaneMap a, b, c;
};
/// The operation in instructions of the device, or the first violation.
Result<DpasForm> dpasForm(mlir::xegpu::DpasOp op, const TargetInfo &target);

/// Layouts that a user gave a dpas are those of the instruction, or an error at the operation.
llvm::LogicalResult checkDpasLayouts(mlir::xegpu::DpasOp op, const DpasForm &form,
                                     unsigned subgroupSize);

/// Writes down what was decided, in xetile.lanes and xetile.lane_args.
void annotateLanes(mlir::Operation *module,
                   const llvm::DenseMap<mlir::Value, LaneLayoutAttr> &layouts);

/// True for operand B of a dpas, also through casts and slices and on its way to shared memory: its
/// registers are to be dwords.
bool feedsDpasB(mlir::Value value);

/// The map of a vector of whole rows of shared memory, a word of each lane in a row: neighbours of
/// 8, 16 or 32 bits together. Nothing for other rows.
std::optional<LaneMap> mapOfBlockRows(mlir::xegpu::MemDescType memory, mlir::VectorType vector,
                                      unsigned subgroupSize);

/// The same of whole columns of shared memory that is stored by columns, a power of two of words
/// each: a lane has a column. Nothing for others, or where words may be cut by lines.
std::optional<LaneMap> mapOfBlockColumns(mlir::Value memory, mlir::VectorType vector,
                                         unsigned subgroupSize);

/// The map that XeGPU's lane_layout and lane_data give a vector of `shape`.
Result<LaneMap> mapOfLayout(mlir::xegpu::DistributeLayoutAttr layout, llvm::ArrayRef<int64_t> shape,
                            unsigned subgroupSize);
/// True if each element has the same owners among the lanes.
bool haveSameLanes(const LaneMap &left, const LaneMap &right, llvm::ArrayRef<int64_t> shape,
                   unsigned subgroupSize);

/// True if each lane has each element in the same register.
bool haveSameRegisters(const LaneMap &left, const LaneMap &right, llvm::ArrayRef<int64_t> shape,
                       unsigned subgroupSize);

/// Where an element of what load_nd gives (store_nd takes) lies in the tile: its row and column.
std::array<int64_t, 2> cellInTile(mlir::VectorType vector, mlir::xegpu::TensorDescType tile,
                                  bool transpose, bool packed, int64_t element);

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANERULES_H
