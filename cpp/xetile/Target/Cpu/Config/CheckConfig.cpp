//===- CheckConfig.cpp - whether a configuration fits a matmul --------------===//
// In: a contraction and a configuration. Out: an empty string if it is legal.
// Refused: values that do not fit the problem or each other, with the field and its legal range.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/LoopNest/DeepTile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

std::string xetile::checkConfig(const Contraction &matmul, const MatmulConfig &config) {
  auto names = MatmulConfig::fieldNames();
  auto wrong = [&](unsigned field, const llvm::Twine &legal) {
    return (names[field] + " = " + llvm::Twine(config.get(field)) + ": expected " + legal).str();
  };
  for (unsigned field = 0; field < 9; ++field)
    if (config.get(field) < 1)
      return wrong(field, "a positive integer");
  if (config.loopOrder < 0 || config.loopOrder >= MatmulConfig::kNumLoopOrders)
    return wrong(9, "0 to " + llvm::Twine(MatmulConfig::kNumLoopOrders - 1));
  for (MatmulDim dim : {kM, kN, kK}) {
    if (config.innermost[dim] % matmul.unit[dim] != 0)
      return wrong(6 + dim,
                   "a multiple of the operand's blocks of " + llvm::Twine(matmul.unit[dim]));
    if (config.block[dim] % config.innermost[dim] != 0)
      return wrong(3 + dim,
                   "a multiple of " + names[6 + dim] + " = " + llvm::Twine(config.innermost[dim]));
    int64_t extent = matmul.extent(dim);
    // Scratch memory is as large as blocks are; it must not outgrow the operands by much.
    bool isDynamic = ShapedType::isDynamic(extent);
    int64_t most =
        isDynamic ? kLargestDynamicBlock : llvm::alignTo(std::max<int64_t>(extent, 1), 64);
    most = std::max(most, matmul.unit[dim]);
    if (config.innermost[dim] > most)
      return wrong(6 + dim, "at most " + llvm::Twine(most));
    if (isDynamic && config.block[dim] > most)
      return wrong(3 + dim,
                   "at most " + llvm::Twine(most) + ", as the size is known at run time only");
    if (isDynamic)
      continue;
    int64_t blocks = llvm::divideCeil(extent, config.innermost[dim]);
    if (config.threads[dim] > std::max<int64_t>(blocks, 1))
      return wrong(dim, "1 to " + llvm::Twine(std::max<int64_t>(blocks, 1)) +
                            ", the number of innermost blocks in " + llvm::Twine(extent) +
                            " elements");
  }
  return {};
}
