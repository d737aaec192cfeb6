//===- Machine.h - what the heuristic knows about a CPU ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MACHINE_MACHINE_H
#define XETILE_TARGET_CPU_MACHINE_MACHINE_H

#include "mlir/IR/Operation.h"
#include "xetile/Facts/CpuRates.h"

namespace xetile {

/// Of all x86 CPUs.
constexpr int64_t kCacheLineBytes = 64;

/// Sizes in bytes; `vectorBits` of the widest vector registers, `registers` their number.
struct Machine {
  /// Those that may be used, of so many; a virtual machine may tell of two where there is one.
  int64_t cores = 1, allCores = 1;
  int64_t l1 = 32 << 10, l2 = 1 << 20, l3 = 16 << 20;
  /// Lines of a set.
  int64_t l1Ways = 8, l2Ways = 8;
  int64_t vectorBits = 128, registers = 16;
  /// Instructions that multiply and add groups of elements: pairs of bf16, four bytes.
  bool bf16Dot = false, int8Dot = false;
  /// Tile registers, with products of bf16 and of bytes. The system lends them to processes that
  /// ask for them, which detection does.
  bool amx = false;
  /// "DLTI" or "host".
  llvm::StringRef source = "host";
  Rates rates;
  /// Where the rates come from.
  std::string ratesSource;
  /// Rates that the table has of this CPU, where measured ones took their place, and the same or
  /// else typical ones; how far apart rounds of measurements were, as a part of a rate; notes about
  /// rates that were cut.
  std::optional<Rates> known, usual;
  /// Of calibrations of this CPU, 0 where none is recorded.
  Rates medians = {};
  double uncertainty = 0;
  llvm::SmallVector<std::string> notes;
};

/// Emits an error and fails for an option of threads below 0, which is all cores.
mlir::LogicalResult checkThreads(mlir::Operation *op, int64_t threads);

/// The machine that this process runs on.
const Machine &detectHost();

/// The description in the DLTI attributes around `op`, of the device "CPU":
/// `num_threads`, `L1_cache_size_in_bytes`, `L2_cache_size_in_bytes`, `L3_cache_size_in_bytes`,
/// `max_vector_width` (bits), `bf16_dot`, `int8_dot`, `amx` (0 or 1), `L1_cache_ways`,
/// `L2_cache_ways`, the rates in nanoseconds, as floats, `uncertainty` of these, a part of one, and
/// `name`, LLVM's of a CPU whose rates the table has: rates beside it are measurements of it.
/// Nothing of it comes from the host: entries that are absent are those of any x86-64 (one thread,
/// 128 bits, no dot products, the caches above, typical rates), unless `require` asks for all of
/// the first five. Without that device it is the host, with the rates of the device "host", if
/// there is one, which `xetile calibrate` measured. Emits an error and fails for absent and wrong
/// values.
mlir::FailureOr<Machine> describeMachine(mlir::Operation *op, bool require);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MACHINE_MACHINE_H
