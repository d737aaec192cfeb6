//===- CheckConfig.cpp - whether a configuration fits a matmul --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction and a configuration of positive values. Out: nothing if it is legal.
// Refused: values that do not fit the problem or each other, with the field and its legal range.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Config/ConfigAnalysis.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

Problem xetile::checkConfig(const Contraction &matmul, const MatmulConfig &config) {
  auto wrong = [&](const int64_t &field, const llvm::Twine &legal) {
    return (fieldName(config, field) + " = " + llvm::Twine(field) + ": expected " + legal).str();
  };
  for (MatmulDim dim : {kM, kN, kK}) {
    const int64_t &threads = config.threads[dim], &block = config.block[dim],
                  &innermost = config.innermost[dim];
    if (innermost % matmul.unit[dim] != 0)
      return wrong(innermost,
                   "a multiple of the operand's blocks of " + llvm::Twine(matmul.unit[dim]));
    if (block % innermost != 0)
      return wrong(block, "a multiple of " + fieldName(config, innermost) + " = " +
                              llvm::Twine(innermost));
    int64_t extent = matmul.extent(dim);
    // Scratch memory is as large as blocks are; it must not outgrow the operands by much.
    bool isDynamic = ShapedType::isDynamic(extent);
    int64_t most =
        isDynamic ? kLargestDynamicBlock : llvm::alignTo(std::max<int64_t>(extent, 1), 64);
    most = std::max(most, matmul.unit[dim]);
    if (innermost > most)
      return wrong(innermost, "at most " + llvm::Twine(most));
    if (isDynamic && block > most)
      return wrong(block,
                   "at most " + llvm::Twine(most) + ", as the size is known at run time only");
    if (isDynamic)
      continue;
    int64_t blocks = std::max<int64_t>(llvm::divideCeil(extent, innermost), 1);
    if (threads > blocks)
      return wrong(threads, "1 to " + llvm::Twine(blocks) + ", the number of innermost blocks in " +
                                llvm::Twine(extent) + " elements");
  }
  return {};
}
