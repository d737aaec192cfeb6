//===- SharedWork.cpp - what subgroups compute of one another's pieces -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/SharedWork.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace xetile {

Type getReductionType(vector::CombiningKind kind, Type element, ArrayRef<int64_t> dims,
                      const Ownership &source) {
  bool rounds = kind == vector::CombiningKind::ADD || kind == vector::CombiningKind::MUL;
  if (rounds && (element.isF16() || element.isBF16()))
    for (int64_t dim : dims)
      if (!source.dims[dim].isWhole())
        return Float32Type::get(element.getContext());
  return element;
}

Value convertFloat(OpBuilder &builder, Location loc, Value value, Type element) {
  Type from = getElementTypeOrSelf(value);
  if (from == element)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), element);
  if (element.getIntOrFloatBitWidth() > from.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

SmallVector<Value> mergePieces(OpBuilder &builder, Location loc, vector::CombiningKind kind,
                               ArrayRef<int64_t> dims, const Ownership &source, ValueRange pieces,
                               Type element) {
  SmallVector<int64_t> rounds = source.rounds(), keptRounds = rounds;
  for (int64_t dim : dims)
    keptRounds[dim] = 1;
  SmallVector<Value> merged(computeProduct(keptRounds));
  unsigned number = 0;
  forEachIndex(rounds, [&](ArrayRef<int64_t> round) {
    SmallVector<int64_t> kept(round);
    for (int64_t dim : dims)
      kept[dim] = 0;
    Value piece = convertFloat(builder, loc, pieces[number++], element);
    Value &all = merged[numberOf(kept, keptRounds)];
    all = all ? vector::makeArithReduction(builder, loc, kind, piece, all) : piece;
  });
  return merged;
}

LogicalResult checkCrossReduction(Operation *op, const CrossReduction &reduction, Type element,
                                  int64_t slmBytes) {
  Type storage = getStorageType(element);
  if (!storage)
    return op->emitOpError("reduces elements of type ")
           << element
           << " over several subgroups, which shared local memory cannot hold; expected integers "
              "of 1, 8, 16, 32 or 64 bits, f16, bf16, f32 or f64";
  if (int64_t bytes = getBufferBytes(reduction.partial.shape(), storage); bytes > slmBytes)
    return emitSlmOverflow(op, bytes, slmBytes);
  return success();
}

LogicalResult checkAllMeet(Operation *op, const Uniformity &uniformity, StringRef ownerships) {
  Operation *parent = uniformity.findDivergentParent(op);
  if (!parent)
    return success();
  InFlightDiagnostic error =
      op->emitOpError("brings elements to other subgroups, which needs a barrier, where not all "
                      "subgroups may meet; expected it outside of branches and loops that depend "
                      "on the subgroup, or ")
      << ownerships << " under which each subgroup has the elements it needs";
  error.attachNote(parent->getLoc()) << "not all subgroups of a workgroup may run this alike";
  return error;
}

SmallVector<Value> updateByFirstOwner(OpBuilder &builder, const ExchangeBuilder &exchange,
                                      SubgroupPlace &place, ScratchMemory &scratch, Location loc,
                                      const Ownership &ownership, ShapedType type, bool isUsed,
                                      function_ref<SmallVector<Value>()> update) {
  Value buffer;
  if (isUsed)
    buffer = scratch.create(builder, loc, type.getShape(), getStorageType(type.getElementType()));
  auto guard = scf::IfOp::create(builder, loc, place.getIsFirstOwner(builder, ownership),
                                 /*withElseRegion=*/false);
  scratch.addGuard(guard);
  {
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(guard.thenBlock());
    SmallVector<Value> before = update();
    if (buffer)
      exchange.store(buffer, ownership, before);
  }
  return buffer ? exchange.load(buffer, ownership, type.getElementType()) : SmallVector<Value>();
}

} // namespace xetile
