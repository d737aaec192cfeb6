// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Module.cpp: PTX that the driver compiles.
// Input: a PTX text, the name of a kernel. Output: a function of the driver, kept in the slot.
// Refused: PTX that the driver refuses, with its log.
#include "../Errors.h"
#include "Launch.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace xetile::runtime::cuda {
namespace {

constexpr int kErrorLog = 5, kErrorLogBytes = 6; // of CUjit_option
constexpr int kMaxDynamicShared = 8;             // of CUfunction_attribute

std::mutex &moduleMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

/// The kernels of a program are in one text, which is compiled for all of them once in each
/// context. Texts are kept: those of code that is unloaded leave their addresses to others.
void *loadText(const Driver &driver, void *context, const char *ptx, const char *name) {
  static auto *loaded = new std::map<std::pair<void *, std::string>, void *>;
  void *&module = (*loaded)[{context, ptx}];
  if (module)
    return module;
  std::string log(16384, '\0');
  int options[] = {kErrorLog, kErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  void *made = nullptr;
  if (driver.moduleLoadDataEx(&made, ptx, 2, options, values)) {
    log.resize(log.find('\0'));
    throw Error(std::string("the driver does not compile the PTX of the kernel '") + name +
                    "': expected a driver for PTX 8.6 (CUDA 12.7) or newer",
                log);
  }
  return module = made;
}

void *compile(const Driver &driver, void *context, const char *ptx, const char *name,
              int64_t sharedBytes) {
  void *module = loadText(driver, context, ptx, name), *function = nullptr;
  std::string doing = std::string("loading the kernel '") + name + "'";
  check(driver, driver.moduleGetFunction(&function, module, name), doing);
  check(driver, driver.funcSetAttribute(function, kMaxDynamicShared, static_cast<int>(sharedBytes)),
        doing + " with " + std::to_string(sharedBytes) + " bytes of shared memory");
  return function;
}

} // namespace

void *findFunction(const Driver &driver, int64_t *slot, const char *ptx, const char *name,
                   int64_t sharedBytes) {
  void *context = nullptr;
  check(driver, driver.ctxGetCurrent(&context), "asking for the current context");
  std::lock_guard<std::mutex> lock(moduleMutex());
  // It lives as long as the process: code that is unloaded leaves no moment to free it.
  if (!*slot)
    *slot = reinterpret_cast<int64_t>(new Kernel);
  auto *kernel = reinterpret_cast<Kernel *>(*slot);
  void *&function = kernel->functions[context];
  if (!function)
    function = compile(driver, context, ptx, name, sharedBytes);
  return function;
}

} // namespace xetile::runtime::cuda
