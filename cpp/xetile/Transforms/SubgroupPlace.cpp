//===- SubgroupPlace.cpp - where a subgroup is in the grids of maps --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/SubgroupPlace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace xetile {

Operation *SubgroupPlace::getScope(Operation *op) {
  while (op && !isa<FunctionOpInterface, gpu::LaunchOp>(op))
    op = op->getParentOp();
  return op;
}

/// The block in which the code of the workgroup around the insertion point begins.
static Block *getStart(OpBuilder &builder) {
  Operation *scope = SubgroupPlace::getScope(builder.getInsertionBlock()->getParentOp());
  return scope ? &scope->getRegion(0).front() : builder.getInsertionBlock();
}

Operation *SubgroupPlace::createAtStart(OpBuilder &builder,
                                        llvm::function_ref<Operation *()> create) {
  Block *start = getStart(builder);
  OpBuilder::InsertionGuard guard(builder);
  Operation *&previous = last[start];
  if (previous)
    builder.setInsertionPointAfter(previous);
  else
    builder.setInsertionPointToStart(start);
  Operation *op = create();
  last[start] = op;
  return op;
}

Value SubgroupPlace::once(OpBuilder &builder, StringRef what, ArrayRef<int64_t> numbers,
                          llvm::function_ref<Operation *()> create) {
  Attribute key = builder.getArrayAttr(
      {builder.getStringAttr(what), DenseI64ArrayAttr::get(builder.getContext(), numbers)});
  std::pair<Block *, Attribute> entry(getStart(builder), key);
  if (Value value = values.lookup(entry))
    return value;
  Value value = createAtStart(builder, create)->getResult(0);
  values[entry] = value;
  return value;
}

Value SubgroupPlace::getConstant(OpBuilder &builder, int64_t value) {
  return once(builder, "constant", value, [&] {
    return arith::ConstantIndexOp::create(builder, builder.getUnknownLoc(), value).getOperation();
  });
}

Value SubgroupPlace::getCoordinate(OpBuilder &builder, WgMapAttr map, unsigned dim) {
  Location loc = builder.getUnknownLoc();
  int64_t rows = map.getSgLayout()[0], columns = map.getSgLayout()[1];
  if ((dim == 0 ? rows : columns) == 1)
    return {};
  Value id = once(builder, "id", {}, [&] {
    return gpu::SubgroupIdOp::create(builder, loc, builder.getIndexType(), /*upper_bound=*/nullptr)
        .getOperation();
  });
  if (columns == 1 || (dim == 1 && rows == 1))
    return id;
  Value divisor = getConstant(builder, columns);
  if (dim == 0)
    return once(builder, "row", columns,
                [&] { return arith::DivUIOp::create(builder, loc, id, divisor).getOperation(); });
  return once(builder, "column", columns,
              [&] { return arith::RemUIOp::create(builder, loc, id, divisor).getOperation(); });
}

Value SubgroupPlace::getFirstPiece(OpBuilder &builder, WgMapAttr map, unsigned dim,
                                   int64_t owners) {
  if (owners == 1)
    return {};
  Value coordinate = getCoordinate(builder, map, dim);
  if (owners == map.getSgLayout()[dim])
    return coordinate;
  Value divisor = getConstant(builder, owners);
  return once(builder, dim == 0 ? "piece of row" : "piece of column",
              {map.getSgLayout()[0], map.getSgLayout()[1], owners}, [&] {
                return arith::RemUIOp::create(builder, builder.getUnknownLoc(), coordinate, divisor)
                    .getOperation();
              });
}

Value SubgroupPlace::getFirstElement(OpBuilder &builder, WgMapAttr map, unsigned dim,
                                     int64_t owners, int64_t size) {
  Value piece = getFirstPiece(builder, map, dim, owners);
  if (!piece || size == 1)
    return piece;
  Value factor = getConstant(builder, size);
  return once(builder, dim == 0 ? "element of row" : "element of column",
              {map.getSgLayout()[0], map.getSgLayout()[1], owners, size}, [&] {
                return arith::MulIOp::create(builder, builder.getUnknownLoc(), piece, factor)
                    .getOperation();
              });
}

Value SubgroupPlace::getIsFirstOwner(OpBuilder &builder, WgMapAttr map, ArrayRef<int64_t> shape) {
  Location loc = builder.getUnknownLoc();
  Value isFirst;
  for (unsigned dim : {0, 1}) {
    DimDistribution along = getDimDistribution(map, dim, shape[dim]);
    if (along.ownersPerPiece() == 1)
      continue;
    Value coordinate = getCoordinate(builder, map, dim);
    Value owners = getConstant(builder, along.numOwners());
    Value holds = once(builder, dim == 0 ? "first row" : "first column",
                       {map.getSgLayout()[0], map.getSgLayout()[1], along.numOwners()}, [&] {
                         return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                                      coordinate, owners)
                             .getOperation();
                       });
    isFirst = !isFirst
                  ? holds
                  : createAtStart(builder, [&] {
                      return arith::AndIOp::create(builder, loc, isFirst, holds).getOperation();
                    })->getResult(0);
  }
  return isFirst;
}

} // namespace xetile
