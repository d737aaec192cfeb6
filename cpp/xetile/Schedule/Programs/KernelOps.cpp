//===- KernelOps.cpp - what an op of a program is to its kernels ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: ops on tensors. Out: whether kernels compute or copy them, who reads them, which schedule
// takes them; kernels and the host's ops in an order in which they can run. Refused: kernels that
// wait for one another.
#include "xetile/Schedule/Programs/KernelOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "xetile/IR/AnchorAttr.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Linalg/Scan.h"
#include "xetile/Linalg/Scatter.h"
#include "xetile/Schedule/MatmulLoops.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace xetile::transform_ops {

bool joinsDimensions(Operation *op) {
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  if (!collapse)
    return false;
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  return llvm::any_of(collapse.getReassociationIndices(), [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) { return shape[dim] != 1; }) > 1;
  });
}

bool isHostControl(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(op);
}

/// True if the caller, the host or its control flow gets the result of `op` or a reshape of it. A
/// region that reads it hands it to kernels.
static bool isReturned(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() || isHostControl(user) ||
           (isa<tensor::ExtractOp>(user) && !user->getParentOfType<linalg::LinalgOp>()) ||
           (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) && isReturned(user));
  });
}

/// True if the host makes a tensor of numbers that it has.
static bool isMadeOnHost(Operation *op) { return isa<tensor::FromElementsOp>(op); }

bool isCopiedToKernels(Operation *op) {
  // Somebody has to write what the caller gets, and what is reshaped in memory.
  if (isa<linalg::FillOp, tensor::SplatOp, tensor::ExtractSliceOp>(op) && isReturned(op))
    return false;
  if (isa<tensor::ExtractSliceOp>(op) && llvm::any_of(op->getUsers(), joinsDimensions))
    return false;
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constantOp.getValue());
    return !isa<ElementsAttr>(constantOp.getValue()) || (elements && elements.isSplat());
  }
  return isa<linalg::FillOp, tensor::EmptyOp, tensor::SplatOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp, tensor::ExtractSliceOp, tensor::CastOp>(op);
}

bool belongsToKernel(Operation *op) {
  return !isCopiedToKernels(op) && !isMadeOnHost(op) && op->getNumResults() > 0 &&
         (isa_and_present<tensor::TensorDialect>(op->getDialect()) || isa<linalg::LinalgOp>(op)) &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

bool isComputedAnywhere(Operation *op) {
  return isCopiedToKernels(op) || (!belongsToKernel(op) && op->getNumRegions() == 0 &&
                                   isMemoryEffectFree(op) && !isa<tensor::ExtractOp>(op) &&
                                   llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>));
}

SmallVector<Block *> hostBlocks(FunctionOpInterface func) {
  SmallVector<Block *> blocks;
  func->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != func && !isHostControl(op))
      return op->getNumRegions() ? WalkResult::skip() : WalkResult::advance();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        blocks.push_back(&block);
    return WalkResult::advance();
  });
  return blocks;
}

/// True if `op` or an op in its regions takes or gives tensors.
static bool isOnTensors(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool some = llvm::any_of(inner->getOperandTypes(), llvm::IsaPred<TensorType>) ||
                    llvm::any_of(inner->getResultTypes(), llvm::IsaPred<TensorType>);
        return some ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Problem whyNotOnHost(Operation *op) {
  if (belongsToKernel(op) || isComputedAnywhere(op) || isHostControl(op) || isMadeOnHost(op) ||
      isa<tensor::ExtractOp>(op) || isa_and_present<arith::ArithDialect>(op->getDialect()) ||
      isa_and_present<bufferization::BufferizationDialect>(op->getDialect()))
    return {};
  constexpr StringLiteral kRemedy = "return what it needs, and do it behind the call";
  std::string name = op->getName().getStringRef().str();
  if (isa<CallOpInterface>(op))
    return name +
           ": expected calls of functions that the module defines, none of which calls "
           "itself: kernels print nothing and read no files; " +
           kRemedy.str();
  if (isa_and_present<scf::SCFDialect>(op->getDialect()))
    return name + " is around ops for kernels: expected loops and branches of the host to be "
                  "scf.for, scf.while, scf.if or scf.index_switch";
  if (!op->getDialect() || isOnTensors(op) || isa<vector::PrintOp>(op))
    return name +
           " is no kernel's, and the host has arithmetic on numbers, elements of tensors, "
           "loops and branches only: " +
           kRemedy.str();
  return {};
}

StringRef readerBehind(Block &block, bool too) {
  Operation *parent = block.getParentOp();
  if (isa<scf::IfOp, scf::IndexSwitchOp>(parent))
    return too ? "it is a branch's result, too" : "it is a branch's result";
  if (isHostControl(parent))
    return too ? "the loop carries it, too" : "the loop carries it";
  return too ? "the caller reads it, too" : "the caller reads it";
}

SmallVector<Reader> readersOf(Value value) {
  Block *block = value.getParentBlock();
  SmallVector<Reader> readers;
  SmallVector<std::pair<Value, bool>> open{{value, false}};
  while (!open.empty()) {
    auto [from, viewed] = open.pop_back_val();
    for (OpOperand &use : from.getUses()) {
      Operation *reader = block->findAncestorOpInBlock(*use.getOwner());
      if (!reader)
        continue;
      if (isCopiedToKernels(reader))
        open.push_back({reader->getResult(0), true});
      else
        readers.push_back({reader, &use, viewed});
    }
  }
  return readers;
}

SmallVector<Value> outputsOf(const KernelOps &kernel) {
  SmallVector<Value> outputs;
  for (Operation *op : kernel.ops)
    for (Value result : op->getResults())
      if (llvm::any_of(readersOf(result),
                       [&](const Reader &reader) { return !kernel.ops.contains(reader.op); }))
        outputs.push_back(result);
  return outputs;
}

/// The buffer behind `value` that exists before the kernel runs, through views that it copies. Null
/// for values without one: constants, uninitialized tensors.
static Value inMemory(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isCopiedToKernels(op))
      return value;
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp,
             tensor::CastOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return value;
}

/// True if `op` uses `value` only as an uninitialized destination.
static bool isDestination(Operation *op, Value value) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  return destination && llvm::is_contained(destination.getDpsInits(), value) &&
         !llvm::is_contained(destination.getDpsInputs(), value) &&
         isa_and_present<tensor::EmptyOp>(value.getDefiningOp());
}

llvm::MapVector<Value, llvm::SetVector<Value>> memoryReadBy(const KernelOps &kernel) {
  llvm::MapVector<Value, llvm::SetVector<Value>> views;
  for (Operation *op : kernel.ops) {
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    for (Value value : read) {
      if (!isa<RankedTensorType>(value.getType()) || isDestination(op, value))
        continue;
      Value root = inMemory(value);
      if (root && !(root.getDefiningOp() && kernel.ops.contains(root.getDefiningOp())))
        views[root].insert(value);
    }
  }
  return views;
}

/// Arguments of SPIR-V's function that a memref of the type of `tensor` is.
static int64_t argumentsFor(Value tensor) {
  return 3 + 2 * cast<RankedTensorType>(tensor.getType()).getRank();
}

bool takesTooMuch(const KernelOps &kernel, ArrayRef<Operation *> more) {
  constexpr int64_t kMostArguments = 240;
  KernelOps both;
  both.ops.insert_range(kernel.ops);
  both.ops.insert_range(more);
  int64_t arguments = 0;
  for (auto &[memory, views] : memoryReadBy(both))
    arguments += argumentsFor(memory);
  for (Value output : outputsOf(both))
    arguments += argumentsFor(output);
  return arguments > kMostArguments;
}

SmallVector<Operation *> sourcesOf(Operation *op, Block &block) {
  llvm::SetVector<Operation *> sources;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> open{op};
  auto add = [&](Value value) {
    Operation *source = value.getDefiningOp();
    if (!source || source == op || source->getBlock() != &block)
      return;
    sources.insert(source);
    if (isComputedAnywhere(source) && seen.insert(source).second)
      open.push_back(source);
  };
  while (!open.empty())
    open.pop_back_val()->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), add); });
  return sources.takeVector();
}

HostSteps orderSteps(ArrayRef<KernelOps> kernels, Block &block) {
  // A node for each kernel, then one for each other op that is not made wherever it is needed.
  HostSteps result;
  SmallVector<HostSteps::Step> nodes;
  llvm::DenseMap<Operation *, unsigned> nodeOf;
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    for (Operation *op : kernel.ops)
      nodeOf[op] = i;
    nodes.push_back({static_cast<unsigned>(i), kernel.ops.front()});
  }
  std::vector<llvm::SmallSetVector<unsigned, 4>> readBy(nodes.size());
  SmallVector<unsigned> waitsFor(nodes.size(), 0);
  std::optional<unsigned> lastWithEffects;
  auto wait = [&](unsigned reader, unsigned source) {
    if (reader != source && readBy[source].insert(reader))
      ++waitsFor[reader];
  };
  for (Operation &op : block.without_terminator()) {
    if (nodeOf.contains(&op) || belongsToKernel(&op) || isComputedAnywhere(&op))
      continue;
    unsigned node = nodes.size();
    nodeOf[&op] = node;
    nodes.push_back({std::nullopt, &op});
    readBy.emplace_back();
    waitsFor.push_back(0);
    if (isMemoryEffectFree(&op))
      continue;
    if (lastWithEffects)
      wait(node, *lastWithEffects);
    lastWithEffects = node;
  }
  for (auto [op, node] : nodeOf)
    for (Operation *source : sourcesOf(op, block))
      if (auto found = nodeOf.find(source); found != nodeOf.end())
        wait(node, found->second);
  llvm::SmallDenseSet<unsigned> done;
  while (done.size() < nodes.size()) {
    std::optional<unsigned> next;
    for (unsigned i = 0; i < nodes.size(); ++i)
      if (!done.contains(i) && waitsFor[i] == 0 &&
          (!next || nodes[i].op->isBeforeInBlock(nodes[*next].op)))
        next = i;
    if (!next)
      break;
    done.insert(*next);
    for (unsigned reader : readBy[*next])
      --waitsFor[reader];
    result.steps.push_back(nodes[*next]);
  }
  for (unsigned i = 0; i < nodes.size() && !result.waiting; ++i)
    if (!done.contains(i))
      result.waiting = nodes[i].op;
  if (result.waiting)
    result.steps.clear();
  return result;
}

/// The type that elements had before an op did no more than to extend them; null if none did.
static Type typeBeforeExtension(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<linalg::LinalgOp>(op))
    return {};
  auto extend =
      op->getRegion(0).front().getTerminator()->getOperand(0).getDefiningOp<arith::ExtFOp>();
  return extend && isa<BlockArgument>(extend.getIn()) ? extend.getIn().getType() : Type();
}

/// True if both operands are extended from one narrow float type that the matrix unit multiplies.
static bool areExtended(Operation *op) {
  Type type = typeBeforeExtension(op->getOperand(0));
  return type && type == typeBeforeExtension(op->getOperand(1));
}

/// True if a slice takes one element of each row and has fewer dimensions than its source. Which of
/// several ones it drops is up to bufferization: no dimension of it has to be contiguous.
static bool dropsRows(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType();
  return source.getRank() > slice.getType().getRank() && source.getShape().back() != 1 &&
         slice.getStaticSizes().back() == 1;
}

/// True if `value` is a view of memory with strides between the elements of its rows, which no
/// block load takes.
static bool skipsElements(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    if (slice && (!slice.hasUnitStride() || dropsRows(slice)))
      return true;
    if (!slice && !isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// True if all elements of `value` are one number, which becomes part of the body that reads it:
/// what multiplies by it is no product of two matrices.
static bool isOneNumber(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<tensor::EmptyOp>(op))
    return false;
  if (isa<linalg::FillOp, tensor::SplatOp>(op) || matchPattern(value, m_Constant()))
    return isCopiedToKernels(op);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp, tensor::CastOp>(
          op))
    return isOneNumber(op->getOperand(0));
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && isElementwiseOnTensors(op) && linalgOp.getNumDpsInputs() != 0 &&
         llvm::all_of(linalgOp.getDpsInputs(), isOneNumber);
}

bool isProductInTiles(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || Scan::match(op) || !looksLikeMatmul(op) || !matchMatmul(op))
    return false;
  return llvm::none_of(linalgOp.getDpsInputs(),
                       [](Value input) { return skipsElements(input) || isOneNumber(input); });
}

bool isProductOfMatrixUnit(Operation *op) {
  if (!isProductInTiles(op))
    return false;
  return !matchMatmul(op)->elementType(0).isF32() || areExtended(op);
}

bool readsByIndices(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.hasPureTensorSemantics() && !reduces(op) &&
         !linalgOp.getBlock()->getOps<tensor::ExtractOp>().empty();
}

bool walksOverReduced(StringRef schedule) {
  return schedule == "rows" || schedule == "windows" || schedule == "convolution";
}

bool isOfElements(StringRef schedule) { return schedule == "elementwise" || schedule == "gather"; }

StringRef scheduleOfAnchor(Operation *op) {
  if (auto anchor = op->getAttrOfType<StringAttr>(kAnchorAttr))
    return anchor.getValue();
  if (!reduces(op))
    return "elementwise";
  return Scan::match(op)             ? "scan"
         : Scatter::match(op)        ? "scatter"
         : isProductOfMatrixUnit(op) ? "matmul"
                                     : "rows";
}

bool reduces(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() != 0;
}

bool isCheap(Operation *op) {
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return pad.getConstantPaddingValue() != nullptr;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumDpsInputs() > 1 || reduces(op))
    return false;
  auto body = linalgOp.getBlock()->without_terminator();
  return llvm::range_size(body) <= 2 && llvm::none_of(body, [](Operation &inner) {
           return isa<math::MathDialect>(inner.getDialect()) ||
                  isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, tensor::ExtractOp>(inner);
         });
}

bool isCollapsed(Operation *op, const Reader &reader) {
  for (Operation *view = reader.operand->get().getDefiningOp(); view != op;
       view = view->getOperand(0).getDefiningOp())
    if (joinsDimensions(view))
      return true;
  return false;
}

StringRef whatStarts(StringRef schedule) {
  return llvm::StringSwitch<StringRef>(schedule)
      .Case("matmul", "multiplies on the matrix unit")
      .Case("scan", "combines each element with those before")
      .Case("scatter", "updates rows by their numbers")
      .Case("convolution", "adds up products over windows and channels")
      .Case("windows", "reduces windows")
      .Case("rows", "reduces along dimensions")
      .Case("gather", "reads by indices")
      .Default("each element by itself");
}

} // namespace xetile::transform_ops
