//===- BlockLoadPlan.cpp - which 2D block messages feed which registers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an operand's tile in memory and its DPAS layout. Out: messages, register map and cost.
// Refused: what no message of the target can bring or take, with the limit that forbids it.
#include "xetile/Layout/BlockLoadPlan.h"
#include "xetile/Layout/MemoryBits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <tuple>

using namespace xetile;
using llvm::Twine;

namespace {

// A side that the messages of one plan can cover: each has at most 64 bytes in a row.
constexpr uint64_t maxPrefetchExtent = uint64_t(64) * maxPlanMessages;
constexpr uint8_t notCovered = 255;

/// A message shape that fits, and how well.
struct Candidate {
  BlockShape shape;
  unsigned loadBits;  // log2 of the number of messages
  bool shuffled;      // the DPAS operands
  unsigned unnatural; // prefetches: how far the width is from what OpenCL's builtins have

  auto key() const {
    return std::make_tuple(loadBits, shuffled, unnatural, shape.elemBits, shape.blocks, shape.width,
                           shape.transform);
  }
};

/// How the message fills a lane's registers: 32-bit values, or as many elements as a row gives it.
unsigned registerBits(const BlockShape &shape) {
  if (shape.transform || shape.transpose)
    return std::max(32u, shape.elemBits);
  return shape.elemBits * std::max(1u, shape.width / 16);
}

/// For each memory bit the register bit of the message that it selects.
std::array<uint8_t, 64> placeOf(const MemoryBits &message) {
  std::array<uint8_t, 64> place;
  place.fill(notCovered);
  for (auto [index, bit] : llvm::enumerate(message.registers))
    place[bit] = index;
  return place;
}

class Planner {
public:
  Planner(const PlanRequest &request, LinearLayout operandLayout)
      : request(request), target(*request.target), layout(std::move(operandLayout)),
        operand(operandBits(layout, request.contiguousDim)), reach(contiguousExtent(operand)),
        tile(tileExtent(request)) {
    if (request.oneMatrixPerLoad)
      reach = {std::min(reach.x, tile.x), std::min(reach.y, tile.y)};
    tileBits = tile.x + tile.y - operand.lanes.size();
  }

  Result<BlockLoadPlan> run();

private:
  bool prefetch() const { return request.access == BlockAccess::Prefetch; }
  void searchMessages(bool transpose, bool transform);
  void consider(const BlockShape &shape);
  bool isLegal(const BlockShape &shape) const;
  Error explain() const;
  std::optional<Error> checkSurface(const BlockShape &shape) const;
  BlockLoadPlan makePlan();

  const PlanRequest &request;
  const TargetInfo &target;
  LinearLayout layout;
  MemoryBits operand;
  Extent reach; // of one message at most
  Extent tile;
  unsigned tileBits; // register bits of one DPAS operand
  std::optional<Candidate> best;
};

bool Planner::isLegal(const BlockShape &shape) const {
  switch (request.access) {
  case BlockAccess::Load:
    return !target.check2DBlockLoad(shape.elemBits, shape.width, shape.height, shape.blocks,
                                    shape.transpose, shape.transform);
  case BlockAccess::Prefetch:
    return !target.check2DBlockPrefetch(shape.elemBits, shape.width, shape.height, shape.blocks);
  case BlockAccess::Store:
    break;
  }
  return shape.blocks == 1 && !target.check2DBlockStore(shape.elemBits, shape.width, shape.height);
}

void Planner::consider(const BlockShape &shape) {
  Extent covered = messageExtent(shape, request.elemBits);
  Candidate candidate = {shape, 0, false, 0};
  unsigned owned = operand.registers.size() + operand.lanes.size();
  candidate.loadBits = owned - covered.x - covered.y;
  if (best && candidate.loadBits > best->loadBits)
    return;
  if (prefetch()) {
    unsigned natural = shape.elemBits == 8 ? 32 : 16;
    candidate.unnatural = std::max(natural, shape.width) / std::min(natural, shape.width);
  } else {
    MemoryBits message = messageBits(shape, request.elemBits);
    if (message.lanes != operand.lanes)
      return;
    std::array<uint8_t, 64> place = placeOf(message);
    candidate.shuffled =
        registerBits(shape) != dpasRegisterBits(request.dpas, request.operand, request.elemBits);
    for (unsigned bit = 0; bit < tileBits; ++bit)
      candidate.shuffled |= place[operand.registers[bit]] != bit;
  }
  if ((!best || candidate.key() < best->key()) && isLegal(shape))
    best = candidate;
}

void Planner::searchMessages(bool transpose, bool transform) {
  // These bounds only save time: whether a message is legal is for the target's checks to say.
  const Block2DLimits &limits = target.block;
  bool store = request.access == BlockAccess::Store;
  unsigned maxHeight = store ? limits.maxStoreHeight : limits.maxLoadHeight;
  unsigned maxBytes = store ? limits.maxStoreBytes : limits.maxLoadBytes;
  unsigned maxBlocks = store || transpose ? 1 : 4;
  unsigned tallest = std::min(llvm::bit_floor(maxHeight), 1u << std::min(reach.y, 16u));
  for (unsigned elemBits = std::max(8u, request.elemBits); elemBits <= 64; elemBits *= 2) {
    unsigned pack = llvm::Log2_32(elemBits / request.elemBits);
    if (pack > reach.x)
      break;
    unsigned widest = std::min(llvm::bit_floor(8 * limits.maxRowBytes / elemBits),
                               1u << std::min(reach.x - pack, 16u));
    // The largest first: once it is found, smaller ones are dismissed at a glance.
    for (unsigned blocks = maxBlocks; blocks; blocks /= 2)
      for (unsigned width = widest / blocks; width; width /= 2)
        for (unsigned height = tallest; height; height /= 2) {
          BlockShape shape = {elemBits, width, height, blocks, transpose, transform};
          if (shape.bytes() <= maxBytes)
            consider(shape);
        }
  }
}

Error Planner::explain() const {
  if (prefetch()) {
    // Any whole number of words is legal: the rows are too short.
    unsigned bits = std::max(8u, request.elemBits);
    std::optional<std::string> why =
        target.check2DBlockPrefetch(bits, (request.elemBits << reach.x) / bits, 1, 1);
    return Error(why ? *why : "no 2D block prefetch suits; expected rows of 4 bytes or more");
  }
  bool store = request.access == BlockAccess::Store;
  std::string is = request.contiguousDim ? "rows" : "columns";
  std::string other = request.contiguousDim ? "columns" : "rows";
  std::string what = (Twine(request.elemBits) + "-bit " + toString(request.operand) + " with " +
                      is + " contiguous in memory ")
                         .str();
  // Lane 1 next to lane 0 in the same memory row is what plain and transforming messages give.
  if (operand.lanes.front() < yBit)
    return Error(
        what + (store ? "cannot be stored: " : "cannot be loaded: ") +
        "transforming loads pack elements of 8 and 16 bits only, and plain messages keep " +
        "neighbours in memory together; expected such elements, or " + other + " contiguous");
  if (store)
    return Error(what + "cannot be stored: 2D block stores do not transpose; expected " + other +
                 " contiguous");
  unsigned words = 32 / request.elemBits;
  if (reach.x < llvm::Log2_32(words))
    return Error(what + "cannot be loaded: a transposing load moves 32-bit words, " + Twine(words) +
                 " elements of a memory row, and the subgroup has only " +
                 Twine(uint64_t(1) << reach.x) + " in one message; expected more, or " + other +
                 " contiguous");
  return Error(what + "cannot be loaded: a transposing load moves 32-bit words, so that lane l " +
               "gets neighbours of memory row l, where DPAS wants elements of " +
               Twine(uint64_t(1) << operand.lanes.front() % yBit) +
               " memory rows; expected elements of 16 bits or more, or " + other + " contiguous");
}

std::optional<Error> Planner::checkSurface(const BlockShape &shape) const {
  const SurfaceFacts &facts = request.surface;
  if (facts.baseAlign)
    if (auto why = target.checkBaseAlign(*facts.baseAlign))
      return Error(*why);
  if (facts.width || facts.height || facts.pitch) {
    // Unknown facts count as the least that is legal.
    uint64_t width = facts.width.value_or(target.surface.minWidthBytes);
    uint64_t pitch = facts.pitch.value_or(llvm::alignTo(width, target.surface.pitchMultiple));
    if (auto why = target.checkSurface(width, facts.height.value_or(1), pitch, shape.elemBits))
      return Error(*why);
  }
  if (facts.xMultiple) {
    unsigned pack = shape.elemBits / request.elemBits;
    if (*facts.xMultiple % pack)
      return Error("the tile starts at multiples of " + Twine(*facts.xMultiple) +
                   " elements of a memory row, expected multiples of " + Twine(pack) +
                   ": a message's elements have " + Twine(shape.elemBits) + " bits");
    if (auto why = target.checkXOffset(shape.elemBits, *facts.xMultiple / pack))
      return Error(*why);
  }
  return std::nullopt;
}

BlockLoadPlan Planner::makePlan() {
  BlockLoadPlan plan;
  plan.shape = best->shape;
  Extent covered = messageExtent(plan.shape, request.elemBits);
  auto isCovered = [&](MemoryBit bit) {
    return bit >= yBit ? bit - yBit < covered.y : bit < covered.x;
  };
  // Index bits that no message covers count messages; a prefetch has no lanes, so any bit may.
  llvm::SmallVector<MemoryBit, 16> loads;
  for (MemoryBit bit : operand.registers)
    if (!isCovered(bit))
      loads.push_back(bit);
  for (MemoryBit bit : operand.lanes)
    if (!isCovered(bit))
      loads.push_back(bit);
  plan.messages.reserve(uint64_t(1) << loads.size());
  for (uint64_t load = 0; load >> loads.size() == 0; ++load) {
    uint64_t xy[2] = {0, 0};
    for (auto [index, bit] : llvm::enumerate(loads))
      if (load >> index & 1)
        xy[bit >= yBit] |= uint64_t(1) << (bit % yBit);
    BlockMessage message;
    static_cast<BlockShape &>(message) = plan.shape;
    message.row = xy[request.contiguousDim];
    message.col = xy[1 - request.contiguousDim];
    plan.messages.push_back(message);
  }
  plan.cost.messages = plan.messages.size();
  plan.cost.bytes = plan.cost.messages * plan.shape.bytes();
  plan.operandRegisterBits = dpasRegisterBits(request.dpas, request.operand, request.elemBits);
  if (!prefetch()) {
    plan.messageRegisterBits = registerBits(plan.shape);
    std::array<uint8_t, 64> place = placeOf(messageBits(plan.shape, request.elemBits));
    llvm::SmallVector<RegisterSource, 24> steps;
    uint32_t load = 1;
    for (MemoryBit bit : operand.registers) {
      if (place[bit] == notCovered) {
        steps.push_back({load, 0});
        load *= 2;
      } else {
        steps.push_back({0, uint32_t(1) << place[bit]});
      }
    }
    plan.tileRegisters = 1u << tileBits;
    plan.registers.resize_for_overwrite(size_t(1) << operand.registers.size());
    plan.registers[0] = {0, 0};
    for (size_t reg = 1; reg < plan.registers.size(); ++reg) {
      const RegisterSource &rest = plan.registers[reg & (reg - 1)];
      const RegisterSource &step = steps[llvm::countr_zero(reg)];
      plan.registers[reg] = {rest.message | step.message, rest.reg | step.reg};
    }
    plan.cost.shuffles = best->shuffled ? plan.tiles() : 0;
  }
  plan.operand = std::move(layout);
  return plan;
}

Result<BlockLoadPlan> Planner::run() {
  unsigned ownedBits = operand.registers.size() + operand.lanes.size();
  uint64_t bytes = (uint64_t(1) << ownedBits) * request.elemBits / 8;
  uint64_t file = uint64_t(target.largeRegisters) * target.registerBytes;
  if (!prefetch() && bytes > file)
    return Error("a subgroup's part of " + toString(request.operand) + " has " + Twine(bytes) +
                 " bytes, expected at most the " + Twine(file) +
                 " of its registers; use more subgroups or a smaller tile");
  searchMessages(false, false);
  if (request.access == BlockAccess::Load) {
    searchMessages(false, true);
    searchMessages(true, false);
  }
  if (!best)
    return explain();
  if (best->loadBits > llvm::Log2_32(maxPlanMessages))
    return Error("the plan has 2^" + Twine(best->loadBits) + " messages, expected at most " +
                 Twine(maxPlanMessages) + "; use more subgroups or a smaller tile");
  if (auto error = checkSurface(best->shape))
    return *error;
  return makePlan();
}

} // namespace

llvm::SmallVector<RegisterSlice, 4> BlockLoadPlan::slices(unsigned tile) const {
  llvm::SmallVector<RegisterSlice, 4> result;
  for (unsigned reg = tile * tileRegisters; reg < (tile + 1) * tileRegisters; ++reg) {
    const RegisterSource &source = registers[reg];
    if (!result.empty()) {
      RegisterSlice &last = result.back();
      if (last.message == source.message && last.source + last.count == source.reg) {
        ++last.count;
        continue;
      }
    }
    result.push_back({reg, source.message, source.reg, 1});
  }
  return result;
}

Shape2D BlockLoadPlan::subgroupOrigin(unsigned subgroup) const {
  uint64_t packed = 0;
  for (auto [bit, basis] : llvm::enumerate(operand.packedBases("subgroup")))
    packed ^= subgroup >> bit & 1 ? basis : 0;
  LinearLayout::Coordinates origin = operand.unpackOut(packed);
  return {origin[0], origin[1]};
}

Result<BlockLoadPlan> xetile::planBlockPrefetch(const TargetInfo &target, unsigned elemBits,
                                                Shape2D shape) {
  if (auto why = target.checkSupported())
    return Error(*why);
  if (!llvm::isPowerOf2_32(elemBits) || elemBits > 64)
    return Error("element size of a prefetch is " + Twine(elemBits) +
                 " bits, expected 1, 2, 4, 8, 16, 32 or 64");
  LinearLayout::Input registers = {"register", {}};
  for (unsigned dim : {1u, 0u}) {
    if (!llvm::isPowerOf2_64(shape[dim]) || shape[dim] > maxPrefetchExtent)
      return Error("shape[" + Twine(dim) + "] of a prefetch is " + Twine(shape[dim]) +
                   ", expected a power of two from 1 to " + Twine(maxPrefetchExtent) +
                   "; use more subgroups or a smaller tile");
    for (uint64_t step = 1; step < shape[dim]; step *= 2)
      registers.bases.push_back(dim ? LinearLayout::Coordinates{0, step}
                                    : LinearLayout::Coordinates{step, 0});
  }
  Result<LinearLayout> rectangle = LinearLayout::create({registers, {"lane", {}}, {"subgroup", {}}},
                                                        {{"dim0", shape[0]}, {"dim1", shape[1]}});
  if (!rectangle)
    return rectangle.error();
  PlanRequest request;
  request.target = &target;
  request.elemBits = elemBits;
  request.shape = shape;
  request.access = BlockAccess::Prefetch;
  return Planner(request, *std::move(rectangle)).run();
}

Result<BlockLoadPlan> xetile::planBlockAccess(const PlanRequest &request) {
  if (!request.target)
    return Error("no target; expected one of " + listTargets());
  if (auto why = request.target->checkSupported())
    return Error(*why);
  if (request.contiguousDim > 1)
    return Error("contiguousDim is " + Twine(request.contiguousDim) +
                 ", expected 1 (rows are contiguous) or 0 (columns)");
  Result<LinearLayout> operand =
      dpasLayout(request.dpas, request.operand, request.elemBits, request.shape);
  if (!operand)
    return operand.error();
  const DpasParams &dpas = request.dpas;
  if (auto why = request.target->checkDpas(dpas.elemBits(), dpas.m(), dpas.n(), dpas.k()))
    return Error(*why);
  return Planner(request, *std::move(operand)).run();
}
