//===- CallLdexp.h - powers of two by OpenCL's function ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LLVM_CALLLDEXP_H
#define XETILE_TARGET_XE_LLVM_CALLLDEXP_H

namespace llvm {
class Module;
} // namespace llvm

namespace xetile {

/// Calls OpenCL's `ldexp`, element by element, in place of LLVM's intrinsic, which the SPIR-V
/// backend cannot select. LLVM makes it of `exp2` of an integer.
void callLdexp(llvm::Module &module);

} // namespace xetile

#endif // XETILE_TARGET_XE_LLVM_CALLLDEXP_H
