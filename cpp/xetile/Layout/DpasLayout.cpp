//===- DpasLayout.cpp - what each lane holds of a DPAS operand ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a DPAS instruction, its repetitions and an operand's shape. Out: its linear layout.
// Refused: parameters that no DPAS has, shapes that whole instructions do not fill.
#include "xetile/Layout/DpasLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace xetile;
using llvm::StringRef;
using llvm::Twine;

namespace {

constexpr uint64_t maxExtent = 1 << 16;
constexpr unsigned maxSubgroups = 128; // hardware threads of a core

Error expected(const Twine &what, uint64_t got, const Twine &legal) {
  return Error(what + " is " + Twine(got) + ", expected " + legal);
}

/// Collects the images of an input's bits; coordinates are {row, column}.
struct Bases {
  llvm::SmallVector<LinearLayout::Coordinates, 8> list;

  void add(unsigned dim, uint64_t step) {
    list.push_back(dim ? LinearLayout::Coordinates{0, step} : LinearLayout::Coordinates{step, 0});
  }
  /// Steps from `from` (included) up to `to` (excluded), doubling.
  void addRange(unsigned dim, uint64_t from, uint64_t to) {
    for (uint64_t step = from; step < to; step *= 2)
      add(dim, step);
  }
  void addZeros(uint64_t size) {
    for (uint64_t step = 1; step < size; step *= 2)
      list.push_back({0, 0});
  }
};

struct OperandBases {
  Bases registers, lanes, subgroups;
};

OperandBases tileBases(const DpasParams &dpas, DpasOperand operand) {
  OperandBases bases;
  Shape2D tile = instructionShape(dpas, operand);
  unsigned lanes = dpas.threadsPerWarp;
  if (operand == DpasOperand::A) {
    uint64_t perLane = std::max<uint64_t>(1, tile[1] / lanes);
    uint64_t rowsAtOnce = lanes * perLane / tile[1];
    bases.registers.addRange(1, 1, perLane);
    bases.lanes.addRange(1, perLane, tile[1]);
    bases.lanes.addRange(0, 1, rowsAtOnce);
    bases.registers.addRange(0, rowsAtOnce, tile[0]);
  } else {
    bases.registers.addRange(0, 1, tile[0]);
    bases.lanes.addRange(1, 1, tile[1]);
  }
  return bases;
}

Result<LinearLayout> build(const OperandBases &bases, bool withSubgroups, Shape2D shape) {
  llvm::SmallVector<LinearLayout::Input, 3> ins = {{"register", bases.registers.list},
                                                   {"lane", bases.lanes.list}};
  if (withSubgroups)
    ins.push_back({"subgroup", bases.subgroups.list});
  return LinearLayout::create(ins, {{"dim0", shape[0]}, {"dim1", shape[1]}});
}

} // namespace

StringRef xetile::toString(DpasOperand operand) {
  return operand == DpasOperand::A ? "A" : operand == DpasOperand::B ? "B" : "C";
}

DpasParams xetile::largestDpas(const TargetInfo &target, unsigned elemBits) {
  DpasParams dpas;
  dpas.repeatCount = target.dpas.maxM;
  dpas.systolicDepth = target.dpas.kBits / 32;
  dpas.executionSize = dpas.threadsPerWarp = target.dpas.n;
  dpas.opsPerChannel = target.dpasK(elemBits) / dpas.systolicDepth;
  return dpas;
}

Shape2D xetile::instructionShape(const DpasParams &dpas, DpasOperand operand) {
  switch (operand) {
  case DpasOperand::A:
    return {dpas.m(), dpas.k()};
  case DpasOperand::B:
    return {dpas.k(), dpas.n()};
  case DpasOperand::C:
    break;
  }
  return {dpas.m(), dpas.n()};
}

Shape2D xetile::clusterShape(const DpasParams &dpas, DpasOperand operand) {
  Shape2D shape = instructionShape(dpas, operand);
  if (operand != DpasOperand::B)
    shape[0] *= dpas.repCluster[0];
  if (operand != DpasOperand::A)
    shape[1] *= dpas.repCluster[1];
  return shape;
}

unsigned xetile::dpasRegisterBits(const DpasParams &dpas, DpasOperand operand, unsigned elemBits) {
  if (operand == DpasOperand::C)
    return elemBits;
  if (operand == DpasOperand::B)
    return 32;
  return std::max<uint64_t>(1, dpas.k() / dpas.threadsPerWarp) * elemBits;
}

std::optional<Error> xetile::checkDpasParams(const DpasParams &dpas) {
  auto oneOf = [](unsigned value, std::initializer_list<unsigned> legal) {
    return llvm::is_contained(legal, value);
  };
  if (!oneOf(dpas.repeatCount, {1, 2, 4, 8}))
    return expected("repeatCount", dpas.repeatCount, "1, 2, 4 or 8");
  if (dpas.systolicDepth != 8)
    return expected("systolicDepth", dpas.systolicDepth, "8");
  if (!oneOf(dpas.executionSize, {8, 16}))
    return expected("executionSize", dpas.executionSize, "8 or 16");
  if (!oneOf(dpas.opsPerChannel, {1, 2, 4, 8}))
    return expected("opsPerChannel", dpas.opsPerChannel, "1, 2, 4 or 8");
  if (dpas.threadsPerWarp != dpas.executionSize)
    return expected("threadsPerWarp", dpas.threadsPerWarp,
                    "executionSize, which is " + Twine(dpas.executionSize));
  for (unsigned dim : {0, 1}) {
    if (!llvm::isPowerOf2_32(dpas.warpsPerCTA[dim]) || dpas.warpsPerCTA[dim] > maxSubgroups)
      return expected("warpsPerCTA[" + Twine(dim) + "], subgroups along " + (dim ? "n" : "m") + ",",
                      dpas.warpsPerCTA[dim], "a power of two from 1 to " + Twine(maxSubgroups));
    if (!llvm::isPowerOf2_32(dpas.repCluster[dim]) || dpas.repCluster[dim] > 64)
      return expected("repCluster[" + Twine(dim) + "]", dpas.repCluster[dim],
                      "a power of two from 1 to 64");
  }
  if (dpas.subgroups() > maxSubgroups)
    return expected("warpsPerCTA[0] * warpsPerCTA[1], subgroups of a workgroup,", dpas.subgroups(),
                    "at most " + Twine(maxSubgroups));
  return std::nullopt;
}

std::optional<Error> xetile::checkDpasElement(const DpasParams &dpas, DpasOperand operand,
                                              unsigned elemBits) {
  if (operand == DpasOperand::C) {
    // Not only what DPAS accumulates in: results are narrowed where they are, lane by lane.
    if (elemBits != 8 && elemBits != 16 && elemBits != 32)
      return expected("element size of C", elemBits, "8, 16 or 32 bits");
    return std::nullopt;
  }
  if (elemBits != 4 && elemBits != 8 && elemBits != 16 && elemBits != 32)
    return expected("element size of " + toString(operand), elemBits, "4, 8, 16 or 32 bits");
  if (elemBits != dpas.elemBits())
    return expected("opsPerChannel", dpas.opsPerChannel,
                    Twine(32 / elemBits) + " for elements of " + Twine(elemBits) + " bits");
  // With fewer columns than lanes, a row of A fills only some lanes.
  unsigned rowsAtOnce = std::max(1u, dpas.threadsPerWarp / dpas.k());
  if (operand == DpasOperand::A && dpas.repeatCount < rowsAtOnce)
    return expected("repeatCount", dpas.repeatCount,
                    "at least " + Twine(rowsAtOnce) + " for elements of " + Twine(elemBits) +
                        " bits: fewer rows of A leave lanes empty");
  return std::nullopt;
}

std::optional<Error> xetile::checkDpasShape(const DpasParams &dpas, DpasOperand operand,
                                            Shape2D shape) {
  Shape2D tile = instructionShape(dpas, operand), cluster = clusterShape(dpas, operand);
  for (unsigned dim : {0, 1}) {
    if (!llvm::isPowerOf2_64(shape[dim]) || shape[dim] > maxExtent)
      return expected("shape[" + Twine(dim) + "] of " + toString(operand), shape[dim],
                      "a power of two from " + Twine(tile[dim]) + " to " + Twine(maxExtent));
    if (shape[dim] < tile[dim])
      return expected("shape[" + Twine(dim) + "] of " + toString(operand), shape[dim],
                      "at least the " + Twine(tile[dim]) + " of one DPAS instruction (" +
                          Twine(tile[0]) + "x" + Twine(tile[1]) + ")");
    if (shape[dim] < cluster[dim])
      return expected("repCluster[" + Twine(dim) + "]", dpas.repCluster[dim],
                      "at most " + Twine(shape[dim] / tile[dim]) + " for shape[" + Twine(dim) +
                          "] = " + Twine(shape[dim]) + " of " + toString(operand));
  }
  return std::nullopt;
}

Result<LinearLayout> xetile::dpasTileLayout(const DpasParams &dpas, DpasOperand operand) {
  if (auto error = checkDpasParams(dpas))
    return *error;
  if (operand == DpasOperand::A)
    if (auto error = checkDpasElement(dpas, operand, dpas.elemBits()))
      return *error;
  return build(tileBases(dpas, operand), /*withSubgroups=*/false, instructionShape(dpas, operand));
}

Result<LinearLayout> xetile::dpasLayout(const DpasParams &dpas, DpasOperand operand,
                                        unsigned elemBits, Shape2D shape) {
  if (auto error = checkDpasParams(dpas))
    return *error;
  if (auto error = checkDpasElement(dpas, operand, elemBits))
    return *error;
  if (auto error = checkDpasShape(dpas, operand, shape))
    return *error;
  OperandBases bases = tileBases(dpas, operand);
  Shape2D tile = instructionShape(dpas, operand), covered = clusterShape(dpas, operand);
  bases.registers.addRange(0, tile[0], covered[0]);
  bases.registers.addRange(1, tile[1], covered[1]);

  // Ids run along n first. Which dimension of the operand is m and n; k is shared by all subgroups.
  for (unsigned dim : {1, 0}) {
    bool shared =
        (operand == DpasOperand::A && dim == 1) || (operand == DpasOperand::B && dim == 0);
    uint64_t count = dpas.warpsPerCTA[dim];
    uint64_t distinct = shared ? 1 : std::min(count, shape[dim] / covered[dim]);
    bases.subgroups.addRange(dim, covered[dim], covered[dim] * distinct);
    bases.subgroups.addZeros(count / distinct);
    covered[dim] *= distinct;
  }
  // The rest repeats along k first (C: n).
  for (unsigned dim : {operand == DpasOperand::B ? 0u : 1u, operand == DpasOperand::B ? 1u : 0u})
    bases.registers.addRange(dim, covered[dim], shape[dim]);
  return build(bases, /*withSubgroups=*/true, shape);
}
