//===- DotProducts.h - instructions that multiply and add groups of k -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_CONFIG_DOTPRODUCTS_H
#define XETILE_TARGET_CPU_MATMUL_CONFIG_DOTPRODUCTS_H

#include "xetile/Linalg/Contraction.h"
#include "xetile/Target/Cpu/Machine/Machine.h"

namespace xetile {

/// Elements of k that one instruction of the machine multiplies and adds, 1 for plain
/// multiply-adds.
int64_t dotGroup(const Contraction &matmul, const Machine &machine);

/// True if bytes of A need an offset of 128: instructions multiply unsigned by signed ones, tiles
/// those of any signs.
bool offsetsBytes(const Contraction &matmul, const Machine &machine);

/// True if multiply-adds need an input in f32: no instruction multiplies it as it is.
bool widensFloats(const Contraction &matmul, const Machine &machine, unsigned operand);

/// True if all parts of k are known to be multiples of `group`.
bool hasWholeGroups(const Contraction &matmul, const MatmulConfig &config, int64_t group);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_CONFIG_DOTPRODUCTS_H
