//===- LaneFragments.cpp - what each lane holds instead of a value -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: values with xetile.lanes at what defines them. Out: their pieces, and which elements these
// are. Refused: nothing.
#include "xetile/Target/Xe/Lanes/LaneFragments.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace xetile;

bool LaneFragments::isCut(Type type) {
  return isa<VectorType, xegpu::TensorDescType, xegpu::MemDescType, xegpu::NbarrierType>(type);
}

Type LaneFragments::storedType(Type element) {
  if (isa<FloatTF32Type>(element))
    return Float32Type::get(element.getContext());
  if (auto integer = dyn_cast<IntegerType>(element); integer && !integer.isSignless())
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

LaneLayoutAttr LaneFragments::layoutOf(Value value) {
  if (LaneLayoutAttr known = layouts.lookup(value))
    return known;
  ArrayAttr list;
  unsigned number = 0;
  if (auto result = dyn_cast<OpResult>(value)) {
    list = result.getOwner()->getAttrOfType<ArrayAttr>(lanesAttr);
    number = result.getResultNumber();
  } else {
    auto argument = cast<BlockArgument>(value);
    Operation *parent = argument.getOwner()->getParentOp();
    number = argument.getArgNumber();
    if (isa<scf::ForOp>(parent))
      --number;
    bool isBefore = isa<scf::WhileOp>(parent) &&
                    argument.getOwner()->getParent() == &cast<scf::WhileOp>(parent).getBefore();
    list = parent->getAttrOfType<ArrayAttr>(
        isa<FunctionOpInterface>(parent) || isBefore ? laneArgsAttr : lanesAttr);
  }
  LaneLayoutAttr layout;
  if (list && number < list.size())
    layout = dyn_cast<LaneLayoutAttr>(list[number]);
  if (!layout) // made between the passes
    layout = LaneMap::natural(cast<VectorType>(value.getType()).getShape(), lanes)
                 .attr(value.getContext());
  return layouts[value] = layout;
}

const LaneTable &LaneFragments::tableFor(LaneLayoutAttr layout, ArrayRef<int64_t> shape) {
  auto &table = tables[{layout.getAsOpaquePointer(), shape.vec()}];
  if (!table)
    table = std::make_unique<LaneTable>(LaneMap(layout), shape, lanes);
  return *table;
}

const LaneTable &LaneFragments::tableOf(Value value) {
  return tableFor(layoutOf(value), cast<VectorType>(value.getType()).getShape());
}

VectorType LaneFragments::pieceType(Value value) {
  Type element = storedType(cast<VectorType>(value.getType()).getElementType());
  return VectorType::get({LaneMap(layoutOf(value)).numRegisters()}, element);
}

SmallVector<Type> LaneFragments::typesOf(Value value) {
  if (isa<VectorType>(value.getType()))
    return SmallVector<Type>(tableOf(value).pieces, pieceType(value));
  return {value.getType()};
}

void LaneFragments::defineOrReplace(Value value, ArrayRef<Value> made) {
  if (isCut(value.getType()))
    define(value, made);
  else
    value.replaceAllUsesWith(made.front());
}

Values LaneFragments::flatten(ValueRange values) const {
  Values flat;
  for (Value value : values) {
    if (isCut(value.getType()))
      llvm::append_range(flat, piecesOf(value));
    else
      flat.push_back(value);
  }
  return flat;
}

void LaneFragments::cutArguments(Block &block, ArrayRef<SmallVector<Type>> types) {
  SmallVector<BlockArgument> old(block.getArguments());
  for (auto [argument, cut] : llvm::zip_equal(old, types)) {
    Values made;
    for (Type type : cut)
      made.push_back(block.addArgument(type, argument.getLoc()));
    defineOrReplace(argument, made);
  }
}

void LaneFragments::clear() {
  pieces.clear();
  layouts.clear();
  ranks.clear();
  storage.Reset();
}
