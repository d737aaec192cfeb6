//===- LowerMath.cpp - the math dialect by instructions and functions of libm ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: math ops on scalars and vectors, arith on bf16. Out: math ops that are instructions, on f32
// and f64; arith; calls of libmvec for vectors and of libm for scalars. Refused: other than f16,
// bf16, f32 and f64, scalable and huge vectors, ops that a later MLIR adds, functions named as
// libm's.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Cpu/Lowering/ExpandMath.h"
#include "xetile/Target/Cpu/Lowering/InlineMath.h"
#include "xetile/Target/Cpu/Lowering/NarrowFloats.h"
#include "xetile/Target/Cpu/Lowering/VectorBits.h"
#include "xetile/Target/Cpu/Passes.h"
#include "xetile/Target/Host/HostFeatures.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

namespace xetile {
#define GEN_PASS_DEF_LOWERMATH
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Operations with an intrinsic of LLVM that is instructions, on vectors, too.
static bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp, math::RoundOp,
             math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
}

static bool isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 32;
}

/// Of a longer vector a call for each few lanes is no program.
static constexpr int64_t kMaxLanes = 1 << 14;

namespace {

/// Operations that rewrites add are lowered, too.
struct Worklist : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { add(op); }
  void add(Operation *op) {
    if (isa_and_nonnull<math::MathDialect>(op->getDialect()) || computesNarrow(op))
      ops.push_back(op);
  }
  SmallVector<Operation *> ops;
};

struct LowerMath : xetile::impl::LowerMathBase<LowerMath> {
  using LowerMathBase::LowerMathBase;

  void runOnOperation() override;

private:
  LogicalResult check(Operation *op);
  LogicalResult lower(RewriterBase &b, Operation *op);
  void lowerFlat(RewriterBase &b, Operation *op);
  void lowerWide(RewriterBase &b, Operation *op);
  /// `op` on operands of other types, its results converted back by `restore`.
  void onOthers(RewriterBase &b, Operation *op, function_ref<Value(Value)> convert,
                function_ref<Type(Type)> typeOf, function_ref<Value(Value, Type)> restore);
  FailureOr<Value> call(RewriterBase &b, Operation *op, StringRef function, ValueRange operands);
  FailureOr<Value> callOnVectors(RewriterBase &b, Operation *op, StringRef function,
                                 int64_t registerBits);
  FailureOr<Value> callOnLanes(RewriterBase &b, Operation *op, StringRef function);
};

} // namespace

/// Polynomials have more constants than there are registers. LLVM 22 stores those that it spills
/// across lines of the cache unless it is told beforehand to align the stack for them.
static void realignStack(Builder &b, func::FuncOp function) {
  constexpr StringLiteral kList = "passthrough";
  if (!function)
    return;
  SmallVector<Attribute> attributes;
  if (auto known = function->getAttrOfType<ArrayAttr>(kList))
    llvm::append_range(attributes, known);
  StringAttr realign = b.getStringAttr("stackrealign");
  if (llvm::is_contained(attributes, realign))
    return;
  attributes.push_back(realign);
  function->setAttr(kList, b.getArrayAttr(attributes));
}

LogicalResult LowerMath::check(Operation *op) {
  auto types = llvm::concat<Type>(SmallVector<Type>(op->getOperandTypes()),
                                  SmallVector<Type>(op->getResultTypes()));
  for (Type type : types) {
    Type element = getElementTypeOrSelf(type);
    auto vector = dyn_cast<VectorType>(type);
    if ((type != element && !vector) || (vector && vector.isScalable()))
      return op->emitOpError() << "expected scalars or vectors of static size, got " << type;
    if (vector && !isBoundedShape(vector.getShape(), kMaxLanes))
      return op->emitOpError() << "expected vectors of " << kMaxLanes << " lanes at most, got "
                               << type << "; loop over parts of it";
    if (isa<FloatType>(element) &&
        !isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
      return op->emitOpError() << "expected elements of f16, bf16, f32 or f64, got " << element
                               << "; convert them before and after";
  }
  return success();
}

void LowerMath::onOthers(RewriterBase &b, Operation *op, function_ref<Value(Value)> convert,
                         function_ref<Type(Type)> typeOf,
                         function_ref<Value(Value, Type)> restore) {
  b.setInsertionPoint(op);
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), convert);
  SmallVector<Type> types = llvm::map_to_vector(op->getResultTypes(), typeOf);
  Operation *other =
      b.create(op->getLoc(), op->getName().getIdentifier(), operands, types, op->getAttrs());
  SmallVector<Value> results;
  for (auto [old, result] : llvm::zip_equal(op->getResults(), other->getResults()))
    results.push_back(restore(result, old.getType()));
  b.replaceOp(op, results);
}

/// On vectors of one dimension.
void LowerMath::lowerFlat(RewriterBase &b, Operation *op) {
  auto flat = [](Type type) -> Type {
    auto vector = cast<VectorType>(type);
    return VectorType::get({vector.getNumElements()}, vector.getElementType());
  };
  auto reshape = [&](Value value, Type type) -> Value {
    return vector::ShapeCastOp::create(b, op->getLoc(), type, value);
  };
  onOthers(
      b, op, [&](Value value) { return reshape(value, flat(value.getType())); }, flat, reshape);
}

/// In f32.
void LowerMath::lowerWide(RewriterBase &b, Operation *op) {
  Location loc = op->getLoc();
  auto wide = [&](Type type) { return isNarrow(type) ? withElement(type, b.getF32Type()) : type; };
  auto extend = [&](Value value) -> Value {
    if (!isNarrow(value.getType()))
      return value;
    return arith::ExtFOp::create(b, loc, wide(value.getType()), value);
  };
  onOthers(b, op, extend, wide, [&](Value value, Type type) -> Value {
    return value.getType() == type ? value : arith::TruncFOp::create(b, loc, type, value);
  });
}

LogicalResult LowerMath::lower(RewriterBase &b, Operation *op) {
  if (computesNarrow(op)) {
    if (llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>))
      lowerNarrow(b, op);
    return success();
  }
  if (failed(check(op)))
    return failure();
  auto isFlat = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return !vector || vector.getRank() == 1;
  };
  if (!llvm::all_of(op->getOperandTypes(), isFlat)) {
    lowerFlat(b, op);
    return success();
  }
  if (!readsBits(op) && llvm::any_of(op->getOperandTypes(), isNarrow)) {
    lowerWide(b, op);
    return success();
  }
  if (expandMath(b, op) || isInstruction(op))
    return success();
  StringRef function = functionOf(op);
  if (function.empty())
    return op->emitOpError("has no lowering for CPUs: neither an instruction nor a function of "
                           "libm does it; compute it by other ops of math and arith");
  FailureOr<int64_t> bits = vectorBitsFor(op, vectorBits);
  if (failed(bits))
    return failure();
  // AVX2 implies FMA: one rounding, where two would be too many for the polynomials.
  bool hasScale = *bits == 512 && (!hostInstructions || hostFeatures().lookup("avx512f"));
  if (auto function = op->getParentOfType<func::FuncOp>();
      *bits >= 256 && inlineMath(b, op, hasScale)) {
    realignStack(b, function);
    return success();
  }
  b.setInsertionPoint(op);
  bool isVector = isa<VectorType>(op->getResult(0).getType());
  FailureOr<Value> result = !isVector ? call(b, op, function, op->getOperands())
                            : libmvec ? callOnVectors(b, op, function, *bits)
                                      : callOnLanes(b, op, function);
  if (failed(result))
    return failure();
  b.replaceOp(op, *result);
  return success();
}

/// A call of the version of `function` for the operands' type.
FailureOr<Value> LowerMath::call(RewriterBase &b, Operation *op, StringRef function,
                                 ValueRange operands) {
  Type type = operands[0].getType();
  std::string name = function.str() + (getElementTypeOrSelf(type).isF32() ? "f" : "");
  if (auto vector = dyn_cast<VectorType>(type)) {
    // libmvec's names: the registers (xmm, ymm of AVX2, zmm), no mask, lanes, a `v` per operand.
    int64_t bits = vector.getNumElements() * vector.getElementTypeBitWidth();
    StringRef registers = bits == 512 ? "e" : bits == 256 ? "d" : "b";
    name = llvm::formatv("_ZGV{0}N{1}{2}_{3}", registers, vector.getNumElements(),
                         StringRef("vv").take_front(operands.size()), name)
               .str();
  }
  auto kind = b.getFunctionType(operands.getTypes(), type);
  ModuleOp module = getOperation();
  Operation *found = SymbolTable::lookupSymbolIn(module, name);
  auto declared = dyn_cast_or_null<func::FuncOp>(found);
  if (found && (!declared || !declared.isDeclaration() || declared.getFunctionType() != kind)) {
    InFlightDiagnostic error = op->emitOpError()
                               << "calls the library's function @" << name
                               << ", expected no other @" << name << " in the module; rename it";
    error.attachNote(found->getLoc()) << "it is here";
    return error;
  }
  if (!declared) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    declared = func::FuncOp::create(b, op->getLoc(), name, kind);
    declared.setPrivate();
    declared->setAttr(LLVM::LLVMDialect::getReadnoneAttrName(), b.getUnitAttr());
  }
  return func::CallOp::create(b, op->getLoc(), declared, operands).getResult(0);
}

/// One call for each register of lanes; a register that is not full is filled up with the first.
FailureOr<Value> LowerMath::callOnVectors(RewriterBase &b, Operation *op, StringRef function,
                                          int64_t registerBits) {
  Location loc = op->getLoc();
  auto type = cast<VectorType>(op->getResult(0).getType());
  int64_t elementBits = type.getElementTypeBitWidth(), count = type.getNumElements();
  int64_t fits = llvm::PowerOf2Ceil(count * elementBits);
  int64_t lanes = std::clamp<int64_t>(fits, 128, registerBits) / elementBits;
  auto piece = VectorType::get({lanes}, type.getElementType());
  Value result = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  for (int64_t first = 0; first < count; first += lanes) {
    int64_t there = std::min(lanes, count - first);
    SmallVector<int64_t> places(lanes, first);
    std::iota(places.begin(), places.begin() + there, first);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(count == lanes
                             ? operand
                             : vector::ShuffleOp::create(b, loc, piece, operand, operand, places));
    FailureOr<Value> part = call(b, op, function, operands);
    if (failed(part) || count == lanes)
      return part;
    // The lanes of `result`, then those of the part, as far as it counts.
    if (there < lanes) {
      SmallVector<int64_t> kept(there);
      std::iota(kept.begin(), kept.end(), 0);
      auto shorter = VectorType::get({there}, type.getElementType());
      part = vector::ShuffleOp::create(b, loc, shorter, *part, *part, kept).getResult();
    }
    result = vector::InsertStridedSliceOp::create(b, loc, *part, result, ArrayRef<int64_t>{first},
                                                  ArrayRef<int64_t>{1});
  }
  return result;
}

FailureOr<Value> LowerMath::callOnLanes(RewriterBase &b, Operation *op, StringRef function) {
  Location loc = op->getLoc();
  auto type = cast<VectorType>(op->getResult(0).getType());
  Value result = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(vector::ExtractOp::create(b, loc, operand, lane));
    FailureOr<Value> element = call(b, op, function, operands);
    if (failed(element))
      return failure();
    result = vector::InsertOp::create(b, loc, *element, result, lane);
  }
  return result;
}

void LowerMath::runOnOperation() {
  if (vectorBits != 0 && vectorBits != 128 && vectorBits != 256 && vectorBits != 512) {
    getOperation()->emitError() << "vector-bits = " << vectorBits
                                << ": expected 0 (the machine's), 128, 256 or 512";
    return signalPassFailure();
  }
  Worklist worklist;
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    worklist.add(op);
    return WalkResult::advance();
  });
  IRRewriter rewriter(&getContext(), &worklist);
  // The list grows on the way.
  for (size_t next = 0; next < worklist.ops.size(); ++next)
    if (failed(lower(rewriter, worklist.ops[next])))
      return signalPassFailure();
}
