//===- MachineFacts.cpp - a table beside that of TargetInfo --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a chip's name. Out: what shapes its machine code.
// Refused: nothing; unknown chips have no entry.
#include "xetile/Facts/MachineFacts.h"
#include "llvm/ADT/STLExtras.h"

using namespace xetile;

// - hasMessageOffsets: whether Intel's compiler finds immediate offsets for 2D block messages (IGC
// 2.40: from Xe2 on; for PVC it copies the payload and adds to the copy).
// - Rates of pvc: Intel's product page of Data Center GPU Max 1550 (128 Xe-cores, 1600 MHz, 3276.8
// GB/s), and the oneAPI GPU optimization guide, "Intel Xe GPU Architecture" (8 matrix engines of
// 512 operations on 16 bits in a cycle).
// - Of bmg: Intel's product page of Arc B580 (20 Xe-cores, 456 GB/s, 233 TOPS on bytes, which 2048
// operations on 16 bits of a core in a cycle are at 2850 MHz).
// - Of lnl: Intel's product page of Core Ultra 7 258V (8 Xe-cores, 67 TOPS on bytes, which the same
// cores are at 2050 MHz), LPDDR5X-8533 on 128 bits (136.5 GB/s).
static constexpr MachineFacts table[] = {
    {"pvc", /*hasMessageOffsets=*/false, "Data Center GPU Max 1550", 128, 4096, 1600, 3276.8},
    {"bmg", /*hasMessageOffsets=*/true, "Arc B580", 20, 2048, 2850, 456},
    {"lnl", /*hasMessageOffsets=*/true, "Core Ultra 7 258V", 8, 2048, 2050, 136.5},
};

llvm::ArrayRef<MachineFacts> xetile::allMachineFacts() { return table; }

const MachineFacts *xetile::lookupMachineFacts(llvm::StringRef chip) {
  const MachineFacts *found =
      llvm::find_if(table, [&](const MachineFacts &facts) { return facts.chip == chip; });
  return found == std::end(table) ? nullptr : found;
}
