//===- SimtWriter.cpp - elementwise code on chunks of a tile -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a planned kernel without products. Out: the same on vectors of one chunk each, as many as a
// thread has. Refused: nothing; SimtPlan.cpp has.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/SimtWriter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/Hopper.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

SimtWriter::SimtWriter(const SimtPlan &plan, gpu::GPUFuncOp kernel, OpBuilder &builder)
    : ThreadCode(kernel.getLoc(), builder), plan(plan), kernel(kernel) {}

VectorType SimtWriter::chunkType(Type element) const {
  return VectorType::get({plan.width}, element);
}

/// The first chunk whose part of such a vector is that of `chunk`.
size_t SimtWriter::firstOfSame(VectorType type, size_t chunk) const {
  return size_t(plan.firstOfSame(int64_t(chunk), type.getDimSize(0) == 1, type.getDimSize(1) == 1));
}

Value SimtWriter::splat(Value element) {
  return vector::BroadcastOp::create(b, chunkType(element.getType()), element);
}

Value SimtWriter::part(Value vector, int64_t at) {
  return vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{at});
}

Value SimtWriter::pack(ArrayRef<Value> elements) {
  return vector::FromElementsOp::create(
      b, VectorType::get({int64_t(elements.size())}, elements.front().getType()), elements);
}

/// Which chunks this thread has.
void SimtWriter::begin() {
  b.setInsertionPointToStart(&kernel.getBody().front());
  thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  Value perRow = number(plan.chunksOfRow());
  for (int64_t chunk = 0; chunk < plan.chunks(); ++chunk) {
    if (plan.isEven() && plan.chunksOfRow() % plan.threads == 0) {
      int64_t inRow = plan.chunksOfRow() / plan.threads;
      rowOf.push_back(number(chunk / inRow));
      columnOf.push_back(mul(add(thread, chunk % inRow * plan.threads), plan.width));
      continue;
    }
    Value own = add(thread, chunk * plan.threads);
    rowOf.push_back(arith::DivUIOp::create(b, own, perRow));
    columnOf.push_back(mul(arith::RemUIOp::create(b, own, perRow), plan.width));
  }
  if (plan.sharedBytes == 0)
    return;
  std::string name = (kernel.getName() + "_shared").str();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(kernel->getParentOfType<gpu::GPUModuleOp>().getBody());
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
                           LLVM::Linkage::External, name, Attribute(), kSwizzleAlign, 3);
  }
  shared = LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 3), name);
}

void SimtWriter::write() {
  begin();
  writeBlock(kernel.getBody().front());
  for (Operation *op : done)
    op->dropAllReferences();
  for (Operation *op : done)
    op->erase();
}

void SimtWriter::writeBlock(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  auto isVector = llvm::IsaPred<VectorType>;
  for (Operation *op : ops) {
    if (op->getBlock() != &block)
      continue;
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      writeLoop(loop);
      continue;
    }
    if (auto load = dyn_cast<LoadTileOp>(op)) {
      if (isSliced(load))
        copyToShared(load);
      else
        held[load.getValue()] = this->load(load);
    } else if (auto store = dyn_cast<StoreTileOp>(op))
      this->store(store);
    else if (auto load = dyn_cast<LoadGatherOp>(op))
      held[load.getValue()] = gather(load);
    else if (auto store = dyn_cast<StoreScatterOp>(op))
      scatter(store);
    else if (auto update = dyn_cast<AtomicRMWScatterOp>(op))
      scatter(update);
    else if (auto scan = dyn_cast<vector::ScanOp>(op))
      this->scan(scan);
    else if (auto reduce = dyn_cast<TileReduceOp>(op))
      held[reduce.getResult()] = isFirstOfTwo(reduce) ? Chunks() : this->reduce(reduce);
    else if (isa<vector::StepOp, InitTileOp, PrefetchTileOp, vector::ExtractOp>(op))
      ;
    else if (llvm::any_of(op->getResultTypes(), isVector) && !isa<scf::YieldOp>(op))
      writeByElement(op);
    else
      continue;
    done.push_back(op);
  }
}

/// A loop that carries the chunks of the vectors that it carried.
void SimtWriter::writeLoop(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs()) {
    if (isa<VectorType>(init.getType()))
      llvm::append_range(inits, chunksOf(init));
    else
      inits.push_back(init);
  }
  auto made =
      scf::ForOp::create(b, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  if (!made.getBody()->empty())
    made.getBody()->clear();
  auto hold = [&](ValueRange values, ValueRange parts) {
    for (Value value : values) {
      if (!isa<VectorType>(value.getType())) {
        value.replaceAllUsesWith(parts.front());
        parts = parts.drop_front();
        continue;
      }
      held[value] = Chunks(parts.take_front(size_t(plan.chunks())));
      parts = parts.drop_front(size_t(plan.chunks()));
    }
  };
  loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());
  hold(loop.getRegionIterArgs(), made.getRegionIterArgs());
  Block *body = made.getBody();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  writeBlock(*body);
  auto yield = cast<scf::YieldOp>(body->back());
  SmallVector<Value> yielded;
  b.setInsertionPoint(yield);
  for (Value value : yield.getOperands()) {
    if (isa<VectorType>(value.getType()))
      llvm::append_range(yielded, chunksOf(value));
    else
      yielded.push_back(value);
  }
  yield->setOperands(yielded);
  hold(loop.getResults(), made.getResults());
  done.push_back(loop);
}

SimtWriter::Chunks SimtWriter::chunksOf(Value value) {
  auto found = held.find(value);
  if (found != held.end())
    return found->second;
  DenseElementsAttr constant;
  (void)matchPattern(value, m_Constant(&constant));
  auto type = chunkType(cast<VectorType>(value.getType()).getElementType());
  Value same = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, constant.getSplatValue<Attribute>()));
  return Chunks(size_t(plan.chunks()), same);
}

/// Numbers of rows, or of columns.
SimtWriter::Chunks SimtWriter::indices(vector::ShapeCastOp steps) {
  auto type = cast<VectorType>(steps.getType());
  auto typed = [&](Value number) {
    return type.getElementType().isIndex() ? toIndex(number) : number;
  };
  Chunks made;
  for (auto [row, column] : llvm::zip_equal(rowOf, columnOf)) {
    if (type.getDimSize(0) > 1) {
      made.push_back(splat(typed(row)));
      continue;
    }
    SmallVector<Value> elements;
    for (int64_t at = 0; at < plan.width; ++at)
      elements.push_back(typed(type.getDimSize(1) > 1 ? add(column, at) : number(0)));
    made.push_back(pack(elements));
  }
  return made;
}

/// The product that a step of a loop adds to what the other operand is, with one rounding; null for
/// others, whose products are rounded.
static arith::MulFOp addedProduct(Operation *op) {
  auto sum = dyn_cast<arith::AddFOp>(op);
  if (!sum || !isa<scf::ForOp>(op->getParentOp()))
    return {};
  for (Value operand : sum->getOperands())
    if (auto product = operand.getDefiningOp<arith::MulFOp>(); product && product->hasOneUse())
      return product;
  return {};
}

void SimtWriter::writeByElement(Operation *op) {
  Value result = op->getResult(0);
  // Of subgroups' layouts threads know nothing.
  if (isa<TileBroadcastOp, TileConvLayoutOp>(op)) {
    held[result] = chunksOf(op->getOperand(0));
    return;
  }
  if (std::optional<Slice> slice = sliceOf(op)) {
    held[result] = fromShared(*slice, cast<VectorType>(result.getType()));
    return;
  }
  if (auto steps = dyn_cast<vector::ShapeCastOp>(op)) {
    held[result] = isOfScan(steps) ? chunksOf(steps.getSource()) : indices(steps);
    return;
  }
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) {
    held[result] = chunksOf(result);
    return;
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    held[result] = Chunks(size_t(plan.chunks()), splat(broadcast.getSource()));
    return;
  }
  Chunks made;
  auto type = cast<VectorType>(result.getType());
  arith::MulFOp product = plan.sharesLoads ? addedProduct(op) : arith::MulFOp();
  for (int64_t chunk = 0; chunk < plan.chunks(); ++chunk) {
    if (size_t first = firstOfSame(type, size_t(chunk)); first != size_t(chunk)) {
      made.push_back(made[first]);
      continue;
    }
    if (product) {
      Value other = op->getOperand(op->getOperand(0) == product.getResult() ? 1 : 0);
      std::array<Value, 3> terms = {product.getLhs(), product.getRhs(), other};
      for (Value &term : terms)
        term = chunksOf(term)[size_t(chunk)];
      made.push_back(math::FmaOp::create(b, terms[0], terms[1], terms[2]));
      continue;
    }
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (isa<VectorType>(operand.getType()))
        mapping.map(operand, chunksOf(operand)[size_t(chunk)]);
    Operation *copy = b.clone(*op, mapping);
    copy->getResult(0).setType(chunkType(type.getElementType()));
    made.push_back(copy->getResult(0));
  }
  held[result] = made;
}
