//===- OddIntegers.h - integers that SPIR-V has no type for -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_ODDINTEGERS_H
#define XETILE_TARGET_XE_LLVM_ODDINTEGERS_H

#include <optional>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace xetile {

/// Computes integers of other widths than 1, 8, 16, 32 and 64 in the next of these, and reversals
/// of bits, which OpenCL's SPIR-V lacks, by shifts. Returns what could not be rewritten.
std::optional<std::string> widenOddIntegers(llvm::Module &module);

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_ODDINTEGERS_H
