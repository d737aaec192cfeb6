//===- Surface.cpp - a tile's matrix as the 2D unit sees it --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an init_tile. Out: its matrix in memory order; whether 2D block messages can access it, or
// code that finds out. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/ToXeGPU/Surface.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "xetile/Target/Xe/KnownMultiple.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xetile {

// The alignment of a message's place in a row, in bytes.
static constexpr int64_t kPlaceBytes = 4;

Surface Surface::of(InitTileOp init) {
  TileType tile = init.getTile().getType();
  SmallVector<OpFoldResult> shape = init.getMixedBaseShape(), strides = init.getMixedBaseStrides();
  if (strides.empty()) {
    auto memref = cast<MemRefType>(init.getSource().getType());
    OpBuilder builder(init);
    for (int64_t stride :
         getMemRefStrides(memref).value_or(SmallVector<int64_t>(2, ShapedType::kDynamic)))
      strides.push_back(ShapedType::isDynamic(stride) ? OpFoldResult()
                                                      : builder.getIndexAttr(stride));
  }
  unsigned slow = tile.isColumnMajor() ? 1 : 0;
  return {init.getSource(),  shape[slow],           shape[1 - slow],     strides[slow],
          strides[1 - slow], tile.getElementType(), tile.isColumnMajor()};
}

SmallVector<Value> Surface::getOperands() const {
  SmallVector<Value> operands{source};
  for (OpFoldResult part : {height, width, pitch, step})
    if (auto value = dyn_cast_if_present<Value>(part))
      operands.push_back(value);
  return operands;
}

namespace {
/// One requirement: decided, or to be tested.
struct Requirement {
  bool isKnown, holds;
};
constexpr Requirement kUnknown{false, false};
Requirement decided(bool holds) { return {true, holds}; }

std::optional<int64_t> getConstant(OpFoldResult part) {
  return part ? getConstantIntValue(part) : std::nullopt;
}
} // namespace

static Requirement checkMultiple(OpFoldResult part, int64_t bytes, uint64_t of) {
  uint64_t known = part ? getKnownMultiple(part) : 1;
  if (known * uint64_t(bytes) % of == 0)
    return decided(true);
  return getConstant(part) ? decided(false) : kUnknown;
}

static Requirement checkRange(OpFoldResult part, int64_t bytes, uint64_t least, uint64_t most) {
  std::optional<int64_t> constant = getConstant(part);
  if (!constant)
    return kUnknown;
  uint64_t extent = llvm::SaturatingMultiply<uint64_t>(*constant, bytes);
  return decided(*constant > 0 && extent >= least && extent <= most);
}

static Requirement checkAddress(Value source, uint64_t align) {
  uint64_t known = isa<MemRefType>(source.getType()) ? getKnownAlignment(source, align)
                                                     : getKnownMultiple(source);
  if (known % align == 0)
    return decided(true);
  // An offset that is all known and does not fit is as good as a constant.
  auto memref = dyn_cast<MemRefType>(source.getType());
  SmallVector<int64_t> strides;
  int64_t offset = ShapedType::kDynamic;
  bool isStatic = memref && !source.getDefiningOp() &&
                  succeeded(memref.getStridesAndOffset(strides, offset)) &&
                  !ShapedType::isDynamic(offset);
  return isStatic || getConstantIntValue(source) ? decided(false) : kUnknown;
}

SurfaceKind Surface::classify(const TargetInfo &target) const {
  const SurfaceLimits &limits = target.surface;
  int64_t bytes = getElementBytes();
  if (bytes == 0)
    return SurfaceKind::Other;
  std::optional<int64_t> knownWidth = getConstant(width), knownPitch = getConstant(pitch);
  bool isUnknown = false;
  for (Requirement requirement :
       {checkRange(width, bytes, limits.minWidthBytes, limits.maxExtent),
        checkMultiple(width, bytes, std::max<int64_t>(kPlaceBytes, bytes)),
        checkRange(height, 1, 1, limits.maxExtent), checkRange(pitch, bytes, 1, limits.maxExtent),
        checkMultiple(pitch, bytes, limits.pitchMultiple),
        knownWidth && knownPitch ? decided(*knownPitch >= *knownWidth)
        : pitch == width         ? decided(true)
                                 : kUnknown,
        getConstant(step) ? decided(getConstant(step) == 1) : kUnknown,
        checkAddress(source, limits.baseAlign)}) {
    if (requirement.isKnown && !requirement.holds)
      return SurfaceKind::Other;
    isUnknown |= !requirement.isKnown;
  }
  return isUnknown ? SurfaceKind::Unknown : SurfaceKind::Block;
}

Surface Surface::withAllParts(OpBuilder &builder, Location loc) const {
  Surface all = *this;
  if (pitch && step && width && height)
    return all;
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, source);
  SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
  if (!pitch)
    all.pitch = strides[isColumnMajor ? 1 : 0];
  if (!step)
    all.step = strides[isColumnMajor ? 0 : 1];
  return all;
}

Value Surface::createAddress(OpBuilder &builder, Location loc) const {
  auto memref = dyn_cast<MemRefType>(source.getType());
  if (!memref)
    return source;
  Type i64 = builder.getI64Type();
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, source);
  if (succeeded(memref.getStridesAndOffset(strides, offset)) && offset != 0) {
    Value elements;
    if (ShapedType::isDynamic(offset))
      elements = memref::ExtractStridedMetadataOp::create(builder, loc, source).getOffset();
    else
      elements = arith::ConstantIndexOp::create(builder, loc, offset);
    Value bytes = arith::ConstantIndexOp::create(builder, loc, getElementBytes());
    start = arith::AddIOp::create(builder, loc, start,
                                  arith::MulIOp::create(builder, loc, elements, bytes));
  }
  return arith::IndexCastOp::create(builder, loc, i64, start);
}

Value Surface::createTest(OpBuilder &builder, Location loc, const TargetInfo &target) const {
  using Predicate = arith::CmpIPredicate;
  const SurfaceLimits &limits = target.surface;
  int64_t bytes = getElementBytes();
  Surface all = withAllParts(builder, loc);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto toBytes = [&](OpFoldResult part) -> Value {
    Value value = getValueOrCreateConstantIndexOp(builder, loc, part);
    return arith::MulIOp::create(builder, loc, value, constant(bytes));
  };
  Value result;
  auto require = [&](Requirement known, Predicate predicate, Value left, Value right) {
    if (known.isKnown)
      return;
    Value holds = arith::CmpIOp::create(builder, loc, predicate, left, right);
    result = result ? arith::AndIOp::create(builder, loc, result, holds).getResult() : holds;
  };
  auto requireMultiple = [&](Requirement known, Value value, int64_t of) {
    if (known.isKnown)
      return;
    Value rest = arith::RemUIOp::create(builder, loc, value, constant(of));
    require(known, Predicate::eq, rest, constant(0));
  };
  int64_t most = int64_t(limits.maxExtent);
  Value widthBytes = toBytes(all.width), pitchBytes = toBytes(all.pitch);
  Value rows = getValueOrCreateConstantIndexOp(builder, loc, all.height);
  Requirement widthRange = checkRange(width, bytes, limits.minWidthBytes, limits.maxExtent);
  require(widthRange, Predicate::uge, widthBytes, constant(limits.minWidthBytes));
  require(widthRange, Predicate::ule, widthBytes, constant(most));
  int64_t widthMultiple = std::max<int64_t>(kPlaceBytes, bytes);
  requireMultiple(checkMultiple(width, bytes, widthMultiple), widthBytes, widthMultiple);
  Requirement heightRange = checkRange(height, 1, 1, limits.maxExtent);
  require(heightRange, Predicate::uge, rows, constant(1));
  require(heightRange, Predicate::ule, rows, constant(most));
  require(checkRange(pitch, bytes, 1, limits.maxExtent), Predicate::ule, pitchBytes,
          constant(most));
  requireMultiple(checkMultiple(pitch, bytes, limits.pitchMultiple), pitchBytes,
                  limits.pitchMultiple);
  if (pitch != width && !(getConstant(width) && getConstant(pitch)))
    require(kUnknown, Predicate::uge, pitchBytes, widthBytes);
  if (!getConstant(step))
    require(kUnknown, Predicate::eq, getValueOrCreateConstantIndexOp(builder, loc, all.step),
            constant(1));
  if (!checkAddress(source, limits.baseAlign).isKnown) {
    Value address = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                               createAddress(builder, loc));
    requireMultiple(kUnknown, address, limits.baseAlign);
  }
  if (!result)
    result = arith::ConstantIntOp::create(builder, loc, 1, 1);
  return result;
}

SurfaceKind classifyPlace(OpFoldResult offset, int64_t elementBytes) {
  Requirement known = checkMultiple(offset, elementBytes, kPlaceBytes);
  return !known.isKnown ? SurfaceKind::Unknown
         : known.holds  ? SurfaceKind::Block
                        : SurfaceKind::Other;
}

Value createPlaceTest(OpBuilder &builder, Location loc, Value offset, int64_t elementBytes) {
  Value multiple = arith::ConstantIndexOp::create(builder, loc, kPlaceBytes / elementBytes);
  Value rest = arith::RemUIOp::create(builder, loc, offset, multiple);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                               arith::ConstantIndexOp::create(builder, loc, 0));
}

} // namespace xetile
