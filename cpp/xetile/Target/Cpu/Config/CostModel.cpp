//===- CostModel.cpp - what parts of a matmul cost on a machine --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction's sizes and types, a machine. Out: cycles for copying and reading operands,
// shares of threads. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Config/CostModel.h"
#include "xetile/Target/Cpu/Config/DotProducts.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace xetile;

/// What an unknown size counts as.
static constexpr int64_t kTypicalExtent = 1024;
/// Copying one byte of an operand to scratch, with its share of misses:
static constexpr double kPackCyclesPerByte = 0.085;
/// Waiting for one byte of an operand that is read where it is, past the second-level cache:
static constexpr double kReadCyclesPerByte = 0.01;

CostModel::CostModel(const Contraction &matmul, const Machine &machine)
    : matmul(matmul), machine(machine), group(dotGroup(matmul, machine)) {
  for (MatmulDim dim : {kM, kN, kK}) {
    int64_t extent = matmul.extent(dim);
    extents[dim] = ShapedType::isDynamic(extent) ? kTypicalExtent : std::max<int64_t>(extent, 1);
  }
  for (unsigned dim : matmul.batch)
    batches *=
        ShapedType::isDynamic(matmul.sizes[dim]) ? 1 : std::max<int64_t>(matmul.sizes[dim], 1);
  sumBits = std::max<int64_t>(matmul.elementType(2).getIntOrFloatBitWidth(), 32);
  inputBytes = std::max<int64_t>(matmul.elementType(0).getIntOrFloatBitWidth() / 8, 1);
  length = std::max<int64_t>(machine.vectorBits / sumBits, 1);
}

bool CostModel::isPlain(unsigned operand) const {
  return matmul.dropBatch(matmul.map(operand)).getNumResults() == 2;
}

bool CostModel::runsAlong(unsigned operand, MatmulDim dim) const {
  AffineMap map = matmul.map(operand);
  return map.getDimPosition(map.getNumResults() - 1) == matmul.tiled(dim);
}

bool CostModel::readsAInPlace(const MatmulConfig &config) const {
  return !isPlain(0) || (runsAlong(0, kK) && !offsetsBytes(matmul, machine) &&
                         (group == 1 || hasWholeGroups(matmul, config, group)));
}

int64_t CostModel::share(const MatmulConfig &config, MatmulDim dim, int64_t count) const {
  int64_t block = config.innermost[dim];
  int64_t blocks = llvm::divideCeil(llvm::divideCeil(extents[dim], block), count);
  return std::min(extents[dim], blocks * block);
}

int64_t CostModel::share(const MatmulConfig &config, MatmulDim dim) const {
  return share(config, dim, config.threads[dim]);
}

double CostModel::copyCost(double elements) const {
  return elements * inputBytes * kPackCyclesPerByte;
}

double CostModel::readCost(double elements) const {
  bool near = elements * inputBytes <= machine.l2;
  return near ? 0 : elements * inputBytes * kReadCyclesPerByte;
}

double CostModel::readBCost(const MatmulConfig &config, double m, double n, double k) const {
  return readCost(n * k) * std::ceil(m / config.innermost[kM]);
}
