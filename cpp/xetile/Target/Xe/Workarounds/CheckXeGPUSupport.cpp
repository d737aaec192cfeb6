//===- CheckXeGPUSupport.cpp - refuse what upstream's XeGPU passes break on -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeGPU at the level that the option names. Out: the same. Refused: what was not seen to become
// right numbers through upstream's passes behind that level. Goes away with them.
//
// clang-format off
// Known triggers in MLIR 22.1.8 (`to-xevm` is convert-xegpu-to-xevm), and the guard that refuses each:
//
// trigger                                       upstream's pass               what happens                 guard and its message
// --------------------------------------------  ----------------------------  ---------------------------  --------------------------------------
// values of 2^30 elements                       wg-to-sg-distribute           exhausts memory, aborts      checkSizes: "elements together"
// memref of run-time sizes without shape        wg-to-sg-distribute           SIGSEGV                      checkDescriptor: "shape and"
// vector.transpose, shape_cast, reductions      wg-to-sg-distribute           aborts or left behind        checkVectorOp: "elementwise"
// elements i1, i4, f64, i64, index, tf32, si8   to-xevm                       SIGFPE, SIGSEGV, abort       checkElement: "has elements of type"
// 1D tiles of lanes, not of 32-bit elements     (the CPU's driver)            wrong elements               checkRow: "has a 1D tile"
// dpas of f32, f64, i4 or other accumulators    to-xevm                       SIGFPE, SIGSEGV, no builtin  checkDpas: "multiplies"
// offsets at create_nd_tdesc, update_nd_offset  to-xevm                       left behind                  checkDescriptor: "the offsets"
// load_matrix, store_matrix, create_mem_desc    to-xevm                       SIGSEGV, also at run time    checkXeGPUOp: "32 bits"
// named barriers, atomic_rmw                    to-xevm                       left behind                  checkXeGPUOp: "gpu.barrier"
// values of a subgroup at level lane            to-xevm                       error far from the op        checkLoad: "that a lane holds"
//
// Out of reach of any pass: the verifiers of create_nd_tdesc and load_nd with elements of type index
// end the process while the module is read.
// clang-format on
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/TargetAttr.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKXEGPUSUPPORT
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

enum class Level { Workgroup, Lane };

constexpr int64_t lanes = 16;

bool isDistributed(Type type) { return isa<VectorType, xegpu::TensorDescType>(type); }

bool isGlobal(Attribute space) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(space))
    return number.getValue() == 0 || number.getValue() == 1;
  if (auto name = dyn_cast_or_null<gpu::AddressSpaceAttr>(space))
    return name.getValue() == gpu::AddressSpace::Global;
  return !space;
}

bool touchesVectors(Operation *op) {
  auto any = [](auto types) { return llvm::any_of(types, isDistributed); };
  if (any(op->getOperandTypes()) || any(op->getResultTypes()))
    return true;
  return llvm::any_of(op->getRegions(), [&](Region &region) {
    return llvm::any_of(region, [&](Block &block) { return any(block.getArgumentTypes()); });
  });
}

class Checker {
public:
  Checker(Level level, StringRef name) : level(level), name(name) {}

  LogicalResult checkOp(Operation *op) {
    if (failed(checkSizes(op)))
      return failure();
    if (op->getDialect() && op->getDialect()->getNamespace() == "xegpu")
      return checkXeGPUOp(op);
    if (level == Level::Lane)
      return success();
    if (!op->isRegistered())
      return refuse(op) << "expected operations of a dialect that is loaded";
    if (isa<func::CallOp>(op))
      return refuse(op) << "expected calls at level lane, or the function's body here";
    if (isa<gpu::GPUFuncOp, func::FuncOp>(op))
      return touchesVectors(op) ? refuse(op) << "expected a function without vectors as arguments, "
                                                "they have no layout"
                                : success();
    return touchesVectors(op) ? checkVectorOp(op) : success();
  }

private:
  /// Starts the error that says what the level takes.
  InFlightDiagnostic refuse(Operation *op) {
    // What folding made has no place of its own.
    Location place = op->getLoc();
    for (Operation *parent = op->getParentOp(); isa<UnknownLoc>(place) && parent;
         parent = parent->getParentOp())
      place = parent->getLoc();
    InFlightDiagnostic error = emitError(place) << "'" << op->getName() << "' op ";
    error << "has no lowering at level " << name << ": ";
    return error;
  }

  LogicalResult checkSizes(Operation *op);
  LogicalResult checkXeGPUOp(Operation *op);
  LogicalResult checkVectorOp(Operation *op);
  LogicalResult checkDescriptor(xegpu::CreateNdDescOp op);
  LogicalResult checkDpas(xegpu::DpasOp op);
  LogicalResult checkLoad(xegpu::LoadNdOp op);
  template <typename AccessOp> LogicalResult checkAccess(AccessOp op);
  LogicalResult checkTile(Operation *op, xegpu::TensorDescType tile);
  LogicalResult checkRow(Operation *op, xegpu::TensorDescType tile);
  LogicalResult checkElement(Operation *op, Type element);

  Level level;
  StringRef name;
};

/// Upstream cuts a value into pieces one by one. Registers of a subgroup hold 16 KiB at most, and
/// of subgroups there are 32 or 64.
LogicalResult Checker::checkSizes(Operation *op) {
  int64_t most = int64_t(1) << (level == Level::Workgroup ? 21 : 16);
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
        return level == Level::Workgroup
                   ? success()
                   : LogicalResult(refuse(op) << "expected one layout for a value");
      })
      .Case([&](xegpu::FenceOp) { return success(); })
      .Case<xegpu::LoadGatherOp, xegpu::StoreScatterOp, xegpu::PrefetchOp>([&](auto) {
        if (level == Level::Lane)
          return success();
        return LogicalResult(refuse(op) << "expected scattered accesses at level lane, one element "
                                           "of each lane, or memref.load and memref.store there");
      })
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
  if (tile.getRank() == 1 && level == Level::Lane)
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
  if (level == Level::Lane) {
    if (vector.getRank() == 1)
      return success();
    return refuse(op) << "has a value of type " << vector
                      << ", expected the 1D vector that a lane holds";
  }
  if (op.getTranspose() || op.getPacked())
    return refuse(op) << "expected a load without transpose and packed: dpas asks for the layout "
                         "of its operand itself; for B of another order transpose the matrix";
  return success();
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

bool hasOneShape(Operation *op) {
  VectorType first;
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    auto vector = dyn_cast<VectorType>(type);
    if (!vector)
      continue;
    if (first && vector.getShape() != first.getShape())
      return false;
    first = vector;
  }
  return first && first.getRank() <= 3;
}

/// Whether a slice of `size` at `offset` takes whole rows.
bool takesRows(VectorType whole, VectorType part, ArrayAttr strides) {
  return whole.getRank() == 2 && part.getRank() == 2 && whole.getDimSize(1) == part.getDimSize(1) &&
         llvm::all_of(strides.getAsValueRange<IntegerAttr>(), [](APInt s) { return s == 1; });
}

LogicalResult Checker::checkVectorOp(Operation *op) {
  if (isa<scf::ForOp, scf::IfOp, scf::YieldOp, gpu::ReturnOp>(op))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue())
               ? success()
               : LogicalResult(refuse(op) << "expected constants with equal elements");
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    if (hasOneShape(op))
      return success();
    return refuse(op) << "expected vectors of one shape";
  }
  if (auto bitcast = dyn_cast<vector::BitCastOp>(op)) {
    if (bitcast.getSourceVectorType().getShape() == bitcast.getResultVectorType().getShape())
      return success();
    return refuse(op) << "expected elements of one width on both sides: upstream aborts, not in "
                         "every run, where they become narrower or wider; load the type that is "
                         "needed, and for a transposed B transpose the matrix";
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    if (!isa<VectorType>(broadcast.getSourceType()))
      return success();
    return refuse(op) << "expected a broadcast of a scalar";
  }
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    if (takesRows(slice.getSourceVectorType(), cast<VectorType>(slice.getType()),
                  slice.getStrides()))
      return success();
    return refuse(op) << "expected slices of whole rows: lanes share the columns";
  }
  if (auto slice = dyn_cast<vector::InsertStridedSliceOp>(op)) {
    if (takesRows(slice.getDestVectorType(), slice.getSourceVectorType(), slice.getStrides()))
      return success();
    return refuse(op) << "expected slices of whole rows: lanes share the columns";
  }
  if (isa<vector::ExtractOp>(op))
    return refuse(op) << "expected slices by vector.extract_strided_slice";
  return refuse(op) << "expected elementwise operations, slices of rows, scf.for and scf.if on "
                       "vectors";
}

struct CheckXeGPUSupport : xetile::impl::CheckXeGPUSupportBase<CheckXeGPUSupport> {
  using CheckXeGPUSupportBase::CheckXeGPUSupportBase;

  void runOnOperation() override {
    std::optional<Level> found = llvm::StringSwitch<std::optional<Level>>(level)
                                     .Case("workgroup", Level::Workgroup)
                                     .Case("lane", Level::Lane)
                                     .Default(std::nullopt);
    if (!found) {
      getOperation().emitError() << "option level is '" << level << "', expected workgroup or lane";
      return signalPassFailure();
    }
    if (!xetile::findTarget(getOperation()))
      return signalPassFailure();
    Checker checker(*found, level);
    WalkResult result = getOperation().walk([&](Operation *op) {
      return op == getOperation() ? WalkResult::advance() : WalkResult(checker.checkOp(op));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
