//===- CheckXeGPUSupport.cpp - refuse lanes that upstream breaks on ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeGPU of what each lane does. Out: the same. Refused: what was not seen to become right
// numbers through upstream's convert-xegpu-to-xevm. Goes away with it.
//
// clang-format off
// Known triggers in MLIR 22.1.8, and the guard that refuses each:
//
// trigger                                       what happens                 guard and its message
// --------------------------------------------  ---------------------------  --------------------------------------
// elements i1, i4, f64, i64, index, tf32, si8   SIGFPE, SIGSEGV, abort       checkElement: "has elements of type"
// 1D tiles of lanes, not of 32-bit elements     wrong elements               checkRow: "has a 1D tile"
// dpas of f32, f64, i4 or other accumulators    SIGFPE, SIGSEGV, no builtin  checkDpas: "multiplies"
// matrices without elements                     SIGSEGV                      checkDescriptor: "with elements"
// offsets at create_nd_tdesc, update_nd_offset  left behind                  checkDescriptor: "the offsets"
// load_matrix, store_matrix, create_mem_desc    SIGSEGV, also at run time    checkXeGPUOp: "32 bits"
// named barriers, atomic_rmw                    left behind                  checkXeGPUOp: "gpu.barrier"
// values of a subgroup at level lane            error far from the op        checkLoad: "that a lane holds"
//
// Out of reach of any pass: the verifiers of create_nd_tdesc and load_nd with elements of type index
// end the process while the module is read.
// clang-format on
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/IR/PlaceOf.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/TargetAttr.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKXEGPUSUPPORT
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

constexpr int64_t lanes = 16;

bool isDistributed(Type type) { return isa<VectorType, xegpu::TensorDescType>(type); }

bool isGlobal(Attribute space) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(space))
    return number.getValue() == 0 || number.getValue() == 1;
  if (auto name = dyn_cast_or_null<gpu::AddressSpaceAttr>(space))
    return name.getValue() == gpu::AddressSpace::Global;
  return !space;
}

class Checker {
public:
  LogicalResult checkOp(Operation *op) {
    if (failed(checkSizes(op)))
      return failure();
    if (op->getDialect() && op->getDialect()->getNamespace() == "xegpu")
      return checkXeGPUOp(op);
    return success();
  }

private:
  /// Starts the error that says what a lane can do.
  InFlightDiagnostic refuse(Operation *op) {
    InFlightDiagnostic error = emitError(xetile::placeOf(op)) << "'" << op->getName() << "' op ";
    error << "has no lowering at level lane: ";
    return error;
  }

  LogicalResult checkSizes(Operation *op);
  LogicalResult checkXeGPUOp(Operation *op);
  LogicalResult checkDescriptor(xegpu::CreateNdDescOp op);
  LogicalResult checkDpas(xegpu::DpasOp op);
  LogicalResult checkLoad(xegpu::LoadNdOp op);
  template <typename AccessOp> LogicalResult checkAccess(AccessOp op);
  LogicalResult checkTile(Operation *op, xegpu::TensorDescType tile);
  LogicalResult checkRow(Operation *op, xegpu::TensorDescType tile);
  LogicalResult checkElement(Operation *op, Type element);
};

/// Registers of a subgroup hold 16 KiB at most.
LogicalResult Checker::checkSizes(Operation *op) {
  constexpr int64_t most = int64_t(1) << 16;
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    if (!isDistributed(type))
      continue;
    int64_t count = 1;
    for (int64_t size : cast<ShapedType>(type).getShape())
      if (llvm::MulOverflow(count, size, count) || count > most)
        return refuse(op) << "has a value of type " << type << ", expected at most " << most
                          << " elements together";
  }
  return success();
}

LogicalResult Checker::checkXeGPUOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](xegpu::CreateNdDescOp create) { return checkDescriptor(create); })
      .Case([&](xegpu::LoadNdOp load) { return checkLoad(load); })
      .Case([&](xegpu::StoreNdOp store) { return checkAccess(store); })
      .Case([&](xegpu::PrefetchNdOp prefetch) { return checkAccess(prefetch); })
      .Case([&](xegpu::DpasOp dpas) { return checkDpas(dpas); })
      .Case([&](xegpu::ConvertLayoutOp) {
        return LogicalResult(refuse(op) << "expected one layout for a value");
      })
      .Case<xegpu::FenceOp, xegpu::LoadGatherOp, xegpu::StoreScatterOp, xegpu::PrefetchOp>(
          [&](auto) { return success(); })
      .Case<xegpu::CreateMemDescOp, xegpu::LoadMatrixOp, xegpu::StoreMatrixOp>([&](auto) {
        return LogicalResult(refuse(op)
                             << "its pointers to shared memory would have 32 bits; expected "
                                "memref.load and memref.store on the memref in shared memory");
      })
      .Case<xegpu::AllocNbarrierOp, xegpu::InitNbarrierOp, xegpu::NbarrierArriveOp,
            xegpu::NbarrierWaitOp>([&](auto) {
        return LogicalResult(refuse(op) << "expected gpu.barrier instead of named barriers");
      })
      .Case<xegpu::UpdateNdOffsetOp, xegpu::UpdateOffsetOp>([&](auto) {
        return LogicalResult(refuse(op) << "expected the offsets on the access, computed by arith");
      })
      .Case([&](xegpu::AtomicRMWOp) {
        return LogicalResult(refuse(op) << "expected memref.atomic_rmw at level lane");
      })
      .Default([&](Operation *) {
        return LogicalResult(refuse(op) << "expected block accesses, dpas and fence");
      });
}

LogicalResult Checker::checkDescriptor(xegpu::CreateNdDescOp op) {
  if (!op.getMixedOffsets().empty())
    return refuse(op) << "expected the offsets on load_nd, store_nd and prefetch_nd";
  auto memref = dyn_cast<MemRefType>(op.getSource().getType());
  if (memref && !memref.hasStaticShape() && op.getShape().empty() && !op.getConstShapeAttr())
    return refuse(op) << "expected shape and strides beside a memref of run-time sizes";
  if (memref && llvm::is_contained(memref.getShape(), 0))
    return refuse(op) << "has a matrix of type " << memref << ", expected one with elements";
  if (memref && !isGlobal(memref.getMemorySpace()))
    return refuse(op) << "has a matrix in memory space " << memref.getMemorySpace()
                      << ", expected one in global memory";
  return checkTile(op, op.getType());
}

LogicalResult Checker::checkElement(Operation *op, Type element) {
  if (element.isF16() || element.isBF16() || element.isF32() || element.isSignlessInteger(8) ||
      element.isSignlessInteger(16) || element.isSignlessInteger(32))
    return success();
  return refuse(op) << "has elements of type " << element
                    << ", expected f16, bf16, f32, i8, i16 or i32";
}

LogicalResult Checker::checkTile(Operation *op, xegpu::TensorDescType tile) {
  if (tile.isScattered())
    return refuse(op) << "has a scattered tile, expected a block";
  if (tile.getMemorySpace() != xegpu::MemorySpace::Global)
    return refuse(op) << "has a tile in shared memory, expected one in global memory";
  if (tile.getRank() == 1)
    return checkRow(op, tile);
  if (tile.getRank() != 2)
    return refuse(op) << "has a tile of " << tile.getRank()
                      << " dimensions, expected 2: write a row of N elements as 1xN";
  if (failed(checkElement(op, tile.getElementType())))
    return failure();
  return success();
}

/// One 1D block message. Of elements other than 32 bits, Intel's CPU driver moves the first lane's
/// alone where nothing else in the kernel tells lanes apart.
LogicalResult Checker::checkRow(Operation *op, xegpu::TensorDescType tile) {
  Type element = tile.getElementType();
  int64_t perLane = tile.getDimSize(0) / lanes;
  if ((element.isF32() || element.isSignlessInteger(32)) && tile.getDimSize(0) % lanes == 0 &&
      (perLane == 2 || perLane == 4 || perLane == 8))
    return success();
  return refuse(op) << "has a 1D tile of " << tile.getDimSize(0) << " " << element
                    << ", expected 32, 64 or 128 elements of f32 or i32; write other rows of N "
                       "elements as 1xN";
}

template <typename AccessOp> LogicalResult Checker::checkAccess(AccessOp op) {
  xegpu::TensorDescType tile = op.getTensorDescType();
  if (failed(checkTile(op, tile)))
    return failure();
  if (op.getMixedOffsets().empty())
    return refuse(op) << "expected the offsets on the access";
  if (!op.getTensorDesc().template getDefiningOp<xegpu::CreateNdDescOp>())
    return refuse(op) << "expected a tile that a create_nd_tdesc of the same function makes, not "
                         "one that a loop or branch carries";
  return success();
}

LogicalResult Checker::checkLoad(xegpu::LoadNdOp op) {
  if (failed(checkAccess(op)))
    return failure();
  auto vector = cast<VectorType>(op.getValue().getType());
  if (vector.getRank() == 1)
    return success();
  return refuse(op) << "has a value of type " << vector
                    << ", expected the 1D vector that a lane holds";
}

LogicalResult Checker::checkDpas(xegpu::DpasOp op) {
  auto a = cast<VectorType>(op.getLhs().getType());
  auto result = cast<VectorType>(op.getResult().getType());
  Type element = a.getElementType(), sum = result.getElementType();
  bool fits = ((element.isF16() || element.isBF16()) && sum.isF32()) ||
              (element.isSignlessInteger(8) && sum.isSignlessInteger(32));
  if (!fits || (op.getAcc() && op.getAcc().getType() != result))
    return refuse(op) << "multiplies " << element << " to " << sum
                      << ", expected (f16, f16) -> f32, (bf16, bf16) -> f32 or (i8, i8) -> i32 "
                         "with an accumulator of the result's type";
  return success();
}

struct CheckXeGPUSupport : xetile::impl::CheckXeGPUSupportBase<CheckXeGPUSupport> {
  using CheckXeGPUSupportBase::CheckXeGPUSupportBase;

  /// The conversion to LLVM's dialect that follows names func, and wants it loaded.
  void getDependentDialects(DialectRegistry &registry) const override {
    CheckXeGPUSupportBase::getDependentDialects(registry);
    registry.insert<func::FuncDialect>();
  }

  void runOnOperation() override {
    if (!xetile::findTarget(getOperation()))
      return signalPassFailure();
    Checker checker;
    WalkResult result = getOperation().walk([&](Operation *op) {
      return op == getOperation() ? WalkResult::advance() : WalkResult(checker.checkOp(op));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
