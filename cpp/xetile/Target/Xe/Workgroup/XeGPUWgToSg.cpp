//===- XeGPUWgToSg.cpp - distribute a workgroup's XeGPU over subgroups ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules of XeGPU on a workgroup's tiles, with layouts that have sg_layout. Out: XeGPU on
// the pieces of one subgroup, placed by gpu.subgroup_id; of layouts what concerns lanes is left.
// Refused: layouts that do not fit, values without one, operations without a rule, exchanges where
// not all subgroups meet or for which shared local memory lacks.
//
// Layouts become the Ownership that workgroup maps of XeTile become, too, and from there on the
// same code distributes both: pieces, exchanges, barriers, places. XeTile itself is not on the way:
// its maps have two dimensions, count subgroups by rows only and know no slices, nor XeTile
// descriptors of single elements and matrices in shared memory as XeGPU has them.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/TargetAttr.h"
#include "xetile/Target/Xe/Workgroup/XeGPUWgPlan.h"
#include "xetile/Transforms/WorkgroupSize.h"

namespace xetile {
#define GEN_PASS_DEF_XEGPUWGTOSG
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Behind the distribution layouts are those of lanes.
static void dropSubgroupLayouts(Operation *scope) {
  scope->walk([](Operation *op) {
    for (NamedAttribute attr : llvm::to_vector(op->getAttrs())) {
      auto layout = dyn_cast<xegpu::DistributeLayoutAttr>(attr.getValue());
      if (!layout || !isWorkgroupLayout(layout))
        continue;
      if (xegpu::DistributeLayoutAttr lanes = dropSubgroups(layout))
        op->setAttr(attr.getName(), lanes);
      else
        op->removeAttr(attr.getName());
    }
  });
}

namespace {
struct XeGPUWgToSg : xetile::impl::XeGPUWgToSgBase<XeGPUWgToSg> {
  using XeGPUWgToSgBase::XeGPUWgToSgBase;

  LogicalResult checkSignature(FunctionOpInterface function) {
    for (Type type :
         llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
      if (isa<VectorType, xegpu::TensorDescType>(type))
        return function.emitOpError("has ")
               << type
               << " in its signature beside layouts for subgroups; expected memrefs, "
                  "addresses and scalars: pieces cannot be passed to functions";
    return success();
  }

  LogicalResult distribute(FunctionOpInterface function, const TargetInfo &target) {
    LayoutInference layouts;
    if (failed(layouts.run(function)))
      return failure();
    if (layouts.empty())
      return success();
    XeGPUWgPlan plan(layouts, target);
    if (failed(checkSignature(function)) ||
        failed(checkWorkgroupSize(function, layouts.getNumSubgroups(), target.subgroupSize,
                                  target.maxWorkItems, "layouts")) ||
        failed(plan.make(function)))
      return failure();

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [&](Value value, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
          if (const Ownership *ownership = layouts.lookup(value)) {
            types.append(ownership->numPieces(), getPieceType(*ownership, value.getType()));
            return success();
          }
          if (!plan.descriptors.contains(value))
            return std::nullopt;
          llvm::append_range(types, plan.descriptors.getTypes(value));
          return success();
        });
    RewritePatternSet patterns(&getContext());
    populateXeGPUWgMemoryPatterns(converter, patterns, plan);
    populateXeGPUWgVectorPatterns(converter, patterns, plan);
    populateXeGPUWgSlicePatterns(converter, patterns, plan);
    scf::populateSCFStructuralTypeConversions(converter, patterns);
    ConversionTarget conversion(getContext());
    auto isKept = [&](Value value) { return plan.isKept(value); };
    conversion.markUnknownOpDynamicallyLegal([&](Operation *op) {
      return !plan.guarded.contains(op) && !plan.moves.contains(op) &&
             !plan.reductions.contains(op) && llvm::all_of(op->getOperands(), isKept) &&
             llvm::all_of(op->getResults(), isKept);
    });
    // Folding would make new values, which no analysis has seen.
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(function, conversion, std::move(patterns), config)))
      return failure();
    plan.scratch.finish(target.slmBytes);
    dropSubgroupLayouts(function);
    return success();
  }

  void runOnOperation() override {
    const TargetInfo *target = findTarget(getOperation());
    if (!target)
      return signalPassFailure();
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal() && failed(distribute(function, *target)))
        return signalPassFailure();
  }
};
} // namespace
