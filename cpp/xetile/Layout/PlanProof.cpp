//===- PlanProof.cpp - run a plan on the message model -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a plan and a place on a surface. Out: nothing, or the first element that comes out wrong.
// Refused: surfaces with more elements than 32 bits count.
#include "xetile/Layout/PlanProof.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>

using namespace xetile;
using llvm::Twine;

namespace {

class Proof {
public:
  Proof(const PlanRequest &request, const BlockLoadPlan &plan, const ProofPlace &place)
      : request(request), plan(plan), place(place),
        surface{request.elemBits, place.height, place.width}, lanes(plan.operand.inSize("lane")),
        registers(plan.operand.inSize("register")) {}

  std::optional<Error> load();
  std::optional<Error> store();
  std::optional<Error> prefetch();

private:
  struct Place {
    int64_t y, x;
  };

  bool inside(Place at) const {
    return at.y >= 0 && at.x >= 0 && at.y < place.height && at.x < place.width;
  }
  /// Distinct and never zero.
  uint32_t value(Place at) const { return 1 + at.y * place.width + at.x; }
  Place toMemory(uint64_t row, uint64_t col) const {
    if (request.contiguousDim)
      return {place.y + int64_t(row), place.x + int64_t(col)};
    return {place.y + int64_t(col), place.x + int64_t(row)};
  }
  /// The place of the element that the operand's layout assigns to a register.
  Place wanted(unsigned lane, unsigned reg) const {
    uint64_t index = reg + registers * (lane + lanes * place.subgroup);
    LinearLayout::Coordinates at = plan.operand.unpackOut(plan.operand.apply(index));
    return toMemory(at[0], at[1]);
  }
  Place corner(const BlockMessage &message) const {
    Shape2D origin = plan.subgroupOrigin(place.subgroup);
    return toMemory(origin[0] + message.row, origin[1] + message.col);
  }
  Error wrong(unsigned lane, unsigned reg, const Twine &what) const {
    return Error("lane " + Twine(lane) + ", register " + Twine(reg) + ", subgroup " +
                 Twine(place.subgroup) + ": " + what);
  }

  const PlanRequest &request;
  const BlockLoadPlan &plan;
  const ProofPlace &place;
  ModelSurface surface;
  uint64_t lanes, registers;
};

std::optional<Error> Proof::load() {
  std::vector<LaneArrays> arrays;
  for (const BlockMessage &message : plan.messages) {
    Place at = corner(message);
    Result<LaneArrays> loaded = modelLoad(message, surface, at.y, at.x,
                                          [&](int64_t y, int64_t x) { return value({y, x}); });
    if (!loaded)
      return loaded.error();
    arrays.push_back(*std::move(loaded));
  }
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned reg = 0; reg < registers; ++reg) {
      const RegisterSource &source = plan.registers[reg];
      if (source.message >= arrays.size() || source.reg >= arrays[source.message].perLane)
        return wrong(lane, reg, "its source does not exist");
      Place want = wanted(lane, reg);
      uint32_t demand = inside(want) ? value(want) : 0;
      uint32_t got = arrays[source.message].at(lane, source.reg);
      if (got != demand)
        return wrong(lane, reg, "holds value " + Twine(got) + ", expected " + Twine(demand));
    }
  return std::nullopt;
}

std::optional<Error> Proof::store() {
  uint64_t total = plan.shape.bytes() * 8 / request.elemBits;
  std::vector<LaneArrays> arrays(plan.messages.size());
  for (LaneArrays &array : arrays) {
    array.perLane = total / modelLanes;
    array.values.assign(total, 0);
  }
  llvm::DenseMap<uint32_t, unsigned> writes; // value -> times it is still to be written
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned reg = 0; reg < registers; ++reg) {
      const RegisterSource &to = plan.registers[reg];
      if (to.message >= arrays.size() || to.reg >= arrays[to.message].perLane)
        return wrong(lane, reg, "its destination does not exist");
      Place at = wanted(lane, reg);
      if (inside(at))
        writes[value(at)] = 1;
      arrays[to.message].at(lane, to.reg) =
          inside(at) ? value(at) : std::numeric_limits<uint32_t>::max();
    }
  std::optional<Error> failure;
  for (auto [message, array] : llvm::zip(plan.messages, arrays)) {
    Place at = corner(message);
    auto write = [&](int64_t y, int64_t x, uint32_t got) {
      uint32_t demand = value({y, x});
      auto left = writes.find(demand);
      if (left == writes.end() || left->second-- != 1 || got != demand)
        failure = Error("memory row " + Twine(y) + ", element " + Twine(x) + " receives value " +
                        Twine(got) + ", expected " + Twine(demand) + " once");
    };
    if (auto error = modelStore(message, surface, at.y, at.x, array, write))
      return error;
  }
  if (failure)
    return failure;
  for (auto [demand, left] : writes)
    if (left)
      return Error("value " + Twine(demand) + " is never written");
  return std::nullopt;
}

std::optional<Error> Proof::prefetch() {
  llvm::DenseMap<std::pair<int64_t, int64_t>, unsigned> touched;
  unsigned pack = plan.shape.elemBits / request.elemBits;
  for (const BlockMessage &message : plan.messages) {
    Place at = corner(message);
    for (unsigned y = 0; y < message.height; ++y)
      for (unsigned x = 0; x < message.width * message.blocks * pack; ++x)
        if (touched[{at.y + y, at.x + x}]++)
          return Error("memory row " + Twine(at.y + y) + ", element " + Twine(at.x + x) +
                       " is prefetched twice, expected once");
  }
  if (touched.size() != lanes * registers)
    return Error(Twine(touched.size()) + " elements are prefetched, expected " +
                 Twine(lanes * registers));
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned reg = 0; reg < registers; ++reg) {
      Place want = wanted(lane, reg);
      if (!touched.count({want.y, want.x}))
        return wrong(lane, reg, "is not prefetched");
    }
  return std::nullopt;
}

} // namespace

std::optional<Error> xetile::provePlan(const PlanRequest &request, const BlockLoadPlan &plan,
                                       const ProofPlace &place) {
  if (place.height < 1 || place.width < 1 ||
      place.height > int64_t(std::numeric_limits<uint32_t>::max() - 2) / place.width)
    return Error("the surface has " + Twine(place.height) + "x" + Twine(place.width) +
                 " elements, expected 1 to 2^32 - 2");
  if (place.subgroup >= plan.operand.inSize("subgroup"))
    return Error("subgroup is " + Twine(place.subgroup) + ", expected 0 to " +
                 Twine(plan.operand.inSize("subgroup") - 1));
  Proof proof(request, plan, place);
  switch (request.access) {
  case BlockAccess::Load:
    return proof.load();
  case BlockAccess::Store:
    return proof.store();
  case BlockAccess::Prefetch:
    break;
  }
  return proof.prefetch();
}
