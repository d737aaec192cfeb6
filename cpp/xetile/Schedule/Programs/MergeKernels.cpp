//===- MergeKernels.cpp - kernels beside each other that can be one -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the kernels of a function. Out: two that read the same memory or are small. Refused: kernels
// of other loops, or that wait for one another.
#include "xetile/Schedule/Programs/MergeKernels.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/IR/BytesOf.h"

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// A launch takes some microseconds, in which a GPU moves about as many bytes.
constexpr int64_t kSmallBytes = 1 << 20;

/// The loops that write all results of a kernel. None where they differ, or are a matmul's.
struct Loops {
  SmallVector<int64_t> extents;
  SmallVector<utils::IteratorType> kinds;
  AffineMap results;
  bool operator==(const Loops &other) const {
    return extents == other.extents && kinds == other.kinds && results == other.results;
  }
};

std::optional<Loops> loopsOf(const KernelOps &kernel) {
  bool walks = walksOverReduced(kernel.schedule);
  if (kernel.given || (!walks && !isOfElements(kernel.schedule)))
    return std::nullopt;
  std::optional<Loops> common;
  for (Value output : outputsOf(kernel)) {
    auto op = output.getDefiningOp<linalg::LinalgOp>();
    // Where it reduces only reductions say by their loops all that the kernel walks over.
    if (!op || (op.getNumReductionLoops() != 0) != walks || op.hasDynamicShape())
      return std::nullopt;
    Loops loops = {op.getStaticLoopRanges(), op.getIteratorTypesArray(),
                   op.getIndexingMapMatchingResult(cast<OpResult>(output))};
    if (common && !(*common == loops))
      return std::nullopt;
    common = loops;
  }
  return common;
}

/// True if the iteration domain, at each result's element size, is small.
bool isSmall(const KernelOps &kernel, const Loops &loops) {
  return llvm::all_of(outputsOf(kernel), [&](Value output) {
    auto all = RankedTensorType::get(loops.extents, getElementTypeOrSelf(output.getType()));
    std::optional<int64_t> bytes = bytesOf(all);
    return bytes && *bytes <= kSmallBytes;
  });
}

bool readTheSame(const KernelOps &x, const KernelOps &y) {
  auto ofX = memoryReadBy(x), ofY = memoryReadBy(y);
  return llvm::any_of(ofX, [&](auto &entry) { return ofY.contains(entry.first); });
}

/// True if `from` depends on a result of `to`, possibly through other kernels and the host's ops.
bool waitsFor(ArrayRef<KernelOps> kernels, const KernelOps &from, const KernelOps &to) {
  llvm::DenseMap<Operation *, const KernelOps *> kernelOf;
  for (const KernelOps &kernel : kernels)
    for (Operation *op : kernel.ops)
      kernelOf[op] = &kernel;
  Block &block = *from.ops.front()->getBlock();
  SmallVector<Operation *> open(from.ops.begin(), from.ops.end());
  llvm::SmallPtrSet<Operation *, 16> seen(open.begin(), open.end());
  while (!open.empty())
    for (Operation *source : sourcesOf(open.pop_back_val(), block)) {
      const KernelOps *kernel = kernelOf.lookup(source);
      if (kernel == &to)
        return true;
      if (!kernel) {
        if (seen.insert(source).second)
          open.push_back(source);
        continue;
      }
      // All ops of a kernel run at once.
      for (Operation *op : kernel->ops)
        if (seen.insert(op).second)
          open.push_back(op);
    }
  return false;
}

} // namespace

std::optional<Merge> findMerge(ArrayRef<KernelOps> kernels) {
  SmallVector<std::optional<Loops>> loops = llvm::map_to_vector(kernels, loopsOf);
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (size_t j = i + 1; loops[i] && j < kernels.size(); ++j) {
      const KernelOps &x = kernels[i], &y = kernels[j];
      if (!(loops[i] == loops[j]) || walksOverReduced(x.schedule) != walksOverReduced(y.schedule) ||
          x.ops.size() + y.ops.size() > kMostOps)
        continue;
      bool same = readTheSame(x, y);
      if ((!same && (!isSmall(x, *loops[i]) || !isSmall(y, *loops[j]))) ||
          waitsFor(kernels, x, y) || waitsFor(kernels, y, x))
        continue;
      if (takesTooMuch(x, y.ops.getArrayRef()))
        continue;
      return Merge{x.ops.back(), y.ops.back(),
                   same ? "another kernel of these loops reads the same memory"
                        : "another kernel of these loops is small, too"};
    }
  }
  return std::nullopt;
}

} // namespace xetile::transform_ops
