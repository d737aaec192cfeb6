// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OddIntegers.h: a SPIR-V module without integers that CPUs do not have.
// Input: a SPIR-V module; output: one that computes the same in integers of 8, 16, 32 and 64 bits.
// Refused: instructions that nobody wrote a rule for, by number; integers of more than 64 bits.
#ifndef XETILE_RUNTIME_ODDINTEGERS_H
#define XETILE_RUNTIME_ODDINTEGERS_H

#include <cstdint>
#include <string>
#include <vector>

namespace xetile::runtime {

/// Integers of other widths come from optimizers, which narrow to the bits that matter. Modules
/// without them stay as they are. Adds a note for each width.
std::vector<uint32_t> widenOddIntegers(std::vector<uint32_t> words,
                                       std::vector<std::string> &notes);

} // namespace xetile::runtime
#endif
