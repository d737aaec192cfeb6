//===- SaturatingProduct.h - products of sizes that do not overflow ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_FACTS_SATURATINGPRODUCT_H
#define XETILE_FACTS_SATURATINGPRODUCT_H

#include "llvm/Support/CheckedArithmetic.h"
#include <limits>

namespace xetile {

/// `a * b` of sizes, or the largest number where it were larger: beyond every limit that sizes are
/// compared with. Types may have sizes up to that number, of which no memory is.
inline int64_t saturatingProduct(int64_t a, int64_t b) {
  return llvm::checkedMul(a, b).value_or(std::numeric_limits<int64_t>::max());
}

} // namespace xetile

#endif // XETILE_FACTS_SATURATINGPRODUCT_H
