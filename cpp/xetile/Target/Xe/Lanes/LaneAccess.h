//===- LaneAccess.h - memory that each lane accesses itself ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANEACCESS_H
#define XETILE_TARGET_XE_LANES_LANEACCESS_H

#include "xetile/Target/Xe/Lanes/LaneContext.h"

namespace xetile {

/// Address spaces of LLVM for SPIR-V.
constexpr unsigned globalSpace = 1, sharedSpace = 3;
inline unsigned spaceOf(mlir::xegpu::TensorDescType tile) {
  return tile.getMemorySpace() == mlir::xegpu::MemorySpace::SLM ? sharedSpace : globalSpace;
}

/// Memory of any rank, and where an access to it starts.
struct LaneMatrix {
  mlir::Value address; // i64
  unsigned space = globalSpace;
  Values strides; // in elements
  Values offsets; // of the access
  Values sizes;   // bounds, or none
};
/// Of a memref, or of an address alone; the error is at `op`.
llvm::FailureOr<LaneMatrix> matrixOf(LaneContext &lanes, mlir::Operation *op, mlir::Value memory);

/// The offsets that a scattered descriptor has for the elements of a vector, in index: after its
/// address, in the vector's natural lanes.
LaneSource offsetsOf(LaneContext &lanes, mlir::Value descriptor, mlir::VectorType vector);

/// Coordinate `dim` of an element of the vector.
using Coordinate = llvm::function_ref<int64_t(int64_t element, unsigned dim)>;
/// A value for a register of all pieces; null stands for none.
using RegisterValue = llvm::function_ref<mlir::Value(unsigned flat)>;
/// A lane's fragment of a vector in memory. Registers that are masked off or out of bounds are
/// `otherwise`, zero by default.
Values loadLanes(LaneContext &lanes, mlir::VectorType piece, const LaneTable &table,
                 const LaneMatrix &matrix, Coordinate coordinate, RegisterValue maskOf = nullptr,
                 RegisterValue otherwise = nullptr);
void storeLanes(LaneContext &lanes, llvm::ArrayRef<mlir::Value> pieces, mlir::Type element,
                const LaneTable &table, const LaneMatrix &matrix, Coordinate coordinate,
                RegisterValue maskOf = nullptr);
/// Registers from `flat` on that lie side by side in memory, a power of two; of one vector if not
/// `acrossPieces`.
unsigned runLength(const LaneTable &table, unsigned flat, const LaneMatrix &matrix,
                   Coordinate coordinate, bool acrossPieces = false);
/// The most registers from `flat` on that one access takes, a power of two, where `follows` says
/// which of those behind it do.
unsigned runOf(const LaneTable &table, unsigned flat, llvm::function_ref<bool(unsigned)> follows,
               bool acrossPieces = false);

mlir::Value pointerTo(LaneBuilder &b, mlir::Value address, unsigned space);
/// `linear` elements behind an address.
mlir::Value advance(LaneBuilder &b, mlir::Value address, mlir::Value linear, unsigned bytes);
mlir::Value loadElement(LaneBuilder &b, mlir::Type type, mlir::Value pointer, unsigned align);
void storeElement(LaneBuilder &b, mlir::Value value, mlir::Value pointer, unsigned align);
/// The same where `mask` holds, or always if it is null; elsewhere a load gives `otherwise`.
mlir::Value loadWhere(LaneBuilder &b, mlir::Value mask, mlir::Type type, mlir::Value pointer,
                      unsigned align, mlir::Value otherwise);
void storeWhere(LaneBuilder &b, mlir::Value mask, mlir::Value value, mlir::Value pointer,
                unsigned align);
/// Adds a scalar, or all registers of a vector.
void appendRegisters(LaneBuilder &b, mlir::Value value, Values &elements);
/// `run` registers of a piece from `reg` on.
mlir::Value registersOf(LaneBuilder &b, mlir::Value piece, unsigned reg, unsigned run);

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANEACCESS_H
