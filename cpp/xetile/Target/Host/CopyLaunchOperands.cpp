//===- CopyLaunchOperands.cpp - host buffers to the device and back ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: synchronous gpu.launch_func with memrefs in host memory. Out: the same on device copies,
// which launches with nothing of the host's between them share; memory for results, which has no
// contents yet, is not copied there; copies of a device's memory are gpu.memcpy. Refused: unranked
// memrefs; launches that take or give async tokens; memory of the device that the host reads.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Target/Host/DeviceMemory.h"
#include "xetile/Target/Host/KernelEffects.h"
#include "xetile/Target/Host/LaunchOperands.h"
#include "xetile/Target/Host/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace xetile {
#define GEN_PASS_DEF_COPYLAUNCHOPERANDS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// One host buffer and its copy on the device.
struct Buffer {
  bool written = false;
  Value host;       // what gpu.memcpy takes on either side
  Value device;     // the allocation
  Value deviceRoot; // of the root's type
};

/// Launches of one block, one after the other, and what they take of the host's memory.
struct Run {
  SmallVector<gpu::LaunchFuncOp> launches;
  llvm::MapVector<Value, Buffer> buffers;
  /// Operands that are in these, by the launch.
  SmallVector<std::pair<OpOperand *, ViewChain>> views;
};

/// True if `base` is a result buffer that is not written before `first`.
bool hasNoContents(Value base, gpu::LaunchFuncOp first) {
  auto argument = dyn_cast<BlockArgument>(base);
  auto func = first->getParentOfType<func::FuncOp>();
  if (!argument || !func || argument.getOwner() != &func.getBody().front() ||
      first->getBlock() != argument.getOwner() ||
      !func.getArgAttr(argument.getArgNumber(), xetile::kResultAttr))
    return false;
  SmallVector<Value> open{base};
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      Operation *here = argument.getOwner()->findAncestorOpInBlock(*user);
      if (here == user && isa<ViewLikeOpInterface>(user))
        llvm::append_range(open, user->getResults());
      else if (!here || here->isBeforeInBlock(first))
        return false;
    }
  return true;
}

struct CopyLaunchOperands : xetile::impl::CopyLaunchOperandsBase<CopyLaunchOperands> {
  using CopyLaunchOperandsBase::CopyLaunchOperandsBase;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(copyOnDevice(func)))
        return signalPassFailure();
    SmallVector<Run> runs;
    getOperation().walk([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          findRuns(block, runs);
      return WalkResult::advance();
    });
    SymbolTableCollection symbols;
    for (Run &run : runs)
      if (failed(copyOperands(run, symbols)))
        return signalPassFailure();
    getOperation().walk([](func::FuncOp func) {
      for (unsigned number : llvm::seq(func.getNumArguments()))
        for (StringRef attribute : {kResultAttr, kOnDeviceAttr})
          func.removeArgAttr(number, attribute);
    });
  }

private:
  static LogicalResult copyOnDevice(func::FuncOp func);
  static void findRuns(Block &block, SmallVector<Run> &runs);
  LogicalResult collect(gpu::LaunchFuncOp launch, Run &run, SymbolTableCollection &symbols);
  LogicalResult copyOperands(Run &run, SymbolTableCollection &symbols);
  void copyIn(ImplicitLocOpBuilder &builder, Value root, Buffer &buffer, bool hasContents);
};

/// Copies to and from the caller's memory of the device are the device's. Nothing else of the
/// host's may read or write that.
LogicalResult CopyLaunchOperands::copyOnDevice(func::FuncOp func) {
  SmallVector<Value> open;
  for (BlockArgument argument : func.getArguments())
    if (func.getArgAttr(argument.getArgNumber(), kOnDeviceAttr))
      open.push_back(argument);
  SmallVector<memref::CopyOp> copies;
  while (!open.empty()) {
    Value memory = open.pop_back_val();
    for (Operation *user : memory.getUsers()) {
      if (auto copy = dyn_cast<memref::CopyOp>(user)) {
        if (!llvm::is_contained(copies, copy))
          copies.push_back(copy);
      } else if (isa<ViewLikeOpInterface, memref::ExtractStridedMetadataOp>(user)) {
        llvm::append_range(open, user->getResults());
      } else if (!isa<gpu::LaunchFuncOp, gpu::MemcpyOp, memref::DimOp>(user)) {
        InFlightDiagnostic error = user->emitOpError("reads or writes memory of the device on the "
                                                     "host, expected launches and copies only");
        error.attachNote(memory.getLoc()) << "the memory, which is " << kOnDeviceAttr;
        return error;
      }
    }
  }
  for (memref::CopyOp copy : copies) {
    OpBuilder builder(copy);
    gpu::MemcpyOp::create(builder, copy.getLoc(), TypeRange(), ValueRange(), copy.getTarget(),
                          copy.getSource());
    copy.erase();
  }
  return success();
}

/// True if `op` has no side effects on host memory: launches before and behind it may share
/// copies.
bool leavesMemoryAlone(Operation *op) {
  return isa<gpu::AllocOp, gpu::DeallocOp>(op) || isMemoryEffectFree(op);
}

void CopyLaunchOperands::findRuns(Block &block, SmallVector<Run> &runs) {
  Run run;
  auto end = [&] {
    if (!run.launches.empty())
      runs.push_back(std::move(run));
    run = Run();
  };
  for (Operation &op : block) {
    auto launch = dyn_cast<gpu::LaunchFuncOp>(op);
    if (!launch) {
      if (!leavesMemoryAlone(&op))
        end();
      continue;
    }
    // Buffers that are copied before the first launch must dominate it.
    if (!run.launches.empty())
      for (Value operand : launch.getKernelOperands())
        if (isa<MemRefType>(operand.getType())) {
          ViewChain chain;
          Value root = findRoot(operand, chain);
          Operation *made = root.getDefiningOp();
          if (!isDeviceMemory(root) && made && made->getBlock() == &block &&
              run.launches.front()->isBeforeInBlock(made)) {
            end();
            break;
          }
        }
    run.launches.push_back(launch);
  }
  end();
}

/// Number of elements from the base pointer to the last element that the memref reaches.
Value reach(ImplicitLocOpBuilder &builder, memref::ExtractStridedMetadataOp metadata) {
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value last = metadata.getOffset();
  Value empty = arith::ConstantIntOp::create(builder, 0, 1);
  for (auto [size, stride] : llvm::zip_equal(metadata.getSizes(), metadata.getStrides())) {
    Value steps = arith::SubIOp::create(builder, size, one);
    Value step = arith::MulIOp::create(builder, steps, stride);
    // A negative stride leads back towards the base.
    last = arith::AddIOp::create(builder, last, arith::MaxSIOp::create(builder, step, zero));
    Value none = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, size, zero);
    empty = arith::OrIOp::create(builder, empty, none);
  }
  Value count = arith::AddIOp::create(builder, last, one);
  return arith::SelectOp::create(builder, empty, zero, count);
}

void CopyLaunchOperands::copyIn(ImplicitLocOpBuilder &builder, Value root, Buffer &buffer,
                                bool hasContents) {
  auto type = cast<MemRefType>(root.getType());
  auto alloc = [&](MemRefType allocated, ValueRange sizes) {
    return gpu::AllocOp::create(builder, allocated, /*asyncToken=*/Type(),
                                /*asyncDependencies=*/ValueRange(), sizes,
                                /*symbolOperands=*/ValueRange())
        .getMemref();
  };
  if (type.getLayout().isIdentity()) {
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        sizes.push_back(memref::DimOp::create(builder, root, dim));
    buffer.host = root;
    buffer.device = buffer.deviceRoot = alloc(type, sizes);
  } else {
    // gpu.memcpy lowers for contiguous buffers without an offset only: copy everything from the
    // base pointer on.
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, root);
    auto flat = MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                                MemRefLayoutAttrInterface(), type.getMemorySpace());
    OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
    Value count = reach(builder, metadata);
    buffer.host = memref::ReinterpretCastOp::create(builder, flat, metadata.getBaseBuffer(), zero,
                                                    ArrayRef<OpFoldResult>{count},
                                                    ArrayRef<OpFoldResult>{one});
    buffer.device = alloc(flat, count);
    buffer.deviceRoot = memref::ReinterpretCastOp::create(
        builder, type, buffer.device, metadata.getConstifiedMixedOffset(),
        metadata.getConstifiedMixedSizes(), metadata.getConstifiedMixedStrides());
  }
  if (!hasContents)
    return;
  gpu::MemcpyOp::create(builder, /*asyncToken=*/TypeRange(), /*asyncDependencies=*/ValueRange(),
                        buffer.device, buffer.host);
  ++numCopiesIn;
}

/// Adds what `launch` takes of the host's memory to `run`.
LogicalResult CopyLaunchOperands::collect(gpu::LaunchFuncOp launch, Run &run,
                                          SymbolTableCollection &symbols) {
  Operation *kernel = symbols.lookupNearestSymbolFrom(launch, launch.getKernel());
  bool takesHostMemory = false;
  for (auto [index, operand] : llvm::enumerate(launch.getKernelOperandsMutable())) {
    if (isa<UnrankedMemRefType>(operand.get().getType()))
      return launch.emitOpError() << "operand #" << index
                                  << " of the kernel is an unranked memref, "
                                  << "expected a ranked one: cast it before the launch";
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    ViewChain chain;
    Value root = findRoot(operand.get(), chain);
    if (isDeviceMemory(root))
      continue;
    if (!cast<MemRefType>(root.getType()).isStrided())
      return launch.emitOpError() << "operand #" << index << " of the kernel is a view of "
                                  << root.getType() << ", expected a strided memref";
    takesHostMemory = true;
    run.buffers[root].written |= xetile::kernelMayWrite(kernel, index);
    run.views.push_back({&operand, chain});
  }
  if (takesHostMemory && (launch.getAsyncToken() || !launch.getAsyncDependencies().empty()))
    return launch.emitOpError(
        "is asynchronous and takes host memory, expected a synchronous launch "
        "or operands from gpu.alloc");
  return success();
}

LogicalResult CopyLaunchOperands::copyOperands(Run &run, SymbolTableCollection &symbols) {
  for (gpu::LaunchFuncOp launch : run.launches)
    if (failed(collect(launch, run, symbols)))
      return failure();
  if (run.buffers.empty())
    return success();
  gpu::LaunchFuncOp first = run.launches.front(), last = run.launches.back();
  llvm::SmallDenseMap<Value, unsigned> parts;
  for (auto &[root, buffer] : run.buffers)
    ++parts[findBase(root)];
  for (auto &[root, buffer] : run.buffers)
    if (buffer.written && parts[findBase(root)] > 1) {
      if (run.launches.size() > 1) {
        // One by one they may see the buffer as a whole.
        for (gpu::LaunchFuncOp launch : run.launches) {
          Run alone;
          alone.launches.push_back(launch);
          if (failed(copyOperands(alone, symbols)))
            return failure();
        }
        return success();
      }
      return first.emitOpError()
             << "writes to " << root.getType() << ", one of several "
             << "memref.reinterpret_casts of a buffer: copies of them would not "
             << "alias, expected memref.subview or gpu.alloc";
    }

  ImplicitLocOpBuilder builder(first.getLoc(), first);
  for (auto &[root, buffer] : run.buffers)
    copyIn(builder, root, buffer, !hasNoContents(findBase(root), first));
  IRMapping mapping;
  for (auto &[root, buffer] : run.buffers)
    mapping.map(root, buffer.deviceRoot);
  for (auto &[operand, chain] : run.views)
    setRoot(*operand, chain, mapping);
  builder.setInsertionPointAfter(last);
  for (auto &[root, buffer] : run.buffers) {
    if (buffer.written) {
      gpu::MemcpyOp::create(builder, TypeRange(), ValueRange(), buffer.host, buffer.device);
      ++numCopiesOut;
    }
  }
  for (auto &[root, buffer] : run.buffers)
    gpu::DeallocOp::create(builder, TypeRange(), ValueRange(), buffer.device);
  return success();
}

} // namespace
