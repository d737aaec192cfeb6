//===- Packing.cpp - copies of operand blocks for the microkernel ------------===//
// In: 2D slices of A and B on tensors. Out: loops of vector transfers into scratch tensors.
// Nothing is refused: the rewrite packs plain operands only.
//===----------------------------------------------------------------------===//
#include "xetile/DeepTile/Packing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/DeepTile/Fusion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

namespace {

constexpr int64_t kCacheLineBytes = 64;
/// Rows of B copied together: as many streams as a core's prefetcher follows with ease.
constexpr int64_t kRowsAtOnce = 8;
/// Vectors of A copied together.
constexpr int64_t kVectorsAtOnce = 4;

/// Writes vectors from one tensor to another, which is carried through loops.
class Copier {
public:
  Copier(OpBuilder &builder, Location loc, const PackSource &source, int64_t vectorLength)
      : builder(builder), loc(loc), source(source),
        element(source.body ? source.body->getTerminator()->getOperand(0).getType()
                            : getElementTypeOrSelf(source.inputs[0].getType())),
        length(vectorLength) {}

  /// `for (offset = first; offset < last; offset += step)`.
  Value loop(Index first, Index last, int64_t step, Value init,
             function_ref<Value(Index, Value)> body) {
    std::optional<int64_t> low = getConstantIntValue(first), high = getConstantIntValue(last);
    if (low && high && *low >= *high)
      return init;
    if (low && high && *low + step >= *high)
      return body(first, init);
    Value stride = arith::ConstantIndexOp::create(builder, loc, step);
    auto loop = scf::ForOp::create(builder, loc, asValue(builder, loc, first),
                                   asValue(builder, loc, last), stride, ValueRange(init));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value result = body(loop.getInductionVar(), loop.getRegionIterArg(0));
    scf::YieldOp::create(builder, loc, result);
    return loop.getResult(0);
  }

  Value read(ArrayRef<Index> at, int64_t count, bool inBounds) {
    return source.body ? compute(at, count, inBounds)
                       : readTensor(source.inputs[0], at, count, inBounds);
  }
  Value write(Value vector, Value destination, ArrayRef<Index> at) {
    return vector::TransferWriteOp::create(builder, loc, vector, destination, values(at),
                                           ArrayRef<bool>{true})
        .getResult();
  }

  OpBuilder &builder;
  Location loc;
  const PackSource &source;
  Type element;
  int64_t length;

private:
  Value readTensor(Value tensor, ArrayRef<Index> at, int64_t count, bool inBounds) {
    Type type = getElementTypeOrSelf(tensor.getType());
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    return vector::TransferReadOp::create(builder, loc, VectorType::get({count}, type), tensor,
                                          values(at), zero, ArrayRef<bool>{inBounds});
  }

  /// The elements at `at`, computed from those of the inputs: along a row vectors or one element
  /// for all.
  Value compute(ArrayRef<Index> at, int64_t count, bool inBounds) {
    SmallVector<Value> arguments;
    for (auto [input, map] : llvm::zip_equal(source.inputs, source.maps)) {
      if (!isa<RankedTensorType>(input.getType())) {
        arguments.push_back(input);
        continue;
      }
      SmallVector<Index> places;
      for (AffineExpr expr : map.getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        places.push_back(dim ? at[dim.getPosition()] : builder.getIndexAttr(0));
      }
      bool alongRow = map.isFunctionOfDim(1);
      arguments.push_back(alongRow
                              ? readTensor(input, places, count, inBounds)
                              : tensor::ExtractOp::create(builder, loc, input, values(places)));
    }
    for (unsigned number = arguments.size(); number < source.body->getNumArguments(); ++number)
      arguments.push_back(arith::ConstantOp::create(
          builder, loc, builder.getZeroAttr(source.body->getArgument(number).getType())));
    Value result = cloneOnVectors(builder, loc, *source.body, arguments, count);
    if (inBounds)
      return result;
    // Past the edge there are zeros, whatever is computed from the inputs' padding.
    Value left = asValue(builder, loc, subIndex(builder, loc, source.columns, at[1]));
    auto mask = vector::CreateMaskOp::create(builder, loc,
                                             VectorType::get({count}, builder.getI1Type()), left);
    Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(result.getType()));
    return arith::SelectOp::create(builder, loc, mask, result, zeros);
  }

  SmallVector<Value> values(ArrayRef<Index> indices) {
    return llvm::map_to_vector(indices, [&](Index index) { return asValue(builder, loc, index); });
  }
};

Value emptyTensor(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape, Type element) {
  return tensor::EmptyOp::create(builder, loc, shape, element);
}

/// Largest multiple of `step` that is at most `extent`.
Index wholeSteps(OpBuilder &builder, Location loc, Index extent, int64_t step) {
  return mulIndex(builder, loc, floorDivIndex(builder, loc, extent, step), step);
}

/// Rows [k, k + rows) of a k x n source to their places in all panels.
Value packPanelRows(Copier &copier, Index k, int64_t rows, Index n, int64_t panel, Value scratch) {
  OpBuilder &builder = copier.builder;
  Location loc = copier.loc;
  auto copy = [&](bool inBounds) {
    return [&, inBounds](Index column, Value destination) {
      Index number = floorDivIndex(builder, loc, column, panel);
      for (int64_t row = 0; row < rows; ++row) {
        Index at = addIndex(builder, loc, k, builder.getIndexAttr(row));
        for (int64_t part = 0; part < panel; part += copier.length) {
          Index from = addIndex(builder, loc, column, builder.getIndexAttr(part));
          Value vector = copier.read({at, from}, copier.length, inBounds);
          destination = copier.write(vector, destination, {number, at, builder.getIndexAttr(part)});
        }
      }
      return destination;
    };
  };
  Index whole = wholeSteps(builder, loc, n, panel);
  scratch = copier.loop(builder.getIndexAttr(0), whole, panel, scratch, copy(true));
  return copier.loop(whole, n, panel, scratch, copy(false));
}

/// Vectors of rows one after the other: element i of each, then element i + 1.
Value interleaveRows(OpBuilder &builder, Location loc, ArrayRef<Value> rows) {
  if (rows.size() == 1)
    return rows[0];
  SmallVector<Value> even, odd;
  for (auto [number, row] : llvm::enumerate(rows))
    (number % 2 ? odd : even).push_back(row);
  return vector::InterleaveOp::create(builder, loc, interleaveRows(builder, loc, even),
                                      interleaveRows(builder, loc, odd));
}

/// Rows [k, k + group) from column `from` on, interleaved; from row `end` on they are zeros.
Value readGroup(Copier &copier, Index k, int64_t group, std::optional<Index> end, Index from,
                bool inBounds) {
  OpBuilder &builder = copier.builder;
  Location loc = copier.loc;
  auto type = VectorType::get({copier.length}, copier.element);
  SmallVector<Value> rows;
  for (int64_t row = 0; row < group; ++row) {
    Index at = addIndex(builder, loc, k, builder.getIndexAttr(row));
    if (!end || row == 0) {
      rows.push_back(copier.read({at, from}, copier.length, inBounds));
      continue;
    }
    Index last = subIndex(builder, loc, *end, builder.getIndexAttr(1));
    Value vector = copier.read({minIndex(builder, loc, at, last), from}, copier.length, inBounds);
    Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    Value isRow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        asValue(builder, loc, at), asValue(builder, loc, *end));
    rows.push_back(arith::SelectOp::create(builder, loc, isRow, vector, zeros));
  }
  return interleaveRows(builder, loc, rows);
}

/// Rows [k, k + group), interleaved, to row k / group of all panels; from `end` on they are zeros.
Value packPanelGroup(Copier &copier, Index k, int64_t group, std::optional<Index> end, Index n,
                     int64_t panel, Value scratch) {
  OpBuilder &builder = copier.builder;
  Location loc = copier.loc;
  Index target = floorDivIndex(builder, loc, k, group);
  auto copy = [&](bool inBounds) {
    return [&, inBounds](Index column, Value destination) {
      Index number = floorDivIndex(builder, loc, column, panel);
      for (int64_t part = 0; part < panel; part += copier.length) {
        Index from = addIndex(builder, loc, column, builder.getIndexAttr(part));
        Value groups = readGroup(copier, k, group, end, from, inBounds);
        destination =
            copier.write(groups, destination, {number, target, builder.getIndexAttr(group * part)});
      }
      return destination;
    };
  };
  Index whole = wholeSteps(builder, loc, n, panel);
  scratch = copier.loop(builder.getIndexAttr(0), whole, panel, scratch, copy(true));
  return copier.loop(whole, n, panel, scratch, copy(false));
}

/// `vector` with the top bit of each integer flipped.
Value flipSigns(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  auto flip = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, APInt::getSignMask(type.getElementTypeBitWidth())));
  return arith::XOrIOp::create(builder, loc, vector, flip);
}

/// An n x k source: squares of `length` are transposed in registers.
Value packTransposed(Copier &copier, Index k, Index n, int64_t panel, int64_t group,
                     Value scratch) {
  OpBuilder &builder = copier.builder;
  Location loc = copier.loc;
  int64_t length = copier.length;
  // A group of k moves as one integer.
  Type unit = group > 1 ? Type(builder.getI32Type()) : copier.element;
  auto square = VectorType::get({length, length}, unit);
  auto unitVector = VectorType::get({length}, unit);
  auto elementVector = VectorType::get({length * group}, copier.element);
  Index last = subIndex(builder, loc, n, builder.getIndexAttr(1));
  auto columns = [&](Index column, Value destination) {
    Index number = floorDivIndex(builder, loc, column, panel);
    Index place = subIndex(builder, loc, column, mulIndex(builder, loc, number, panel));
    auto rows = [&](Index row, Value into) {
      Value tile = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(square));
      for (int64_t i = 0; i < length; ++i) {
        // Rows past the end repeat the last one: their columns of the result are never stored.
        Index at =
            minIndex(builder, loc, addIndex(builder, loc, column, builder.getIndexAttr(i)), last);
        Value vector = copier.read({at, row}, length * group, false);
        if (group > 1)
          vector = vector::BitCastOp::create(builder, loc, unitVector, vector);
        tile = vector::InsertOp::create(builder, loc, vector, tile, ArrayRef<int64_t>{i});
      }
      Value turned = vector::TransposeOp::create(builder, loc, tile, ArrayRef<int64_t>{1, 0});
      for (int64_t i = 0; i < length; ++i) {
        Value vector = vector::ExtractOp::create(builder, loc, turned, ArrayRef<int64_t>{i});
        if (group > 1)
          vector = vector::BitCastOp::create(builder, loc, elementVector, vector);
        Index at = addIndex(builder, loc, floorDivIndex(builder, loc, row, group),
                            builder.getIndexAttr(i));
        into = copier.write(vector, into, {number, at, mulIndex(builder, loc, place, group)});
      }
      return into;
    };
    return copier.loop(builder.getIndexAttr(0), k, length * group, destination, rows);
  };
  return copier.loop(builder.getIndexAttr(0), n, length, scratch, columns);
}

} // namespace

int64_t xetile::rowScratchColumns(Type element, int64_t columns, int64_t vectorLength) {
  int64_t line = kCacheLineBytes * 8 / element.getIntOrFloatBitWidth();
  int64_t lines = llvm::divideCeil(llvm::alignTo(columns, vectorLength), line);
  return (lines | 1) * line;
}

Value xetile::createRowScratch(OpBuilder &builder, Location loc, Type element, int64_t rows,
                               int64_t columns, int64_t vectorLength) {
  return emptyTensor(builder, loc, {rows, rowScratchColumns(element, columns, vectorLength)},
                     element);
}

Value xetile::packRows(OpBuilder &builder, Location loc, const PackSource &source, Index rows,
                       Index columns, bool offset, Value scratch, int64_t vectorLength) {
  Copier copier(builder, loc, source, vectorLength);
  auto read = [&](Index row, Index column, bool inBounds) -> Value {
    Value vector = copier.read({row, column}, vectorLength, inBounds);
    return offset ? flipSigns(builder, loc, vector) : vector;
  };
  int64_t wide = kVectorsAtOnce * vectorLength;
  return copier.loop(builder.getIndexAttr(0), rows, 1, scratch, [&](Index row, Value outer) {
    Index whole = wholeSteps(builder, loc, columns, wide);
    outer = copier.loop(builder.getIndexAttr(0), whole, wide, outer, [&](Index column, Value into) {
      for (int64_t part = 0; part < wide; part += vectorLength) {
        Index at = addIndex(builder, loc, column, builder.getIndexAttr(part));
        into = copier.write(read(row, at, true), into, {row, at});
      }
      return into;
    });
    return copier.loop(whole, columns, vectorLength, outer, [&](Index column, Value into) {
      return copier.write(read(row, column, false), into, {row, column});
    });
  });
}

Value xetile::packRowsTransposed(OpBuilder &builder, Location loc, const PackSource &source,
                                 Index m, Index k, int64_t group, bool offset, Value scratch,
                                 int64_t vectorLength) {
  Copier copier(builder, loc, source, vectorLength);
  // Squares of groups, each of them one integer, are transposed in registers.
  auto square = VectorType::get({vectorLength, vectorLength}, builder.getI32Type());
  auto units = VectorType::get({vectorLength}, builder.getI32Type());
  auto elements = VectorType::get({vectorLength * group}, copier.element);
  std::optional<int64_t> known = getConstantIntValue(k);
  bool whole = known && *known % (vectorLength * group) == 0;
  Index zero = builder.getIndexAttr(0), last = subIndex(builder, loc, m, builder.getIndexAttr(1));
  return copier.loop(zero, k, vectorLength * group, scratch, [&](Index first, Value outer) {
    return copier.loop(zero, m, vectorLength, outer, [&](Index column, Value into) {
      Value tile = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(square));
      Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(elements));
      for (int64_t i = 0; i < vectorLength; ++i) {
        Index row = addIndex(builder, loc, first, builder.getIndexAttr(i * group));
        Value groups;
        if (whole) {
          groups = readGroup(copier, row, group, std::nullopt, column, false);
        } else {
          // Groups past the end are zeros, too; they read a row that is there.
          Index least = subIndex(builder, loc, k, builder.getIndexAttr(1));
          groups = readGroup(copier, minIndex(builder, loc, row, least), group, k, column, false);
          Value isThere =
              arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                    asValue(builder, loc, row), asValue(builder, loc, k));
          groups = arith::SelectOp::create(builder, loc, isThere, groups, zeros);
        }
        if (offset)
          groups = flipSigns(builder, loc, groups);
        Value unit = vector::BitCastOp::create(builder, loc, units, groups);
        tile = vector::InsertOp::create(builder, loc, unit, tile, ArrayRef<int64_t>{i});
      }
      Value turned = vector::TransposeOp::create(builder, loc, tile, ArrayRef<int64_t>{1, 0});
      // Rows past the end write the last one once more, from its own column.
      for (int64_t i = vectorLength - 1; i >= 0; --i) {
        Value unit = vector::ExtractOp::create(builder, loc, turned, ArrayRef<int64_t>{i});
        Value row = vector::BitCastOp::create(builder, loc, elements, unit);
        Index at =
            minIndex(builder, loc, addIndex(builder, loc, column, builder.getIndexAttr(i)), last);
        into = copier.write(row, into, {at, first});
      }
      return into;
    });
  });
}

Value xetile::createPanelScratch(OpBuilder &builder, Location loc, Type element, int64_t k,
                                 int64_t n, int64_t panel, int64_t group, int64_t vectorLength) {
  int64_t panels = llvm::divideCeil(n, panel);
  int64_t rows = llvm::alignTo(llvm::divideCeil(k, group), vectorLength);
  return emptyTensor(builder, loc, {panels, rows, panel * group}, element);
}

Value xetile::packPanels(OpBuilder &builder, Location loc, const PackSource &source, Index k,
                         Index n, bool transposed, int64_t group, Value scratch,
                         int64_t vectorLength) {
  Copier copier(builder, loc, source, vectorLength);
  int64_t panel = cast<RankedTensorType>(scratch.getType()).getDimSize(2) / group;
  if (transposed)
    return packTransposed(copier, k, n, panel, group, scratch);
  Index zero = builder.getIndexAttr(0);
  if (group > 1) {
    Index whole = wholeSteps(builder, loc, k, group);
    scratch = copier.loop(zero, whole, group, scratch, [&](Index row, Value into) {
      return packPanelGroup(copier, row, group, std::nullopt, n, panel, into);
    });
    return copier.loop(whole, k, group, scratch, [&](Index row, Value into) {
      return packPanelGroup(copier, row, group, k, n, panel, into);
    });
  }
  Index whole = wholeSteps(builder, loc, k, kRowsAtOnce);
  scratch = copier.loop(zero, whole, kRowsAtOnce, scratch, [&](Index row, Value into) {
    return packPanelRows(copier, row, kRowsAtOnce, n, panel, into);
  });
  return copier.loop(whole, k, 1, scratch, [&](Index row, Value into) {
    return packPanelRows(copier, row, 1, n, panel, into);
  });
}

Value xetile::createColumnScratch(OpBuilder &builder, Location loc, int64_t n, int64_t panel) {
  int64_t panels = llvm::divideCeil(n, panel);
  return emptyTensor(builder, loc, {panels, panel}, builder.getI32Type());
}

/// Sums of neighbours in `vector`, half as many and twice as wide.
static Value sumNeighbours(OpBuilder &builder, Location loc, Value vector, bool isUnsigned) {
  auto type = cast<VectorType>(vector.getType());
  int64_t bits = type.getElementTypeBitWidth();
  auto wide = VectorType::get({type.getDimSize(0) / 2}, builder.getIntegerType(2 * bits));
  Value both = vector::BitCastOp::create(builder, loc, wide, vector);
  Value count =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(wide, APInt(2 * bits, bits)));
  auto down = [&](Value value) -> Value {
    if (isUnsigned)
      return arith::ShRUIOp::create(builder, loc, value, count);
    return arith::ShRSIOp::create(builder, loc, value, count);
  };
  Value low = down(arith::ShLIOp::create(builder, loc, both, count));
  return arith::AddIOp::create(builder, loc, low, down(both));
}

Value xetile::sumColumns(OpBuilder &builder, Location loc, Value packed, Index k, Index n,
                         bool isUnsigned, Value scratch, int64_t vectorLength) {
  constexpr int64_t kGroup = 4;
  PackSource source;
  source.inputs = {packed};
  Copier copier(builder, loc, source, vectorLength);
  int64_t panel = cast<RankedTensorType>(scratch.getType()).getDimSize(1);
  auto sums = VectorType::get({vectorLength}, builder.getI32Type());
  Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(sums));
  Value factor = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(sums, APInt(32, isUnsigned ? 128 : -128, /*isSigned=*/true)));
  Index zero = builder.getIndexAttr(0), rows = ceilDivIndex(builder, loc, k, kGroup);
  return copier.loop(zero, n, vectorLength, scratch, [&](Index column, Value into) {
    Index number = floorDivIndex(builder, loc, column, panel);
    Index place = subIndex(builder, loc, column, mulIndex(builder, loc, number, panel));
    Value total = copier.loop(zero, rows, 1, zeros, [&](Index row, Value sum) -> Value {
      Value groups = copier.read({number, row, mulIndex(builder, loc, place, kGroup)},
                                 kGroup * vectorLength, true);
      Value halves = sumNeighbours(builder, loc, groups, isUnsigned);
      return arith::AddIOp::create(builder, loc, sum,
                                   sumNeighbours(builder, loc, halves, isUnsigned));
    });
    return copier.write(arith::MulIOp::create(builder, loc, total, factor), into, {number, place});
  });
}
