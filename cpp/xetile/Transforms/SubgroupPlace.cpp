//===- SubgroupPlace.cpp - which pieces are a subgroup's own, at run time ---------===//
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

Value SubgroupPlace::getId(OpBuilder &builder, const Ownership &ownership) {
  // All maps of a function are for the same number of subgroups.
  return once(builder, "id", {}, [&] {
    return gpu::SubgroupIdOp::create(builder, builder.getUnknownLoc(), builder.getIndexType(),
                                     builder.getIndexAttr(ownership.numSubgroups))
        .getOperation();
  });
}

Value SubgroupPlace::getFirstPiece(OpBuilder &builder, const Ownership &ownership, unsigned dim) {
  const OwnedDim &along = ownership.dims[dim];
  if (along.owners == 1)
    return {};
  Location loc = builder.getUnknownLoc();
  Value number = getId(builder, ownership);
  if (along.idStride > 1) {
    Value divisor = getConstant(builder, along.idStride);
    number = once(builder, "id over", along.idStride, [&] {
      return arith::DivUIOp::create(builder, loc, number, divisor).getOperation();
    });
  }
  if (along.idStride * along.owners == ownership.numSubgroups)
    return number;
  Value divisor = getConstant(builder, along.owners);
  return once(builder, "piece", {along.idStride, along.owners},
              [&] { return arith::RemUIOp::create(builder, loc, number, divisor).getOperation(); });
}

Value SubgroupPlace::getFirstElement(OpBuilder &builder, const Ownership &ownership, unsigned dim,
                                     int64_t size) {
  Value piece = getFirstPiece(builder, ownership, dim);
  if (!piece || size == 1)
    return piece;
  Value factor = getConstant(builder, size);
  const OwnedDim &along = ownership.dims[dim];
  return once(builder, "element", {along.idStride, along.owners, ownership.numSubgroups, size},
              [&] {
                return arith::MulIOp::create(builder, builder.getUnknownLoc(), piece, factor)
                    .getOperation();
              });
}

OpFoldResult SubgroupPlace::getOffset(OpBuilder &builder, Location loc, const Ownership &ownership,
                                      unsigned dim, int64_t size, int64_t round) {
  Value first = getFirstElement(builder, ownership, dim, size);
  int64_t constant = round * ownership.dims[dim].owners * size;
  if (!first)
    return builder.getIndexAttr(constant);
  if (constant == 0)
    return first;
  Value number = arith::ConstantIndexOp::create(builder, loc, constant);
  return arith::AddIOp::create(builder, loc, first, number).getResult();
}

/// Of those with the same first pieces the lowest id is their sum, each times its stride.
Value SubgroupPlace::getIsFirstOwner(OpBuilder &builder, const Ownership &ownership) {
  Location loc = builder.getUnknownLoc();
  SmallVector<int64_t> key;
  for (const OwnedDim &dim : ownership.dims)
    key.append({dim.owners, dim.idStride});
  Value lowest;
  for (auto [number, dim] : llvm::enumerate(ownership.dims)) {
    Value piece = getFirstPiece(builder, ownership, number);
    if (!piece)
      continue;
    if (dim.idStride > 1) {
      Value factor = getConstant(builder, dim.idStride);
      piece = once(builder, "first id", {dim.idStride, dim.owners, ownership.numSubgroups}, [&] {
        return arith::MulIOp::create(builder, loc, piece, factor).getOperation();
      });
    }
    key.push_back(number);
    lowest = lowest
                 ? once(builder, "lowest id", key,
                        [&] {
                          return arith::AddIOp::create(builder, loc, lowest, piece).getOperation();
                        })
                 : piece;
  }
  if (!lowest)
    lowest = getConstant(builder, 0);
  Value id = getId(builder, ownership);
  return once(builder, "is first", key, [&] {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, id, lowest).getOperation();
  });
}

} // namespace xetile
