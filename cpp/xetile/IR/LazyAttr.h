//===- LazyAttr.h - loops whose maxima need not be taken in each step -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_LAZYATTR_H
#define XETILE_IR_LAZYATTR_H

#include "llvm/ADT/StringRef.h"

namespace xetile {

/// A float of 32 bits, of an scf.for that carries a maximum with sums of powers from which it is
/// subtracted: any smaller number may take the place of the maximum as long as no sum passes this.
inline constexpr llvm::StringLiteral kLazyAttr = "xetile.lazy";

} // namespace xetile

#endif // XETILE_IR_LAZYATTR_H
