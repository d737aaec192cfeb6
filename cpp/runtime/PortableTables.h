// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PortableTables.h: what becomes of the parts of SPIR-V that go beyond OpenCL's.
// Input: numbers of capabilities, execution modes, decorations, instructions; output: names and
// reasons. Refused: nothing.
#ifndef XETILE_RUNTIME_PORTABLETABLES_H
#define XETILE_RUNTIME_PORTABLETABLES_H

#include <cstdint>

namespace xetile::runtime {

enum class Fate {
  /// The driver takes it.
  Kept,
  /// The driver refuses it, or ends the process, and no result needs it.
  Dropped,
  /// Its instructions become calls.
  Rewritten,
  /// Results need it.
  Refused
};

struct PortableRow {
  uint32_t number;
  const char *name;
  Fate fate;
  /// For what is dropped or refused.
  const char *reason;
};

/// Null for numbers that nobody knows. Below `firstExtended` all are OpenCL's own, and kept.
const PortableRow *findCapability(uint32_t number);
const PortableRow *findExecutionMode(uint32_t number);
const PortableRow *findDecoration(uint32_t number);
const PortableRow *findInstruction(uint32_t number);
/// The driver ends the process at names that it does not know.
bool knowsExtension(const char *name);

constexpr uint32_t firstExtended = 4096;

} // namespace xetile::runtime
#endif
