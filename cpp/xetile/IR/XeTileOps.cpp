//===- XeTileOps.cpp - verifiers and folds of the XeTile operations ---------===//
#include "xetile/IR/XeTileOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "xetile/IR/WgMap.h"

using namespace mlir;
using namespace xetile;

//===----------------------------------------------------------------------===//
// Syntax: `, [rows, columns], [strides]`, or nothing
//===----------------------------------------------------------------------===//

static ParseResult parseBaseDescription(OpAsmParser &parser,
                                        SmallVectorImpl<OpAsmParser::UnresolvedOperand> &shape,
                                        DenseI64ArrayAttr &staticShape,
                                        SmallVectorImpl<OpAsmParser::UnresolvedOperand> &strides,
                                        DenseI64ArrayAttr &staticStrides) {
  if (failed(parser.parseOptionalComma())) {
    staticShape = staticStrides = parser.getBuilder().getDenseI64ArrayAttr({});
    return success();
  }
  return failure(parseDynamicIndexList(parser, shape, staticShape) || parser.parseComma() ||
                 parseDynamicIndexList(parser, strides, staticStrides));
}

static void printBaseDescription(OpAsmPrinter &printer, Operation *op, OperandRange shape,
                                 DenseI64ArrayAttr staticShape, OperandRange strides,
                                 DenseI64ArrayAttr staticStrides) {
  if (!staticShape || staticShape.empty())
    return;
  printer << ", ";
  printDynamicIndexList(printer, op, shape, staticShape);
  printer << ", ";
  printDynamicIndexList(printer, op, strides, staticStrides);
}

#define GET_OP_CLASSES
#include "xetile/IR/XeTileOps.cpp.inc"

/// Checks that a mixed static/dynamic list is consistent and has `expected` elements.
static LogicalResult verifyMixedList(Operation *op, StringRef what, ArrayRef<int64_t> statics,
                                     ValueRange dynamics, size_t expected) {
  if (statics.size() != expected)
    return op->emitOpError("expected ")
           << expected << " " << what << ", rows and columns, got " << statics.size();
  size_t numDynamic = llvm::count_if(statics, ShapedType::isDynamic);
  if (numDynamic != dynamics.size())
    return op->emitOpError("expected one operand for each of the ")
           << numDynamic << " dynamic " << what << ", got " << dynamics.size();
  return success();
}

/// Folds operands of a mixed list that are constants. Returns true on change.
static bool foldMixedList(ArrayRef<Attribute> constants, ArrayRef<int64_t> statics,
                          MutableOperandRange dynamics, SmallVectorImpl<int64_t> &newStatics) {
  SmallVector<Value> remaining;
  unsigned next = 0;
  for (int64_t value : statics) {
    if (ShapedType::isDynamic(value)) {
      auto constant = dyn_cast_or_null<IntegerAttr>(constants[next]);
      // The marker of a dynamic value cannot be written as a static one.
      if (constant && !ShapedType::isDynamic(constant.getInt()))
        value = constant.getInt();
      else
        remaining.push_back(dynamics[next].get());
      ++next;
    }
    newStatics.push_back(value);
  }
  if (remaining.size() == dynamics.size())
    return false;
  dynamics.assign(remaining);
  return true;
}

//===----------------------------------------------------------------------===//
// init_tile
//===----------------------------------------------------------------------===//

void InitTileOp::build(OpBuilder &builder, OperationState &state, Type tile, Value source,
                       ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> baseShape,
                       ArrayRef<OpFoldResult> baseStrides) {
  SmallVector<int64_t> staticOffsets, staticShape, staticStrides;
  SmallVector<Value> dynamicOffsets, dynamicShape, dynamicStrides;
  dispatchIndexOpFoldResults(offsets, dynamicOffsets, staticOffsets);
  dispatchIndexOpFoldResults(baseShape, dynamicShape, staticShape);
  dispatchIndexOpFoldResults(baseStrides, dynamicStrides, staticStrides);
  build(builder, state, tile, source, dynamicOffsets, dynamicShape, dynamicStrides,
        builder.getDenseI64ArrayAttr(staticOffsets), builder.getDenseI64ArrayAttr(staticShape),
        builder.getDenseI64ArrayAttr(staticStrides));
}

SmallVector<OpFoldResult> InitTileOp::getMixedOffsets() {
  return getMixedValues(getStaticOffsets(), getOffsets(), getContext());
}

SmallVector<OpFoldResult> InitTileOp::getMixedBaseShape() {
  if (auto memref = dyn_cast<MemRefType>(getSource().getType()); memref && memref.hasStaticShape())
    return getMixedValues(memref.getShape(), ValueRange(), getContext());
  return getMixedValues(getStaticBaseShape(), getBaseShape(), getContext());
}

SmallVector<OpFoldResult> InitTileOp::getMixedBaseStrides() {
  auto memref = dyn_cast<MemRefType>(getSource().getType());
  if (!memref || !memref.hasStaticShape())
    return getMixedValues(getStaticBaseStrides(), getBaseStrides(), getContext());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return {};
  return getMixedValues(strides, ValueRange(), getContext());
}

LogicalResult InitTileOp::verify() {
  TileType tile = getTile().getType();
  if (failed(
          verifyMixedList(*this, "offsets", getStaticOffsets(), getOffsets(), 2))) // init_tile_c1
    return failure();

  auto memref = dyn_cast<MemRefType>(getSource().getType());
  if (memref && memref.getElementType() != tile.getElementType()) // init_tile_c2
    return emitOpError("expected a memref with the tile's element type ")
           << tile.getElementType() << ", got " << memref;

  // The stride of the fastest-changing dimension, if it is known.
  unsigned fastest = tile.isColumnMajor() ? 0 : 1;
  int64_t fastestStride = ShapedType::kDynamic;
  if (memref && memref.hasStaticShape()) {
    if (!getStaticBaseShape().empty() || !getStaticBaseStrides().empty()) // init_tile_c4
      return emitOpError(
          "takes no base shape and strides for a memref of static shape, whose own are used");
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memref.getStridesAndOffset(strides, offset)))
      return emitOpError("expected a strided memref, got ") << memref;
    fastestStride = strides[fastest];
    if (ShapedType::isDynamic(fastestStride)) // init_tile_c5
      return emitOpError("expected a static stride of 1 in dimension ")
             << fastest << ", got " << memref;
  } else {
    if (getStaticBaseShape().empty() || getStaticBaseStrides().empty()) // init_tile_c3
      return emitOpError("expected base shape and strides after the offsets, as in '%base[0, 0], "
                         "[%rows, %columns], "
                         "[%pitch, 1]', for ")
             << (memref ? "a memref of dynamic shape" : "an address");
    if (failed(verifyMixedList(*this, "base sizes", getStaticBaseShape(), getBaseShape(), 2)) ||
        failed(verifyMixedList(*this, "base strides", getStaticBaseStrides(), getBaseStrides(), 2)))
      return failure();
    for (auto [what, values] :
         {std::pair("sizes", getStaticBaseShape()), std::pair("strides", getStaticBaseStrides())})
      for (int64_t value : values)
        if (!ShapedType::isDynamic(value) && value < 1) // init_tile_c6
          return emitOpError("expected base ") << what << " to be positive, got " << value;
    fastestStride = getStaticBaseStrides()[fastest];
  }
  if (!ShapedType::isDynamic(fastestStride) && fastestStride != 1) // init_tile_c5
    return emitOpError("expected stride 1 in dimension ")
           << fastest << ", the fastest-changing one of a "
           << (tile.isColumnMajor() ? "column" : "row") << "-major tile, got " << fastestStride
           << "; order = " << (tile.isColumnMajor() ? "[1, 0]" : "[0, 1]")
           << " describes the other layout";
  return success();
}

OpFoldResult InitTileOp::fold(FoldAdaptor adaptor) {
  SmallVector<int64_t> offsets, shape, strides;
  bool changed =
      foldMixedList(adaptor.getOffsets(), getStaticOffsets(), getOffsetsMutable(), offsets);
  changed |=
      foldMixedList(adaptor.getBaseShape(), getStaticBaseShape(), getBaseShapeMutable(), shape);
  changed |= foldMixedList(adaptor.getBaseStrides(), getStaticBaseStrides(),
                           getBaseStridesMutable(), strides);
  if (!changed)
    return {};
  setStaticOffsets(offsets);
  setStaticBaseShape(shape);
  setStaticBaseStrides(strides);
  return getResult();
}

//===----------------------------------------------------------------------===//
// update_tile_offset
//===----------------------------------------------------------------------===//

void UpdateTileOffsetOp::build(OpBuilder &builder, OperationState &state, Value tile,
                               ArrayRef<OpFoldResult> deltas) {
  SmallVector<int64_t> staticDeltas;
  SmallVector<Value> dynamicDeltas;
  dispatchIndexOpFoldResults(deltas, dynamicDeltas, staticDeltas);
  build(builder, state, tile.getType(), tile, dynamicDeltas,
        builder.getDenseI64ArrayAttr(staticDeltas));
}

SmallVector<OpFoldResult> UpdateTileOffsetOp::getMixedDeltas() {
  return getMixedValues(getStaticDeltas(), getDeltas(), getContext());
}

LogicalResult UpdateTileOffsetOp::verify() {
  return verifyMixedList(*this, "deltas", getStaticDeltas(), getDeltas(),
                         2); // update_tile_offset_c1
}

OpFoldResult UpdateTileOffsetOp::fold(FoldAdaptor adaptor) {
  if (llvm::all_of(getStaticDeltas(), [](int64_t delta) { return delta == 0; }))
    return getTile();
  SmallVector<int64_t> deltas;
  if (!foldMixedList(adaptor.getDeltas(), getStaticDeltas(), getDeltasMutable(), deltas))
    return {};
  setStaticDeltas(deltas);
  return getResult();
}

//===----------------------------------------------------------------------===//
// load_tile, store_tile, prefetch_tile
//===----------------------------------------------------------------------===//

static LogicalResult verifyVectorOfTile(Operation *op, VectorType vector, TileType tile) {
  if (vector != tile.getVectorType())
    return op->emitOpError("expected a vector of the tile's shape and element type, ")
           << tile.getVectorType() << ", got " << vector;
  return success();
}

LogicalResult LoadTileOp::verify() {
  auto vector = cast<VectorType>(getValue().getType());
  if (failed(verifyVectorOfTile(*this, vector, getTile().getType()))) // load_tile_c1
    return failure();
  if (getPadding() && getPadding()->getType() != vector.getElementType()) // load_tile_c2
    return emitOpError("expected padding of the element type ")
           << vector.getElementType() << ", got " << getPadding()->getType();
  return success();
}

bool LoadTileOp::hasZeroPadding() {
  if (!getPadding())
    return true;
  if (auto value = dyn_cast<FloatAttr>(*getPadding()))
    return value.getValue().isPosZero();
  if (auto value = dyn_cast<IntegerAttr>(*getPadding()))
    return value.getValue().isZero();
  return false;
}

LogicalResult StoreTileOp::verify() {
  return verifyVectorOfTile(*this, cast<VectorType>(getValue().getType()),
                            getTile().getType()); // store_tile_c1
}

namespace {
/// What a prefetch changes: no value, so that loads and stores may move across it.
struct CacheResource : SideEffects::Resource::Base<CacheResource> {
  StringRef getName() override { return "XeTileCache"; }
};
} // namespace

void PrefetchTileOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), CacheResource::get());
}

//===----------------------------------------------------------------------===//
// tile_mma
//===----------------------------------------------------------------------===//

/// True for the combinations of constraint tile_mma_c4.
static bool isMmaTypeCombination(Type a, Type b, Type result) {
  if (isa<Float16Type>(a) || isa<BFloat16Type>(a))
    return a == b && (result.isF32() || result == a);
  if (isa<Float32Type, FloatTF32Type>(a))
    return a == b && result.isF32();
  return a.isInteger(8) && b.isInteger(8) && result.isInteger(32);
}

LogicalResult TileMmaOp::verify() {
  auto a = cast<VectorType>(getA().getType()), b = cast<VectorType>(getB().getType());
  auto result = cast<VectorType>(getResult().getType());
  if (a.getDimSize(1) != b.getDimSize(0)) // tile_mma_c1
    return emitOpError("expected as many columns of a as rows of b, got ")
           << a.getDimSize(1) << " and " << b.getDimSize(0);
  if (result.getDimSize(0) != a.getDimSize(0) ||
      result.getDimSize(1) != b.getDimSize(1)) // tile_mma_c2
    return emitOpError("expected a result of shape ")
           << a.getDimSize(0) << "x" << b.getDimSize(1) << " (rows of a, columns of b), got "
           << result.getDimSize(0) << "x" << result.getDimSize(1);
  if (getC() && getC().getType() != result) // tile_mma_c3
    return emitOpError("expected c to have the result's type ")
           << result << ", got " << getC().getType();
  if (!isMmaTypeCombination(a.getElementType(), b.getElementType(),
                            result.getElementType())) // tile_mma_c4
    return emitOpError(
               "expected element types (f16, f16) -> f32 or f16, (bf16, bf16) -> f32 or bf16, "
               "(f32, f32) or (tf32, tf32) -> f32, or (i8, i8) -> i32, got (")
           << a.getElementType() << ", " << b.getElementType() << ") -> "
           << result.getElementType();
  if (getWgMapAttr()) // tile_mma_c5
    return verifyWgMap(getWgMapAttr(), result.getShape(), [&] { return emitOpError("wg_map: "); });
  return success();
}
