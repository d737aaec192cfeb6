//===- PtxCodegen.h - LLVM IR to PTX ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_PTXCODEGEN_H
#define XETILE_TARGET_NVIDIA_PTXCODEGEN_H

#include "xetile/Facts/Result.h"

namespace llvm {
class Module;
}

namespace xetile::hopper {

/// The PTX of a module, which is optimized. Errors that LLVM reports become the result's.
Result<std::string> makePtx(llvm::Module &module);

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_PTXCODEGEN_H
