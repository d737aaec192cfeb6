//===- LaneMap.cpp - what each lane holds of a vector ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: maps and shapes. Out: maps of transposed, reshaped, cut and joined vectors, tables.
// Refused: nothing; where no map follows, the caller chooses one.
#include "xetile/Target/Xe/Lanes/LaneMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

namespace {

/// The largest power of two that divides `size`.
int64_t powerOfTwoIn(int64_t size) { return size & -size; }

bool isZero(ArrayRef<int64_t> step) {
  return llvm::all_of(step, [](int64_t value) { return value == 0; });
}

LaneMap::Shape along(unsigned rank, unsigned dim, int64_t step) {
  LaneMap::Shape result(rank, 0);
  result[dim] = step;
  return result;
}

unsigned bitsOf(unsigned subgroupSize) { return llvm::Log2_32(subgroupSize); }

} // namespace

LaneMap::Shape xetile::unravel(int64_t index, ArrayRef<int64_t> shape) {
  LaneMap::Shape place(shape.size());
  for (unsigned dim = shape.size(); dim-- > 0; index /= shape[dim])
    place[dim] = index % shape[dim];
  return place;
}

int64_t xetile::ravel(ArrayRef<int64_t> place, ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (auto [at, size] : llvm::zip_equal(place, shape))
    index = index * size + at;
  return index;
}

LaneMap::LaneMap(LaneLayoutAttr attr) : block(attr.getBlock()) {
  auto read = [&](ArrayRef<int64_t> flat, Steps &steps) {
    for (; !flat.empty(); flat = flat.drop_front(rank()))
      steps.push_back(Shape(flat.take_front(rank())));
  };
  if (!block.empty()) {
    read(attr.getRegisters(), registers);
    read(attr.getLanes(), lanes);
  }
}

LaneLayoutAttr LaneMap::attr(MLIRContext *context) const {
  SmallVector<int64_t> flatRegisters, flatLanes;
  for (const Shape &step : registers)
    llvm::append_range(flatRegisters, step);
  for (const Shape &step : lanes)
    llvm::append_range(flatLanes, step);
  return LaneLayoutAttr::get(context, block, flatRegisters, flatLanes);
}

LaneMap::LaneMap(const LinearLayout &layout) {
  for (const LinearLayout::Dim &dim : layout.outs())
    block.push_back(dim.size());
  for (auto [name, steps] : {std::pair("register", &registers), std::pair("lane", &lanes)})
    for (unsigned bit = 0; bit < layout.packedBases(name).size(); ++bit) {
      Shape step;
      llvm::append_range(step, layout.basis(name, bit));
      steps->push_back(step);
    }
}

Result<LinearLayout> LaneMap::linearLayout() const {
  SmallVector<LinearLayout::Input, 2> ins = {{"register", {}}, {"lane", {}}};
  for (auto [in, steps] : {std::pair(&ins[0], &registers), std::pair(&ins[1], &lanes)})
    for (const Shape &step : *steps)
      in->bases.push_back(LinearLayout::Coordinates(step.begin(), step.end()));
  SmallVector<std::string> names;
  SmallVector<std::pair<StringRef, uint64_t>> outs;
  for (unsigned dim = 0; dim < rank(); ++dim)
    names.push_back("dim" + std::to_string(dim));
  for (auto [name, size] : llvm::zip_equal(names, block))
    outs.push_back({name, size});
  return LinearLayout::create(ins, outs, /*requireSurjective=*/true);
}

bool LaneMap::fits(ArrayRef<int64_t> shape) const {
  return rank() == shape.size() && llvm::all_of(llvm::zip_equal(block, shape), [](auto sides) {
           auto [side, size] = sides;
           return side >= 1 && size % side == 0;
         });
}

std::optional<std::string> LaneMap::check(ArrayRef<int64_t> shape, unsigned subgroupSize) const {
  if (rank() != shape.size())
    return "has a block of " + std::to_string(rank()) + " dimensions, expected " +
           std::to_string(shape.size());
  if (lanes.size() != bitsOf(subgroupSize))
    return "has " + std::to_string(size_t(1) << lanes.size()) + " lanes, expected " +
           std::to_string(subgroupSize);
  for (auto [size, side] : llvm::zip_equal(shape, block))
    if (side < 1 || !llvm::isPowerOf2_64(side) || size % side)
      return "has a block side of " + std::to_string(side) +
             ", expected a power of two that divides " + std::to_string(size);
  Result<LinearLayout> layout = linearLayout();
  if (!layout)
    return layout.error().message;
  Result<LinearLayout> inLane = layout->sublayout({"register"}, [&] {
    SmallVector<StringRef> names;
    for (const LinearLayout::Dim &dim : layout->outs())
      names.push_back(dim.name);
    return names;
  }());
  if (!inLane || !inLane->isInjective())
    return "has two registers of a lane for one element";
  return std::nullopt;
}

LaneMap LaneMap::transposed(ArrayRef<int64_t> permutation) const {
  auto permute = [&](const Shape &step) {
    Shape result;
    for (int64_t dim : permutation)
      result.push_back(step[dim]);
    return result;
  };
  LaneMap result;
  result.block = permute(block);
  for (const Shape &step : registers)
    result.registers.push_back(permute(step));
  for (const Shape &step : lanes)
    result.lanes.push_back(permute(step));
  return result;
}

LaneMap LaneMap::flattened(ArrayRef<bool> flat) const {
  LaneMap result;
  auto clear = [&](const Shape &step) {
    Shape cleared = step;
    for (auto [at, isFlat] : llvm::zip_equal(cleared, flat))
      if (isFlat)
        at = 0;
    return cleared;
  };
  for (auto [size, isFlat] : llvm::zip_equal(block, flat))
    result.block.push_back(isFlat ? 1 : size);
  for (const Shape &step : registers)
    if (Shape cleared = clear(step); !isZero(cleared))
      result.registers.push_back(cleared);
  for (const Shape &step : lanes)
    result.lanes.push_back(clear(step));
  return result;
}

LaneMap LaneMap::dropped(ArrayRef<bool> drop) const {
  LaneMap flat = flattened(drop), result;
  auto keep = [&](const Shape &step) {
    Shape kept;
    for (auto [at, isDropped] : llvm::zip_equal(step, drop))
      if (!isDropped)
        kept.push_back(at);
    return kept;
  };
  result.block = keep(flat.block);
  for (const Shape &step : flat.registers)
    result.registers.push_back(keep(step));
  for (const Shape &step : flat.lanes)
    result.lanes.push_back(keep(step));
  return result;
}

LaneMap LaneMap::prepended(unsigned count) const {
  LaneMap result = *this;
  result.block.insert(result.block.begin(), count, 1);
  for (Steps *steps : {&result.registers, &result.lanes})
    for (Shape &step : *steps)
      step.insert(step.begin(), count, 0);
  return result;
}

LaneMap LaneMap::broadcast(ArrayRef<int64_t> from, ArrayRef<int64_t> to) const {
  LaneMap result = prepended(to.size() - from.size());
  unsigned dim = to.size();
  for (Shape &step : result.lanes) {
    if (!isZero(step))
      continue;
    // The last dimension that is repeated and has places left.
    auto isFull = [&](unsigned at) {
      unsigned added = to.size() - from.size();
      return (at >= added && from[at - added] != 1) || result.block[at] * 2 > powerOfTwoIn(to[at]);
    };
    while (dim > 0 && isFull(dim - 1))
      --dim;
    if (dim == 0)
      break;
    int64_t &side = result.block[dim - 1];
    step = along(to.size(), dim - 1, side);
    side *= 2;
  }
  return result;
}

LaneMap LaneMap::trimmed(ArrayRef<int64_t> shape) const {
  LaneMap result = *this;
  for (auto [side, size] : llvm::zip_equal(result.block, shape))
    side = std::min(side, powerOfTwoIn(size));
  auto isOutside = [&](const Shape &step) {
    return llvm::any_of(llvm::zip_equal(step, result.block),
                        [](auto pair) { return std::get<0>(pair) >= std::get<1>(pair); });
  };
  llvm::erase_if(result.registers, isOutside);
  for (Shape &step : result.lanes)
    if (isOutside(step))
      step.assign(rank(), 0);
  return result;
}

LaneMap LaneMap::split(unsigned factor) const {
  LaneMap result = *this;
  if (!rank())
    return result;
  result.block.back() *= factor;
  for (Steps *steps : {&result.registers, &result.lanes})
    for (Shape &step : *steps)
      step.back() *= factor;
  for (unsigned step = factor / 2; step >= 1; step /= 2)
    result.registers.insert(result.registers.begin(), along(rank(), rank() - 1, step));
  return result;
}

std::optional<LaneMap> LaneMap::joined(unsigned factor) const {
  unsigned bits = llvm::Log2_32(factor);
  if (!rank() || registers.size() < bits || block.back() % factor)
    return std::nullopt;
  for (unsigned bit = 0; bit < bits; ++bit)
    if (registers[bit] != along(rank(), rank() - 1, int64_t(1) << bit))
      return std::nullopt;
  LaneMap result = *this;
  result.registers.erase(result.registers.begin(), result.registers.begin() + bits);
  result.block.back() /= factor;
  for (Steps *steps : {&result.registers, &result.lanes})
    for (Shape &step : *steps)
      step.back() /= factor;
  return result;
}

/// Registers for steps of the block that no bit stands for.
void LaneMap::addMissingSteps() {
  for (unsigned dim = 0; dim < rank(); ++dim)
    for (int64_t step = 1; step < block[dim]; step *= 2) {
      Shape wanted = along(rank(), dim, step);
      if (!llvm::is_contained(registers, wanted) && !llvm::is_contained(lanes, wanted))
        registers.push_back(wanted);
    }
}

std::optional<LaneMap> LaneMap::reshaped(ArrayRef<int64_t> from, ArrayRef<int64_t> to) const {
  LaneMap result;
  result.block.assign(to.size(), 1);
  auto strides = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> result(shape.size(), 1);
    for (unsigned dim = shape.size(); dim-- > 1;)
      result[dim - 1] = result[dim] * shape[dim];
    return result;
  };
  SmallVector<int64_t> fromStrides = strides(from), toStrides = strides(to);
  auto convert = [&](const Shape &step) -> std::optional<Shape> {
    if (isZero(step))
      return Shape(to.size(), 0);
    int64_t offset = 0;
    unsigned dims = 0;
    for (auto [at, stride] : llvm::zip_equal(step, fromStrides)) {
      offset += at * stride;
      dims += at != 0;
    }
    if (dims != 1)
      return std::nullopt;
    for (unsigned dim = 0; dim < to.size(); ++dim) {
      int64_t number = offset / toStrides[dim];
      if (number == 0 || offset % toStrides[dim])
        continue;
      if (!llvm::isPowerOf2_64(number) || number >= to[dim])
        return std::nullopt;
      result.block[dim] = std::max(result.block[dim], number * 2);
      return along(to.size(), dim, number);
    }
    return std::nullopt;
  };
  for (auto [source, target] :
       {std::pair(&registers, &result.registers), std::pair(&lanes, &result.lanes)})
    for (const Shape &step : *source) {
      std::optional<Shape> converted = convert(step);
      if (!converted)
        return std::nullopt;
      target->push_back(*converted);
    }
  for (auto [side, size] : llvm::zip_equal(result.block, to))
    if (size % side)
      return std::nullopt;
  result.addMissingSteps();
  return result;
}

LaneMap LaneMap::uniform(ArrayRef<int64_t> shape, unsigned subgroupSize) {
  LaneMap result;
  for (int64_t size : shape)
    result.block.push_back(powerOfTwoIn(size));
  // Registers in row-major order of the block.
  for (unsigned dim = shape.size(); dim-- > 0;)
    for (int64_t step = 1; step < result.block[dim]; step *= 2)
      result.registers.push_back(along(shape.size(), dim, step));
  result.lanes.assign(bitsOf(subgroupSize), Shape(shape.size(), 0));
  return result;
}

LaneMap LaneMap::natural(ArrayRef<int64_t> shape, unsigned subgroupSize) {
  constexpr int64_t maxRows = 8;
  LaneMap result;
  unsigned rank = shape.size();
  result.block.assign(rank, 1);
  unsigned left = bitsOf(subgroupSize);
  unsigned dim = rank;
  while (dim-- > 0 && left) {
    int64_t size = powerOfTwoIn(shape[dim]);
    for (; left && result.block[dim] < size; --left, result.block[dim] *= 2)
      result.lanes.push_back(along(rank, dim, result.block[dim]));
    if (result.block[dim] < shape[dim])
      break;
  }
  result.lanes.resize(bitsOf(subgroupSize), Shape(rank, 0));
  if (rank >= 2)
    for (int64_t &side = result.block[rank - 2];
         result.numRegisters() < maxRows && side < powerOfTwoIn(shape[rank - 2]); side *= 2)
      result.registers.push_back(along(rank, rank - 2, side));
  return result;
}

LaneTable::LaneTable(const LaneMap &map, ArrayRef<int64_t> shape, unsigned subgroupSize)
    : registers(map.numRegisters()), lanes(subgroupSize) {
  unsigned rank = shape.size();
  LaneMap::Shape grid;
  for (auto [size, side] : llvm::zip_equal(shape, map.block))
    grid.push_back(size / side);
  pieces = unsigned(llvm::product_of(grid));
  elements.reserve(size_t(pieces) * registers * lanes);
  size_t count = size_t(llvm::product_of(shape));
  registerOf.assign(count * lanes, -1);
  laneOf.assign(count, 0);
  for (unsigned piece = 0; piece < pieces; ++piece) {
    LaneMap::Shape corner = unravel(piece, grid);
    for (unsigned reg = 0; reg < registers; ++reg)
      for (unsigned lane = 0; lane < lanes; ++lane) {
        LaneMap::Shape place(rank, 0);
        for (auto [steps, index] : {std::pair(&map.registers, reg), std::pair(&map.lanes, lane)})
          for (auto [bit, step] : llvm::enumerate(*steps))
            if (index >> bit & 1)
              for (unsigned dim = 0; dim < rank; ++dim)
                place[dim] ^= step[dim];
        for (unsigned dim = 0; dim < rank; ++dim)
          place[dim] += corner[dim] * map.block[dim];
        int64_t element = ravel(place, shape);
        elements.push_back(element);
        int &found = registerOf[size_t(element) * lanes + lane];
        if (found < 0)
          found = int(piece * registers + reg);
        laneOf[element] = lane;
      }
  }
}

bool LaneTable::isUniform() const {
  return llvm::all_of(registerOf, [](int reg) { return reg >= 0; });
}
