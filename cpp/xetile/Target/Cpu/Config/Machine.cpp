//===- Machine.cpp - what the heuristic knows about a CPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: DLTI attributes, or this machine. Out: cores, caches, vectors.
// Refused: entries that are no positive integers, absent entries where they are required.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Config/Machine.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>
#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#endif

using namespace mlir;
using namespace xetile;

/// Asks Linux once to let this process use tile registers (Documentation/arch/x86/xstate.rst);
/// false where it does not, or the CPU has none.
static bool mayUseTiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
#else
  return false;
#endif
}

Machine xetile::detectHost() {
  Machine machine;
  machine.cores = std::max<int64_t>(1, llvm::hardware_concurrency().compute_thread_count());
  auto read = [](int name, int64_t &value) {
    if (long size = sysconf(name); size > 0)
      value = size;
  };
#ifdef _SC_LEVEL1_DCACHE_SIZE
  read(_SC_LEVEL1_DCACHE_SIZE, machine.l1);
  read(_SC_LEVEL2_CACHE_SIZE, machine.l2);
  read(_SC_LEVEL3_CACHE_SIZE, machine.l3);
#endif
  auto features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f")) {
    machine.vectorBits = 512;
    machine.registers = 32;
  } else if (features.lookup("avx2")) {
    machine.vectorBits = 256;
  }
  machine.bf16Dot = machine.vectorBits == 512 && features.lookup("avx512bf16");
  machine.int8Dot = features.lookup("avx512vnni") || features.lookup("avxvnni");
  machine.amx = machine.bf16Dot && machine.int8Dot && features.lookup("amx-tile") &&
                features.lookup("amx-bf16") && features.lookup("amx-int8") && mayUseTiles();
  return machine;
}

FailureOr<Machine> xetile::describeMachine(Operation *op, bool require) {
  Machine machine = detectHost();
  struct Entry {
    StringRef name;
    int64_t *value;
  };
  Entry entries[] = {{"num_threads", &machine.cores},
                     {"L1_cache_size_in_bytes", &machine.l1},
                     {"L2_cache_size_in_bytes", &machine.l2},
                     {"L3_cache_size_in_bytes", &machine.l3},
                     {"max_vector_width", &machine.vectorBits}};
  MLIRContext *context = op->getContext();
  auto find = [&](StringRef name) -> Attribute {
    SmallVector<DataLayoutEntryKey> keys = {StringAttr::get(context, "CPU"),
                                            StringAttr::get(context, name)};
    FailureOr<Attribute> found = dlti::query(op, keys);
    return succeeded(found) ? *found : Attribute();
  };
  for (Entry entry : entries) {
    Attribute found = find(entry.name);
    if (!found) {
      if (!require)
        continue;
      return op->emitOpError() << "expected a machine description: no DLTI entry \"CPU\", \""
                               << entry.name << "\" is around it";
    }
    auto integer = dyn_cast<IntegerAttr>(found);
    if (!integer || integer.getValue().getActiveBits() > 62 || integer.getInt() < 1)
      return op->emitOpError() << "DLTI entry \"CPU\", \"" << entry.name
                               << "\": expected a positive integer, got " << found;
    if (entry.value == &machine.cores && integer.getInt() > INT32_MAX)
      return op->emitOpError() << "DLTI entry \"CPU\", \"num_threads\" = " << integer.getInt()
                               << ": expected 1 to " << INT32_MAX;
    *entry.value = integer.getInt();
    machine.source = "DLTI";
    if (entry.value == &machine.vectorBits) {
      if (!llvm::isPowerOf2_64(machine.vectorBits) || machine.vectorBits < 128 ||
          machine.vectorBits > 512)
        return op->emitOpError() << "DLTI entry \"CPU\", \"max_vector_width\" = "
                                 << machine.vectorBits << ": expected 128, 256 or 512";
      machine.registers = machine.vectorBits == 512 ? 32 : 16;
      machine.bf16Dot &= machine.vectorBits == 512;
    }
  }
  std::pair<StringRef, bool *> flags[] = {
      {"bf16_dot", &machine.bf16Dot}, {"int8_dot", &machine.int8Dot}, {"amx", &machine.amx}};
  for (auto [name, flag] : flags) {
    Attribute found = find(name);
    if (!found)
      continue;
    auto value = dyn_cast<IntegerAttr>(found);
    if (!value || (!value.getValue().isZero() && !value.getValue().isOne()))
      return op->emitOpError() << "DLTI entry \"CPU\", \"" << name << "\": expected 0 or 1, got "
                               << found;
    *flag = value.getValue().isOne();
  }
  // These instructions have 512-bit forms here; tiles come with both kinds of dot products. A
  // description without these is not of a machine with the host's tiles.
  machine.amx &= machine.vectorBits == 512;
  if (!find("amx"))
    machine.amx &= machine.bf16Dot && machine.int8Dot;
  machine.bf16Dot = machine.vectorBits == 512 && (machine.bf16Dot || machine.amx);
  machine.int8Dot |= machine.amx;
  return machine;
}
