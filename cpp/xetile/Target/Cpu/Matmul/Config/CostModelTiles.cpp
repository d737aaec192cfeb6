//===- CostModelTiles.cpp - what register tiles wait for on a machine --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction's sizes and types, a machine. Out: rows that a register tile has at most, waits
// for panels of B, loads that are parts of multiply-adds. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Config/CostModel.h"
#include "xetile/Target/Cpu/Matmul/Config/DotProducts.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace xetile;

/// Rows for which panels of B do not come to the first level to stay.
static constexpr int64_t kFewRows = 16;

bool CostModel::streamsA() const {
  double bytes = double(extents[kM]) * extents[kK] * inputBytes;
  return isThirdLevelFar() && extents[kN] <= length && bytes > double(machine.l2);
}

int64_t CostModel::tileRows() const {
  // Measured on an Emerald Rapids: parts of fewer rows are longer, which prefetchers follow; 8 of
  // one vector keep multipliers busy. 688 x 16 x 1712 takes 0.86 of the time of 30 rows. Few rows
  // that wait for B are as many.
  constexpr int64_t kInFlight = 8;
  bool isFew = streamsA() || (fetchesAhead() && extents[kM] > kFewRows);
  if (isFew)
    return std::min(rowsInFirstLevel(0), kInFlight);
  // From the second level, of one vector: 10 to 16 rows of 1 KiB or more took 0.93 to 0.97 of the
  // time of 24 to 30, of 400 bytes 1.03.
  constexpr int64_t kLongRow = 1024, kMost = 30;
  bool isLong = extents[kK] * inputBytes >= kLongRow;
  bool isFar = isThirdLevelFar() && extents[kN] <= length && isLong;
  return std::min(rowsInFirstLevel(0), isFar ? equalRows() : kMost);
}

int64_t CostModel::equalRows() const {
  constexpr int64_t kFewest = 8, kMost = 16;
  auto busiest = [&](int64_t rows) {
    return llvm::divideCeil(llvm::divideCeil(extents[kM], rows), machine.cores) * rows;
  };
  int64_t best = kMost;
  for (int64_t rows = kMost; rows >= kFewest; --rows)
    if (busiest(rows) < busiest(best))
      best = rows;
  return best;
}

/// Rows that are a multiple of 4 KiB apart share one set, as the sets of x86's first level span a
/// page.
int64_t CostModel::rowsInFirstLevel(unsigned operand) const {
  constexpr int64_t kSpan = 4096, kMost = 30, kLeast = 4;
  auto type = cast<ShapedType>(matmul.op->getOperand(operand).getType());
  int64_t apart = type.getShape().back();
  if (!isPlain(operand) || !runsAlong(operand, kK) || offsetsBytes(matmul, machine) ||
      ShapedType::isDynamic(apart) || apart * inputBytes % kCacheLineBytes != 0)
    return kMost;
  int64_t sets = kSpan / std::gcd(apart * inputBytes, kSpan);
  // Vectors of B and C take two.
  int64_t lines = machine.l1 / kSpan * sets - 2;
  return std::clamp(lines, kLeast, kMost);
}

PanelWaits CostModel::panelWaits() const {
  // Measured on an Emerald Rapids, of many rows: 5 x 80 and 4 x 96 take 1.03 to 1.1 of the time of
  // 6 x 64 and 8 x 48, as each multiply-add waits for more of B.
  constexpr double kOfWide = 0.2;
  constexpr int64_t kWide = 4;
  if (isThirdLevelFar() && extents[kM] > kRowsAhead)
    return {kOfWide, kWide, 0};
  // Measured there: of 16 rows, 8 with 2 or 3 vectors were the fastest. With many rows blocks of
  // 6 x 4 vectors were as fast as those of 12 x 2.
  if (extents[kM] > (fetchesAhead() ? kRowsAhead : kFewRows))
    return {};
  double bytes = double(length * inputBytes * group);
  PanelWaits waits = {
      cycles(machine.rates.waitL2) * bytes / 1024,
      int64_t(machine.l1 / 2.0 / (bytes * double(llvm::divideCeil(extents[kK], group))))};
  // It waits half as long for vectors that are fetched ahead, but each row is in another page: of
  // 48 to 128 rows 8 x 48 and 6 x 64 took 0.7 to 0.9 of the time of 12 x 32 and 4 x 96.
  if (fetchesAhead()) {
    waits.cycles /= 2;
    waits.row = 2;
  }
  return waits;
}

FoldedLoads CostModel::foldedLoads() const {
  Type element = matmul.elementType(0);
  bool isPlainType = element.getIntOrFloatBitWidth() == sumBits;
  // Of few rows tiles of several vectors were the fastest on an Emerald Rapids.
  return {extents[kM] > kFewRows && extents[kN] <= length && isPlainType,
          extents[kM] > kRowsAhead && isa<FloatType>(element) && isPlainType};
}
