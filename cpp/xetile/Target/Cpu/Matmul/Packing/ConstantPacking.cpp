//===- ConstantPacking.cpp - operands packed by the compiler -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: matrices that are constants of the module. Out: constants in the order in which microkernels
// read them, widened where these are. Refused: nothing; constants of other forms are packed at run
// time like other tensors.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "xetile/Target/Cpu/Matmul/Packing/Packing.h"
#include "xetile/Target/Host/Frozen.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace xetile;

static ElementsAttr constantOf(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  return constant ? dyn_cast<ElementsAttr>(constant.getValue()) : ElementsAttr();
}

/// The matrix's bytes, row by row; none if the attribute keeps them in another way.
static ArrayRef<char> bytesOf(ElementsAttr attribute, int64_t width, SmallVector<char> &memory) {
  int64_t size = attribute.getNumElements() * width;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob && static_cast<int64_t>(blob->getData().size()) == size ? blob->getData()
                                                                        : ArrayRef<char>();
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    return {};
  ArrayRef<char> data = dense.getRawData();
  if (!dense.isSplat())
    return static_cast<int64_t>(data.size()) == size ? data : ArrayRef<char>();
  memory.resize(size);
  for (int64_t at = 0; at < size; at += width)
    std::memcpy(&memory[at], data.data(), width);
  return memory;
}

bool xetile::isConstantMatrix(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() != 2 || !type.hasStaticShape() || type.getNumElements() == 0)
    return false;
  unsigned bits = type.getElementTypeBitWidth();
  SmallVector<char> memory;
  ElementsAttr attribute = constantOf(value);
  return attribute && bits % 8 == 0 && !bytesOf(attribute, bits / 8, memory).empty();
}

bool xetile::isKnownMatrix(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return isConstantMatrix(value) || (type && type.getRank() == 2 && isFrozen(value));
}

/// An element's bytes, those of a narrower float as the f32 that it is.
static void copyElement(const char *from, Type type, char *to, Type element) {
  if (type == element) {
    std::memcpy(to, from, type.getIntOrFloatBitWidth() / 8);
    return;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof(bits));
  const APFloat narrow(cast<FloatType>(type).getFloatSemantics(), APInt(16, bits));
  const float wide = narrow.convertToFloat();
  std::memcpy(to, &wide, sizeof(wide));
}

/// A constant of `shape`; `place` tells where an element of the source goes, in elements. The rest
/// is zeros.
static Value permute(OpBuilder &builder, Location loc, Value source, RankedTensorType packedType,
                     function_ref<int64_t(int64_t row, int64_t column)> place) {
  auto type = cast<RankedTensorType>(source.getType());
  int64_t width = type.getElementTypeBitWidth() / 8,
          packedWidth = packedType.getElementTypeBitWidth() / 8;
  SmallVector<char> memory, packed(packedType.getNumElements() * packedWidth, 0);
  ArrayRef<char> bytes = bytesOf(constantOf(source), width, memory);
  for (int64_t row = 0; row < type.getDimSize(0); ++row)
    for (int64_t column = 0; column < type.getDimSize(1); ++column)
      copyElement(&bytes[(row * type.getDimSize(1) + column) * width], type.getElementType(),
                  &packed[place(row, column) * packedWidth], packedType.getElementType());
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::getFromRawBuffer(packedType, packed));
}

Value xetile::packConstantRows(OpBuilder &builder, Location loc, Value source, Type element,
                               int64_t vectorLength) {
  auto type = cast<RankedTensorType>(source.getType());
  int64_t columns = rowScratchColumns(element, type.getDimSize(1), vectorLength);
  return permute(builder, loc, source,
                 RankedTensorType::get({type.getDimSize(0), columns}, element),
                 [&](int64_t row, int64_t column) { return row * columns + column; });
}

Value xetile::packConstantPanels(OpBuilder &builder, Location loc, Value source, Type element,
                                 bool transposed, int64_t panel, const PanelGroups &groups) {
  int64_t group = groups.size;
  auto type = cast<RankedTensorType>(source.getType());
  int64_t k = type.getDimSize(transposed ? 1 : 0), n = type.getDimSize(transposed ? 0 : 1);
  int64_t rows = llvm::alignTo(llvm::divideCeil(k, group), groups.multiple);
  int64_t panels = llvm::divideCeil(n, panel);
  return permute(builder, loc, source,
                 RankedTensorType::get({panels, rows, panel * group}, element),
                 [&](int64_t row, int64_t column) {
                   auto [ki, ni] = transposed ? std::pair(column, row) : std::pair(row, column);
                   int64_t line = ni / panel * rows + ki / group;
                   return (line * panel + ni % panel) * group + ki % group;
                 });
}
