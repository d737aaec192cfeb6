//===- LaneLayout.cpp - XeGPU's lane_layout and lane_data --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a DPAS operand, a lane layout, or a linear layout. Out: the same in the other form.
// Refused: types that no DPAS takes, shapes that pieces do not fill, layouts of any other form.
#include "xetile/Layout/LaneLayout.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <tuple>

using namespace xetile;
using llvm::Twine;

namespace {

std::string pair(std::array<unsigned, 2> values) {
  return (Twine("[") + Twine(values[0]) + ", " + Twine(values[1]) + "]").str();
}

} // namespace

std::string LaneLayout::str() const {
  return "lane_layout = " + pair(laneLayout) + ", lane_data = " + pair(laneData);
}

Result<LaneLayout> xetile::xegpuLaneLayout(DpasOperand operand, unsigned elemBits,
                                           unsigned subgroupSize) {
  DpasParams dpas;
  dpas.executionSize = dpas.threadsPerWarp = subgroupSize;
  if (operand != DpasOperand::C && (elemBits == 4 || elemBits == 8 || elemBits == 32))
    dpas.opsPerChannel = 32 / elemBits;
  if (auto error = checkDpasParams(dpas))
    return *error;
  if (auto error = checkDpasElement(dpas, operand, elemBits))
    return *error;
  LaneLayout lanes;
  lanes.laneLayout = {1, subgroupSize};
  if (operand == DpasOperand::B)
    lanes.laneData = {dpas.opsPerChannel, 1};
  if (operand == DpasOperand::A) {
    // A row's 32 bytes go to all lanes, at least one element each; tf32 rows have only 8 elements.
    unsigned columns = std::min(dpas.k(), subgroupSize);
    lanes.laneLayout = {subgroupSize / columns, columns};
    lanes.laneData = {1, dpas.k() / columns};
  }
  return lanes;
}

Result<LinearLayout> xetile::toLinearLayout(const LaneLayout &lanes, Shape2D shape) {
  std::array<uint64_t, 2> unit;
  for (unsigned dim : {0, 1}) {
    for (auto [name, value] :
         {std::pair<const char *, uint64_t>{"lane_layout", lanes.laneLayout[dim]},
          {"lane_data", lanes.laneData[dim]},
          {"shape", shape[dim]}}) {
      Result<unsigned> bits = exactLog2(value, Twine(name) + "[" + Twine(dim) + "]");
      if (!bits)
        return bits.error();
    }
    unit[dim] = uint64_t(lanes.laneLayout[dim]) * lanes.laneData[dim];
    if (shape[dim] % unit[dim])
      return Error("shape[" + Twine(dim) + "] is " + Twine(shape[dim]) +
                   ", expected a multiple of lane_layout * lane_data = " + Twine(unit[dim]));
  }
  if (lanes.laneData[0] > 1 && lanes.laneData[1] > 1)
    return Error("lane_data is " + pair(lanes.laneData) +
                 ", expected a piece of one row or one column: one of its sizes must be 1");
  LinearLayout result;
  auto append = [&](uint64_t size, const char *in, const char *out) -> std::optional<Error> {
    Result<LinearLayout> factor = LinearLayout::identity(size, in, out);
    if (!factor)
      return factor.error();
    Result<LinearLayout> product = result.product(*factor);
    if (!product)
      return product.error();
    result = *std::move(product);
    return std::nullopt;
  };
  // The piece, then the lanes, then the repetitions; in each, columns change first.
  for (auto [size, in, out] :
       {std::tuple<uint64_t, const char *, const char *>{lanes.laneData[1], "register", "dim1"},
        {lanes.laneData[0], "register", "dim0"},
        {lanes.laneLayout[1], "lane", "dim1"},
        {lanes.laneLayout[0], "lane", "dim0"},
        {shape[1] / unit[1], "register", "dim1"},
        {shape[0] / unit[0], "register", "dim0"}})
    if (auto error = append(size, in, out))
      return *error;
  return result.sublayout({"register", "lane"}, {"dim0", "dim1"});
}

Result<LaneLayout> xetile::toLaneLayout(const LinearLayout &layout, unsigned packed) {
  if (layout.ins().size() != 2 || !layout.inSize("register") || !layout.inSize("lane") ||
      layout.outs().size() != 2 || layout.outs()[0].name != "dim0" ||
      layout.outs()[1].name != "dim1")
    return Error("expected a layout from register and lane to dim0 and dim1, of one instruction");
  Result<unsigned> packedBits = exactLog2(packed, "packed");
  if (!packedBits)
    return packedBits.error();
  llvm::ArrayRef<uint64_t> registers = layout.packedBases("register");
  if (*packedBits > registers.size())
    return Error("packed is " + Twine(packed) + ", expected at most the " +
                 Twine(uint64_t(1) << registers.size()) + " registers of the layout");
  LaneLayout lanes;
  auto count = [&](llvm::ArrayRef<uint64_t> bases, std::array<unsigned, 2> &sizes) {
    for (uint64_t basis : bases)
      for (auto [step, size] : llvm::zip(layout.unpackOut(basis), sizes))
        size *= step ? 2 : 1;
  };
  count(layout.packedBases("lane"), lanes.laneLayout);
  count(registers.take_front(*packedBits), lanes.laneData);
  // Sizes alone do not tell the order of the steps: go back and compare.
  Result<LinearLayout> back =
      toLinearLayout(lanes, {layout.outSize("dim0"), layout.outSize("dim1")});
  if (!back)
    return back.error();
  if (*back != layout)
    return Error("XeGPU has no lane_layout and lane_data for this layout; the nearest is " +
                 lanes.str());
  return lanes;
}
