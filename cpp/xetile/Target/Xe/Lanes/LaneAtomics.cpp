//===- LaneAtomics.cpp - atomic_rmw, lane by lane ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: atomic_rmw on a scattered descriptor. Out: llvm.atomicrmw; where there is none of the kind or
// width, a loop that compares and exchanges. Refused: kinds that do not fit the elements.
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

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

LogicalResult LaneLowering::lowerAtomic(xegpu::AtomicRMWOp op) {
  auto tile = op.getTensorDesc().getType();
  auto vector = cast<VectorType>(op.getValue().getType());
  Type element = storedType(vector.getElementType());
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
  const LaneTable &table = tableOf(op.getResult());
  ArrayRef<Value> all = piecesOf(op.getTensorDesc());
  LaneLayoutAttr natural = LaneMap::natural(vector.getShape(), lanes).attr(b.getContext());
  const LaneTable &offsetTable = tableFor(natural, vector.getShape());
  auto same = [](int64_t number) { return std::pair(0u, number); };
  int64_t registers = table.registers;
  Values places = gather(VectorType::get({registers}, b.getIndexType()), table,
                         {Source{all.drop_front(), offsetTable}}, same);
  unsigned space = tile.getMemorySpace() == xegpu::MemorySpace::SLM ? 3 : 1;
  Values masks = piecesOf(op.getMask()), values = piecesOf(op.getValue()), pieces;
  Type i64 = b.getI64Type(), word = b.getIntegerType(std::max(bits, 32u)),
       narrow = b.getIntegerType(bits);
  auto order = LLVM::AtomicOrdering::monotonic;
  // Lanes that hold the same do it once.
  LaneMap map(layoutOf(op.getResult()));
  uint64_t leaders = (uint64_t(1) << lanes) - 1;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (auto [bit, step] : llvm::enumerate(map.lanes))
      if ((lane >> bit & 1) && llvm::all_of(step, [](int64_t at) { return at == 0; }))
        leaders &= ~(uint64_t(1) << lane);
  bool shared = leaders != (uint64_t(1) << lanes) - 1;
  for (unsigned p = 0; p < table.pieces; ++p) {
    Values elements;
    for (int64_t r = 0; r < registers; ++r) {
      Value address =
          add(all[0], arith::IndexCastOp::create(
                          b, loc, i64, mul(this->element(places[p], r), index(bits / 8))));
      Value mask = this->element(masks[p], r), value = this->element(values[p], r);
      if (shared)
        mask = arith::AndIOp::create(b, loc, mask, laneIn(leaders));
      auto branch = scf::IfOp::create(b, loc, TypeRange(element), mask, /*withElse=*/true);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.elseBlock());
        scf::YieldOp::create(b, loc,
                             arith::ConstantOp::create(b, loc, b.getZeroAttr(element)).getResult());
        b.setInsertionPointToStart(branch.thenBlock());
        Value old;
        std::optional<LLVM::AtomicBinOp> native = nativeAtomic(kind);
        if (native && bits >= 32 && !element.isIndex()) {
          old = LLVM::AtomicRMWOp::create(b, loc, *native, pointerTo(address, space), value, order,
                                          "device");
        } else {
          // Compare and exchange until nobody was faster; parts of words within their word.
          Value pointer, shift;
          if (bits < 32) {
            Value low = arith::AndIOp::create(b, loc, address, constant(i64, 3));
            pointer = pointerTo(arith::SubIOp::create(b, loc, address, low), space);
            shift = arith::MulIOp::create(b, loc, arith::TruncIOp::create(b, loc, word, low),
                                          constant(word, 8));
          } else {
            pointer = pointerTo(address, space);
          }
          auto unpack = [&](Value whole) -> Value {
            Value part = whole;
            if (bits < 32)
              part = arith::TruncIOp::create(b, loc, narrow,
                                             arith::ShRUIOp::create(b, loc, whole, shift));
            if (element.isIndex())
              return arith::IndexCastOp::create(b, loc, element, part);
            return isa<FloatType>(element)
                       ? arith::BitcastOp::create(b, loc, element, part).getResult()
                       : part;
          };
          auto pack = [&](Value part, Value whole) -> Value {
            if (element.isIndex())
              part = arith::IndexCastOp::create(b, loc, i64, part);
            else if (isa<FloatType>(element))
              part = arith::BitcastOp::create(b, loc, narrow, part);
            if (bits >= 32)
              return part;
            Value ones = constant(word, (int64_t(1) << bits) - 1);
            Value hole = arith::ShLIOp::create(b, loc, ones, shift);
            Value keep = arith::XOrIOp::create(b, loc, hole, constant(word, -1));
            Value others = arith::AndIOp::create(b, loc, whole, keep);
            Value moved =
                arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, word, part), shift);
            return arith::OrIOp::create(b, loc, others, moved);
          };
          Value first = LLVM::LoadOp::create(b, loc, word, pointer, bits < 32 ? 4 : bits / 8);
          auto loop = scf::WhileOp::create(b, loc, TypeRange(word), ValueRange(first));
          OpBuilder::InsertionGuard inner(b);
          Block *before = b.createBlock(&loop.getBefore(), {}, TypeRange(word), {loc});
          Value seen = before->getArgument(0), current = unpack(seen), next;
          if (kind == arith::AtomicRMWKind::assign)
            next = value;
          else
            next = arith::getReductionOp(kind, b, loc, current, value);
          auto swap = LLVM::AtomicCmpXchgOp::create(b, loc, pointer, seen, pack(next, seen), order,
                                                    order, "device");
          Value found = LLVM::ExtractValueOp::create(b, loc, swap, ArrayRef<int64_t>{0});
          Value done = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, found, seen);
          Value again = arith::XOrIOp::create(b, loc, done, constant(b.getI1Type(), 1));
          scf::ConditionOp::create(b, loc, again, ValueRange(found));
          Block *after = b.createBlock(&loop.getAfter(), {}, TypeRange(word), {loc});
          scf::YieldOp::create(b, loc, ValueRange(after->getArgument(0)));
          b.setInsertionPointAfter(loop);
          old = unpack(loop.getResult(0));
          scf::YieldOp::create(b, loc, old);
          old = {};
        }
        if (old)
          scf::YieldOp::create(b, loc, old);
      }
      Value result = branch.getResult(0);
      if (shared && !op.getResult().use_empty()) {
        SmallVector<int64_t> table;
        for (unsigned lane = 0; lane < lanes; ++lane) {
          unsigned leader = lane;
          for (auto [bit, step] : llvm::enumerate(map.lanes))
            if (llvm::all_of(step, [](int64_t at) { return at == 0; }))
              leader &= ~(1u << bit);
          table.push_back(leader);
        }
        result = shuffle(result, table);
      }
      elements.push_back(result);
    }
    pieces.push_back(build(pieceType(op.getResult()), elements));
  }
  define(op.getResult(), pieces);
  return success();
}
