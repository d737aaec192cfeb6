//===- VectorPieces.cpp - cut vectors into those that SPIR-V has ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vectors of any fixed length, in pieces. Out: pieces of 2, 3, 4, 8 and 16 elements and
// scalars. Refused: nothing.
#include "xetile/Target/Xe/Llvm/VectorPieces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"

using namespace llvm;
using namespace xetile;

bool xetile::isLegalCount(unsigned n) { return n == 2 || n == 3 || n == 4 || n == 8 || n == 16; }

FixedVectorType *xetile::illegalVector(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && !isLegalCount(vector->getNumElements()) ? vector : nullptr;
}

std::optional<unsigned> xetile::consecutive(ArrayRef<int> mask, unsigned n) {
  std::optional<int> begin;
  for (auto [i, index] : enumerate(mask))
    if (index >= 0) {
      int start = index - static_cast<int>(i);
      if (begin && *begin != start)
        return std::nullopt;
      begin = start;
    }
  if (!begin || *begin < 0 || *begin + mask.size() > n)
    return std::nullopt;
  return *begin;
}

SmallVector<Range> xetile::cut(unsigned n) {
  SmallVector<Range> pieces;
  for (unsigned begin = 0; begin < n;) {
    unsigned size = std::min(n - begin, maxElements);
    while (size != 1 && !isLegalCount(size))
      --size;
    pieces.push_back({begin, size});
    begin += size;
  }
  return pieces;
}

Type *xetile::pieceType(Type *elem, unsigned size) {
  return size == 1 ? elem : FixedVectorType::get(elem, size);
}

Value *xetile::slice(IRBuilder<> &builder, ArrayRef<Value *> pieces, Type *elem, unsigned begin,
                     unsigned size) {
  Type *type = pieceType(elem, size);
  Value *result = PoisonValue::get(type);
  unsigned at = 0;
  for (Value *piece : pieces) {
    auto *vector = dyn_cast<FixedVectorType>(piece->getType());
    unsigned n = vector ? vector->getNumElements() : 1;
    unsigned low = std::max(begin, at), high = std::min(begin + size, at + n);
    if (low < high) {
      if (at == begin && n == size)
        return piece;
      if (!vector) {
        result = size == 1 ? piece : builder.CreateInsertElement(result, piece, low - begin);
      } else if (size == 1) {
        result = builder.CreateExtractElement(piece, low - at);
      } else {
        // Stretch this piece to the result's length, in place, then merge.
        SmallVector<int> stretch(size, -1), merge(size);
        for (unsigned i = 0; i < size; ++i) {
          bool here = begin + i >= low && begin + i < high;
          stretch[i] = here ? static_cast<int>(begin + i - at) : -1;
          merge[i] = here ? static_cast<int>(size + i) : static_cast<int>(i);
        }
        Value *stretched = builder.CreateShuffleVector(piece, stretch);
        result = isa<PoisonValue>(result) ? stretched
                                          : builder.CreateShuffleVector(result, stretched, merge);
      }
    }
    at += n;
  }
  return result;
}
