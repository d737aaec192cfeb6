//===- XeGPUWgPlan.h - how each operation of a workgroup is distributed ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_WORKGROUP_XEGPUWGPLAN_H
#define XETILE_TARGET_XE_WORKGROUP_XEGPUWGPLAN_H

#include "mlir/Transforms/DialectConversion.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/Target/Xe/Workgroup/LayoutInference.h"
#include "xetile/Transforms/SharedWork.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace xetile {

/// The tiles in memory that are reached through one block descriptor, however loops and
/// update_nd_offset hand it on: each shape gets a descriptor of its own. What is a subgroup's place
/// in the tile goes to the accesses.
class DescriptorShapes {
public:
  void unite(mlir::Value a, mlir::Value b);
  /// After all that is united.
  void add(mlir::Value descriptor, llvm::ArrayRef<int64_t> shape);
  bool contains(mlir::Value descriptor) const { return groups.contains(descriptor); }
  llvm::SmallVector<mlir::Type> getTypes(mlir::Value descriptor) const;
  unsigned getNumber(mlir::Value descriptor, llvm::ArrayRef<int64_t> shape) const;

private:
  const llvm::SmallVector<llvm::SmallVector<int64_t>> &getShapes(mlir::Value descriptor) const;

  llvm::EquivalenceClasses<mlir::Value> groups;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<llvm::SmallVector<int64_t>>> shapes;
};

/// Decisions about a function, all made, and all errors emitted, before anything is rewritten.
struct XeGPUWgPlan {
  XeGPUWgPlan(const LayoutInference &layouts, const TargetInfo &target)
      : layouts(layouts), target(target) {}

  llvm::LogicalResult make(mlir::Operation *scope);
  /// True if a value is not rewritten.
  bool isKept(mlir::Value value) const;

  const LayoutInference &layouts;
  const TargetInfo &target;
  llvm::DenseMap<mlir::Operation *, Move> moves; ///< of convert_layout
  llvm::DenseMap<mlir::Operation *, CrossReduction> reductions;
  llvm::DenseSet<mlir::Operation *> guarded; ///< atomics of which one owner makes each
  DescriptorShapes descriptors;
  SubgroupPlace place;
  ScratchMemory scratch{place};

private:
  /// True for operations on distributed values, whose sizes are checked.
  llvm::FailureOr<bool> checkShares(mlir::Operation *op);
  llvm::LogicalResult checkOp(mlir::Operation *op);
  llvm::LogicalResult checkChunk(mlir::Operation *op, mlir::Value value, mlir::Value like);
  llvm::LogicalResult checkBlock(mlir::Operation *op, mlir::xegpu::TensorDescType tile);
  llvm::LogicalResult checkDpas(mlir::xegpu::DpasOp op);
  llvm::LogicalResult checkTransfer(mlir::VectorTransferOpInterface op);
  void collectDescriptors(mlir::Operation *op);
  llvm::LogicalResult decide(mlir::Operation *op, int64_t slmBytes, bool &isExchange);
  llvm::LogicalResult decideReduction(mlir::Operation *op, int64_t slmBytes, bool &isExchange);
};

/// Of an operation on block descriptors: what it reads or writes, in memory's order. Null for
/// others.
std::optional<Ownership> getTileOfAccess(mlir::Operation *op, const LayoutInference &layouts);

/// A reduction's source and the dimensions that it reduces.
struct ReducedDims {
  mlir::Value source;
  llvm::SmallVector<int64_t> dims;
  mlir::vector::CombiningKind kind;
  mlir::Value acc; ///< null if there is none
};
std::optional<ReducedDims> getReducedDims(mlir::Operation *op);

/// Rewrites of operations to those on one subgroup's pieces. `plan` must outlive the conversion.
void populateXeGPUWgMemoryPatterns(const mlir::TypeConverter &converter,
                                   mlir::RewritePatternSet &patterns, XeGPUWgPlan &plan);
void populateXeGPUWgVectorPatterns(const mlir::TypeConverter &converter,
                                   mlir::RewritePatternSet &patterns, XeGPUWgPlan &plan);
void populateXeGPUWgSlicePatterns(const mlir::TypeConverter &converter,
                                  mlir::RewritePatternSet &patterns, XeGPUWgPlan &plan);

/// Exchanges by vector.transfer_write and transfer_read.
struct VectorExchange final : ExchangeBuilder {
  using ExchangeBuilder::ExchangeBuilder;

protected:
  void storeTo(mlir::Value buffer, mlir::Value vector,
               llvm::ArrayRef<mlir::OpFoldResult> offsets) const override;
  mlir::Value loadFrom(mlir::Value buffer, mlir::VectorType type,
                       llvm::ArrayRef<mlir::OpFoldResult> offsets) const override;
  mlir::Value permute(mlir::Value vector, llvm::ArrayRef<int64_t> permutation) const override;
};

/// A rewrite that follows the plan.
template <typename OpTy> struct DistributeXeGPU : mlir::OpConversionPattern<OpTy> {
  using Adaptor = typename mlir::OpConversionPattern<OpTy>::OneToNOpAdaptor;
  DistributeXeGPU(const mlir::TypeConverter &converter, mlir::MLIRContext *context,
                  XeGPUWgPlan &plan)
      : mlir::OpConversionPattern<OpTy>(converter, context, /*benefit=*/2), plan(plan) {}

  VectorExchange getExchange(mlir::OpBuilder &builder, mlir::Location loc) const {
    return {builder, loc, plan.place, plan.scratch};
  }
  const Ownership &getOwnership(mlir::Value value) const { return *plan.layouts.lookup(value); }

  XeGPUWgPlan &plan;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_WORKGROUP_XEGPUWGPLAN_H
