//===- MessageModel.cpp - what 2D block messages do --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a message, its place on a surface, the surface's elements. Out: what each lane holds.
// Refused: messages that leave lanes without data, or cut the surface's elements.
#include "xetile/Layout/MessageModel.h"

using namespace xetile;
using llvm::Twine;

namespace {

/// Which element of memory lies in a lane's register, relative to the message's corner.
struct Cell {
  int64_t y, x;
};

struct Mapping {
  BlockShape message;
  unsigned pack; // elements of the surface in one element of the message

  unsigned perLane() const {
    return message.width * message.height * message.blocks * pack / modelLanes;
  }

  Cell cell(unsigned lane, unsigned reg) const {
    unsigned inElement = reg % pack, number = reg / pack;
    unsigned perBlock = message.width * message.height / modelLanes;
    unsigned block = number / perBlock, within = number % perBlock;
    unsigned row, column;
    if (message.transpose) {
      unsigned index = within * modelLanes + lane;
      row = index % message.height;
      column = index / message.height;
    } else if (message.transform) {
      // Rows that share a 32-bit value follow one another in the lane's array, from its low bits.
      row = within;
      column = lane;
    } else if (message.width >= modelLanes) {
      unsigned neighbours = message.width / modelLanes;
      row = within / neighbours;
      column = lane * neighbours + within % neighbours;
    } else {
      unsigned index = within * modelLanes + lane;
      row = index / message.width;
      column = index % message.width;
    }
    return {int64_t(row), (int64_t(block) * message.width + column) * pack + inElement};
  }
};

Result<Mapping> makeMapping(const BlockShape &message, const ModelSurface &surface) {
  if (!surface.elemBits || message.elemBits % surface.elemBits)
    return Error("the message's elements have " + Twine(message.elemBits) +
                 " bits, expected a multiple of the surface's " + Twine(surface.elemBits));
  unsigned number = message.width * message.height;
  if (!number || number % modelLanes || !message.blocks)
    return Error("a block of " + Twine(message.width) + "x" + Twine(message.height) +
                 " elements does not fill all lanes; expected a multiple of " + Twine(modelLanes));
  bool even = message.width < modelLanes ? modelLanes % message.width == 0
                                         : message.width % modelLanes == 0;
  if (!message.transpose && !even)
    return Error("a block of width " + Twine(message.width) +
                 " is not modelled; expected a divisor or a multiple of " + Twine(modelLanes));
  if (message.transform && (message.width != modelLanes || message.elemBits > 16 ||
                            message.height % (32 / message.elemBits)))
    return Error("expected a transforming load of 8 or 16 bits, of width 16 and whole 32-bit "
                 "values");
  return Mapping{message, message.elemBits / surface.elemBits};
}

} // namespace

Result<LaneArrays> xetile::modelLoad(const BlockShape &message, const ModelSurface &surface,
                                     int64_t y, int64_t x, ReadCell read) {
  Result<Mapping> mapping = makeMapping(message, surface);
  if (!mapping)
    return mapping.error();
  LaneArrays result;
  result.perLane = mapping->perLane();
  result.values.resize(size_t(modelLanes) * result.perLane);
  for (unsigned lane = 0; lane < modelLanes; ++lane)
    for (unsigned reg = 0; reg < result.perLane; ++reg) {
      Cell cell = mapping->cell(lane, reg);
      int64_t row = y + cell.y, column = x + cell.x;
      bool inside = row >= 0 && column >= 0 && row < surface.height && column < surface.width;
      result.at(lane, reg) = inside ? read(row, column) : 0;
    }
  return result;
}

std::optional<Error> xetile::modelStore(const BlockShape &message, const ModelSurface &surface,
                                        int64_t y, int64_t x, const LaneArrays &arrays,
                                        WriteCell write) {
  if (message.transpose || message.transform)
    return Error("a store neither transposes nor transforms");
  Result<Mapping> mapping = makeMapping(message, surface);
  if (!mapping)
    return mapping.error();
  if (arrays.perLane != mapping->perLane() ||
      arrays.values.size() != size_t(modelLanes) * arrays.perLane)
    return Error("each lane has " + Twine(arrays.perLane) + " elements, expected " +
                 Twine(mapping->perLane()));
  for (unsigned lane = 0; lane < modelLanes; ++lane)
    for (unsigned reg = 0; reg < arrays.perLane; ++reg) {
      Cell cell = mapping->cell(lane, reg);
      int64_t row = y + cell.y, column = x + cell.x;
      if (row >= 0 && column >= 0 && row < surface.height && column < surface.width)
        write(row, column, arrays.at(lane, reg));
    }
  return std::nullopt;
}
