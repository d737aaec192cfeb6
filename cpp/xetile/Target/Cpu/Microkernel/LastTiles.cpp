//===- LastTiles.cpp - steps of k that fill no tile --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: operands of a product of tiles, a number of groups of k below that of a tile. Out: masked
// loads to memory on the stack, tiles loaded from there. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/LastTiles.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xetile/Target/Cpu/Machine/Machine.h"

using namespace mlir;
using namespace xetile;

/// Rows of a tile register; two tiles of an operand are copied.
static constexpr int64_t kTileRows = 16, kTiles = 2;

/// Memory on the stack of the thread that runs `op`; what it holds is not kept from call to call.
static Value allocate(const KernelBuilder &kernel, MemRefType type) {
  Operation *scope = kernel.plan.kernel.op;
  while (!isa<FunctionOpInterface, scf::ForallOp, scf::ParallelOp>(scope->getParentOp()))
    scope = scope->getParentOp();
  OpBuilder::InsertionGuard guard(kernel.b);
  kernel.b.setInsertionPointToStart(scope->getBlock());
  return memref::AllocaOp::create(kernel.b, kernel.loc, type,
                                  kernel.b.getI64IntegerAttr(kCacheLineBytes));
}

LastTiles::LastTiles(const KernelBuilder &kernel, const std::array<Value, 2> &flat, Index steps)
    : kernel(kernel), flat(flat), steps(steps) {
  auto type = MemRefType::get({2 * kTiles * kTileRows, kTileRows * kernel.plan.group},
                              kernel.plan.elementOf(0));
  memory = allocate(kernel, type);
}

int64_t LastTiles::rowOf(unsigned operand, int64_t number) const {
  return (operand * kTiles + number) * kTileRows;
}

VectorType LastTiles::rowType(unsigned operand) const {
  return VectorType::get({kTileRows * kernel.plan.group}, kernel.plan.elementOf(operand));
}

void LastTiles::copy(unsigned operand, int64_t number, Indices place, int64_t lines) {
  const KernelPlan &plan = kernel.plan;
  OpBuilder &b = kernel.b;
  Location loc = kernel.loc;
  VectorType row = rowType(operand);
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(row));
  auto maskOf = [&](Index elements) {
    auto type = VectorType::get(row.getShape(), b.getI1Type());
    return vector::CreateMaskOp::create(b, loc, type, asValue(b, loc, elements));
  };
  // A has a line for each row, B one for each group of k.
  unsigned dim = operand == 0 ? plan.rowDim : plan.stepDims().back();
  Value first = place[dim];
  int64_t count = operand == 0 ? lines : kTileRows;
  kernel.loop(b.getIndexAttr(0), b.getIndexAttr(count), 1, [&](Value line) {
    Value mask;
    if (operand == 0) {
      mask = maskOf(mulIndex(b, loc, steps, plan.group));
    } else {
      Value isThere =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, line, asValue(b, loc, steps));
      Value all = kernel.constant(lines * plan.group);
      mask = maskOf(arith::SelectOp::create(b, loc, isThere, all, kernel.constant(0)).getResult());
    }
    place[dim] = asValue(b, loc, addIndex(b, loc, first, line));
    Values from = kernel.at(operand, place);
    from.pop_back();
    from.back() = asValue(b, loc, mulIndex(b, loc, from.back(), plan.group));
    Value vector = vector::MaskedLoadOp::create(b, loc, row, flat[operand], from, mask, zeros);
    Index at = addIndex(b, loc, line, b.getIndexAttr(rowOf(operand, number)));
    vector::StoreOp::create(b, loc, vector, memory,
                            ValueRange{asValue(b, loc, at), kernel.constant(0)});
  });
}

Value LastTiles::load(unsigned operand, int64_t number, Type tile) {
  Values at = {kernel.constant(rowOf(operand, number)), kernel.constant(0)};
  return amx::TileLoadOp::create(kernel.b, kernel.loc, cast<amx::TileType>(tile), memory, at);
}
