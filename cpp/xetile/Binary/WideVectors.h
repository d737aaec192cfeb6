//===- WideVectors.h - vectors that SPIR-V has no type for ------------------===//
#ifndef XETILE_BINARY_WIDEVECTORS_H
#define XETILE_BINARY_WIDEVECTORS_H

#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>

namespace llvm {
class FixedVectorType;
class Function;
class Module;
class Type;
} // namespace llvm

namespace xetile {

/// Rewrites every vector whose element count is not 2, 3, 4, 8 or 16. Returns what could not be
/// rewritten.
std::optional<std::string> splitWideVectors(llvm::Module &module);

/// Where such a vector is loaded to be cut into slices, loads the slices.
void narrowWideLoads(llvm::Function &function);

/// Whether SPIR-V has vectors of n elements.
bool isLegalCount(unsigned n);
/// The vector type if SPIR-V has none like it.
llvm::FixedVectorType *illegalVector(llvm::Type *type);
/// The first element if a shuffle's mask takes consecutive elements of its first operand, of n
/// elements.
std::optional<unsigned> consecutive(llvm::ArrayRef<int> mask, unsigned n);

} // namespace xetile

#endif // XETILE_BINARY_WIDEVECTORS_H
