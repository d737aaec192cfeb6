//===- VectorPieces.h - cut vectors into those that SPIR-V has --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_VECTORPIECES_H
#define XETILE_TARGET_XE_LLVM_VECTORPIECES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include <optional>

namespace xetile {

inline constexpr unsigned maxElements = 16; // OpTypeVector with the capability Vector16

/// True for the lengths of SPIR-V's vectors.
bool isLegalCount(unsigned n);

/// The vector type if SPIR-V has none like it.
llvm::FixedVectorType *illegalVector(llvm::Type *type);

struct Range {
  unsigned begin, size;
};

/// Cuts n elements into legal pieces, the largest first.
llvm::SmallVector<Range> cut(unsigned n);

/// A vector, or the element itself where size is 1.
llvm::Type *pieceType(llvm::Type *elem, unsigned size);

/// The first element if a shuffle's mask takes consecutive elements of its first operand, of n
/// elements.
std::optional<unsigned> consecutive(llvm::ArrayRef<int> mask, unsigned n);

/// Elements [begin, begin + size) of the concatenation of `pieces`.
llvm::Value *slice(llvm::IRBuilder<> &builder, llvm::ArrayRef<llvm::Value *> pieces,
                   llvm::Type *elem, unsigned begin, unsigned size);

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_VECTORPIECES_H
