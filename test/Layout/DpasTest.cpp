//===- DpasTest.cpp - DPAS layouts against formulas and XeGPU's tables --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: all parameters. Out: checks against integer arithmetic and the XeGPU RFC's lane tables.
// Refused: nothing.
#include "Test.h"
#include "xetile/Layout/LaneLayout.h"

using namespace xetile;
using namespace xetile::test;
using llvm::Twine;

namespace {

/// Where an element of one instruction is, by division and remainder.
std::pair<unsigned, unsigned> inTile(const DpasParams &dpas, DpasOperand operand, unsigned reg,
                                     unsigned lane) {
  if (operand != DpasOperand::A)
    return {reg, lane};
  if (dpas.k() <= dpas.threadsPerWarp) {
    unsigned rows = dpas.threadsPerWarp / dpas.k();
    return {reg * rows + lane / dpas.k(), lane % dpas.k()};
  }
  unsigned perLane = dpas.k() / dpas.threadsPerWarp;
  return {reg / perLane, lane * perLane + reg % perLane};
}

void testOne(Checks &checks, const DpasParams &dpas, DpasOperand operand, unsigned elemBits,
             unsigned repsM, unsigned repsN, unsigned repsK) {
  bool isA = operand == DpasOperand::A, isB = operand == DpasOperand::B;
  unsigned m = dpas.m(), n = dpas.n(), k = dpas.k();
  unsigned clusterM = dpas.repCluster[0], clusterN = dpas.repCluster[1];
  unsigned spanM = m * clusterM * dpas.warpsPerCTA[0], spanN = n * clusterN * dpas.warpsPerCTA[1];
  Shape2D shape = {isB ? k * repsK : spanM * repsM, isA ? k * repsK : spanN * repsN};
  Result<LinearLayout> layout = dpasLayout(dpas, operand, elemBits, shape);
  if (!checks.ok(layout, "dpasLayout"))
    return;
  uint64_t registers = layout->inSize("register"), lanes = layout->inSize("lane");
  Shape2D tile = instructionShape(dpas, operand);
  uint64_t perTile = tile[0] * tile[1] / lanes;
  checks.check(layout->isSurjective(), "surjective");
  for (uint64_t subgroup = 0; subgroup < layout->inSize("subgroup"); ++subgroup)
    for (uint64_t lane = 0; lane < lanes; ++lane)
      for (uint64_t reg = 0; reg < registers; ++reg) {
        auto [row, col] = inTile(dpas, operand, reg % perTile, lane);
        uint64_t rest = reg / perTile;
        auto next = [&](uint64_t size) {
          uint64_t digit = rest % size;
          rest /= size;
          return digit;
        };
        uint64_t sgM = subgroup / dpas.warpsPerCTA[1], sgN = subgroup % dpas.warpsPerCTA[1];
        if (isA) {
          row += m * next(clusterM) + m * clusterM * sgM;
          col += k * next(repsK);
          row += spanM * next(repsM);
        } else if (isB) {
          col += n * next(clusterN) + n * clusterN * sgN;
          row += k * next(repsK);
          col += spanN * next(repsN);
        } else {
          row += m * next(clusterM) + m * clusterM * sgM;
          col += n * next(clusterN) + n * clusterN * sgN;
          col += spanN * next(repsN);
          row += spanM * next(repsM);
        }
        auto got = layout->unpackOut(layout->apply(reg + registers * (lane + lanes * subgroup)));
        if (!checks.check(got[0] == row && got[1] == col,
                          "register " + Twine(reg) + " lane " + Twine(lane) + " subgroup " +
                              Twine(subgroup) + " of " + toString(operand) + " holds (" +
                              Twine(got[0]) + ", " + Twine(got[1]) + "), expected (" + Twine(row) +
                              ", " + Twine(col) + ")"))
          return;
      }
}

struct TableRow {
  unsigned subgroupSize;
  DpasOperand operand;
  unsigned elemBits;
  std::array<unsigned, 2> laneLayout, laneData;
};

// The XeGPU RFC, "Rules of sg_map setting for load and store on PVC and ARC": PVC, then ARC.
const TableRow xegpuTable[] = {
    {16, DpasOperand::A, 16, {1, 16}, {1, 1}}, {16, DpasOperand::A, 32, {2, 8}, {1, 1}},
    {16, DpasOperand::A, 8, {1, 16}, {1, 2}},  {16, DpasOperand::B, 16, {1, 16}, {2, 1}},
    {16, DpasOperand::B, 32, {1, 16}, {1, 1}}, {16, DpasOperand::B, 8, {1, 16}, {4, 1}},
    {16, DpasOperand::C, 32, {1, 16}, {1, 1}}, {8, DpasOperand::A, 16, {1, 8}, {1, 2}},
    {8, DpasOperand::A, 32, {1, 8}, {1, 1}},   {8, DpasOperand::A, 8, {1, 8}, {1, 4}},
    {8, DpasOperand::B, 16, {1, 8}, {2, 1}},   {8, DpasOperand::B, 32, {1, 8}, {1, 1}},
    {8, DpasOperand::B, 8, {1, 8}, {4, 1}},    {8, DpasOperand::C, 32, {1, 8}, {1, 1}},
};

void testTable(Checks &checks) {
  for (const TableRow &row : xegpuTable) {
    std::string what = (toString(row.operand) + Twine(" of ") + Twine(row.elemBits) +
                        " bits, subgroup " + Twine(row.subgroupSize))
                           .str();
    LaneLayout want = {row.laneLayout, row.laneData};
    Result<LaneLayout> lanes = xegpuLaneLayout(row.operand, row.elemBits, row.subgroupSize);
    if (!checks.ok(lanes, what))
      continue;
    checks.same(lanes->str(), want.str(), what);
    DpasParams dpas;
    dpas.executionSize = dpas.threadsPerWarp = row.subgroupSize;
    if (row.operand != DpasOperand::C)
      dpas.opsPerChannel = 32 / row.elemBits;
    Result<LinearLayout> tile = dpasTileLayout(dpas, row.operand);
    Result<LinearLayout> spread = toLinearLayout(want, instructionShape(dpas, row.operand));
    if (!checks.ok(tile, what) || !checks.ok(spread, what))
      continue;
    checks.same(spread->str(), tile->str(), what + ": lane layout to linear layout");
    unsigned packed = dpasRegisterBits(dpas, row.operand, row.elemBits) / row.elemBits;
    Result<LaneLayout> back = toLaneLayout(*tile, packed);
    if (checks.ok(back, what))
      checks.same(back->str(), want.str(), what + ": linear layout to lane layout");
  }
  Result<LinearLayout> odd = LinearLayout::create(
      {{"register", {{0, 1}}}, {"lane", {{1, 0}, {0, 2}}}}, {{"dim0", 2}, {"dim1", 4}});
  checks.fails(toLaneLayout(*odd, 1), "XeGPU has no lane_layout",
               "lanes that run along columns first");
  checks.fails(toLinearLayout({{1, 16}, {2, 2}}, {8, 32}), "lane_data is [2, 2]", "square pieces");
  checks.fails(toLinearLayout({{1, 16}, {1, 3}}, {8, 64}), "lane_data[1] is 3", "piece of 3");
  checks.fails(toLinearLayout({{1, 16}, {1, 1}}, {8, 8}), "shape[1] is 8, expected a multiple",
               "too narrow");
  checks.fails(xegpuLaneLayout(DpasOperand::A, 16, 32), "executionSize is 32", "subgroup 32");
  checks.fails(xegpuLaneLayout(DpasOperand::A, 64, 16), "element size of A is 64", "f64");
}

} // namespace

void xetile::test::testDpas(Checks &checks) {
  testTable(checks);
  for (unsigned lanes : {8, 16})
    for (unsigned ops : {1, 2, 4, 8})
      for (unsigned m : {1, 2, 4, 8})
        for (unsigned warpsM : {1, 4})
          for (unsigned warpsN : {1, 2})
            for (unsigned clusterM : {1, 2})
              for (unsigned clusterN : {1, 4}) {
                DpasParams dpas;
                dpas.repeatCount = m;
                dpas.executionSize = dpas.threadsPerWarp = lanes;
                dpas.opsPerChannel = ops;
                dpas.warpsPerCTA = {warpsM, warpsN};
                dpas.repCluster = {clusterM, clusterN};
                for (DpasOperand operand : {DpasOperand::A, DpasOperand::B, DpasOperand::C}) {
                  // One row of tf32 fills half of 16 lanes: refused, as testErrors checks.
                  if (operand == DpasOperand::A && m * dpas.k() < lanes)
                    continue;
                  unsigned bits = operand == DpasOperand::C ? 32 : 32 / ops;
                  testOne(checks, dpas, operand, bits, 1, 1, 1);
                  testOne(checks, dpas, operand, bits, 2, 4, 2);
                }
              }
}
