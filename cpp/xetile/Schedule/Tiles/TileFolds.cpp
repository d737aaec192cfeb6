//===- TileFolds.cpp - reductions by code of any kind -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg op that reduces by more than one sum, product, extreme or such, the places of its
// other loops. Out: loops over what is reduced, one element after the other, that carry all of its
// results. Refused: what the writer refuses of the code.
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "xetile/Schedule/Tiles/TileFold.h"
#include "xetile/Schedule/Tiles/TileWriter.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xetile::transform_ops {

/// True if `result` is combined of elements that depend on no result so far.
static bool isCombined(linalg::LinalgOp op, unsigned result) {
  Block *block = op.getBlock();
  unsigned inputs = op.getNumDpsInputs();
  BlockArgument total = block->getArgument(inputs + result);
  Operation *combiner = block->getTerminator()->getOperand(result).getDefiningOp();
  if (!combiner || combiner->getBlock() != block || combiner->getNumOperands() != 2 ||
      !llvm::is_contained(combiner->getOperands(), total) || !linalg::getCombinerOpKind(combiner))
    return false;
  llvm::SetVector<Value> open;
  open.insert(combiner->getOperand(combiner->getOperand(0) == total ? 1 : 0));
  for (unsigned i = 0; i < open.size(); ++i) {
    auto argument = dyn_cast<BlockArgument>(open[i]);
    if (argument && argument.getOwner() == block && argument.getArgNumber() >= inputs)
      return false;
    if (Operation *made = open[i].getDefiningOp(); made && made->getBlock() == block)
      open.insert(made->operand_begin(), made->operand_end());
  }
  return true;
}

bool isFold(linalg::LinalgOp op) {
  return !llvm::all_of(llvm::seq<unsigned>(0, op.getNumDpsInits()),
                       [&](unsigned result) { return isCombined(op, result); });
}

/// A fold on its way: the places of its loops, those that are reduced.
struct TileWriter::Fold {
  linalg::LinalgOp op;
  SmallVector<unsigned> reduced;
  SmallVector<Place> loops;
  SmallVector<int64_t> shape;
};

/// True if all steps of the reduced loops combine into the same element of what `init` starts.
bool TileWriter::isCarried(Fold &fold, OpOperand &init) {
  AffineMap map = fold.op.getMatchingIndexingMap(&init);
  return llvm::none_of(fold.reduced, [&](unsigned dim) { return map.isFunctionOfDim(dim); });
}

/// The results after one more element, where `before` is what they were.
FailureOr<SmallVector<Value>> TileWriter::foldOne(Fold &fold, ArrayRef<Value> before) {
  unsigned inputs = fold.op.getNumDpsInputs();
  SmallVector<Value> after;
  for (unsigned result = 0; result < before.size(); ++result) {
    FailureOr<Value> next = scalarCode(
        fold.op, fold.op.getBlock()->getTerminator()->getOperand(result),
        [&](OpOperand &operand) -> FailureOr<Value> {
          // A result with an element for each step reads that of its own.
          if (operand.getOperandNumber() < inputs || !isCarried(fold, operand))
            return read(fold.op, operand, fold.loops);
          return before[operand.getOperandNumber() - inputs];
        },
        [&](unsigned loop) { return indices(fold.loops[loop]); });
    if (failed(next))
      return failure();
    after.push_back(repeat(*next, fold.shape));
  }
  return after;
}

/// Goes over the reduced loops from number `next` on, in their order.
FailureOr<SmallVector<Value>> TileWriter::foldLoops(Fold &fold, unsigned next,
                                                    ArrayRef<Value> before) {
  if (next == fold.reduced.size())
    return foldOne(fold, before);
  unsigned dim = fold.reduced[next];
  Extent extent = extents.loopsOf(fold.op)[dim];
  if (extent.isKnown() && extent.number == 1) {
    fold.loops[dim] = Place::at(0);
    return foldLoops(fold, next + 1, before);
  }
  Value from = number(0), to = asIndex(extent), by = number(1);
  auto loop = scf::ForOp::create(b, loc, from, to, by, before);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scopes.push_back(std::make_unique<Scope>());
  scopes.back()->loop = loop;
  scopes.back()->reduces = true;
  if (extent.isKnown())
    highest[loop.getInductionVar()] = extent.number - 1;
  else
    below[loop.getInductionVar()] = extent.value;
  fold.loops[dim] = Place();
  fold.loops[dim].base = loop.getInductionVar();
  FailureOr<SmallVector<Value>> after =
      foldLoops(fold, next + 1, SmallVector<Value>(loop.getRegionIterArgs()));
  if (succeeded(after))
    scf::YieldOp::create(b, loc, *after);
  scopes.pop_back();
  if (failed(after))
    return failure();
  return SmallVector<Value>(loop.getResults());
}

FailureOr<Value> TileWriter::fold(linalg::LinalgOp op, unsigned result, SmallVector<Place> loops,
                                  ArrayRef<unsigned> reduced) {
  if (llvm::any_of(scopes, [](const auto &scope) { return scope->reduces; }))
    return refuse(op, Twine("it would be computed anew in each step of another reduction: ") +
                          kSeveralKernels);
  // All results are made at once, as one is often read beside the other.
  Fold fold{op, SmallVector<unsigned>(reduced), std::move(loops), {}};
  for (unsigned dim : reduced)
    fold.loops[dim] = Place();
  fold.shape = shapeFor(fold.loops);
  SmallVector<Value> before;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    FailureOr<Value> start = read(op, init, fold.loops);
    if (failed(start))
      return failure();
    before.push_back(repeat(*start, fold.shape));
  }
  FailureOr<SmallVector<Value>> after = foldLoops(fold, 0, before);
  if (failed(after))
    return failure();
  for (auto [each, made] : llvm::enumerate(*after)) {
    SmallVector<Place> places;
    // Of a result that other loops reduce this was a part only.
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(each));
    bool isKnown = llvm::all_of(llvm::seq(op.getNumLoops()), [&](unsigned dim) {
      return map.isFunctionOfDim(dim) != llvm::is_contained(reduced, dim);
    });
    for (AffineExpr expr : map.getResults()) {
      FailureOr<Place> place = placeOf(expr, fold.loops);
      isKnown &= succeeded(place);
      if (isKnown)
        places.push_back(*place);
    }
    if (!isKnown)
      continue;
    Key key{reinterpret_cast<int64_t>(op->getResult(each).getAsOpaquePointer()), 0};
    append(key, places);
    scopes.back()->known[key] = made;
  }
  return (*after)[result];
}

} // namespace xetile::transform_ops
