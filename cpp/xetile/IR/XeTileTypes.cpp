//===- XeTileTypes.cpp - syntax and constraints of tiles --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/IR/XeTileTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

#define GET_TYPEDEF_CLASSES
#include "xetile/IR/XeTileTypes.cpp.inc"

void XeTileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "xetile/IR/XeTileTypes.cpp.inc"
      >();
}

bool xetile::isBoundedShape(ArrayRef<int64_t> shape, int64_t most) {
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size) || (size > 0 && elements > most / size))
      return false;
    elements *= size;
  }
  return true;
}

unsigned xetile::memoryBits(Type element) {
  if (isa<FloatTF32Type>(element))
    return 32;
  if (element.isIntOrFloat())
    return element.getIntOrFloatBitWidth();
  if (auto number = dyn_cast<ComplexType>(element))
    return 2 * memoryBits(number.getElementType());
  if (auto vector = dyn_cast<VectorType>(element))
    return llvm::PowerOf2Ceil(vector.getNumElements() * memoryBits(vector.getElementType()));
  if (auto memory = dyn_cast<MemRefType>(element))
    return 64 * (3 + 2 * memory.getRank());
  return 64; // index, pointers
}

static bool isTileElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return llvm::is_contained({8, 16, 32, 64}, integer.getWidth());
  return isa<Float16Type, BFloat16Type, FloatTF32Type, Float32Type, Float64Type>(type);
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType, TileAttr encoding) {
  if (shape.size() != 2) // tile_c1
    return emitError() << "expected a tile of two dimensions, got " << shape.size();
  for (int64_t size : shape)
    if (ShapedType::isDynamic(size) || size < 1) // tile_c1
      return emitError() << "expected the sizes of a tile to be static and positive, got "
                         << (ShapedType::isDynamic(size) ? Twine("?") : Twine(size));
  if (!isBoundedShape(shape)) // tile_c6
    return emitError() << "expected a tile of fewer than 2^31 elements, got " << shape[0] << "x"
                       << shape[1];
  if (!isTileElementType(elementType)) // tile_c2
    return emitError()
           << "expected tile elements of type i8, i16, i32, i64, f16, bf16, tf32, f32 or f64, got "
           << elementType;
  if (!encoding)
    return success();
  WgMapAttr map = encoding.getWgMap();
  if (map && failed(verifyWgMap(map, shape, emitError))) // tile_c3, tile_c4
    return failure();
  for (auto [dim, block] : llvm::enumerate(encoding.getInnerBlocks())) { // tile_c5
    int64_t size = map ? map.getSgData()[dim] : shape[dim];
    if (size % block != 0)
      return emitError() << "expected inner_blocks to divide " << (map ? "sg_data" : "the tile")
                         << " in each dimension, got " << block << " for " << size
                         << " elements in dimension " << dim;
  }
  return success();
}

TileType TileType::withWgMap(WgMapAttr map) const {
  TileAttr encoding = getEncoding() ? getEncoding() : TileAttr::get(getContext(), {});
  return TileType::get(getShape(), getElementType(), encoding.withWgMap(map));
}

VectorType TileType::getVectorType() const {
  ArrayRef<int64_t> blocks = getInnerBlocks(), shape = getShape();
  if (blocks.empty())
    return VectorType::get(shape, getElementType());
  return VectorType::get({shape[0] / blocks[0], shape[1] / blocks[1], blocks[0], blocks[1]},
                         getElementType());
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType();
  if (getEncoding())
    printer << ", " << getEncoding();
  printer << ">";
}

Type TileType::parse(AsmParser &parser) {
  SMLoc start = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type elementType;
  TileAttr encoding;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
      parser.parseType(elementType))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(encoding))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TileType>(start, parser.getContext(), ArrayRef<int64_t>(shape),
                                     elementType, encoding);
}
