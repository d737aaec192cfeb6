//===- DotProducts.cpp - instructions that multiply and add groups of k ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: types and signedness of a matmul, what a machine has. Out: the size of groups, whether bytes
// of A are to be offset or floats widened. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Config/DotProducts.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"

using namespace mlir;
using namespace xetile;

int64_t xetile::dotGroup(const Contraction &matmul, const Machine &machine) {
  Type a = matmul.elementType(0), b = matmul.elementType(1), c = matmul.elementType(2);
  if (machine.bf16Dot && a.isBF16() && b.isBF16() && (c.isF32() || c.isBF16()))
    return 2;
  return machine.int8Dot && a.isInteger(8) && b.isInteger(8) && c.isInteger(32) ? 4 : 1;
}

bool xetile::offsetsBytes(const Contraction &matmul, const Machine &machine) {
  AffineMap map = matmul.map(2);
  return dotGroup(matmul, machine) == 4 && !machine.amx &&
         matmul.isUnsigned(0) == matmul.isUnsigned(1) &&
         map.getDimPosition(map.getNumResults() - 1) == matmul.tiled(kN);
}

bool xetile::widensFloats(const Contraction &matmul, const Machine &machine, unsigned operand) {
  Type sum = matmul.elementType(2);
  return isLowPrecision(matmul.elementType(operand)) && (sum.isF32() || isLowPrecision(sum)) &&
         dotGroup(matmul, machine) == 1;
}

bool xetile::hasWholeGroups(const Contraction &matmul, const MatmulConfig &config, int64_t group) {
  int64_t k = matmul.extent(kK);
  return !ShapedType::isDynamic(k) && k % group == 0 && config.innermost[kK] % group == 0;
}
