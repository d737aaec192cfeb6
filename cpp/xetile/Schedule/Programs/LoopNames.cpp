//===- LoopNames.cpp - loops of a kernel's ops that walk over the same elements ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: ops of a block, from the last to the first, and who reads each. Out: names of their loops,
// unified through indexing maps and reshapes. Refused: nothing; where readers differ, or index by
// more than dimensions, loops have no names in common.
#include "xetile/Schedule/Programs/LoopNames.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Facts/SaturatingProduct.h"

using namespace mlir;
using namespace xetile::transform_ops;

/// Of dimensions of one element, which are unified with all, and of those that no name fits.
enum : int64_t { kUnit = -1, kUnknown = -2 };

/// Of the dimensions of what a reshape is of, by those of the reshape: of each group, the one whose
/// size is not 1.
static Names throughReshape(Operation *op, const Names &names) {
  auto groups = isa<tensor::ExpandShapeOp>(op)
                    ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
                    : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  bool expands = isa<tensor::ExpandShapeOp>(op);
  ArrayRef<int64_t> wide =
      cast<RankedTensorType>((expands ? op->getResult(0) : op->getOperand(0)).getType()).getShape();
  // A tensor without dimensions has no groups, what it is of may have some of one element.
  Names inner(cast<RankedTensorType>(op->getOperand(0).getType()).getRank(), kUnit);
  for (auto [i, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> live;
    for (int64_t dim : group)
      if (wide[dim] != 1)
        live.push_back(dim);
    if (expands && !live.empty())
      inner[i] = live.size() == 1 ? names[live[0]] : kUnknown;
    if (!expands)
      for (int64_t dim : live)
        inner[dim] = live.size() == 1 ? names[i] : kUnknown;
  }
  return inner;
}

/// Names of the dimensions of `value`, as all of `readers` read it; none where they differ.
std::optional<Names> LoopNames::namesFor(Value value, ArrayRef<Reader> readers) const {
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<Names> common;
  for (const Reader &reader : readers) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(reader.op);
    Names names;
    if (reader.op == block.getTerminator() && !reader.viewed) {
      llvm::append_range(names, llvm::seq<int64_t>(0, type.getRank()));
    } else if (!linalgOp || reader.operand->getOwner() != reader.op) {
      return std::nullopt;
    } else {
      for (AffineExpr expr : linalgOp.getMatchingIndexingMap(reader.operand).getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        names.push_back(dim ? loopsOf.lookup(reader.op)[dim.getPosition()]
                        : isa<AffineConstantExpr>(expr) ? kUnit
                                                        : kUnknown);
      }
    }
    // Back through the views.
    for (Value read = reader.operand->get(); read != value;) {
      Operation *view = read.getDefiningOp();
      if (!isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(view))
        return std::nullopt;
      names = throughReshape(view, names);
      read = view->getOperand(0);
    }
    for (auto [name, extent] : llvm::zip_equal(names, type.getShape()))
      if (extent == 1)
        name = kUnit;
    if (llvm::is_contained(names, kUnknown) || (common && *common != names))
      return std::nullopt;
    common = names;
  }
  return common;
}

/// Loops besides `names` along which `readers` use an element again.
LoopNames::Repetitions LoopNames::repetitionsOf(const Names &names,
                                                ArrayRef<Reader> readers) const {
  Repetitions found;
  auto add = [&](int64_t name, int64_t extent) {
    if (extent != 1 && !llvm::is_contained(names, name))
      found[name] = extent;
  };
  for (const Reader &reader : readers) {
    if (auto reading = dyn_cast<linalg::LinalgOp>(reader.op))
      for (auto [name, extent] :
           llvm::zip_equal(loopsOf.lookup(reader.op), reading.getStaticLoopRanges()))
        add(name, extent);
    for (auto [name, extent] : repeated.lookup(reader.op))
      add(name, extent);
  }
  return found;
}

std::optional<Names> LoopNames::ofReduction(linalg::LinalgOp op, const KernelLoops &kernel,
                                            ArrayRef<Reader> readers) const {
  // Of a loop whose size a run knows.
  constexpr int64_t kPlanned = 256;
  constexpr int64_t kMostInWorkgroup = 1 << 16;
  if (op->getNumResults() != 1)
    return std::nullopt;
  std::optional<Names> names = namesFor(op->getResult(0), readers);
  if (!names)
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  Names loops(extents.size(), kUnit);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (auto [expr, name] : llvm::zip_equal(map.getResults(), *names))
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      loops[dim.getPosition()] = name;
      if (kernel.reduced.contains(name))
        return std::nullopt;
    }
  // Each loop that repeats the result is one that is reduced.
  Repetitions repetitions = repetitionsOf(*names, readers);
  int64_t product = 1;
  for (auto [name, extent] : repetitions) {
    product = saturatingProduct(product, ShapedType::isDynamic(extent) ? kPlanned : extent);
    bool found = false;
    for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (!found && kind == utils::IteratorType::reduction && extents[i] == extent &&
          loops[i] == kUnit) {
        loops[i] = name;
        found = true;
      }
    if (!found || name < 0 || kernel.kept.contains(name))
      return std::nullopt;
  }
  if (repetitions.size() > 2 || (repetitions.size() == 2 && product > kMostInWorkgroup))
    return std::nullopt;
  return loops;
}

/// Gives names to loops of `op` that have none, and tells which of them it reduces.
static void nameOpenLoops(Operation *op, Names &loops, KernelLoops &kernel) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  for (auto [name, extent, kind] :
       llvm::zip_equal(loops, linalgOp.getStaticLoopRanges(), linalgOp.getIteratorTypesArray())) {
    if (extent == 1)
      name = kUnit;
    else if (name == kUnit)
      name = kernel.next++;
    if (reduces(op) && extent != 1)
      (kind == utils::IteratorType::reduction ? kernel.reduced : kernel.kept).insert(name);
  }
}

/// Names for the loops of an op that joins `kernel`.
Names LoopNames::nameLoops(Operation *op, KernelLoops &kernel, ArrayRef<Reader> readers) const {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return {};
  Names loops(linalgOp.getNumLoops(), kUnit);
  std::optional<Names> joining;
  if (reduces(op))
    joining = ofReduction(linalgOp, kernel, readers);
  if (joining) {
    loops = *joining;
  } else if (std::optional<Names> names = namesFor(op->getResult(0), readers)) {
    AffineMap map = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0));
    for (auto [expr, name] : llvm::zip_equal(map.getResults(), *names))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        loops[dim.getPosition()] = name;
  } else {
    return Names(loops.size(), kUnknown);
  }
  nameOpenLoops(op, loops, kernel);
  return loops;
}

void LoopNames::start(Operation *op, KernelLoops &kernel) {
  kernel.next = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return;
  Names loops(linalgOp.getNumLoops(), kUnit);
  AffineMap map = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0));
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = static_cast<int64_t>(i);
  nameOpenLoops(op, loops, kernel);
  loopsOf[op] = loops;
}

void LoopNames::join(Operation *op, KernelLoops &kernel, ArrayRef<Reader> readers) {
  Names names = nameLoops(op, kernel, readers);
  repeated[op] = repetitionsOf(names, readers);
  loopsOf[op] = std::move(names);
}
