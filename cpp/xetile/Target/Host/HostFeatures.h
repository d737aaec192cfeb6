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

/// What this CPU has, less what the environment takes from it, by LLVM's names. Read once.
const llvm::StringMap<bool> &hostFeatures();

/// What is wrong with the list of the environment: a name that is no feature. Else empty.
llvm::StringRef wrongHostFeatures();

} // namespace xetile

#endif // XETILE_TARGET_HOST_HOSTFEATURES_H
