//===- PackBlocks.cpp - copies of a thread's blocks --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: operands of a thread, blocks of it that the loops have come to. Out: copies in scratch
// memory, slices of packed constants. Nothing is refused: the plan says what is copied.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Packing/PackBlocks.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Target/Cpu/Matmul/Packing/Packing.h"

using namespace mlir;
using namespace xetile;

/// Panels of all of B before the loop around the matmul.
static Value packBeforeLoop(OpBuilder &b, Location loc, const DeepTilePlan &plan) {
  const PackingPlan &packing = plan.packing;
  const PackingPlan::Operand &right = packing.operands[1];
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(plan.matmul.op->getParentOp());
  Value matrix = plan.matmul.op->getOperand(1);
  bool transposed = right.dims[0] == kN;
  Index rows = tensor::getMixedSize(b, loc, matrix, 0);
  Index columns = tensor::getMixedSize(b, loc, matrix, 1);
  PackSource source;
  source.inputs = {matrix};
  source.columns = columns;
  source.element = right.element;
  Index k = transposed ? columns : rows, n = transposed ? rows : columns;
  Value scratch =
      createPanelScratch(b, loc, right.element, plan.matmul.extent(kK), plan.matmul.extent(kN),
                         packing.panel, packing.group, packing.vectorLength);
  return packPanels(b, loc, source, k, n, transposed, packing.panelGroups(), scratch,
                    packing.vectorLength);
}

/// All of a frozen operand, in front of what the function does in loops.
static Value packFrozen(OpBuilder &b, Location loc, const DeepTilePlan &plan, unsigned operand) {
  const PackingPlan &packing = plan.packing;
  const PackingPlan::Operand &how = packing.operands[operand];
  Value value = plan.matmul.op->getOperand(operand);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(value.getParentBlock()->findAncestorOpInBlock(*b.getInsertionPoint()));
  auto type = cast<RankedTensorType>(value.getType());
  int64_t length = packing.vectorLength, rows = type.getDimSize(0), columns = type.getDimSize(1);
  PackSource source;
  source.inputs = {value};
  source.columns = b.getIndexAttr(columns);
  source.element = how.element;
  if (operand == 0) {
    Value scratch = createRowScratch(b, loc, how.element, rows, columns, length * packing.group);
    return packRows(b, loc, source, b.getIndexAttr(rows), source.columns, /*offset=*/false, scratch,
                    length * packing.group);
  }
  bool transposed = how.dims[0] == kN;
  int64_t k = transposed ? columns : rows, n = transposed ? rows : columns;
  Value scratch =
      createPanelScratch(b, loc, how.element, k, n, packing.panel, packing.group, length);
  return packPanels(b, loc, source, b.getIndexAttr(k), b.getIndexAttr(n), transposed,
                    packing.panelGroups(), scratch, length);
}

PackedConstants xetile::packConstants(OpBuilder &b, Location loc, const DeepTilePlan &plan) {
  const PackingPlan &packing = plan.packing;
  const PackingPlan::Operand &left = packing.operands[0], &right = packing.operands[1];
  Value leftValue = plan.matmul.op->getOperand(0), rightValue = plan.matmul.op->getOperand(1);
  PackedConstants constants;
  if (left.isConstant)
    constants.a = isConstantMatrix(leftValue)
                      ? packConstantRows(b, loc, leftValue, left.element, packing.vectorLength)
                      : packFrozen(b, loc, plan, 0);
  if (right.isConstant)
    constants.b = isConstantMatrix(rightValue)
                      ? packConstantPanels(b, loc, rightValue, right.element,
                                           /*transposed=*/right.dims[0] == kN, packing.panel,
                                           packing.panelGroups())
                      : packFrozen(b, loc, plan, 1);
  if (right.isBeforeLoop)
    constants.b = packBeforeLoop(b, loc, plan);
  return constants;
}

Scratch xetile::createPackScratch(OpBuilder &b, Location loc, const DeepTilePlan &plan) {
  const PackingPlan &packing = plan.packing;
  const std::array<int64_t, 3> &sizes = plan.blocks.sizes;
  const PackingPlan::Operand &left = packing.operands[0], &right = packing.operands[1];
  int64_t length = packing.vectorLength;
  Scratch scratch;
  if (left.isCopied())
    scratch.a = createRowScratch(b, loc, left.element, sizes[left.dims[0]], sizes[left.dims[1]],
                                 length * packing.group);
  if (right.isCopied() && right.form == BlockForm::Panels)
    scratch.b = createPanelScratch(b, loc, right.element, sizes[kK], sizes[kN], packing.panel,
                                   packing.group, length);
  else if (right.isCopied())
    scratch.b =
        createRowScratch(b, loc, right.element, sizes[right.dims[0]], sizes[right.dims[1]], length);
  if (packing.offsetA)
    scratch.columnSums = createColumnScratch(b, loc, sizes[kN], packing.panel);
  return scratch;
}

/// The block of an operand: a slice, or the slices that it is computed from.
static PackSource sourceOf(const ThreadNest &nest, unsigned operand, const BlockPiece &block) {
  OpBuilder &b = nest.b;
  SmallVector<Index> offsets = nest.space.offsetsAt(block.offsets),
                     sizes = nest.space.sizesOf(block.sizes);
  AffineMap map = nest.map(operand);
  PackSource source;
  source.columns = sizes[map.getDimPosition(1)];
  source.element = nest.plan.packing.operands[operand].element;
  if (Value value = nest.operands.values[operand]) {
    source.inputs = {extractTile(b, nest.loc, value, map, offsets, sizes)};
    return source;
  }
  linalg::GenericOp producer = nest.plan.fusion.producers[operand];
  source.body = producer.getBody();
  // Inputs are indexed by the row and the column of the operand.
  SmallVector<AffineExpr> places(sizes.size(), b.getAffineConstantExpr(0));
  for (unsigned place : {0, 1})
    places[map.getDimPosition(place)] = b.getAffineDimExpr(place);
  for (const IndexedValue &input : nest.operands.produced[operand]) {
    bool isTensor = isa<RankedTensorType>(input.value.getType());
    source.inputs.push_back(
        isTensor ? extractTile(b, nest.loc, input.value, input.map, offsets, sizes) : input.value);
    source.maps.push_back(input.map.replaceDimsAndSymbols(places, {}, 2, 0));
  }
  return source;
}

static Value packBlock(const ThreadNest &nest, unsigned operand, const BlockPiece &block) {
  const PackingPlan &packing = nest.plan.packing;
  const PackingPlan::Operand &how = packing.operands[operand];
  OpBuilder &b = nest.b;
  PackSource source = sourceOf(nest, operand, block);
  Value scratch = operand == 0 ? nest.scratch.a : nest.scratch.b;
  bool offset = operand == 0 && packing.offsetA;
  switch (how.form) {
  case BlockForm::InPlace:
    return {};
  case BlockForm::Rows:
    return packRows(b, nest.loc, source, block.sizes[how.dims[0]], source.columns, offset, scratch,
                    packing.vectorLength * (operand == 0 ? packing.group : 1));
  case BlockForm::RowsFromColumns: {
    // Elements of 32 bits are transposed.
    int64_t group = 32 / nest.plan.matmul.elementType(operand).getIntOrFloatBitWidth();
    return packRowsTransposed(b, nest.loc, source, block.sizes[how.dims[0]],
                              block.sizes[how.dims[1]], group, offset, scratch,
                              packing.vectorLength);
  }
  case BlockForm::Panels:
    return packPanels(b, nest.loc, source, block.sizes[kK], block.sizes[kN],
                      /*transposed=*/how.dims[0] == kN, packing.panelGroups(), scratch,
                      packing.vectorLength);
  }
  llvm_unreachable("all forms are above");
}

static Value sliceConstantA(const ThreadNest &nest, const BlockPiece &block) {
  OpBuilder &b = nest.b;
  SmallVector<Index> offsets, sizes, strides(2, nest.space.one);
  for (MatmulDim dim : nest.plan.packing.operands[0].dims) {
    offsets.push_back(addIndex(b, nest.loc, nest.offsets[dim], block.offsets[dim]));
    // The zeros that fill the last group are part of it.
    const PackingPlan &packing = nest.plan.packing;
    Index size = block.sizes[dim];
    sizes.push_back(
        dim == kM ? size
                  : mulIndex(b, nest.loc, packing.groupsOf(b, nest.loc, size), packing.group));
  }
  return tensor::ExtractSliceOp::create(b, nest.loc, nest.constants.a, offsets, sizes, strides);
}

static Value sliceConstantB(const ThreadNest &nest, const BlockPiece &block) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  int64_t panel = nest.plan.packing.panel, group = nest.plan.packing.group;
  auto type = cast<RankedTensorType>(nest.constants.b.getType());
  Index n = addIndex(b, loc, nest.offsets[kN], block.offsets[kN]);
  Index k = addIndex(b, loc, nest.offsets[kK], block.offsets[kK]);
  SmallVector<Index> offsets = {floorDivIndex(b, loc, n, panel), floorDivIndex(b, loc, k, group),
                                nest.space.zero};
  SmallVector<Index> sizes = {ceilDivIndex(b, loc, block.sizes[kN], panel),
                              nest.plan.packing.groupsOf(b, loc, block.sizes[kK]),
                              b.getIndexAttr(type.getDimSize(2))};
  SmallVector<Index> strides(3, nest.space.one);
  return tensor::ExtractSliceOp::create(b, loc, nest.constants.b, offsets, sizes, strides);
}

BlockPiece xetile::packWhereKnown(const ThreadNest &nest, const BlockPiece &block) {
  const PackingPlan &packing = nest.plan.packing;
  const PackingPlan::Operand &left = packing.operands[0], &right = packing.operands[1];
  BlockPiece packed = block;
  if (!block.packedA && block.known[kM] && block.known[kK] && left.form != BlockForm::InPlace)
    packed.packedA = left.isWhole() ? sliceConstantA(nest, block) : packBlock(nest, 0, block);
  if (block.packedB || !block.known[kN] || !block.known[kK] || right.form == BlockForm::InPlace)
    return packed;
  packed.packedB = right.isWhole() ? sliceConstantB(nest, block) : packBlock(nest, 1, block);
  if (packing.offsetA)
    packed.columnSums =
        sumColumns(nest.b, nest.loc, packed.packedB, block.sizes[kK], block.sizes[kN],
                   nest.plan.matmul.isUnsigned(1), nest.scratch.columnSums, packing.vectorLength);
  return packed;
}
