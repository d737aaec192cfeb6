//===- LaneNeighbours.cpp - elements of a lane that lie side by side ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: loads with offsets of each lane that follow one another, as those of the elements of windows,
// and stores. Out: one access to what lies side by side for a lane, of 16 bytes at most. Refused:
// nothing; what has a mask, or offsets that are not known to be neighbours, is left to others.
#include "xetile/Target/Xe/Lanes/LaneNeighbours.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Target/Xe/Lanes/LaneAccess.h"
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LinearOffsets.h"
#include <map>

using namespace mlir;
using namespace xetile;

namespace {

constexpr int64_t kMostBytes = 16;
// A longer access begins at a multiple of them.
constexpr int64_t kWordBytes = 4;

/// For each lane the bytes from the first element of the first load to one of its elements, and the
/// registers of loads that hold it.
struct Piece {
  SmallVector<int64_t> places;
  struct Holder {
    unsigned load, flat;
  };
  SmallVector<Holder, 1> holders;
};

/// Loads that are lowered together.
struct Neighbours {
  SmallVector<xegpu::LoadGatherOp> loads;
  SmallVector<int64_t> apart; // in bytes, from the first
  LinearOffsets first;
};

} // namespace

/// Where the elements of an access are, if all lanes take part; nothing where that is not known.
template <typename Op> static std::optional<LinearOffsets> addressesOf(Op op, Value memory) {
  auto type = dyn_cast<VectorType>(op.getValue().getType());
  Value offsets = op.getOffsets();
  if (!type || !offsets || !isa<VectorType>(offsets.getType()) ||
      cast<VectorType>(offsets.getType()).getShape() != type.getShape() ||
      !memory.getType().isInteger(64) || !matchPattern(op.getMask(), m_One()))
    return std::nullopt;
  unsigned bits = memoryBits(type.getElementType());
  if ((bits != 32 && bits != 16) || type.getElementType().isIndex())
    return std::nullopt;
  std::optional<LinearOffsets> addresses = linearAddresses(memory, offsets, bits / 8);
  return bits == 32 || (addresses && addresses->termsAreMultiplesOf(kWordBytes)) ? addresses
                                                                                 : std::nullopt;
}

/// True if memory may change by `op`.
static bool mayWrite(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return op->getNumRegions() != 0 || !effects || effects.hasEffect<MemoryEffects::Write>() ||
         effects.hasEffect<MemoryEffects::Free>();
}

static Neighbours findNeighbours(xegpu::LoadGatherOp first, LaneContext &lanes) {
  constexpr unsigned kMostLoads = 8;
  Neighbours found;
  std::optional<LinearOffsets> start = addressesOf(first, first.getSource());
  if (!start)
    return found;
  found.first = *start;
  for (Operation *op = first; op && found.loads.size() < kMostLoads; op = op->getNextNode()) {
    auto load = dyn_cast<xegpu::LoadGatherOp>(op);
    if (load && load.getValue().getType() == first.getValue().getType() &&
        lanes.held.layoutOf(load.getValue()) == lanes.held.layoutOf(first.getValue()) &&
        lanes.held.piecesOf(load.getValue()).empty()) {
      std::optional<LinearOffsets> here = addressesOf(load, load.getSource());
      std::optional<int64_t> apart = here ? here->minus(*start) : std::nullopt;
      if (apart && std::abs(*apart) < kMostBytes) {
        found.loads.push_back(load);
        found.apart.push_back(*apart);
      }
    }
    if (mayWrite(op))
      break;
  }
  return found;
}

/// All elements of a lane, in the order of the first lane's addresses.
static SmallVector<Piece> piecesOf(const Neighbours &neighbours, const LaneTable &table,
                                   ArrayRef<int64_t> shape) {
  std::map<SmallVector<int64_t>, SmallVector<Piece::Holder, 1>> holders;
  for (auto [load, apart] : llvm::enumerate(neighbours.apart))
    for (unsigned flat = 0; flat < table.flatRegisters(); ++flat) {
      SmallVector<int64_t> places;
      for (int64_t element : table.row(flat)) {
        int64_t place = apart;
        for (auto [coordinate, step] :
             llvm::zip_equal(unravel(element, shape), neighbours.first.steps))
          place += coordinate * step;
        places.push_back(place);
      }
      holders[places].push_back({unsigned(load), flat});
    }
  SmallVector<Piece> pieces;
  for (auto &[places, registers] : holders)
    pieces.push_back({places, registers});
  return pieces;
}

/// How many pieces from the first on one access takes; their places count from the address `first`.
static unsigned runAt(ArrayRef<Piece> pieces, int64_t first, int64_t bytes) {
  unsigned most = 1;
  if (bytes < kWordBytes &&
      llvm::any_of(
          pieces[0].places, [&](int64_t place) { return (first + place) % kWordBytes != 0; }))
    return most;
  auto follows = [&](unsigned at) {
    return llvm::all_of(llvm::zip_equal(pieces[0].places, pieces[at].places), [&](auto places) {
      return std::get<1>(places) - std::get<0>(places) == int64_t(at) * bytes;
    });
  };
  for (unsigned length = 2; length * bytes <= kMostBytes && length <= pieces.size(); length *= 2) {
    if (!llvm::all_of(llvm::seq(length / 2, length), follows))
      break;
    most = length;
  }
  return most;
}

/// Calls `visit` with what each access takes and its pointer; false if each takes one element.
template <typename Op>
static bool forEachRun(LaneContext &lanes, const Neighbours &neighbours, Op op, Value memory,
                       function_ref<void(ArrayRef<Piece> run, Value pointer)> visit) {
  LaneBuilder &b = lanes.b;
  Value value = op.getValue();
  auto type = cast<VectorType>(value.getType());
  int64_t bytes = memoryBits(type.getElementType()) / 8;
  const LaneTable &table = lanes.held.tableOf(value);
  SmallVector<Piece> pieces = piecesOf(neighbours, table, type.getShape());
  SmallVector<ArrayRef<Piece>> runs;
  for (ArrayRef<Piece> rest = pieces; !rest.empty(); rest = rest.drop_front(runs.back().size()))
    runs.push_back(rest.take_front(runAt(rest, neighbours.first.constant, bytes)));
  if (runs.size() == pieces.size())
    return false;
  // Of two elements that are stored to one place, the last one stays.
  if (isa<xegpu::StoreScatterOp>(op) &&
      llvm::any_of(pieces, [](const Piece &piece) { return piece.holders.size() > 1; }))
    return false;
  Values offsets = gather(lanes, VectorType::get({int64_t(table.registers)}, b.getIndexType()),
                          table, {lanes.held.sourceOf(op.getOffsets())}, sameElement);
  for (ArrayRef<Piece> run : runs) {
    Piece::Holder first = run.front().holders.front();
    Value offset = b.element(offsets[first.flat / table.registers], first.flat % table.registers);
    Value address = advance(b, memory, offset, unsigned(bytes));
    if (int64_t apart = neighbours.apart[first.load])
      address = b.add(address, arith::ConstantIntOp::create(b, apart, 64));
    visit(run, pointerTo(b, address, globalSpace));
  }
  return true;
}

/// Of an access to `count` elements, in bytes.
static unsigned alignmentOf(Type element, int64_t count) {
  unsigned bytes = memoryBits(element) / 8;
  return count == 1 ? bytes : std::max(bytes, unsigned(kWordBytes));
}

bool xetile::loadNeighbours(xegpu::LoadGatherOp op, LaneContext &lanes) {
  Neighbours neighbours = findNeighbours(op, lanes);
  if (neighbours.loads.empty())
    return false;
  LaneBuilder &b = lanes.b;
  VectorType pieceType = lanes.held.pieceType(op.getValue());
  Type element = pieceType.getElementType();
  const LaneTable &table = lanes.held.tableOf(op.getValue());
  SmallVector<Values> registers(neighbours.loads.size(), Values(table.flatRegisters()));
  auto load = [&](ArrayRef<Piece> run, Value pointer) {
    int64_t count = run.size();
    Type type = count == 1 ? element : Type(VectorType::get({count}, element));
    Values elements;
    appendRegisters(b, loadElement(b, type, pointer, alignmentOf(element, count)), elements);
    for (auto [piece, loaded] : llvm::zip_equal(run, elements))
      for (Piece::Holder holder : piece.holders)
        registers[holder.load][holder.flat] = loaded;
  };
  if (!forEachRun(lanes, neighbours, op, op.getSource(), load))
    return false;
  for (auto [load, values] : llvm::zip_equal(neighbours.loads, registers)) {
    Values made;
    for (unsigned piece = 0; piece < table.pieces; ++piece)
      made.push_back(b.build(
          pieceType, ArrayRef(values).slice(size_t(piece) * table.registers, table.registers)));
    lanes.held.define(load.getValue(), made);
  }
  return true;
}

bool xetile::storeNeighbours(xegpu::StoreScatterOp op, LaneContext &lanes) {
  std::optional<LinearOffsets> start = addressesOf(op, op.getDest());
  if (!start)
    return false;
  LaneBuilder &b = lanes.b;
  ArrayRef<Value> stored = lanes.held.piecesOf(op.getValue());
  const LaneTable &table = lanes.held.tableOf(op.getValue());
  Type element = lanes.held.pieceType(op.getValue()).getElementType();
  Neighbours neighbours;
  neighbours.apart = {0};
  neighbours.first = *start;
  auto store = [&](ArrayRef<Piece> run, Value pointer) {
    Values elements;
    for (const Piece &piece : run) {
      unsigned flat = piece.holders.front().flat;
      elements.push_back(b.element(stored[flat / table.registers], flat % table.registers));
    }
    int64_t count = elements.size();
    Value value = count == 1 ? elements[0] : b.build(VectorType::get({count}, element), elements);
    storeElement(b, value, pointer, alignmentOf(element, count));
  };
  return forEachRun(lanes, neighbours, op, op.getDest(), store);
}
