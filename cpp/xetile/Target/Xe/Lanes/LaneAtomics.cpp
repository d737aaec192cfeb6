//===- LaneAtomics.cpp - atomic_rmw, lane by lane ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: atomic_rmw on a scattered descriptor. Out: llvm.atomicrmw; where there is none of the kind or
// width, a loop that compares and exchanges. Refused: kinds that do not fit the elements.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Xe/Lanes/LaneAccess.h"
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "xetile/Target/Xe/Lanes/LaneShuffle.h"

using namespace mlir;
using namespace xetile;

static std::optional<LLVM::AtomicBinOp> nativeAtomic(arith::AtomicRMWKind kind) {
  using Kind = arith::AtomicRMWKind;
  switch (kind) {
  case Kind::addi:
    return LLVM::AtomicBinOp::add;
  case Kind::andi:
    return LLVM::AtomicBinOp::_and;
  case Kind::ori:
    return LLVM::AtomicBinOp::_or;
  case Kind::xori:
    return LLVM::AtomicBinOp::_xor;
  case Kind::maxs:
    return LLVM::AtomicBinOp::max;
  case Kind::maxu:
    return LLVM::AtomicBinOp::umax;
  case Kind::mins:
    return LLVM::AtomicBinOp::min;
  case Kind::minu:
    return LLVM::AtomicBinOp::umin;
  default:
    return std::nullopt;
  }
}

namespace {

constexpr LLVM::AtomicOrdering order = LLVM::AtomicOrdering::monotonic;

/// The word of memory around an element of fewer bits, or the element itself.
class Word {
public:
  Word(LaneBuilder &builder, Type element, Value address, unsigned space)
      : b(builder), element(element), bits(memoryBits(element)),
        word(b.getIntegerType(std::max(bits, 32u))) {
    if (bits >= 32) {
      pointer = pointerTo(b, address, space);
      return;
    }
    Value low = arith::AndIOp::create(b, address, b.constant(b.getI64Type(), 3));
    pointer = pointerTo(b, arith::SubIOp::create(b, address, low), space);
    shift = arith::MulIOp::create(b, arith::TruncIOp::create(b, word, low), b.constant(word, 8));
  }

  /// Compares and exchanges until nobody was faster; the element that was there.
  Value update(arith::AtomicRMWKind kind, Value value);

private:
  Value unpack(Value whole);
  Value pack(Value part, Value whole);

  LaneBuilder &b;
  Type element;
  unsigned bits;
  Type word;
  Value pointer, shift;
};

Value Word::unpack(Value whole) {
  Value part = whole;
  if (bits < 32)
    part =
        arith::TruncIOp::create(b, b.getIntegerType(bits), arith::ShRUIOp::create(b, whole, shift));
  if (element.isIndex())
    return arith::IndexCastOp::create(b, element, part);
  return isa<FloatType>(element) ? arith::BitcastOp::create(b, element, part).getResult() : part;
}

/// `whole` with the element `part` in its place.
Value Word::pack(Value part, Value whole) {
  if (element.isIndex())
    part = arith::IndexCastOp::create(b, b.getI64Type(), part);
  else if (isa<FloatType>(element))
    part = arith::BitcastOp::create(b, b.getIntegerType(bits), part);
  if (bits >= 32)
    return part;
  Value ones = b.constant(word, (int64_t(1) << bits) - 1);
  Value hole = arith::ShLIOp::create(b, ones, shift);
  Value keep = arith::XOrIOp::create(b, hole, b.constant(word, -1));
  Value others = arith::AndIOp::create(b, whole, keep);
  Value moved = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, word, part), shift);
  return arith::OrIOp::create(b, others, moved);
}

Value Word::update(arith::AtomicRMWKind kind, Value value) {
  Location loc = b.getLoc();
  Value first = LLVM::LoadOp::create(b, word, pointer, bits < 32 ? 4 : bits / 8);
  auto loop = scf::WhileOp::create(b, TypeRange(word), ValueRange(first));
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, TypeRange(word), {loc});
  Value seen = before->getArgument(0), current = unpack(seen), next = value;
  if (kind != arith::AtomicRMWKind::assign)
    next = arith::getReductionOp(kind, b, loc, current, value);
  auto swap =
      LLVM::AtomicCmpXchgOp::create(b, pointer, seen, pack(next, seen), order, order, "device");
  Value found = LLVM::ExtractValueOp::create(b, swap, ArrayRef<int64_t>{0});
  Value done = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, found, seen);
  Value again = arith::XOrIOp::create(b, done, b.constant(b.getI1Type(), 1));
  scf::ConditionOp::create(b, again, ValueRange(found));
  Block *after = b.createBlock(&loop.getAfter(), {}, TypeRange(word), {loc});
  scf::YieldOp::create(b, ValueRange(after->getArgument(0)));
  b.setInsertionPointAfter(loop);
  return unpack(loop.getResult(0));
}

/// Bits of the lane's number that change nothing of what it holds: lanes that hold the same change
/// memory once, those without these bits.
unsigned sharedLaneBits(const LaneMap &map) {
  unsigned bits = 0;
  for (auto [bit, step] : llvm::enumerate(map.lanes))
    if (llvm::all_of(step, [](int64_t at) { return at == 0; }))
      bits |= 1u << bit;
  return bits;
}

/// Where `mask` holds, changes the element at an address; what was there, or zero.
Value updateWhere(LaneBuilder &b, Value mask, arith::AtomicRMWKind kind, Value value, Value address,
                  unsigned space) {
  Type element = value.getType();
  auto branch = scf::IfOp::create(b, TypeRange(element), mask, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, arith::ConstantOp::create(b, b.getZeroAttr(element)).getResult());
  b.setInsertionPointToStart(branch.thenBlock());
  std::optional<LLVM::AtomicBinOp> native = nativeAtomic(kind);
  Value old;
  if (native && memoryBits(element) >= 32 && !element.isIndex())
    old =
        LLVM::AtomicRMWOp::create(b, *native, pointerTo(b, address, space), value, order, "device");
  else
    old = Word(b, element, address, space).update(kind, value);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, old);
  return branch.getResult(0);
}

LogicalResult checkTypes(xegpu::AtomicRMWOp op, Type element) {
  auto vector = cast<VectorType>(op.getValue().getType());
  unsigned bits = memoryBits(element);
  if (bits < 8 || bits > 64 || vector.getShape() != op.getMask().getType().getShape())
    return op.emitOpError("changes ") << vector << " under a mask of " << op.getMask().getType()
                                      << ", expected one element of 8 to 64 bits for each offset";
  arith::AtomicRMWKind kind = op.getKind();
  bool floatKind =
      llvm::is_contained({arith::AtomicRMWKind::addf, arith::AtomicRMWKind::mulf,
                          arith::AtomicRMWKind::maximumf, arith::AtomicRMWKind::minimumf,
                          arith::AtomicRMWKind::maxnumf, arith::AtomicRMWKind::minnumf},
                         kind);
  if (kind != arith::AtomicRMWKind::assign && floatKind != isa<FloatType>(element))
    return op.emitOpError("has the kind ")
           << stringifyAtomicRMWKind(kind) << " on elements of type " << element
           << ", expected one for " << (floatKind ? "integers" : "floats");
  return success();
}

} // namespace

static LogicalResult lower(xegpu::AtomicRMWOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  auto vector = cast<VectorType>(op.getValue().getType());
  Type element = LaneFragments::storedType(vector.getElementType());
  if (failed(checkTypes(op, element)))
    return failure();
  unsigned bytes = memoryBits(element) / 8, space = spaceOf(op.getTensorDesc().getType());
  const LaneTable &table = lanes.held.tableOf(op.getResult());
  ArrayRef<Value> all = lanes.held.piecesOf(op.getTensorDesc()),
                  masks = lanes.held.piecesOf(op.getMask()),
                  values = lanes.held.piecesOf(op.getValue());
  Values places = gather(lanes, VectorType::get({int64_t(table.registers)}, b.getIndexType()),
                         table, {offsetsOf(lanes, op.getTensorDesc(), vector)}, sameElement);
  unsigned shared = sharedLaneBits(LaneMap(lanes.held.layoutOf(op.getResult())));
  SmallVector<int64_t> leaderOf;
  uint64_t leaders = 0;
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    leaderOf.push_back(lane & ~shared);
    leaders |= uint64_t(1) << leaderOf.back();
  }
  Values pieces;
  for (unsigned p = 0; p < table.pieces; ++p) {
    Values elements;
    for (unsigned r = 0; r < table.registers; ++r) {
      Value offset = b.mul(b.element(places[p], r), b.index(bytes));
      Value address = b.add(all[0], arith::IndexCastOp::create(b, b.getI64Type(), offset));
      Value mask = b.element(masks[p], r), value = b.element(values[p], r);
      if (shared)
        mask = arith::AndIOp::create(b, mask, lanes.numbers.isIn(leaders));
      Value result = updateWhere(b, mask, op.getKind(), value, address, space);
      if (shared && !op.getResult().use_empty())
        result = shuffle(lanes, result, leaderOf);
      elements.push_back(result);
    }
    pieces.push_back(b.build(lanes.held.pieceType(op.getResult()), elements));
  }
  lanes.held.define(op.getResult(), pieces);
  return success();
}

void xetile::addAtomicLowerings(LaneLowerings &table) { table.add<xegpu::AtomicRMWOp>(lower); }
