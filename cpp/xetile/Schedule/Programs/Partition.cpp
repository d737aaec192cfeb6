//===- Partition.cpp - which op of a program belongs to which kernel ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a block of a program on tensors. Out: its ops by kernels. Refused: nothing; ops that no
// schedule takes are kernels of their own, which the schedule refuses.
//
// From the last op to the first, an op joins the kernel of its readers where all of them are in
// one, so no cycles can come to be, and where that kernel computes it about once:
//
//   elementwise ops      where each reader reads an element once, or where they cost next to
//                        nothing
//   sums, maxima, ...    where the workgroup that reads the result walks over what was reduced
//                        anyway: y / sum(y) along rows. Kernels behind that one may read it, too
//   matmuls, scans       where elementwise ops of the same shape are all that follows
//
// Then two kernels that do not wait for one another are made one (MergeKernels.cpp), and all is
// decided anew, until there are no such. In the end matmuls join reductions of their rows
// (JoinProducts.cpp), and ops of statistics alone go to the kernels that compute these
// (MoveStatistics.cpp).
#include "xetile/Schedule/Programs/Partition.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/ChannelsLast.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Schedule/MatmulLoops.h"
#include "xetile/Schedule/Programs/AttentionKernels.h"
#include "xetile/Schedule/Programs/JoinProducts.h"
#include "xetile/Schedule/Programs/LoopNames.h"
#include "xetile/Schedule/Programs/MergeKernels.h"
#include "xetile/Schedule/Programs/MoveStatistics.h"
#include "xetile/Schedule/Programs/UnfoldConvolution.h"
#include "xetile/Schedule/Tiles/TileSizes.h"
#include "xetile/Target/Target.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include <map>

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// A kernel on its way.
struct Draft {
  KernelOps kernel;
  /// A tensor of the shape of all that leaves the kernel.
  Value shape;
  KernelLoops loops;
};

class Partitioner {
public:
  /// Of `merges`, kernels that end with x and with y are one.
  Partitioner(Block &block, const TileSizes &sizes, const Target *target, ArrayRef<Merge> merges,
              ArrayRef<llvm::SetVector<Operation *>> attentions)
      : block(block), sizes(sizes), target(target), loops(block) {
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
  bool hostReads(ArrayRef<Reader> readers);
  bool isBefore(unsigned draft, unsigned other);
  std::optional<unsigned> kernelBeforeOthers(Operation *op, SmallVector<Reader> &readers);
  bool mayJoinMatmul(Operation *op, ArrayRef<Reader> readers);
  bool anchorMayJoin(Operation *op, Draft &draft, ArrayRef<Reader> readers);
  bool readsAgain(const Reader &reader);
  bool readersTakeEach(Operation *op, ArrayRef<Reader> readers);
  std::optional<unsigned> draftBeside(Operation *op);
  bool joinsGiven(Operation *op, ArrayRef<Reader> readers);
  void start(Operation *op);
  void add(Operation *op, unsigned draft, ArrayRef<Reader> readers);

  Block &block;
  const TileSizes &sizes;
  const Target *target;
  SmallVector<Draft, 0> drafts;
  llvm::DenseMap<Operation *, unsigned> draftOf;
  LoopNames loops;
  llvm::DenseMap<Operation *, std::string> reasons;
  llvm::EquivalenceClasses<Operation *> beside;
  llvm::DenseMap<Operation *, StringRef> whyBeside;
  /// The number of the attention that an op is part of.
  llvm::DenseMap<Operation *, unsigned> attentionOf;
  /// Ops of kernels whose elements are computed several times.
  llvm::SmallPtrSet<Operation *, 8> readAgain;
  /// Drafts of kernels that were given: attentions, and those of users, by their numbers, which may
  /// be any.
  std::map<std::pair<bool, int64_t>, unsigned> given;
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

/// True if what stays on the host is among the readers.
bool Partitioner::hostReads(ArrayRef<Reader> readers) {
  return llvm::any_of(readers, [&](const Reader &reader) { return !draftOf.contains(reader.op); });
}

/// True if `other` depends on a result of `draft`, possibly through other kernels and the host.
bool Partitioner::isBefore(unsigned draft, unsigned other) {
  llvm::SetVector<Operation *> open;
  open.insert_range(drafts[draft].kernel.ops);
  for (unsigned i = 0; i < open.size(); ++i)
    for (Value result : open[i]->getResults())
      for (const Reader &reader : readersOf(result)) {
        auto found = draftOf.find(reader.op);
        if (found == draftOf.end()) {
          open.insert(reader.op);
          continue;
        }
        if (found->second == other)
          return true;
        open.insert_range(drafts[found->second].kernel.ops);
      }
  return false;
}

/// The first kernel of those that read a reduction, where it returns that to the others as one more
/// of its results: a block's maximum, that of which the block's powers are summed as well.
/// `readers` become those in that kernel.
std::optional<unsigned> Partitioner::kernelBeforeOthers(Operation *op,
                                                        SmallVector<Reader> &readers) {
  if (!reduces(op) || !walksOverReduced(scheduleOfAnchor(op)))
    return std::nullopt;
  llvm::SetVector<unsigned> read;
  for (const Reader &reader : readers) {
    auto found = draftOf.find(reader.op);
    if (found == draftOf.end())
      return std::nullopt;
    read.insert(found->second);
  }
  for (unsigned draft : read) {
    if (!walksOverReduced(drafts[draft].kernel.schedule) ||
        !sizes.haveOneShape(op->getResult(0), drafts[draft].shape) ||
        llvm::any_of(read,
                     [&](unsigned other) { return other != draft && isBefore(other, draft); }))
      continue;
    SmallVector<Reader> inside = llvm::to_vector(llvm::make_filter_range(
        readers, [&](const Reader &reader) { return draftOf.lookup(reader.op) == draft; }));
    if (whyNotJoin(op, drafts[draft], inside, /*escapes=*/false).empty()) {
      readers = std::move(inside);
      return draft;
    }
  }
  return std::nullopt;
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

/// True if each tensor that elementwise `ops` behind a matmul read and write has rows or columns of
/// `result` as its last dimension, not a batch: their tiles are contiguous in one dimension. And if
/// an op reads one place of `result`: a tile of a square has not that of its transpose.
static bool keepTilesContiguous(Value result, ArrayRef<Operation *> ops) {
  int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
  // For each tensor whose dimensions are those of `result` in some order, which ones.
  llvm::DenseMap<Value, SmallVector<unsigned>> dimsOf;
  dimsOf[result] = llvm::to_vector(llvm::seq<unsigned>(rank));
  for (Operation *op : ops) {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    SmallVector<unsigned> loops;
    for (OpOperand *input : linalgOp.getDpsInputOperands())
      if (auto known = dimsOf.find(input->get()); known != dimsOf.end()) {
        AffineMap map = linalgOp.getMatchingIndexingMap(input);
        if (!map.isPermutation())
          return false;
        SmallVector<unsigned> here(map.getNumDims());
        for (auto [dim, expr] : llvm::zip_equal(known->second, map.getResults()))
          here[cast<AffineDimExpr>(expr).getPosition()] = dim;
        if (!loops.empty() && loops != here)
          return false;
        loops = here;
      }
    if (loops.empty())
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
      if (!map.isPermutation())
        continue;
      SmallVector<unsigned> dims = llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
        return loops[cast<AffineDimExpr>(expr).getPosition()];
      });
      if (int64_t(dims.back()) + 2 < rank)
        return false;
      if (linalgOp.isDpsInit(&operand))
        dimsOf[linalgOp.getTiedOpResult(&operand)] = dims;
    }
  }
  return true;
}

/// A matmul, and a scan, joins elementwise ops of its own shape, each of which comes after it.
bool Partitioner::anchorMayJoin(Operation *op, Draft &draft, ArrayRef<Reader> readers) {
  if (!isOfElements(draft.kernel.schedule) || !sizes.haveOneShape(op->getResult(0), draft.shape))
    return false;
  for (const Reader &reader : readers)
    if (reader.viewed || !isElementwiseOnTensors(reader.op) ||
        !cast<linalg::LinalgOp>(reader.op).getMatchingIndexingMap(reader.operand).isPermutation())
      return false;
  // Merged with those that come after it, ops may be in this kernel that are only beside it.
  llvm::SmallPtrSet<Operation *, 16> after{op};
  for (Operation *other : llvm::reverse(draft.kernel.ops)) {
    if (!isElementwiseOnTensors(other) ||
        llvm::none_of(sourcesOf(other, block),
                      [&](Operation *source) { return after.contains(source); }))
      return false;
    after.insert(other);
  }
  return scheduleOfAnchor(op) != "matmul" ||
         keepTilesContiguous(op->getResult(0), llvm::to_vector(llvm::reverse(draft.kernel.ops)));
}

/// True if `op` is a convolution of f32 that gains on the matrix unit of `target`.
static bool isForMatrixUnit(Operation *op, const Target &target) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !target.multipliesF32 || scheduleOfAnchor(op) != "convolution" ||
      llvm::any_of(op->getOperandTypes(), [](Type type) {
        auto tensor = dyn_cast<RankedTensorType>(type);
        return !tensor || !tensor.hasStaticShape() || !tensor.getElementType().isF32();
      }))
    return false;
  std::optional<MatmulProblem> product = productOf(linalgOp);
  return product && target.multipliesF32(*product);
}

/// True if a convolution on the matrix unit reads it as image, maybe with zeros around it, or as
/// filter.
static bool isFactor(const Reader &reader, const Target &target) {
  if (auto pad = dyn_cast<tensor::PadOp>(reader.op))
    return llvm::any_of(readersOf(pad.getResult()), [&](const Reader &next) {
      return !isa<tensor::PadOp>(next.op) && isFactor(next, target);
    });
  return reader.operand->getOwner() == reader.op && reader.operand->getOperandNumber() < 2 &&
         isForMatrixUnit(reader.op, target);
}

/// True if the matrix unit multiplies tiles of a convolution's operands as they are in memory.
static bool readsChannelsLast(Operation *op) {
  std::optional<ChannelLoops> loops = matchTiledConvolution(op);
  return loops && hasChannelsLast(cast<linalg::LinalgOp>(op), *loops);
}

/// True if results' tiles are none of the operand's.
static bool movesTiles(const Reader &reader) {
  return isa<linalg::TransposeOp, tensor::PadOp>(reader.op);
}

static bool isFactorOfChannelsLast(const Reader &reader) {
  return readsChannelsLast(reader.op) && reader.operand->getOwner() == reader.op &&
         reader.operand->getOperandNumber() < 2;
}

/// Why `op` is no part of the kernel that all its readers are in; empty if it is.
StringRef Partitioner::whyNotJoin(Operation *op, Draft &draft, ArrayRef<Reader> readers,
                                  bool escapes) {
  if (draft.kernel.given)
    return "the kernel of its readers was given by number";
  if (draft.kernel.ops.size() >= kMostOps)
    return "the kernel of its readers has 40 ops";
  if (takesTooMuch(draft.kernel, op))
    return "the kernel of its readers takes as much memory as one can name";
  if (llvm::any_of(readers, [&](const Reader &reader) { return isCollapsed(op, reader); }))
    return "readers see several dimensions as one";
  if (escapes && (draft.kernel.schedule == "matmul" || reduces(op)))
    return readerBehind(block, /*too=*/true);
  if (escapes && llvm::any_of(op->getResults(), [&](Value result) {
        return !sizes.haveOneShape(result, draft.shape);
      }))
    return isHostControl(block.getParentOp())
               ? "what is around reads it, too, in another shape than its readers' results"
               : "the caller reads it, too, in another shape than its readers' results";
  if (draft.kernel.schedule == "matmul") {
    if (reduces(op))
      return "a matmul reads it";
    return mayJoinMatmul(op, readers) ? "" : "the matmul that reads it would compute it per tile";
  }
  if (target && isa<linalg::LinalgOp>(op) &&
      llvm::any_of(readers, [&](const Reader &reader) { return isFactor(reader, *target); }))
    return "the matrix unit multiplies what is in memory";
  if (!target && llvm::any_of(readers, isFactorOfChannelsLast))
    return "the matrix unit multiplies what is in memory";
  if (!target && llvm::any_of(readers, movesTiles) &&
      comesElementwiseFrom(op->getResult(0), readsChannelsLast))
    return "the matrix unit's tiles are others";
  if (!reduces(op))
    return readersTakeEach(op, readers) ? "" : "its readers need an element several times";
  if (draft.kernel.schedule == "scan")
    return "a scan's kernel reduces nothing else";
  if (draft.kernel.schedule == "scatter" || scheduleOfAnchor(op) == "scatter")
    return "a scatter's result is there when all of its updates are done, and its kernel reduces "
           "nothing else";
  if (StringRef schedule = scheduleOfAnchor(op); schedule == "matmul" || schedule == "scan")
    return anchorMayJoin(op, draft, readers) ? "" : "no elementwise ops of its shape follow";
  if (llvm::any_of(readers, [](const Reader &reader) { return looksLikeMatmul(reader.op); }))
    return "a matmul reads it";
  return loops.ofReduction(cast<linalg::LinalgOp>(op), draft.loops, readers)
             ? ""
             : "its readers' workgroups do not walk over all that it reduces";
}

/// The kernel that `op` is in with others of its loops, which name its loops.
std::optional<unsigned> Partitioner::draftBeside(Operation *op) {
  if (beside.findLeader(op) == beside.member_end())
    return std::nullopt;
  for (Operation *other : beside.members(op))
    if (auto found = draftOf.find(other); found != draftOf.end()) {
      loops.shareNames(op, other);
      return found->second;
    }
  return std::nullopt;
}

void Partitioner::start(Operation *op) {
  Draft draft;
  draft.kernel.given = op->hasAttr(kKernelAttr);
  draft.kernel.schedule = scheduleOfAnchor(op);
  draft.shape = op->getResult(0);
  draft.kernel.ops.insert(op);
  draftOf[op] = drafts.size();
  loops.start(op, draft.loops);
  drafts.push_back(std::move(draft));
}

void Partitioner::add(Operation *op, unsigned draft, ArrayRef<Reader> readers) {
  loops.join(op, drafts[draft].loops, readers);
  draftOf[op] = draft;
  drafts[draft].kernel.ops.insert(op);
  if (llvm::any_of(readers, [&](const Reader &reader) { return readsAgain(reader); }))
    readAgain.insert(op);
  if (reduces(op) || drafts[draft].kernel.schedule == "elementwise")
    drafts[draft].kernel.schedule = scheduleOfAnchor(op);
}

/// True if `op` is assigned to a kernel beforehand: by the user's number, or as part of an
/// attention.
bool Partitioner::joinsGiven(Operation *op, ArrayRef<Reader> readers) {
  auto number = op->getAttrOfType<IntegerAttr>(kKernelAttr);
  auto attention = attentionOf.find(op);
  if (!number && attention == attentionOf.end())
    return false;
  std::pair<bool, int64_t> key{!number, number ? number.getInt() : int64_t(attention->second)};
  auto [at, isNew] = given.try_emplace(key, drafts.size());
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
    if (!only && !escapes)
      only = kernelBeforeOthers(&op, readers);
    StringRef refused = only                 ? whyNotJoin(&op, drafts[*only], readers, escapes)
                        : escapes            ? readerBehind(block)
                        : hostReads(readers) ? "the host reads it, or its control flow"
                                             : "its readers are in several kernels";
    if (refused.empty()) {
      add(&op, *only, readers);
      reasons[&op] = "each element is computed about once for its readers in the kernel";
    } else {
      std::string reason = (whatStarts(scheduleOfAnchor(&op)) + "; " + refused).str();
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

SmallVector<KernelOps> partition(Block &block, bool joinsProducts, const Target *target) {
  SmallVector<Merge> merges;
  Operation *parent = block.getParentOp();
  auto func = dyn_cast<func::FuncOp>(parent);
  IRRewriter rewriter(parent->getContext());
  const TileSizes sizes(rewriter, func ? func : parent->getParentOfType<func::FuncOp>());
  SmallVector<llvm::SetVector<Operation *>> attentions = findAttentionKernels(block, target);
  while (true) {
    SmallVector<KernelOps> kernels = Partitioner(block, sizes, target, merges, attentions).run();
    // Ops that both kernels use may join the merged one: partition again.
    std::optional<Merge> merge = findMerge(kernels);
    if (!merge) {
      if (joinsProducts)
        joinProducts(kernels);
      moveStatistics(kernels, sizes);
      return kernels;
    }
    merges.push_back(*merge);
  }
}

} // namespace xetile::transform_ops
