//===- CpuRates.h - how fast a core multiplies and moves ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_FACTS_CPURATES_H
#define XETILE_FACTS_CPURATES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace xetile {

/// Nanoseconds, of one core. Memory: for a KiB, from or to the second-level cache, or the third.
struct Rates {
  /// One instruction on the widest vectors: f32 multiply-adds, dot products of pairs of bf16 and of
  /// four bytes; one product of tile registers. All of them independent of one another.
  double multiplyAdd, bf16Dot, int8Dot, bf16Tiles, int8Tiles;
  /// Reading rows of panels; copying rows to panels; writing tiles of results.
  double readL2, readL3, copyL2, copyL3, writeL2, writeL3;
  /// The additional time of a tile of sums where rows of B come from the second or the third level
  /// than where they come from the first: reading overlaps with multiply-adds. From the third level
  /// of rows that begin at a line, and of others.
  double waitL2, waitL3, waitUnaligned;
  /// The same for a page of 4 KiB that the first translation buffer has lost when rows of B come to
  /// it again; 0 where that was not seen to take time.
  double waitPage;
  /// Starting and joining the threads of all cores.
  double fork;
};

struct RateField {
  /// As DLTI entries of the devices "CPU" and "host", and calibration files, have it.
  llvm::StringRef name;
  double Rates::*value;
  llvm::StringRef doc;
};

/// In the order in which they are told.
llvm::ArrayRef<RateField> allRateFields();

/// Rates of the CPU that LLVM calls `name`, if the table has it.
std::optional<Rates> findRates(llvm::StringRef name);
/// The medians of calibrations of such a CPU, beside the rates by which it decides; 0 where none is
/// recorded.
Rates findMedians(llvm::StringRef name);
/// The table's name for the CPU that LLVM calls `name`: one for all with tile registers that it
/// does not have.
llvm::StringRef nameInTable(llvm::StringRef name, bool hasTiles);
/// The rates, else typical ones; `source` says which.
Rates lookupRates(llvm::StringRef name, std::string &source);
/// The names of the table, a comma and a space between them.
std::string joinKnownCpus();

/// Takes no more than twice and no less than half of what is known of such a CPU: more is another
/// process beside the measurement, or another state of the CPU. A line for each rate that is cut,
/// with the median of such a CPU's calibrations. Starting threads is not among them, as it grows
/// with their number.
llvm::SmallVector<std::string> limitRates(Rates &measured, const Rates &known,
                                          const Rates &medians);

} // namespace xetile

#endif // XETILE_FACTS_CPURATES_H
