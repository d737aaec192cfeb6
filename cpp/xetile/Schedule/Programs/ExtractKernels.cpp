//===- ExtractKernels.cpp - transform.xetile.extract_kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors, each op with the number of its kernel. Out: a nested module for each
// kernel, with a function; calls of these, in the loops and branches that the ops were in. Refused:
// ops without a number, several schedules of a kernel, kernels that wait for one another.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "xetile/IR/AnchorAttr.h"
#include "xetile/Linalg/BitsAsBytes.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Schedule/Programs/KernelOps.h"
#include "xetile/Schedule/Programs/ProgramSteps.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Schedule/Untaken.h"
#include "llvm/Support/SaveAndRestore.h"
#include <map>

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

/// One function on its way.
class Extractor {
public:
  Extractor(RewriterBase &rewriter, func::FuncOp func) : rewriter(rewriter), func(func) {}

  /// Reads the numbers; returns whether they serve.
  bool read();
  void run() {
    // Kernels have their schedules.
    func.walk([](Operation *op) { op->removeDiscardableAttr(kAnchorAttr); });
    runBlock(func.getBody().front());
  }

  Operation *where = nullptr;
  std::string why;
  SmallVector<Operation *> others;

private:
  /// The body of a kernel on its way: copies of ops, and the arguments that they ask for.
  struct Body {
    func::FuncOp func;
    IRMapping mapping;
    SmallVector<Value> inputs;
  };
  bool readBlock(Block &block);
  bool isViewOfMemory(const Body &body, Value value);
  void copyFor(Body &body, Value value);
  void copyOp(Body &body, Operation *op);
  void extract(const KernelOps &kernel);
  Value inCaller(Value value);
  Value bytesInCaller(Value bits);
  void readBit(tensor::ExtractOp op);
  void keepOnHost(Operation *op);
  void runBlock(Block &block);

  RewriterBase &rewriter;
  func::FuncOp func;
  llvm::DenseMap<Block *, SmallVector<KernelOps>> kernelsOf;
  /// In the caller: results of kernels and the results of calls that replace them.
  llvm::DenseMap<Value, Value> computed;
  int64_t next = 0;
  /// Before this terminator come calls and the host's ops, one after the other.
  Operation *end = nullptr;
};

bool Extractor::read() {
  SmallVector<Block *> blocks = hostBlocks(func);
  for (Block *block : blocks)
    for (Operation &op : block->without_terminator())
      if (belongsToKernel(&op) && !op.use_empty() &&
          (!op.getAttrOfType<IntegerAttr>(kKernelAttr) || scheduleOf(&op).empty()))
        others.push_back(&op);
  if (!others.empty()) {
    where = others.front();
    why = "expected the number of a kernel (xetile.kernel) and its schedule (xetile.schedule) at "
          "each op on tensors; assign_kernels writes them";
    return false;
  }
  return llvm::all_of(blocks, [&](Block *block) { return readBlock(*block); });
}

bool Extractor::readBlock(Block &block) {
  std::map<int64_t, KernelOps> found;
  for (Operation &op : block.without_terminator()) {
    if (!belongsToKernel(&op) || op.use_empty())
      continue;
    int64_t number = op.getAttrOfType<IntegerAttr>(kKernelAttr).getInt();
    StringRef schedule = scheduleOf(&op);
    KernelOps &kernel = found[number];
    if (!kernel.ops.empty() && kernel.schedule != schedule) {
      where = &op;
      why = "expected one schedule for kernel " + std::to_string(number) + ", got '" +
            schedule.str() + "' here and '" + kernel.schedule.str() + "' before";
      return false;
    }
    kernel.schedule = schedule;
    kernel.ops.insert(&op);
  }
  SmallVector<KernelOps> &kernels = kernelsOf[&block];
  for (auto &[number, kernel] : found)
    kernels.push_back(std::move(kernel));
  where = orderSteps(kernels, block).waiting;
  why = "the kernel of this op and others wait for one another's results";
  return where == nullptr;
}

/// True if `value` is a reshape of a buffer that exists before the kernel runs. The caller reshapes
/// it, which is free; tiles run along dimensions as they are.
bool Extractor::isViewOfMemory(const Body &body, Value value) {
  if (isTensorOfBits(value.getType()))
    return false;
  Value root = value;
  while (!body.mapping.contains(root) &&
         isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(root.getDefiningOp()))
    root = root.getDefiningOp()->getOperand(0);
  Operation *op = root.getDefiningOp();
  return root != value && !body.mapping.contains(root) && (!op || !isCopiedToKernels(op));
}

/// Makes `value` known in `body`: a copy of its op, or an argument. Numbers that the host computes
/// of what it reads are computed anew.
void Extractor::copyFor(Body &body, Value value) {
  if (body.mapping.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (isViewOfMemory(body, value)) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(end);
    Value view = inCaller(value);
    body.inputs.push_back(view);
    body.mapping.map(value,
                     body.func.getBody().front().addArgument(value.getType(), value.getLoc()));
    return;
  }
  if (op && isComputedAnywhere(op))
    return copyOp(body, op);
  Value input = computed.lookup_or(value, value);
  body.inputs.push_back(input);
  Value argument = body.func.getBody().front().addArgument(input.getType(), value.getLoc());
  body.mapping.map(value,
                   input.getType() == value.getType() ? argument : bytesToBits(rewriter, argument));
}

void Extractor::copyOp(Body &body, Operation *op) {
  llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), needed);
  for (Value value : needed)
    copyFor(body, value);
  Operation *copy = rewriter.clone(*op, body.mapping);
  copy->removeAttr(kKernelAttr);
  copy->removeAttr(kScheduleAttr);
}

/// Outlines `kernel` to a function that returns the values that other kernels or the caller use.
void Extractor::extract(const KernelOps &kernel) {
  Location loc = kernel.ops.back()->getLoc();
  std::string name = (func.getSymName() + "_" + Twine(next++) + "_" + kernel.schedule).str();
  auto outer = func->getParentOfType<ModuleOp>();

  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(outer.getBody());
  auto module = ModuleOp::create(rewriter, loc);
  module->setAttr(kScheduleAttr, rewriter.getStringAttr(kernel.schedule));
  rewriter.setInsertionPointToStart(module.getBody());
  Body body;
  body.func = func::FuncOp::create(rewriter, loc, name, rewriter.getFunctionType({}, {}));
  rewriter.setInsertionPointToStart(body.func.addEntryBlock());
  for (Operation *op : kernel.ops)
    copyOp(body, op);
  SmallVector<Value> outputs = outputsOf(kernel), results;
  for (Value output : outputs) {
    Value result = body.mapping.lookup(output);
    results.push_back(isTensorOfBits(result.getType()) ? bitsToBytes(rewriter, result) : result);
  }
  func::ReturnOp::create(rewriter, loc, results);
  FunctionType type = rewriter.getFunctionType(body.func.getBody().getArgumentTypes(),
                                               ValueRange(results).getTypes());
  body.func.setFunctionType(type);

  rewriter.setInsertionPoint(func);
  auto declared = func::FuncOp::create(rewriter, loc, name, type);
  declared.setPrivate();
  for (unsigned i = 0; i < type.getNumInputs(); ++i)
    if (isa<TensorType>(type.getInput(i)))
      declared.setArgAttr(i, bufferization::BufferizationDialect::kBufferAccessAttrName,
                          rewriter.getStringAttr("read"));
  rewriter.setInsertionPoint(end);
  auto call = func::CallOp::create(rewriter, loc, declared, body.inputs);
  for (auto [output, result] : llvm::zip_equal(outputs, call.getResults()))
    computed[output] = result;
}

/// The replacement of `value` in the caller: what is computed anywhere is cloned behind the calls.
Value Extractor::inCaller(Value value) {
  if (Value known = computed.lookup(value))
    return isTensorOfBits(value.getType()) ? bytesToBits(rewriter, known) : known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumOperands() == 0 || !isComputedAnywhere(op))
    return value;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, inCaller(operand));
  Operation *clone = rewriter.clone(*op, mapping);
  return clone->getResult(cast<OpResult>(value).getResultNumber());
}

/// The bytes behind a tensor of i1 that kernels computed, or a view of one; null for others.
Value Extractor::bytesInCaller(Value bits) {
  if (Value known = computed.lookup(bits))
    return known;
  Operation *op = bits.getDefiningOp();
  if (!isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp,
                       tensor::CastOp>(op))
    return {};
  Value source = bytesInCaller(op->getOperand(0));
  if (!source)
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands().drop_front())
    mapping.map(operand, inCaller(operand));
  mapping.map(op->getOperand(0), source);
  Value view = rewriter.clone(*op, mapping)->getResult(0);
  view.setType(cast<RankedTensorType>(bits.getType()).clone(rewriter.getI8Type()));
  return view;
}

/// Reads one of a tensor of i1, which is bytes between kernels.
void Extractor::readBit(tensor::ExtractOp op) {
  rewriter.setInsertionPoint(op);
  Value bytes = bytesInCaller(op.getTensor());
  if (!bytes)
    return;
  SmallVector<Value> indices =
      llvm::map_to_vector(op.getIndices(), [&](Value index) { return inCaller(index); });
  Value byte = tensor::ExtractOp::create(rewriter, op.getLoc(), bytes, indices);
  Value zero = arith::ConstantIntOp::create(rewriter, op.getLoc(), 0, 8);
  rewriter.replaceOpWithNewOp<arith::CmpIOp>(op, arith::CmpIPredicate::ne, byte, zero);
}

/// Lets `op` read what the calls before it return. The regions of control flow come after it.
void Extractor::keepOnHost(Operation *op) {
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands()) {
      Operation *source = operand.get().getDefiningOp();
      if (source && op->isProperAncestor(source))
        continue;
      rewriter.setInsertionPoint(op);
      Value value = inCaller(operand.get());
      rewriter.modifyOpInPlace(inner, [&] { operand.set(value); });
    }
    return isHostControl(inner) ? WalkResult::skip() : WalkResult::advance();
  });
}

void Extractor::runBlock(Block &block) {
  llvm::SaveAndRestore inside(end, block.getTerminator());
  ArrayRef<KernelOps> kernels = kernelsOf[&block];
  for (const HostSteps::Step &step : orderSteps(kernels, block).steps) {
    if (step.kernel) {
      extract(kernels[*step.kernel]);
      continue;
    }
    rewriter.moveOpBefore(step.op, end);
    if (auto extract = dyn_cast<tensor::ExtractOp>(step.op);
        extract && isTensorOfBits(extract.getTensor().getType())) {
      readBit(extract);
      continue;
    }
    keepOnHost(step.op);
    if (isHostControl(step.op))
      for (Region &region : step.op->getRegions())
        for (Block &inner : region)
          runBlock(inner);
  }
  keepOnHost(end);
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && isMemoryEffectFree(op))
      rewriter.eraseOp(op);
}

} // namespace

DiagnosedSilenceableFailure extractKernels(RewriterBase &rewriter, Operation *target,
                                           Operation *step) {
  SmallVector<func::FuncOp> funcs;
  target->walk([&](func::FuncOp func) {
    WalkResult found = func.walk([](Operation *each) {
      return belongsToKernel(each) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted())
      funcs.push_back(func);
  });
  auto fail = [&](Operation *where, const Twine &why) {
    DiagnosedDefiniteFailure diag = ::emitDefiniteFailure(where->getLoc(), why);
    diag.attachNote(step->getLoc()) << "required by this step of the schedule";
    return diag;
  };
  for (func::FuncOp func : funcs) {
    if (!func.getBody().hasOneBlock())
      return fail(func, "expected a function with a body of one block");
    Extractor extractor(rewriter, func);
    if (!extractor.read()) {
      DiagnosedDefiniteFailure diag = fail(extractor.where, extractor.why);
      for (Operation *each : extractor.others)
        diag.attachNote(each->getLoc()) << describe(each) << " is in no kernel";
      return diag;
    }
    extractor.run();
  }
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure ExtractKernelsOp::apply(TransformRewriter &rewriter, TransformResults &,
                                                    TransformState &state) {
  for (Operation *target : state.getPayloadOps(getTarget()))
    if (auto diag = extractKernels(rewriter, target, getOperation()); !diag.succeeded())
      return diag;
  return DiagnosedSilenceableFailure::success();
}

void ExtractKernelsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
