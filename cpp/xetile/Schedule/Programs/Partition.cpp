//===- Partition.cpp - which op of a program belongs to which kernel ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function on tensors. Out: its ops by kernels. Refused: nothing; ops that no schedule takes
// are kernels of their own, which the schedule refuses.
//
// From the last op to the first, an op joins the kernel of its readers where all of them are in
// one, so no cycles can come to be, and where that kernel computes it about once:
//
//   elementwise ops      where each reader reads an element once, or where they cost next to
//                        nothing
//   sums, maxima, ...    where the workgroup that reads the result walks over what was reduced
//                        anyway: y / sum(y) along rows
//   matmuls, scans       where elementwise ops of the same shape are all that follows
//
// Then two kernels that do not wait for one another are made one (MergeKernels.cpp), and all is
// decided anew, until there are no such.
#include "xetile/Schedule/Programs/Partition.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Schedule/MatmulLoops.h"
#include "xetile/Schedule/Programs/AttentionKernels.h"
#include "xetile/Schedule/Programs/MergeKernels.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// Names of loops in a kernel: a loop of one op and a loop of another have one name where they walk
/// over the same elements. Dimensions of size 1 have none.
enum : int64_t { kUnit = -1, kUnknown = -2 };
using Names = SmallVector<int64_t>;

/// A kernel on its way.
struct Draft {
  KernelOps kernel;
  /// Of what leaves the kernel.
  SmallVector<int64_t> shape;
  int64_t nextName = 0;
  /// Loops that reductions walk over, and those that they keep.
  llvm::SmallDenseSet<int64_t> reduced, kept;
};

/// Loops of readers, their readers and so on that use an element again, with their sizes.
using Repetitions = llvm::SmallDenseMap<int64_t, int64_t>;

class Partitioner {
public:
  /// Of `merges`, kernels that end with x and with y are one.
  Partitioner(Block &block, ArrayRef<Merge> merges,
              ArrayRef<llvm::SetVector<Operation *>> attentions)
      : block(block) {
    for (auto [number, ops] : llvm::enumerate(attentions))
      for (Operation *op : ops)
        attentionOf[op] = number;
    for (const Merge &merge : merges) {
      beside.unionSets(merge.x, merge.y);
      whyBeside[merge.x] = whyBeside[merge.y] = merge.why;
    }
  }

  SmallVector<KernelOps> run();

private:
  std::optional<unsigned> kernelOfReaders(ArrayRef<Reader> readers, bool &escapes);
  StringRef whyNotJoin(Operation *op, Draft &draft, ArrayRef<Reader> readers, bool escapes);
  bool mayJoinMatmul(Operation *op, ArrayRef<Reader> readers);
  bool anchorMayJoin(Operation *op, Draft &draft, ArrayRef<Reader> readers);
  bool readsAgain(const Reader &reader);
  bool readersTakeEach(Operation *op, ArrayRef<Reader> readers);
  std::optional<Names> namesFor(Value value, ArrayRef<Reader> readers);
  Repetitions repetitionsOf(const Names &names, ArrayRef<Reader> readers);
  std::optional<Names> joinReduction(linalg::LinalgOp op, const Draft &draft,
                                     ArrayRef<Reader> readers);
  void nameOpenLoops(Operation *op, Names &loops, Draft &draft);
  Names nameLoops(Operation *op, Draft &draft, ArrayRef<Reader> readers);
  std::optional<unsigned> draftBeside(Operation *op);
  bool joinsGiven(Operation *op, ArrayRef<Reader> readers);
  void start(Operation *op);
  void add(Operation *op, unsigned draft, ArrayRef<Reader> readers);

  Block &block;
  SmallVector<Draft, 0> drafts;
  llvm::DenseMap<Operation *, unsigned> draftOf;
  llvm::DenseMap<Operation *, Names> loopsOf;
  llvm::DenseMap<Operation *, Repetitions> repeated;
  llvm::DenseMap<Operation *, std::string> reasons;
  llvm::EquivalenceClasses<Operation *> beside;
  llvm::DenseMap<Operation *, StringRef> whyBeside;
  /// The number of the attention that an op is part of.
  llvm::DenseMap<Operation *, unsigned> attentionOf;
  /// Ops of kernels whose elements are computed several times.
  llvm::SmallPtrSet<Operation *, 8> readAgain;
  /// Drafts of kernels that were given, by their number; attentions are below zero.
  llvm::DenseMap<int64_t, unsigned> given;
};

/// The one kernel that all readers are in; none where they are in several, or there is none.
std::optional<unsigned> Partitioner::kernelOfReaders(ArrayRef<Reader> readers, bool &escapes) {
  std::optional<unsigned> only;
  for (const Reader &reader : readers) {
    if (reader.op == block.getTerminator()) {
      escapes = true;
      continue;
    }
    auto found = draftOf.find(reader.op);
    if (found == draftOf.end() || (only && *only != found->second))
      return std::nullopt;
    only = found->second;
  }
  return only;
}

/// Of the dimensions of what a reshape is of, by those of the reshape: of each group, the one whose
/// size is not 1.
Names throughReshape(Operation *op, const Names &names) {
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
std::optional<Names> Partitioner::namesFor(Value value, ArrayRef<Reader> readers) {
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

/// True if `reader` reads an element several times, as windows and matmuls do.
bool Partitioner::readsAgain(const Reader &reader) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(reader.op);
  if (!linalgOp)
    return readAgain.contains(reader.op);
  if (readAgain.contains(reader.op) || looksLikeMatmul(reader.op))
    return true;
  return reduces(reader.op) && !reader.viewed &&
         !linalgOp.getMatchingIndexingMap(reader.operand)
              .isProjectedPermutation(/*allowZeroInResults=*/true);
}

/// True if fusing computes each element about once over all users, or recomputing is cheap.
bool Partitioner::readersTakeEach(Operation *op, ArrayRef<Reader> readers) {
  return llvm::all_of(readers, [&](const Reader &reader) {
    // By indices that a body computes, and with steps between elements: from memory.
    if (isa<linalg::LinalgOp>(reader.op) && !reader.viewed &&
        reader.operand->getOwner() != reader.op)
      return false;
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(reader.op);
        insertion && !insertion.hasUnitStride() && reader.operand->get() == insertion.getSource())
      return false;
    return isCheap(op) || !readsAgain(reader);
  });
}

/// True if `op` is an epilogue of a matmul, or a producer that is fused to its tiles: these only if
/// nothing else can take them, as they are recomputed for each tile.
bool Partitioner::mayJoinMatmul(Operation *op, ArrayRef<Reader> readers) {
  if (!isElementwiseOnTensors(op))
    return false;
  bool readsMemory = llvm::none_of(op->getOperands(), [](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && belongsToKernel(producer);
  });
  return llvm::all_of(readers, [&](const Reader &reader) {
    return !reader.viewed && (!looksLikeMatmul(reader.op) || (isCheap(op) && readsMemory));
  });
}

/// A matmul, and a scan, joins elementwise ops of its own shape, each of which comes after it.
bool Partitioner::anchorMayJoin(Operation *op, Draft &draft, ArrayRef<Reader> readers) {
  if (draft.kernel.schedule != "elementwise" ||
      cast<RankedTensorType>(op->getResult(0).getType()).getShape() != ArrayRef(draft.shape))
    return false;
  for (const Reader &reader : readers)
    if (reader.viewed || !isElementwiseOnTensors(reader.op) ||
        !cast<linalg::LinalgOp>(reader.op).getMatchingIndexingMap(reader.operand).isPermutation())
      return false;
  return llvm::all_of(draft.kernel.ops, isElementwiseOnTensors);
}

/// Loops besides `names` along which `readers` use an element again.
Repetitions Partitioner::repetitionsOf(const Names &names, ArrayRef<Reader> readers) {
  Repetitions found;
  auto add = [&](int64_t name, int64_t extent) {
    if (extent > 1 && !llvm::is_contained(names, name))
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

/// Names for the loops of a reduction, where the workgroup that reads its result walks over what it
/// reduces anyway: y / sum(y) along rows. Of more than two such dimensions a workgroup has a part
/// only; each would reduce anew.
std::optional<Names> Partitioner::joinReduction(linalg::LinalgOp op, const Draft &draft,
                                                ArrayRef<Reader> readers) {
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
      if (draft.reduced.contains(name))
        return std::nullopt;
    }
  // Each loop that repeats the result is one that is reduced.
  Repetitions repetitions = repetitionsOf(*names, readers);
  int64_t product = 1;
  for (auto [name, extent] : repetitions) {
    product *= extent;
    bool found = false;
    for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (!found && kind == utils::IteratorType::reduction && extents[i] == extent &&
          loops[i] == kUnit) {
        loops[i] = name;
        found = true;
      }
    if (!found || name < 0 || draft.kept.contains(name))
      return std::nullopt;
  }
  if (repetitions.size() > 2 || (repetitions.size() == 2 && product > kMostInWorkgroup))
    return std::nullopt;
  return loops;
}

/// Why `op` is no part of the kernel that all its readers are in; empty if it is.
StringRef Partitioner::whyNotJoin(Operation *op, Draft &draft, ArrayRef<Reader> readers,
                                  bool escapes) {
  if (draft.kernel.given)
    return "the kernel of its readers was given by number";
  if (draft.kernel.ops.size() >= kMostOps)
    return "the kernel of its readers has 40 ops";
  KernelOps both;
  both.ops.insert(op);
  both.ops.insert_range(draft.kernel.ops);
  if (takesTooMuch(both))
    return "the kernel of its readers takes as much memory as one can name";
  if (llvm::any_of(readers, [&](const Reader &reader) { return isCollapsed(op, reader); }))
    return "readers see several dimensions as one";
  if (escapes && (draft.kernel.schedule == "matmul" || reduces(op)))
    return "the caller reads it, too";
  if (escapes && llvm::any_of(op->getResultTypes(), [&](Type type) {
        return cast<RankedTensorType>(type).getShape() != ArrayRef(draft.shape);
      }))
    return "the caller reads it, too, in another shape than its readers' results";
  if (draft.kernel.schedule == "matmul") {
    if (reduces(op))
      return "a matmul reads it";
    return mayJoinMatmul(op, readers) ? "" : "the matmul that reads it would compute it per tile";
  }
  if (!reduces(op))
    return readersTakeEach(op, readers) ? "" : "its readers need an element several times";
  if (draft.kernel.schedule == "scan")
    return "a scan's kernel reduces nothing else";
  if (StringRef schedule = scheduleOfAnchor(op); schedule == "matmul" || schedule == "scan")
    return anchorMayJoin(op, draft, readers) ? "" : "no elementwise ops of its shape follow";
  if (llvm::any_of(readers, [](const Reader &reader) { return looksLikeMatmul(reader.op); }))
    return "a matmul reads it";
  return joinReduction(cast<linalg::LinalgOp>(op), draft, readers)
             ? ""
             : "its readers' workgroups do not walk over all that it reduces";
}

/// Gives names to loops of `op` that have none, and tells which of them it reduces.
void Partitioner::nameOpenLoops(Operation *op, Names &loops, Draft &draft) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  for (auto [name, extent, kind] :
       llvm::zip_equal(loops, linalgOp.getStaticLoopRanges(), linalgOp.getIteratorTypesArray())) {
    if (extent == 1)
      name = kUnit;
    else if (name == kUnit)
      name = draft.nextName++;
    if (reduces(op) && extent != 1)
      (kind == utils::IteratorType::reduction ? draft.reduced : draft.kept).insert(name);
  }
}

/// Names for the loops of an op of `draft`.
Names Partitioner::nameLoops(Operation *op, Draft &draft, ArrayRef<Reader> readers) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return {};
  Names loops(linalgOp.getNumLoops(), kUnit);
  std::optional<Names> joining;
  if (reduces(op))
    joining = joinReduction(linalgOp, draft, readers);
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
  nameOpenLoops(op, loops, draft);
  return loops;
}

/// The kernel that `op` is in with others of its loops, which name its loops.
std::optional<unsigned> Partitioner::draftBeside(Operation *op) {
  if (beside.findLeader(op) == beside.member_end())
    return std::nullopt;
  for (Operation *other : beside.members(op))
    if (auto found = draftOf.find(other); found != draftOf.end()) {
      loopsOf[op] = loopsOf.lookup(other);
      return found->second;
    }
  return std::nullopt;
}

void Partitioner::start(Operation *op) {
  Draft draft;
  draft.kernel.given = op->hasAttr(kKernelAttr);
  draft.kernel.schedule = reduces(op) ? scheduleOfAnchor(op) : "elementwise";
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  draft.shape.assign(type.getShape().begin(), type.getShape().end());
  draft.nextName = type.getRank();
  draft.kernel.ops.insert(op);
  draftOf[op] = drafts.size();
  // Dimensions of the results have the first names.
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    Names loops(linalgOp.getNumLoops(), kUnit);
    AffineMap map = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0));
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        loops[dim.getPosition()] = static_cast<int64_t>(i);
    nameOpenLoops(op, loops, draft);
    loopsOf[op] = loops;
  }
  drafts.push_back(std::move(draft));
}

void Partitioner::add(Operation *op, unsigned draft, ArrayRef<Reader> readers) {
  loopsOf[op] = nameLoops(op, drafts[draft], readers);
  repeated[op] = repetitionsOf(loopsOf[op], readers);
  draftOf[op] = draft;
  drafts[draft].kernel.ops.insert(op);
  if (llvm::any_of(readers, [&](const Reader &reader) { return readsAgain(reader); }))
    readAgain.insert(op);
  if (reduces(op))
    drafts[draft].kernel.schedule = scheduleOfAnchor(op);
}

/// True if `op` is assigned to a kernel beforehand: by the user's number, or as part of an
/// attention.
bool Partitioner::joinsGiven(Operation *op, ArrayRef<Reader> readers) {
  auto number = op->getAttrOfType<IntegerAttr>(kKernelAttr);
  auto attention = attentionOf.find(op);
  if (!number && attention == attentionOf.end())
    return false;
  auto [at, isNew] = number ? given.try_emplace(number.getInt(), drafts.size())
                            : given.try_emplace(-1 - int64_t(attention->second), drafts.size());
  if (isNew)
    start(op);
  else
    add(op, at->second, readers);
  KernelOps &kernel = drafts[at->second].kernel;
  kernel.given = true;
  if (!number)
    kernel.schedule = "attention";
  else if (StringRef named = scheduleOf(op); !named.empty())
    kernel.schedule = named;
  reasons[op] = number ? "given by number" : "attention: its scores stay in registers";
  return true;
}

SmallVector<KernelOps> Partitioner::run() {
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (!belongsToKernel(&op))
      continue;
    SmallVector<Reader> readers;
    for (Value result : op.getResults())
      llvm::append_range(readers, readersOf(result));
    if (readers.empty())
      continue;
    if (joinsGiven(&op, readers))
      continue;
    bool escapes = false;
    std::optional<unsigned> only = kernelOfReaders(readers, escapes);
    StringRef refused = only      ? whyNotJoin(&op, drafts[*only], readers, escapes)
                        : escapes ? "the caller reads it"
                                  : "its readers are in several kernels";
    if (refused.empty()) {
      add(&op, *only, readers);
      reasons[&op] = "each element is computed about once for its readers in the kernel";
    } else {
      std::string reason =
          (whatStarts(reduces(&op) ? scheduleOfAnchor(&op) : "elementwise") + "; " + refused).str();
      if (std::optional<unsigned> found = draftBeside(&op)) {
        reason += ("; " + whyBeside[&op]).str();
        draftOf[&op] = *found;
        drafts[*found].kernel.ops.insert(&op);
      } else {
        start(&op);
      }
      reasons[&op] = std::move(reason);
    }
  }
  SmallVector<KernelOps> kernels;
  for (Draft &draft : drafts) {
    SmallVector<Operation *> ops = draft.kernel.ops.takeVector();
    draft.kernel.ops.insert_range(llvm::reverse(ops));
    for (Operation *op : draft.kernel.ops)
      draft.kernel.reasons.push_back(std::move(reasons[op]));
    kernels.push_back(std::move(draft.kernel));
  }
  return kernels;
}

} // namespace

SmallVector<KernelOps> partition(func::FuncOp func) {
  SmallVector<Merge> merges;
  SmallVector<llvm::SetVector<Operation *>> attentions = findAttentionKernels(func);
  while (true) {
    SmallVector<KernelOps> kernels = Partitioner(func.getBody().front(), merges, attentions).run();
    // Ops that both kernels use may join the merged one: partition again.
    std::optional<Merge> merge = findMerge(kernels);
    if (!merge)
      return kernels;
    merges.push_back(*merge);
  }
}

} // namespace xetile::transform_ops
