//===- PlanRing.cpp - tiles of a k loop in a ring of shared memory ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels of workgroup-level XeTile with prefetches. Out: the same without, the ring's depth,
// bytes and threads at each. Refused: what RingPlan.cpp and Hopper.cpp refuse; kernels of
// workgroups with a limit below what the subgroups need.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/Passes.h"
#include "xetile/Target/Nvidia/PeelMasks.h"
#include "xetile/Target/Nvidia/RestoreLoop.h"
#include "xetile/Target/Nvidia/RingPlan.h"
#include "xetile/Target/Nvidia/SimtPlan.h"
#include "xetile/Target/Nvidia/ViewArguments.h"
#include "llvm/ADT/SetVector.h"

namespace xetile {
#define GEN_PASS_DEF_PLANRING
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using xetile::kRingAttr;
using namespace xetile::hopper;

namespace {
struct PlanRing : xetile::impl::PlanRingBase<PlanRing> {
  using PlanRingBase::PlanRingBase;

  void runOnOperation() override {
    if (loads != "auto" && loads != "plain") {
      getOperation().emitOpError() << "option loads is " << loads << ", expected auto or plain";
      return signalPassFailure();
    }
    if (pipeline != "auto" && pipeline != "simple" && pipeline != "specialized") {
      getOperation().emitOpError()
          << "option pipeline is " << pipeline << ", expected auto, simple or specialized";
      return signalPassFailure();
    }
    if (lazy != "auto" && lazy != "true" && lazy != "false") {
      getOperation().emitOpError() << "option lazy is " << lazy << ", expected auto, true or false";
      return signalPassFailure();
    }
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel() && failed(plan(kernel)))
        return signalPassFailure();
  }

private:
  NamedAttribute stagesOf(int64_t count) {
    Builder b(&getContext());
    return b.getNamedAttr("stages", b.getI64IntegerAttr(count));
  }

  /// Tiles of the first result in all, below zero if that is not known.
  static int64_t tilesOf(const RingPlan &plan) {
    xetile::StoreTileOp store = plan.stores.front();
    auto matrix = cast<MemRefType>(placeOfTile(store, store.getTile())->matrix.getType());
    if (!matrix.hasStaticShape())
      return -1;
    ArrayRef<int64_t> sizes = matrix.getShape();
    int64_t tiles = llvm::divideCeil(sizes[sizes.size() - 2], plan.tiling.workgroupM) *
                    llvm::divideCeil(sizes.back(), plan.tiling.workgroupN);
    for (int64_t size : sizes.drop_back(2))
      tiles *= size;
    return tiles;
  }

  /// Steps along k of a tile, below zero if that is not known.
  static int64_t stepsOf(const RingPlan &plan) {
    std::optional<APInt> steps = plan.loop.getStaticTripCount();
    return steps ? steps->getSExtValue() : -1;
  }

  /// Who loads. Emits an error if that is given and does not fit.
  FailureOr<bool> isSpecialized(const RingPlan &plan) {
    if (plan.isOnline())
      return true;
    bool isPlain = plan.hasPlainLoads();
    xetile::Problem why = checkSpecialized(plan.tiling, isPlain, plan.isSplit());
    if ((pipeline == "specialized" || isPlain) && why)
      return plan.mma.emitOpError() << *why;
    if (isPlain && pipeline == "simple")
      return plan.mma.emitOpError(
          "multiplies matrices that TMA does not take, as their rows are no "
          "multiples of 16 bytes apart or not adjacent along k: expected the "
          "pipeline specialized, where a warpgroup loads without it");
    // Whoever splits f32 waits for the matrix unit, not for loads, and wants registers.
    return isPlain || pipeline == "specialized" ||
           (pipeline == "auto" && !why && !plan.isSplit() &&
            gainsBySpecializing(tilesOf(plan), stepsOf(plan)));
  }

  /// Without products: threads share tiles, and nothing goes through a ring.
  LogicalResult planThreads(gpu::GPUFuncOp kernel) {
    FailureOr<SimtPlan> plan = planSimt(kernel);
    if (failed(plan))
      return failure();
    llvm::SetVector<int64_t> written, read;
    WalkResult result = kernel.walk([&](xetile::InitTileOp init) {
      std::optional<int64_t> argument = argumentOf(memoryOf(init.getSource()));
      if (!argument) {
        init.emitOpError("is a tile of memory that the kernel does not take as argument; expected "
                         "a memref among its arguments, a view of one, or an address in one");
        return WalkResult::interrupt();
      }
      bool isWritten = llvm::any_of(
          init->getUsers(),
          llvm::IsaPred<xetile::StoreTileOp, xetile::StoreScatterOp, xetile::AtomicRMWScatterOp>);
      (isWritten ? written : read).insert(*argument);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    SmallVector<int64_t> aligned;
    llvm::SetVector<int64_t> accessed(written.begin(), written.end());
    accessed.insert_range(read);
    for (int64_t argument : accessed) {
      auto type = cast<MemRefType>(kernel.getArgument(unsigned(argument)).getType());
      if (type.getLayout().isIdentity())
        aligned.append({argument, 16});
    }
    Builder b(&getContext());
    auto number = [&](StringRef name, int64_t value) {
      return b.getNamedAttr(name, b.getI64IntegerAttr(value));
    };
    NamedAttrList fields;
    fields.append(stagesOf(0));
    fields.append(number("stage_bytes", 0));
    fields.append(number("shared_bytes", plan->sharedBytes));
    fields.append(number("threads", plan->threads));
    fields.append("pipeline", b.getStringAttr("threads"));
    if (flattenGrid(kernel))
      fields.append("flat", b.getUnitAttr());
    fields.append("written", b.getDenseI64ArrayAttr(written.getArrayRef()));
    fields.append("aligned", b.getDenseI64ArrayAttr(aligned));
    kernel->setAttr(kRingAttr, fields.getDictionary(&getContext()));
    kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({int32_t(plan->threads), 1, 1}));
    return success();
  }

  /// Numbers all workgroups along x where the others have more than a launch takes. True if so.
  static bool flattenGrid(gpu::GPUFuncOp kernel) {
    constexpr int64_t kMostYZ = 65535, kMostX = 0x7fffffff;
    std::optional<ArrayRef<int32_t>> grid = kernel.getKnownGridSize();
    if (!grid || grid->size() != 3)
      return false;
    int64_t x = (*grid)[0], y = (*grid)[1], z = (*grid)[2];
    if (std::max(y, z) <= kMostYZ || x * y > kMostX || x * y * z > kMostX)
      return false;
    if (kernel.walk([](gpu::GridDimOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return false;
    SmallVector<gpu::BlockIdOp> ids;
    kernel.walk([&](gpu::BlockIdOp id) { ids.push_back(id); });
    auto b = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Location loc = kernel.getLoc();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    Value all = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
    Value rows = arith::DivUIOp::create(b, loc, all, number(x));
    std::array<Value, 3> places = {arith::RemUIOp::create(b, loc, all, number(x)),
                                   arith::RemUIOp::create(b, loc, rows, number(y)),
                                   arith::DivUIOp::create(b, loc, rows, number(y))};
    for (gpu::BlockIdOp id : ids) {
      id.getResult().replaceAllUsesWith(places[size_t(id.getDimension())]);
      id.erase();
    }
    kernel.setKnownGridSizeAttr(b.getDenseI32ArrayAttr({int32_t(x * y * z), 1, 1}));
    return true;
  }

  /// A memref itself; of an address the one whose address it is computed of, null without one.
  static Value memoryOf(Value source) {
    llvm::SetVector<Value> values;
    values.insert(source);
    for (unsigned at = 0; at < values.size(); ++at) {
      Operation *op = values[at].getDefiningOp();
      if (isa<MemRefType>(values[at].getType()))
        return values[at];
      if (auto pointer = dyn_cast_or_null<memref::ExtractAlignedPointerAsIndexOp>(op))
        return pointer.getSource();
      if (op && isa<arith::AddIOp, arith::IndexCastOp, arith::IndexCastUIOp>(op))
        values.insert_range(op->getOperands());
    }
    return {};
  }

  /// The argument of a kernel that a memref is, or a view of.
  static std::optional<int64_t> argumentOf(Value memory) {
    if (!memory)
      return std::nullopt;
    while (Operation *op = memory.getDefiningOp()) {
      if (!isa<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp,
               memref::TransposeOp, memref::CastOp, memref::ReinterpretCastOp>(op))
        return std::nullopt;
      memory = op->getOperand(0);
    }
    auto argument = cast<BlockArgument>(memory);
    return isa<gpu::GPUFuncOp>(argument.getOwner()->getParentOp())
               ? std::optional<int64_t>(argument.getArgNumber())
               : std::nullopt;
  }

  /// The ways that options name, as planRing reads them.
  NamedAttrList givenWays(gpu::GPUFuncOp kernel) {
    // A single step needs no stage ahead, but the ring has two.
    NamedAttrList given;
    if (restoreLoop(kernel))
      given.append(stagesOf(2));
    if (loads == "plain")
      given.append("loads", Builder(&getContext()).getStringAttr("plain"));
    if (!overlap)
      given.append("overlap", Builder(&getContext()).getBoolAttr(false));
    if (lazy != "auto")
      given.append("lazy", Builder(&getContext()).getBoolAttr(lazy == "true"));
    if (!counter)
      given.append("counter", Builder(&getContext()).getBoolAttr(false));
    return given;
  }

  static void dropPrefetches(gpu::GPUFuncOp kernel) {
    SmallVector<xetile::PrefetchTileOp> prefetches;
    kernel.walk([&](xetile::PrefetchTileOp prefetch) { prefetches.push_back(prefetch); });
    for (xetile::PrefetchTileOp prefetch : prefetches) {
      Operation *tile = prefetch.getTile().getDefiningOp();
      prefetch.erase();
      if (tile && tile->use_empty())
        tile->erase();
    }
  }

  LogicalResult plan(gpu::GPUFuncOp kernel) {
    auto has = [&](auto find) { return kernel.walk(find).wasInterrupted(); };
    if ((has([](xetile::StoreTileOp) { return WalkResult::interrupt(); }) ||
         has([](xetile::StoreScatterOp) { return WalkResult::interrupt(); }) ||
         has([](xetile::AtomicRMWScatterOp) { return WalkResult::interrupt(); })) &&
        !has([](xetile::TileMmaOp) { return WalkResult::interrupt(); }))
      return planThreads(kernel);
    viewArguments(kernel);
    peelMasks(kernel);
    NamedAttrList given = givenWays(kernel);
    if (!given.empty())
      kernel->setAttr(kRingAttr, given.getDictionary(&getContext()));
    FailureOr<RingPlan> plan = planRing(kernel);
    if (failed(plan))
      return failure();
    dropPrefetches(kernel);
    FailureOr<bool> specialized = isSpecialized(*plan);
    if (failed(specialized))
      return failure();
    const xetile::MatmulTiling &tiling = plan->tiling;
    int64_t threads = (tiling.subgroupsM + (*specialized ? 1 : 0)) * kWarpgroup;
    Builder b(&getContext());
    auto number = [&](StringRef name, int64_t value) {
      return b.getNamedAttr(name, b.getI64IntegerAttr(value));
    };
    SmallVector<int64_t> written;
    for (xetile::StoreTileOp store : plan->stores)
      written.push_back(placeOfTile(store, store.getTile())->matrix.getArgNumber());
    SmallVector<int64_t> aligned;
    for (const TilePlace *place : {&plan->a, &plan->b})
      if (place->isPlain && place->unitBytes > plan->inputBytes())
        aligned.append({int64_t(place->matrix.getArgNumber()), place->unitBytes});
    NamedAttrList fields;
    fields.append(stagesOf(plan->stages()));
    fields.append(number("stage_bytes", plan->stageBytes()));
    fields.append(number("shared_bytes", plan->isOnline()
                                             ? onlineSharedBytes(*plan)
                                             : sharedBytes(tiling, plan->inputBytes())));
    fields.append(number("threads", threads));
    fields.append("pipeline", b.getStringAttr(*specialized ? "specialized" : "simple"));
    fields.append("written", b.getDenseI64ArrayAttr(written));
    if (plan->isAllPlain)
      fields.append("loads", b.getStringAttr("plain"));
    for (const TilePlace *place : {&plan->a, &plan->b})
      if (place->window)
        fields.append(number("image", int64_t(place->matrix.getArgNumber())));
    if (plan->isOnline()) {
      fields.append("overlap", b.getBoolAttr(plan->overlaps));
      fields.append("lazy", b.getBoolAttr(plan->isLazy));
      fields.append("counter", b.getBoolAttr(plan->drawsTiles));
    }
    if (!aligned.empty())
      fields.append("aligned", b.getDenseI64ArrayAttr(aligned));
    kernel->setAttr(kRingAttr, fields.getDictionary(&getContext()));
    // A schedule counts 16 lanes for a subgroup; the launch follows the attribute above.
    kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
    return success();
  }
};
} // namespace
