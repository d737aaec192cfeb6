//===- PartialSums.cpp - sums in other types and of several threads ---------===//
// In: sums of K threads or in f32. Out: elementwise ops that add and convert them.
// Nothing is refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/DeepTile/DeepTiler.h"

using namespace mlir;
using namespace xetile;

Value xetile::extendElement(OpBuilder &b, Location loc, Value value, Type type, bool isUnsigned) {
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(b, loc, type, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, loc, type, value);
  return arith::ExtSIOp::create(b, loc, type, value);
}

Value xetile::narrowElement(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type ? value : arith::TruncFOp::create(b, loc, type, value).getResult();
}

Value xetile::convertElements(OpBuilder &b, Location loc, Value source, Value into) {
  unsigned rank = cast<RankedTensorType>(into.getType()).getRank();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto convert = linalg::GenericOp::create(
      b, loc, TypeRange(into.getType()), ValueRange(source), ValueRange(into), maps, iterators,
      [](OpBuilder &builder, Location at, ValueRange args) {
        Type from = args[0].getType(), to = args[1].getType();
        bool widens = from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
        linalg::YieldOp::create(builder, at,
                                widens ? extendElement(builder, at, args[0], to, false)
                                       : narrowElement(builder, at, args[0], to));
      });
  return convert.getResult(0);
}

bool xetile::isLowPrecision(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

Value DeepTiler::reducePartials(Value partials, Value init) {
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<Index> offsets(rank + 1, b.getIndexAttr(0)), strides(rank + 1, b.getIndexAttr(1));
  SmallVector<Index> sizes = {b.getIndexAttr(1)};
  llvm::append_range(sizes, tensor::getMixedSizes(b, loc, init));
  auto partialType = cast<RankedTensorType>(partials.getType());
  auto type =
      RankedTensorType::get(partialType.getShape().drop_front(), partialType.getElementType());
  SmallVector<Value> parts;
  for (int64_t thread = 0; thread < config.threads[kK]; ++thread) {
    offsets[0] = b.getIndexAttr(thread);
    parts.push_back(
        tensor::ExtractSliceOp::create(b, loc, type, partials, offsets, sizes, strides));
  }
  SmallVector<AffineMap> maps(parts.size() + 1, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto sum = linalg::GenericOp::create(
      b, loc, TypeRange(init.getType()), parts, ValueRange(init), maps, iterators,
      [](OpBuilder &builder, Location at, ValueRange args) {
        Value total = extendElement(builder, at, args.back(), args[0].getType(), false);
        for (Value part : args.drop_back())
          total = isa<FloatType>(part.getType())
                      ? arith::AddFOp::create(builder, at, total, part).getResult()
                      : arith::AddIOp::create(builder, at, total, part).getResult();
        linalg::YieldOp::create(builder, at,
                                narrowElement(builder, at, total, args.back().getType()));
      });
  return sum.getResult(0);
}
