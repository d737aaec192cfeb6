//===- LaneStructural.cpp - operations that move elements of vectors ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: transposes, broadcasts, casts, slices and their like. Out: elements gathered from where the
// operand's lanes hold them. Refused: positions known at run time only, of more than one element.
#include "xetile/IR/XeTileOps.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xetile;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<VectorType>(value.getType()).getShape();
}

LogicalResult LaneLowering::lowerStructural(Operation *op) {
  // One result from one or two operands, by position.
  auto moveElements = [&](Value result, ArrayRef<Value> operands, ElementMap map) {
    SmallVector<Source> sources;
    for (Value operand : operands)
      sources.push_back(sourceOf(operand));
    define(result, gather(pieceType(result), tableOf(result), sources, map));
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ConvertLanesOp, xegpu::ConvertLayoutOp>([&](auto convert) {
        return moveElements(convert.getResult(), {convert.getSource()},
                            [](int64_t element) { return std::pair(0u, element); });
      })
      .Case([&](vector::ShapeCastOp cast) {
        return moveElements(cast.getResult(), {cast.getSource()},
                            [](int64_t element) { return std::pair(0u, element); });
      })
      .Case([&](vector::TransposeOp transpose) {
        ArrayRef<int64_t> to = shapeOf(transpose.getResult()),
                          from = shapeOf(transpose.getVector());
        return moveElements(transpose.getResult(), {transpose.getVector()}, [&](int64_t element) {
          LaneMap::Shape at = unravel(element, to), source(from.size());
          for (auto [dim, permuted] : llvm::enumerate(transpose.getPermutation()))
            source[permuted] = at[dim];
          return std::pair(0u, ravel(source, from));
        });
      })
      .Case([&](vector::BroadcastOp broadcast) {
        ArrayRef<int64_t> to = shapeOf(broadcast.getVector()),
                          from = shapeOf(broadcast.getSource());
        return moveElements(broadcast.getVector(), {broadcast.getSource()}, [&](int64_t element) {
          LaneMap::Shape at = unravel(element, to), source;
          for (auto [place, size] : llvm::zip_equal(ArrayRef(at).take_back(from.size()), from))
            source.push_back(size == 1 ? 0 : place);
          return std::pair(0u, ravel(source, from));
        });
      })
      .Case([&](vector::ExtractStridedSliceOp slice) {
        ArrayRef<int64_t> to = shapeOf(slice.getResult()), from = shapeOf(slice.getSource());
        SmallVector<int64_t> offsets;
        slice.getOffsets(offsets);
        offsets.resize(from.size(), 0);
        return moveElements(slice.getResult(), {slice.getSource()}, [&](int64_t element) {
          LaneMap::Shape at = unravel(element, to);
          for (auto [place, offset] : llvm::zip_equal(at, offsets))
            place += offset;
          return std::pair(0u, ravel(at, from));
        });
      })
      .Case([&](vector::InsertStridedSliceOp insert) {
        ArrayRef<int64_t> to = shapeOf(insert.getResult()),
                          from = shapeOf(insert.getValueToStore());
        SmallVector<int64_t> offsets;
        for (Attribute offset : insert.getOffsets())
          offsets.push_back(cast<IntegerAttr>(offset).getInt());
        SmallVector<int64_t> sizes(to.size() - from.size(), 1);
        llvm::append_range(sizes, from);
        return moveElements(
            insert.getResult(), {insert.getValueToStore(), insert.getDest()}, [&](int64_t element) {
              LaneMap::Shape at = unravel(element, to);
              for (auto [place, offset, size] : llvm::zip_equal(at, offsets, sizes)) {
                place -= offset;
                if (place < 0 || place >= size)
                  return std::pair(1u, element);
              }
              return std::pair(0u, ravel(at, sizes));
            });
      })
      .Case([&](vector::InterleaveOp interleave) {
        return moveElements(
            interleave.getResult(), {interleave.getLhs(), interleave.getRhs()},
            [](int64_t element) { return std::pair(unsigned(element % 2), element / 2); });
      })
      .Case([&](vector::DeinterleaveOp deinterleave) {
        for (auto [number, result] : llvm::enumerate(deinterleave.getResults()))
          if (failed(moveElements(result, {deinterleave.getSource()},
                                  [&, number = number](int64_t element) {
                                    return std::pair(0u, element * 2 + int64_t(number));
                                  })))
            return failure();
        return success();
      })
      .Case([&](vector::ShuffleOp shuffle) {
        ArrayRef<int64_t> to = shapeOf(shuffle.getResult());
        int64_t rows = shapeOf(shuffle.getV1()).empty() ? 1 : shapeOf(shuffle.getV1())[0];
        int64_t row = llvm::product_of(to.drop_front());
        return moveElements(
            shuffle.getResult(), {shuffle.getV1(), shuffle.getV2()}, [&](int64_t element) {
              int64_t from = std::max<int64_t>(shuffle.getMask()[element / row], 0);
              unsigned source = from >= rows;
              return std::pair(source, (from - (source ? rows : 0)) * row + element % row);
            });
      })
      .Case([&](vector::ExtractOp extract) { return lowerExtract(extract); })
      .Case([&](vector::InsertOp insert) { return lowerInsert(insert); })
      .Case([&](vector::BitCastOp cast) { return lowerBitcast(cast); })
      .Case([&](vector::MultiDimReductionOp reduction) { return lowerMultiReduction(reduction); })
      .Case([&](vector::ReductionOp reduction) { return lowerReduction(reduction); })
      .Case([&](vector::ToElementsOp elements) {
        for (auto [number, result] : llvm::enumerate(elements.getResults()))
          result.replaceAllUsesWith(scalarOf(elements.getSource(), number));
        return success();
      })
      .Default([](Operation *unknown) {
        return LogicalResult(unknown->emitOpError("has no lowering to lanes"));
      });
}

LogicalResult LaneLowering::lowerExtract(vector::ExtractOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getSource());
  unsigned count = op.getNumIndices();
  auto dynamic = op.getDynamicPosition();
  if (!dynamic.empty()) {
    // Every position, then the one that is asked for.
    if (isa<VectorType>(op.getResult().getType()))
      return op.emitOpError("has a position that is known at run time only, of more than one "
                            "element; expected a constant one");
    Value number = index(0);
    unsigned at = 0;
    for (auto [position, size] : llvm::zip_equal(op.getStaticPosition(), from)) {
      Value place = ShapedType::isDynamic(position) ? Value(dynamic[at++]) : index(position);
      number = add(mul(number, index(size)), place);
    }
    Value result;
    for (int64_t element = 0, end = llvm::product_of(from); element < end; ++element) {
      Value value = scalarOf(op.getSource(), element);
      Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number, index(element));
      result = result ? arith::SelectOp::create(b, loc, here, value, result).getResult() : value;
    }
    op.getResult().replaceAllUsesWith(result);
    return success();
  }
  LaneMap::Shape corner(from.size(), 0);
  llvm::copy(op.getStaticPosition(), corner.begin());
  int64_t first = ravel(corner, from);
  if (!isa<VectorType>(op.getResult().getType())) {
    op.getResult().replaceAllUsesWith(scalarOf(op.getSource(), first));
    return success();
  }
  (void)count;
  SmallVector<Source> sources{sourceOf(op.getSource())};
  define(op.getResult(), gather(pieceType(op.getResult()), tableOf(op.getResult()), sources,
                                [&](int64_t element) { return std::pair(0u, first + element); }));
  return success();
}

LogicalResult LaneLowering::lowerInsert(vector::InsertOp op) {
  ArrayRef<int64_t> to = shapeOf(op.getResult());
  bool scalar = !isa<VectorType>(op.getValueToStoreType());
  const LaneTable &table = tableOf(op.getResult());
  // A scalar is the same in all lanes.
  LaneTable one(LaneMap::uniform({}, lanes), {}, lanes);
  Values splat;
  SmallVector<Source> sources;
  if (scalar) {
    splat.push_back(build(VectorType::get({1}, op.getValueToStoreType()), {op.getValueToStore()}));
    sources.push_back({splat, one});
  } else {
    sources.push_back(sourceOf(op.getValueToStore()));
  }
  sources.push_back(sourceOf(op.getDest()));
  auto dynamic = op.getDynamicPosition();
  if (!dynamic.empty()) {
    if (!scalar)
      return op.emitOpError("has a position that is known at run time only, of more than one "
                            "element; expected a constant one");
    Value number = index(0);
    unsigned at = 0;
    for (auto [position, size] : llvm::zip_equal(op.getStaticPosition(), to)) {
      Value place = ShapedType::isDynamic(position) ? Value(dynamic[at++]) : index(position);
      number = add(mul(number, index(size)), place);
    }
    Values old = gather(pieceType(op.getResult()), table, ArrayRef(sources).drop_front(),
                        [](int64_t element) { return std::pair(0u, element); });
    Values pieces;
    for (unsigned p = 0; p < table.pieces; ++p) {
      Values elements;
      for (unsigned r = 0; r < table.registers; ++r) {
        SmallVector<int64_t> mine;
        for (unsigned lane = 0; lane < lanes; ++lane)
          mine.push_back(table.at(p, r, lane));
        Value here =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number, laneIndex(mine));
        elements.push_back(
            arith::SelectOp::create(b, loc, here, op.getValueToStore(), element(old[p], r)));
      }
      pieces.push_back(build(pieceType(op.getResult()), elements));
    }
    define(op.getResult(), pieces);
    return success();
  }
  LaneMap::Shape corner(to.size(), 0);
  llvm::copy(op.getStaticPosition(), corner.begin());
  int64_t first = ravel(corner, to),
          count = llvm::product_of(to.drop_front(op.getStaticPosition().size()));
  define(op.getResult(), gather(pieceType(op.getResult()), table, sources, [&](int64_t element) {
           return element >= first && element < first + count ? std::pair(0u, element - first)
                                                              : std::pair(1u, element);
         }));
  return success();
}

LogicalResult LaneLowering::lowerBitcast(vector::BitCastOp op) {
  int64_t from = memoryBits(op.getSourceVectorType().getElementType()),
          to = memoryBits(op.getResultVectorType().getElementType());
  bool narrows = to < from;
  int64_t ratio = narrows ? from / to : to / from;
  LaneMap result(layoutOf(op.getResult()));
  // The side with wide elements says which lane has what; neighbours must be together.
  std::optional<LaneMap> source =
      narrows ? result.joined(ratio) : std::optional(result.split(ratio));
  if (!source) {
    // The result in the source's lanes, moved behind.
    LaneMap given(layoutOf(op.getSource()));
    std::optional<LaneMap> follows =
        narrows ? std::optional(given.split(ratio)) : given.joined(ratio);
    source = follows ? given : LaneMap::natural(shapeOf(op.getSource()), lanes);
    result = narrows ? source->split(ratio) : LaneMap();
  }
  const LaneTable &sourceTable = tableFor(source->attr(op.getContext()), shapeOf(op.getSource()));
  Type fromType = storedType(op.getSourceVectorType().getElementType()),
       toType = storedType(op.getResultVectorType().getElementType());
  auto piece = VectorType::get({int64_t(source->numRegisters())}, fromType);
  Values pieces = gather(piece, sourceTable, {sourceOf(op.getSource())},
                         [](int64_t element) { return std::pair(0u, element); });
  auto cast = VectorType::get(
      {narrows ? source->numRegisters() * ratio : source->numRegisters() / ratio}, toType);
  for (Value &value : pieces)
    value = b.createOrFold<vector::BitCastOp>(loc, cast, value);
  LaneLayoutAttr made = result.attr(op.getContext());
  if (made == layoutOf(op.getResult())) {
    define(op.getResult(), pieces);
    return success();
  }
  const LaneTable &table = tableFor(made, shapeOf(op.getResult()));
  define(op.getResult(),
         gather(pieceType(op.getResult()), tableOf(op.getResult()), {{pieces, table}},
                [](int64_t element) { return std::pair(0u, element); }));
  return success();
}
