//===- DetectHost.cpp - the machine that this process runs on ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: this machine, as Linux and the C library tell of it, less features that the environment takes
// from it. Out: cores, caches, vectors, rates of a table. Refused: nothing; what is not told is
// typical.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Machine/Machine.h"
#include "xetile/Target/Host/HostFeatures.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
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

/// A number in a file of Linux, which may end with K for 1024; 0 if there is none.
static int64_t readNumber(const Twine &path) {
  // Such files are shorter than they say.
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  if (!buffer)
    return 0;
  StringRef text = (*buffer)->getBuffer().trim();
  int64_t factor = text.consume_back("K") ? 1024 : 1, value = 0;
  return text.getAsInteger(10, value) || value < 0 || value > INT32_MAX ? 0 : value * factor;
}

/// Data caches of the first core, as Linux describes them.
static void readCaches(Machine &machine) {
  for (int index = 0; index < 8; ++index) {
    std::string cache = ("/sys/devices/system/cpu/cpu0/cache/index" + Twine(index) + "/").str();
    auto type = llvm::MemoryBuffer::getFileAsStream(cache + "type");
    if (!type || (*type)->getBuffer().trim() == "Instruction")
      continue;
    int64_t size = readNumber(cache + "size"), ways = readNumber(cache + "ways_of_associativity");
    int64_t level = readNumber(cache + "level");
    if (size == 0)
      continue;
    if (level == 1) {
      machine.l1 = size;
      machine.l1Ways = ways ? ways : machine.l1Ways;
    } else if (level == 2) {
      machine.l2 = size;
      machine.l2Ways = ways ? ways : machine.l2Ways;
    } else if (level == 3) {
      machine.l3 = size;
    }
  }
}

static Machine detectMachine() {
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
  readCaches(machine);
  const llvm::StringMap<bool> &features = hostFeatures();
  StringRef name = nameInTable(llvm::sys::getHostCPUName(), features.lookup("amx-tile"));
  machine.rates = lookupRates(name, machine.ratesSource);
  machine.known = findRates(name);
  machine.medians = findMedians(name);
  machine.usual = machine.rates;
  if (features.lookup("avx512f")) {
    machine.vectorBits = 512;
    machine.registers = 32;
  } else if (features.lookup("avx2") && features.lookup("fma")) {
    machine.vectorBits = 256;
  }
  machine.bf16Dot = machine.vectorBits == 512 && features.lookup("avx512bf16");
  machine.int8Dot = features.lookup("avx512vnni") || features.lookup("avxvnni");
  machine.amx = machine.bf16Dot && machine.int8Dot && features.lookup("amx-tile") &&
                features.lookup("amx-bf16") && features.lookup("amx-int8") && mayUseTiles();
  return machine;
}

const Machine &xetile::detectHost() {
  static const Machine machine = detectMachine();
  return machine;
}
