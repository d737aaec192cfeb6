//===- LayoutInference.h - who owns which pieces of each vector -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_WORKGROUP_LAYOUTINFERENCE_H
#define XETILE_TARGET_XE_WORKGROUP_LAYOUTINFERENCE_H

#include "xetile/Target/Xe/Workgroup/WorkgroupLayout.h"

namespace xetile {

/// Finds the ownership of each vector and scattered descriptor of a function from the layouts that
/// operations and descriptors state. What is stated is followed through operations to both sides;
/// the first that arrives holds. Where an operation wants an operand under another ownership a
/// convert_layout is inserted behind the operand's definition. Each use of a vector that comes from
/// nothing distributed has a definition of its own.
class LayoutInference {
public:
  /// Emits an error where a layout does not fit, and at values about which nothing is stated.
  llvm::LogicalResult run(mlir::Operation *scope);

  /// True if the function states no layout for subgroups; then the IR is unchanged.
  bool empty() const { return owners.empty() && accesses.empty(); }
  int64_t getNumSubgroups() const { return numSubgroups; }

  /// Of a value; null for values that are not shared out.
  const Ownership *lookup(mlir::Value value) const;
  /// Of what an operation reads, writes or prefetches that has no result.
  const Ownership *lookupAccess(mlir::Operation *op) const;

private:
  static bool isShared(mlir::Value value) { return getSharedShape(value.getType()).has_value(); }
  /// Computed from nothing distributed, a copy for each use.
  static bool isFree(mlir::Value value);

  // StatedLayouts.cpp
  llvm::LogicalResult state(mlir::Operation *op, mlir::Value value,
                            mlir::xegpu::DistributeLayoutAttr layout);
  llvm::LogicalResult stateAccess(mlir::Operation *op, mlir::xegpu::DistributeLayoutAttr layout,
                                  llvm::ArrayRef<int64_t> shape);
  std::optional<Ownership> read(mlir::Operation *op, mlir::xegpu::DistributeLayoutAttr layout,
                                llvm::ArrayRef<int64_t> shape);
  llvm::LogicalResult collect(mlir::Operation *op);
  llvm::LogicalResult collectOperands(mlir::Operation *op);

  // LayoutPropagation.cpp
  void set(mlir::Value value, const std::optional<Ownership> &ownership);
  void tie(mlir::ValueRange values);
  void propagate();
  void propagateThrough(mlir::Operation *op);
  /// How `operand` has to be shared out; nothing if the operation takes it as it is.
  std::optional<Ownership> getWanted(mlir::OpOperand &operand) const;

  void cloneFreeVectors();
  mlir::Value convert(mlir::Location loc, mlir::Value value, const Ownership &wanted);
  void convert(mlir::OpOperand &operand, const Ownership &wanted);
  void convertResults(mlir::Operation *op);
  llvm::LogicalResult checkComplete();

  mlir::Operation *scope = nullptr;
  int64_t numSubgroups = 0;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Value, Ownership> owners;
  llvm::DenseMap<mlir::Operation *, Ownership> accesses;
  llvm::SmallVector<mlir::Value> worklist;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> converted;
};

/// The ownership of a scattered access's offsets and mask: that of the value, without its chunk.
Ownership dropChunk(const Ownership &value, unsigned rank);

} // namespace xetile

#endif // XETILE_TARGET_XE_WORKGROUP_LAYOUTINFERENCE_H
