//===- FreePieces.cpp - pieces of what comes from nothing distributed -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/FreePieces.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace xetile;

static Attribute getSlice(DenseElementsAttr dense, ArrayRef<int64_t> whole, VectorType type,
                          ArrayRef<int64_t> start, ArrayRef<int64_t> sizes) {
  auto values = dense.getValues<Attribute>();
  SmallVector<Attribute> slice;
  forEachIndex(sizes, [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> index;
    for (auto [first, number] : llvm::zip_equal(start, at))
      index.push_back(first + number);
    slice.push_back(values[numberOf(index, whole)]);
  });
  return DenseElementsAttr::get(type, slice);
}

/// True if the indices of the subgroup's first pieces equal `first`.
static Value createIsAt(OpBuilder &builder, Location loc, const Ownership &ownership,
                        ArrayRef<int64_t> first, SubgroupPlace &place) {
  Value holds;
  for (auto [dim, number] : llvm::enumerate(first)) {
    Value piece = place.getFirstPiece(builder, ownership, dim);
    if (!piece)
      continue;
    Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, piece,
                                        arith::ConstantIndexOp::create(builder, loc, number));
    holds = holds ? arith::AndIOp::create(builder, loc, holds, equal) : equal;
  }
  return holds;
}

/// Every subgroup selects its slices, of which equal ones are one.
static SmallVector<Value> createSlices(OpBuilder &builder, Location loc, DenseElementsAttr dense,
                                       const Ownership &ownership, VectorType type,
                                       SubgroupPlace &place) {
  SmallVector<int64_t> owners;
  for (const OwnedDim &dim : ownership.dims)
    owners.push_back(dim.owners);
  SmallVector<int64_t> whole = ownership.shape(), sizes = ownership.pieceShape();
  SmallVector<Value> pieces;
  forEachIndex(ownership.rounds(), [&](ArrayRef<int64_t> round) {
    // Which subgroups, by the numbers of their first pieces, have which slice.
    llvm::MapVector<Attribute, SmallVector<SmallVector<int64_t>>> slices;
    forEachIndex(owners, [&](ArrayRef<int64_t> first) {
      SmallVector<int64_t> start;
      for (auto [dim, along] : llvm::enumerate(ownership.dims))
        start.push_back(first[dim] * along.pieceSize + round[dim] * along.roundStride());
      slices[getSlice(dense, whole, type, start, sizes)].push_back(SmallVector<int64_t>(first));
    });
    Value result;
    for (auto &[slice, places] : slices) {
      Value value = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(slice));
      if (!result) {
        result = value;
        continue;
      }
      Value isOwner;
      for (ArrayRef<int64_t> first : places) {
        Value isThis = createIsAt(builder, loc, ownership, first, place);
        isOwner = isOwner ? arith::OrIOp::create(builder, loc, isOwner, isThis) : isThis;
      }
      result = arith::SelectOp::create(builder, loc, isOwner, value, result);
    }
    pieces.push_back(result);
  });
  return pieces;
}

SmallVector<Value> xetile::createFreePieces(OpBuilder &builder, Operation *op,
                                            const Ownership &ownership, VectorType piece,
                                            SubgroupPlace &place) {
  Location loc = op->getLoc();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    if (!dense.isSplat())
      return createSlices(builder, loc, dense, ownership, piece, place);
    Value value = arith::ConstantOp::create(
        builder, loc, cast<SplatElementsAttr>(constant.getValue()).resizeSplat(piece));
    return SmallVector<Value>(ownership.numPieces(), value);
  }
  SmallVector<Value> counts; // of elements that are set
  if (auto mask = dyn_cast<vector::ConstantMaskOp>(op))
    for (int64_t count : mask.getMaskDimSizes())
      counts.push_back(arith::ConstantIndexOp::create(builder, loc, count));
  else if (isa<vector::CreateMaskOp>(op))
    llvm::append_range(counts, op->getOperands());

  SmallVector<Value> pieces;
  forEachIndex(ownership.rounds(), [&](ArrayRef<int64_t> round) {
    if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
      pieces.push_back(vector::BroadcastOp::create(builder, loc, piece, broadcast.getSource()));
      return;
    }
    if (auto poison = dyn_cast<ub::PoisonOp>(op)) {
      pieces.push_back(ub::PoisonOp::create(builder, loc, piece, poison.getValue()));
      return;
    }
    SmallVector<Value> offsets;
    for (auto [dim, along] : llvm::enumerate(ownership.dims))
      offsets.push_back(getValueOrCreateConstantIndexOp(
          builder, loc,
          place.getOffset(builder, loc, ownership, dim, along.pieceSize, round[dim])));
    if (isa<vector::StepOp>(op)) {
      Value step = vector::StepOp::create(builder, loc, piece);
      Value start = vector::BroadcastOp::create(builder, loc, piece, offsets.back());
      pieces.push_back(arith::AddIOp::create(builder, loc, step, start));
      return;
    }
    // As many as reach into the piece.
    SmallVector<Value> rest;
    for (auto [count, offset] :
         llvm::zip_equal(counts, ArrayRef<Value>(offsets).take_back(counts.size())))
      rest.push_back(builder.createOrFold<arith::SubIOp>(loc, count, offset));
    pieces.push_back(vector::CreateMaskOp::create(builder, loc, piece, rest));
  });
  return pieces;
}
