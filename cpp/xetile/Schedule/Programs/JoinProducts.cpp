//===- JoinProducts.cpp - products whose rows are reduced behind them ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels of a program. Out: the same, with one of a matmul and of a softmax, a norm or another
// reduction of its rows, where a workgroup has whole rows in registers, and with one of a matmul
// and of what it alone reads, where few elements are computed again: tried on a copy. Refused:
// nothing; kernels that were given, products that others read, and wide rows stay two kernels.
#include "xetile/Schedule/Programs/JoinProducts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "xetile/Linalg/BitsAsBytes.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Schedule/Tiles/TilePlan.h"

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// A kernel as a function by itself.
class Outline {
public:
  explicit Outline(const KernelOps &kernel);
  OwningOpRef<func::FuncOp> func;
  /// True if kernels pass bytes in place of what is an argument here.
  bool hasBits = false;

private:
  void copyFor(Value value);
  void copyOp(Operation *op);

  IRRewriter rewriter;
  IRMapping mapping;
};

Outline::Outline(const KernelOps &kernel) : rewriter(kernel.ops.front()->getContext()) {
  Location loc = kernel.ops.back()->getLoc();
  func = func::FuncOp::create(loc, "kernel", rewriter.getFunctionType({}, {}));
  rewriter.setInsertionPointToStart(func->addEntryBlock());
  for (Operation *op : kernel.ops)
    copyOp(op);
  SmallVector<Value> results;
  for (Value output : outputsOf(kernel)) {
    results.push_back(mapping.lookup(output));
    hasBits |= isTensorOfBits(output.getType());
  }
  func::ReturnOp::create(rewriter, loc, results);
  func->setFunctionType(
      rewriter.getFunctionType(func->getBody().getArgumentTypes(), ValueRange(results).getTypes()));
}

void Outline::copyFor(Value value) {
  if (mapping.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (op && isComputedAnywhere(op))
    return copyOp(op);
  hasBits |= isTensorOfBits(value.getType());
  mapping.map(value, func->getBody().front().addArgument(value.getType(), value.getLoc()));
}

void Outline::copyOp(Operation *op) {
  llvm::SetVector<Value> needed(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), needed);
  for (Value value : needed)
    copyFor(value);
  rewriter.clone(*op, mapping);
}

/// The product of a kernel that reduces nothing else and that `reader` alone reads.
bool isProductFor(const KernelOps &kernel, const KernelOps &reader) {
  if (kernel.given || &kernel == &reader ||
      !llvm::is_contained(ArrayRef<StringRef>{"matmul", "rows"}, kernel.schedule))
    return false;
  SmallVector<Operation *> reductions = llvm::filter_to_vector(kernel.ops, reduces);
  if (reductions.size() != 1 || !isContraction(reductions.front()))
    return false;
  return llvm::all_of(outputsOf(kernel), [&](Value output) {
    return llvm::all_of(readersOf(output), [&](const Reader &each) {
      return kernel.ops.contains(each.op) || reader.ops.contains(each.op);
    });
  });
}

/// True if `kernel` reduces, and multiplies nothing.
bool reducesOnly(const KernelOps &kernel) {
  return !kernel.given && kernel.schedule == "rows" && llvm::any_of(kernel.ops, reduces) &&
         llvm::none_of(kernel.ops, isContraction);
}

/// Both in the order of the block; `why` ops of `product` are in the kernel of `reader`.
KernelOps join(const KernelOps &product, const KernelOps &reader, StringRef schedule,
               StringRef why) {
  SmallVector<std::pair<Operation *, std::string>> all;
  for (Operation *op : product.ops)
    all.emplace_back(op, why);
  for (auto [op, reason] : llvm::zip_equal(reader.ops, reader.reasons))
    all.emplace_back(op, reason);
  llvm::sort(all, [](const auto &x, const auto &y) { return x.first->isBeforeInBlock(y.first); });
  KernelOps joined;
  joined.schedule = schedule;
  for (auto &[op, reason] : all) {
    joined.ops.insert(op);
    joined.reasons.push_back(std::move(reason));
  }
  return joined;
}

bool joinsOne(SmallVectorImpl<KernelOps> &kernels) {
  for (KernelOps &reader : kernels) {
    if (!reducesOnly(reader))
      continue;
    for (KernelOps &product : kernels) {
      if (!isProductFor(product, reader) || product.ops.size() + reader.ops.size() > kMostOps ||
          takesTooMuch(reader, product.ops.getArrayRef()) || outputsOf(product).empty())
        continue;
      KernelOps joined =
          join(product, reader, kMatmulRows,
               "its readers' workgroups have whole rows of the product in registers");
      Outline outline(joined);
      IRRewriter rewriter(outline.func->getContext());
      if (outline.hasBits || !computesRowsOfProduct(rewriter, *outline.func))
        continue;
      reader = std::move(joined);
      kernels.erase(&product);
      return true;
    }
  }
  return false;
}

/// True if `product` is a matmul, and alone reads what `factor` computes element by element.
bool isFactorOf(const KernelOps &factor, const KernelOps &product) {
  if (factor.given || product.given || factor.schedule != "elementwise" ||
      llvm::count_if(product.ops, reduces) != 1 || llvm::none_of(product.ops, isContraction) ||
      outputsOf(factor).empty())
    return false;
  return llvm::all_of(outputsOf(factor), [&](Value output) {
    return llvm::all_of(readersOf(output), [&](const Reader &each) {
      return factor.ops.contains(each.op) || product.ops.contains(each.op);
    });
  });
}

/// Joins one product and all that it alone reads. What each of a workgroup's subgroups computes
/// again and again is better computed once, in a kernel of its own.
bool joinsFactors(SmallVectorImpl<KernelOps> &kernels) {
  constexpr int64_t kMostTimes = 2;
  for (KernelOps &product : kernels) {
    KernelOps joined = product;
    SmallVector<KernelOps *> factors;
    for (KernelOps &factor : kernels)
      if (&factor != &product && isFactorOf(factor, product) &&
          factor.ops.size() + joined.ops.size() <= kMostOps &&
          !takesTooMuch(joined, factor.ops.getArrayRef())) {
        joined = join(factor, joined, "rows", "the product that reads it computes it about once");
        factors.push_back(&factor);
      }
    if (factors.empty())
      continue;
    Outline outline(joined);
    IRRewriter rewriter(outline.func->getContext());
    if (outline.hasBits)
      continue;
    int64_t times = timesOfFactors(rewriter, *outline.func);
    if (times < 1 || times > kMostTimes)
      continue;
    product = std::move(joined);
    for (KernelOps *factor : llvm::reverse(factors))
      kernels.erase(factor);
    return true;
  }
  return false;
}

} // namespace

void joinProducts(SmallVectorImpl<KernelOps> &kernels) {
  while (joinsOne(kernels)) {
  }
  while (joinsFactors(kernels)) {
  }
}

} // namespace xetile::transform_ops
