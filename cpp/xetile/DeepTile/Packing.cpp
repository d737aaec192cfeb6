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

/// Rows k and k + 1 (or zeros, if `single`), interleaved, to row k / 2 of all panels.
Value packPanelPairs(Copier &copier, Index k, bool single, Index n, int64_t panel, Value scratch) {
  OpBuilder &builder = copier.builder;
  Location loc = copier.loc;
  Index row = floorDivIndex(builder, loc, k, 2);
  Index next = addIndex(builder, loc, k, builder.getIndexAttr(1));
  auto type = VectorType::get({copier.length}, copier.element);
  Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  auto copy = [&](bool inBounds) {
    return [&, inBounds](Index column, Value destination) {
      Index number = floorDivIndex(builder, loc, column, panel);
      for (int64_t part = 0; part < panel; part += copier.length) {
        Index from = addIndex(builder, loc, column, builder.getIndexAttr(part));
        Value low = copier.read({k, from}, copier.length, inBounds);
        Value high = single ? zeros : copier.read({next, from}, copier.length, inBounds);
        Value both = vector::InterleaveOp::create(builder, loc, low, high);
        destination =
            copier.write(both, destination, {number, row, builder.getIndexAttr(2 * part)});
      }
      return destination;
    };
  };
  Index whole = wholeSteps(builder, loc, n, panel);
  scratch = copier.loop(builder.getIndexAttr(0), whole, panel, scratch, copy(true));
  return copier.loop(whole, n, panel, scratch, copy(false));
}

/// An n x k source: squares of `length` are transposed in registers.
Value packTransposed(Copier &copier, Index k, Index n, int64_t panel, bool pairs, Value scratch) {
  OpBuilder &builder = copier.builder;
  Location loc = copier.loc;
  int64_t length = copier.length;
  // A pair of k moves as one integer.
  Type unit = pairs ? Type(builder.getI32Type()) : copier.element;
  int64_t width = pairs ? 2 : 1;
  auto square = VectorType::get({length, length}, unit);
  auto unitVector = VectorType::get({length}, unit);
  auto elementVector = VectorType::get({length * width}, copier.element);
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
        Value vector = copier.read({at, row}, length * width, false);
        if (pairs)
          vector = vector::BitCastOp::create(builder, loc, unitVector, vector);
        tile = vector::InsertOp::create(builder, loc, vector, tile, ArrayRef<int64_t>{i});
      }
      Value turned = vector::TransposeOp::create(builder, loc, tile, ArrayRef<int64_t>{1, 0});
      for (int64_t i = 0; i < length; ++i) {
        Value vector = vector::ExtractOp::create(builder, loc, turned, ArrayRef<int64_t>{i});
        if (pairs)
          vector = vector::BitCastOp::create(builder, loc, elementVector, vector);
        Index at = addIndex(builder, loc, floorDivIndex(builder, loc, row, width),
                            builder.getIndexAttr(i));
        into = copier.write(vector, into, {number, at, mulIndex(builder, loc, place, width)});
      }
      return into;
    };
    return copier.loop(builder.getIndexAttr(0), k, length * width, destination, rows);
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
                       Index columns, Value scratch, int64_t vectorLength) {
  Copier copier(builder, loc, source, vectorLength);
  int64_t wide = kVectorsAtOnce * vectorLength;
  return copier.loop(builder.getIndexAttr(0), rows, 1, scratch, [&](Index row, Value outer) {
    Index whole = wholeSteps(builder, loc, columns, wide);
    outer = copier.loop(builder.getIndexAttr(0), whole, wide, outer, [&](Index column, Value into) {
      for (int64_t part = 0; part < wide; part += vectorLength) {
        Index at = addIndex(builder, loc, column, builder.getIndexAttr(part));
        into = copier.write(copier.read({row, at}, vectorLength, true), into, {row, at});
      }
      return into;
    });
    return copier.loop(whole, columns, vectorLength, outer, [&](Index column, Value into) {
      return copier.write(copier.read({row, column}, vectorLength, false), into, {row, column});
    });
  });
}

Value xetile::createPanelScratch(OpBuilder &builder, Location loc, Type element, int64_t k,
                                 int64_t n, int64_t panel, bool pairs, int64_t vectorLength) {
  int64_t panels = llvm::divideCeil(n, panel), width = pairs ? 2 : 1;
  int64_t rows = llvm::alignTo(llvm::divideCeil(k, width), vectorLength);
  return emptyTensor(builder, loc, {panels, rows, panel * width}, element);
}

Value xetile::packPanels(OpBuilder &builder, Location loc, const PackSource &source, Index k,
                         Index n, bool transposed, bool pairs, Value scratch,
                         int64_t vectorLength) {
  Copier copier(builder, loc, source, vectorLength);
  int64_t panel = cast<RankedTensorType>(scratch.getType()).getDimSize(2) / (pairs ? 2 : 1);
  if (transposed)
    return packTransposed(copier, k, n, panel, pairs, scratch);
  Index zero = builder.getIndexAttr(0);
  if (pairs) {
    Index whole = wholeSteps(builder, loc, k, 2);
    scratch = copier.loop(zero, whole, 2, scratch, [&](Index row, Value into) {
      return packPanelPairs(copier, row, false, n, panel, into);
    });
    return copier.loop(whole, k, 2, scratch, [&](Index row, Value into) {
      return packPanelPairs(copier, row, true, n, panel, into);
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
