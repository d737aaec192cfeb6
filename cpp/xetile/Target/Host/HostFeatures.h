//===- HostFeatures.h - what of this CPU code may use ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_HOSTFEATURES_H
#define XETILE_TARGET_HOST_HOSTFEATURES_H

#include "llvm/ADT/StringMap.h"
#include <string>

namespace xetile {

/// A list of features, in LLVM's names and with commas between, that are taken from this CPU, with
/// those that need them: `avx512f` makes a machine with AVX2 of one with AVX-512 and AMX.
inline constexpr llvm::StringLiteral kWithoutVariable = "XETILE_CPU_WITHOUT";

/// Features of this CPU, by LLVM's names, less those that the environment removes. Read once.
const llvm::StringMap<bool> &hostFeatures();

/// An error message for a name in the environment's list that is no feature, else empty.
llvm::StringRef wrongHostFeatures();

} // namespace xetile

#endif // XETILE_TARGET_HOST_HOSTFEATURES_H
