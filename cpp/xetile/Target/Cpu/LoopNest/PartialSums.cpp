//===- PartialSums.cpp - sums in other types and of several threads ---------===//
// In: sums of K threads or in f32. Out: elementwise ops that add and convert them.
// Nothing is refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Target/Cpu/LoopNest/DeepTiler.h"

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

bool xetile::isLowPrecision(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

Value DeepTiler::reducePartials(Value partials) {
  Value start = matmul.op.getDpsInits()[0];
  auto startType = cast<RankedTensorType>(start.getType());
  unsigned rank = startType.getRank();
  SmallVector<Index> offsets(rank + 1, b.getIndexAttr(0)), strides(rank + 1, b.getIndexAttr(1));
  SmallVector<Index> shape = tensor::getMixedSizes(b, loc, start), sizes = {b.getIndexAttr(1)};
  llvm::append_range(sizes, shape);
  auto partialType = cast<RankedTensorType>(partials.getType());
  auto type =
      RankedTensorType::get(partialType.getShape().drop_front(), partialType.getElementType());
  SmallVector<Value> inputs;
  for (int64_t thread = 0; thread < config.threads[kK]; ++thread) {
    offsets[0] = b.getIndexAttr(thread);
    inputs.push_back(
        tensor::ExtractSliceOp::create(b, loc, type, partials, offsets, sizes, strides));
  }
  // A consumer that is fused with this op gives it a place of its own to write to.
  Value into = destination;
  if (fusion.consumer) {
    into = tensor::EmptyOp::create(b, loc, shape, startType.getElementType());
    if (!initial)
      inputs.push_back(start);
  }
  SmallVector<AffineMap> maps(inputs.size() + 1, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto sum = linalg::GenericOp::create(
      b, loc, TypeRange(into.getType()), inputs, ValueRange(into), maps, iterators,
      [&](OpBuilder &builder, Location at, ValueRange args) {
        SmallVector<Value> terms(args.drop_back());
        if (!initial && !fusion.consumer)
          terms.push_back(args.back());
        if (initial && initial != b.getZeroAttr(initial.getType()))
          terms.push_back(arith::ConstantOp::create(builder, at, initial));
        Value total = terms[0];
        for (Value term : ArrayRef(terms).drop_front()) {
          term = extendElement(builder, at, term, total.getType(), false);
          total = isa<FloatType>(term.getType())
                      ? arith::AddFOp::create(builder, at, total, term).getResult()
                      : arith::AddIOp::create(builder, at, total, term).getResult();
        }
        linalg::YieldOp::create(builder, at,
                                narrowElement(builder, at, total, args.back().getType()));
      });
  return sum.getResult(0);
}
