//===- MachineFacts.h - what machine code and its report ask of a chip -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_FACTS_MACHINEFACTS_H
#define XETILE_FACTS_MACHINEFACTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace xetile {

/// Beside the limits of TargetInfo.
struct MachineFacts {
  llvm::StringRef chip;
  /// 2D block messages carry constant distances from their address payload.
  bool hasMessageOffsets;

  // Rates of the product that `product` names, for rooflines; 0 where no source is known.
  llvm::StringRef product;
  unsigned cores;           // Xe-cores
  unsigned operationsCycle; // on 16-bit elements, of a core's matrix units; a multiply-add is two
  unsigned megahertz;       // highest
  double memoryGBs;         // of device memory, in 10^9 bytes per second
};

/// The entry of `chip`, a name in the table of TargetInfo, or null.
const MachineFacts *lookupMachineFacts(llvm::StringRef chip);

llvm::ArrayRef<MachineFacts> allMachineFacts();

} // namespace xetile

#endif // XETILE_FACTS_MACHINEFACTS_H
