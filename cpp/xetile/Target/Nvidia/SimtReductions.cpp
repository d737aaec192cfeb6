//===- SimtReductions.cpp - reductions of what threads have ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: chunks of a vector, a reduction of its rows, columns or both. Out: the result in all threads
// that have an element of its row or column: by shuffles within a warp, and through shared memory
// between warps. Refused: nothing; SimtPlan.cpp has.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/SimtWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

constexpr int64_t kWarp = 32;

Value SimtWriter::combine(Value l, Value r) {
  return l ? vector::makeArithReduction(b, b.getLoc(), kind, l, r) : r;
}

/// All elements of a vector, one after the other.
Value SimtWriter::combineParts(Value vector) {
  Value all;
  for (int64_t at = 0, end = cast<VectorType>(vector.getType()).getDimSize(0); at < end; ++at)
    all = combine(all, part(vector, at));
  return all;
}

/// The vector of the thread `distance` away.
Value SimtWriter::shuffle(Value vector, int64_t distance) {
  return inWords(vector, [&](Value value) -> Value {
    return NVVM::ShflOp::create(b, value.getType(), number(-1), value, number(distance), number(31),
                                NVVM::ShflKind::bfly, UnitAttr());
  });
}

/// A shuffle moves 32 bits.
Value SimtWriter::inWords(Value vector, llvm::function_ref<Value(Value)> word) {
  auto type = cast<VectorType>(vector.getType());
  Type element = type.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  SmallVector<Value> moved;
  for (int64_t at = 0; at < type.getDimSize(0); ++at) {
    Value value = part(vector, at);
    if (element.isF32() || element.isInteger(32)) {
      moved.push_back(word(value));
      continue;
    }
    if (bits == 64) {
      auto halves = VectorType::get({2}, b.getI32Type());
      Value words = LLVM::BitcastOp::create(b, halves, value);
      words = pack({word(part(words, 0)), word(part(words, 1))});
      moved.push_back(LLVM::BitcastOp::create(b, element, words));
      continue;
    }
    Type whole = b.getIntegerType(bits);
    if (!isa<IntegerType>(element))
      value = arith::BitcastOp::create(b, whole, value);
    value = word(arith::ExtUIOp::create(b, b.getI32Type(), value));
    value = arith::TruncIOp::create(b, whole, value);
    if (!isa<IntegerType>(element))
      value = arith::BitcastOp::create(b, element, value);
    moved.push_back(value);
  }
  return pack(moved);
}

/// The place of a vector of that number.
Value SimtWriter::placeInShared(Value number, VectorType type) {
  int64_t bytes = type.getNumElements() * std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
  return at(shared, mul(number, bytes));
}

static unsigned alignmentOf(VectorType type) {
  return unsigned(std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1));
}

/// Of groups of so many threads side by side: all in each.
Value SimtWriter::fromNeighbours(Value values, int64_t threads) {
  auto type = cast<VectorType>(values.getType());
  for (int64_t distance = 1; distance < std::min(threads, kWarp); distance *= 2)
    values = combine(values, shuffle(values, distance));
  if (threads <= kWarp)
    return values;
  Value warp = shiftRight(thread, 5);
  NVVM::Barrier0Op::create(b);
  onlyIf(isEqual(bitAnd(thread, kWarp - 1), number(0)),
         [&] { LLVM::StoreOp::create(b, values, placeInShared(warp, type), alignmentOf(type)); });
  NVVM::Barrier0Op::create(b);
  int64_t warps = threads / kWarp;
  Value first = bitAnd(warp, ~(warps - 1)), all;
  for (int64_t other = 0; other < warps; ++other)
    all = combine(all, LLVM::LoadOp::create(b, type, placeInShared(add(first, other), type),
                                            alignmentOf(type)));
  return all;
}

/// Of threads whose numbers are the same modulo `stride`: all in each.
Value SimtWriter::fromStride(Value values, int64_t stride) {
  auto type = cast<VectorType>(values.getType());
  for (int64_t distance = stride; distance < kWarp; distance *= 2)
    values = combine(values, shuffle(values, distance));
  int64_t apart = std::max(stride, kWarp);
  if (plan.threads <= apart)
    return values;
  NVVM::Barrier0Op::create(b);
  LLVM::StoreOp::create(b, values, placeInShared(thread, type), alignmentOf(type));
  NVVM::Barrier0Op::create(b);
  Value first = bitAnd(thread, apart - 1), all;
  for (int64_t other = 0; other < plan.threads; other += apart)
    all = combine(all, LLVM::LoadOp::create(b, type, placeInShared(add(first, other), type),
                                            alignmentOf(type)));
  return all;
}

/// Each thread reads what it needs, element by element.
SimtWriter::Chunks SimtWriter::throughMemory(TileReduceOp reduce, const Chunks &own, bool rows,
                                             bool columns) {
  Type element = reduce.getResult().getType().getElementType();
  auto one = VectorType::get({1}, element);
  auto placeOf = [&](Value row, Value column) {
    return placeInShared(add(mul(row, plan.columns), column), one);
  };
  NVVM::Barrier0Op::create(b);
  for (auto [chunk, vector] : llvm::enumerate(own)) {
    auto write = [&, vector = vector, chunk = chunk] {
      for (int64_t at = 0; at < plan.width; ++at)
        LLVM::StoreOp::create(b, part(vector, at), placeOf(rowOf[chunk], add(columnOf[chunk], at)),
                              alignmentOf(one));
    };
    if (Value has = hasChunk(chunk))
      onlyIf(has, write);
    else
      write();
  }
  NVVM::Barrier0Op::create(b);
  auto loopOver = [&](int64_t count, Value first, llvm::function_ref<Value(Value)> placeAt) {
    Value start = LLVM::LoadOp::create(b, element, placeAt(number(0)), alignmentOf(one));
    auto loop = scf::ForOp::create(b, number(1), number(count), number(1), ValueRange{start});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value next =
        LLVM::LoadOp::create(b, element, placeAt(loop.getInductionVar()), alignmentOf(one));
    scf::YieldOp::create(b, ValueRange{combine(loop.getRegionIterArgs()[0], next)});
    return loop.getResult(0);
  };
  Chunks made;
  for (size_t chunk = 0; chunk < own.size(); ++chunk) {
    Value row = plan.isEven() ? rowOf[chunk]
                              : arith::MinUIOp::create(b, rowOf[chunk], number(plan.rows - 1));
    SmallVector<Value> elements;
    for (int64_t at = 0; at < (columns ? 1 : plan.width); ++at) {
      Value column = add(columnOf[chunk], at);
      elements.push_back(
          loopOver((rows ? plan.rows : 1) * (columns ? plan.columns : 1), row, [&](Value number_) {
            Value count = number(plan.columns);
            if (rows && columns)
              return placeOf(arith::DivUIOp::create(b, number_, count),
                             arith::RemUIOp::create(b, number_, count));
            return rows ? placeOf(number_, column) : placeOf(row, number_);
          }));
    }
    made.push_back(columns ? splat(elements.front()) : pack(elements));
  }
  return made;
}

SimtWriter::Chunks SimtWriter::reduce(TileReduceOp reduce) {
  kind = reduce.getKind();
  Value source = reduce.getVector();
  SmallVector<int64_t> dims(reduce.getReductionDims());
  Exchange exchange = exchangeOf(plan, reduce);
  if (auto first = source.getDefiningOp<TileReduceOp>(); first && isFirstOfTwo(first)) {
    source = first.getVector();
    dims = {0, 1};
  }
  Chunks own = chunksOf(source);
  size_t count = own.size();
  ArrayRef<int64_t> shape = cast<VectorType>(source.getType()).getShape();
  auto reduces = [&](int64_t dim) { return shape[dim] > 1 && llvm::is_contained(dims, dim); };
  int64_t perRow = plan.chunksOfRow();
  switch (exchange) {
  case Exchange::None:
    return own;
  case Exchange::Memory:
    return throughMemory(reduce, own, reduces(0), reduces(1));
  case Exchange::All: {
    Value all;
    for (Value chunk : own)
      all = combine(all, chunk);
    Value result = fromNeighbours(pack({combineParts(all)}), plan.threads);
    return Chunks(count, splat(part(result, 0)));
  }
  case Exchange::Neighbours: {
    // Of a row's chunks that a thread has, one number.
    size_t ofRow = size_t(std::max<int64_t>(perRow / plan.threads, 1));
    SmallVector<Value> sums;
    for (size_t first = 0; first < count; first += ofRow) {
      Value all;
      for (size_t chunk = first; chunk < first + ofRow; ++chunk)
        all = combine(all, own[chunk]);
      sums.push_back(combineParts(all));
    }
    Value result = fromNeighbours(pack(sums), std::min(perRow, plan.threads));
    Chunks made;
    for (size_t chunk = 0; chunk < count; ++chunk)
      made.push_back(splat(part(result, int64_t(chunk / ofRow))));
    return made;
  }
  case Exchange::Strided: {
    // Of a column's chunks that a thread has, one.
    size_t apart = size_t(std::max<int64_t>(perRow / plan.threads, 1));
    SmallVector<Value> sums(apart);
    for (size_t chunk = 0; chunk < count; ++chunk)
      sums[chunk % apart] = combine(sums[chunk % apart], own[chunk]);
    if (perRow < plan.threads)
      sums[0] = fromStride(sums[0], perRow);
    Chunks made;
    for (size_t chunk = 0; chunk < count; ++chunk)
      made.push_back(sums[chunk % apart]);
    return made;
  }
  }
  return own;
}
