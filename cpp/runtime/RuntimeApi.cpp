// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RuntimeApi.cpp: the C functions of XeTileRuntime.h.
// Input: plain C values; output: text and counters. Refused: nothing is thrown to the caller.
#include "BuiltinName.h"
#include "BuiltinText.h"
#include "CompileTime.h"
#include "Device.h"
#include "Errors.h"
#include "GuardedMemory.h"
#include "HostCopies.h"
#include "Kept.h"
#include "Launch.h"
#include "Memory.h"
#include "PrefetchCheck.h"
#include "Program.h"
#include "XeTileRuntime.h"

#include <algorithm>
#include <cstring>
#include <set>

using namespace xetile::runtime;

namespace {

size_t copyText(const std::string &text, char *out, size_t size) {
  if (out && size) {
    size_t count = std::min(text.size(), size - 1);
    std::memcpy(out, text.data(), count);
    out[count] = '\0';
  }
  return text.size();
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      result += escape;
    } else {
      result += static_cast<char>(c);
    }
  }
  return result + '"';
}

const char *truth(bool value) { return value ? "true" : "false"; }

std::string describe(const DeviceInfo &info, size_t index, bool selected) {
  const char *type = info.isCpu()                             ? "cpu"
                     : info.isGpu()                           ? "gpu"
                     : info.type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
                                                              : "other";
  const char *svm = info.svm == SharedVirtualMemory::System   ? "system"
                    : info.svm == SharedVirtualMemory::Fine   ? "fine"
                    : info.svm == SharedVirtualMemory::Coarse ? "coarse"
                                                              : "none";
  std::string sizes;
  for (size_t size : info.subgroupSizes)
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  return "{\"index\": " + std::to_string(index) + ", \"name\": " + quoted(info.name) +
         ", \"platform\": " + quoted(info.platformName) + ", \"type\": \"" + type +
         "\", \"driver\": " + quoted(info.driver) + ", \"version\": " + quoted(info.version) +
         ", \"subgroup_sizes\": [" + sizes + "], \"fp16\": " + truth(info.fp16) +
         ", \"fp64\": " + truth(info.fp64) + ", \"svm\": \"" + svm +
         "\", \"usm\": " + truth(info.usm) + ", \"spirv\": " + truth(info.spirv) +
         ", \"native_block_io\": " + truth(info.nativeBlockIo) +
         ", \"native_dpas\": " + truth(info.nativeDpas) +
         ", \"compute_units\": " + std::to_string(info.computeUnits) +
         ", \"local_memory\": " + std::to_string(info.localMemory) +
         ", \"selected\": " + truth(selected) + "}";
}

std::string describe(const SpirvKernel &kernel, size_t index) {
  const SpirvType &type = kernel.parameters[index];
  bool pointer = type.kind == SpirvType::Pointer;
  const char *kind = kernel.structBytes[index]                             ? "struct"
                     : pointer && type.storage == storage::workgroup       ? "local"
                     : pointer && type.storage == storage::crossWorkgroup  ? "pointer"
                     : pointer && type.storage == storage::uniformConstant ? "constant"
                     : type.kind == SpirvType::Int                         ? "int"
                     : type.kind == SpirvType::Float                       ? "float"
                                                                           : "other";
  size_t bytes = kernel.structBytes[index] ? kernel.structBytes[index] : type.bytes();
  return "{\"name\": " + quoted(kernel.parameterNames[index]) + ", \"kind\": \"" + kind +
         "\", \"bits\": " + std::to_string(type.bits) +
         ", \"lanes\": " + std::to_string(type.lanes) + ", \"bytes\": " + std::to_string(bytes) +
         ", \"only_read\": " + truth(kernel.onlyRead[index]) + "}";
}

/// Of functions that a module leaves to its device; those that notes tell of are left out.
std::set<std::string> importedNames(const std::vector<uint32_t> &words) {
  std::set<std::string> names;
  for (const SpirvImport &import :
       SpirvModule::parse(words.data(), words.size() * sizeof(uint32_t)).imports)
    if (import.name.rfind("xt_", 0) != 0)
      names.insert(unmangledName(import.name));
  return names;
}

std::string describe(const SpirvKernel &kernel) {
  std::string parameters;
  for (size_t i = 0; i < kernel.parameters.size(); ++i)
    parameters += (i ? ", " : "") + describe(kernel, i);
  const auto &local = kernel.localSize;
  return "{\"name\": " + quoted(kernel.name) +
         ", \"subgroup_size\": " + std::to_string(kernel.subgroupSize) + ", \"local_size\": [" +
         std::to_string(local[0]) + ", " + std::to_string(local[1]) + ", " +
         std::to_string(local[2]) + "], \"atomics\": " + truth(kernel.hasAtomics) +
         ", \"parameters\": [" + parameters + "]}";
}

} // namespace

extern "C" {

int xetileRuntimeSetErrorMode(int mode) { return setErrorMode(mode); }

size_t xetileRuntimeTakeError(char *out, size_t size) {
  return guarded<size_t>(
      0, [&] { return out ? copyText(takeError(), out, size) : peekError().size(); });
}

size_t xetileRuntimeListDevices(char *out, size_t size) {
  return guarded<size_t>(0, [&] {
    std::string text = "[";
    int selected = currentDeviceIndex();
    const std::vector<DeviceInfo> &devices = allDevices();
    for (size_t i = 0; i < devices.size(); ++i)
      text += (i ? ",\n " : "") + describe(devices[i], i, static_cast<int>(i) == selected);
    return copyText(text + "]", out, size);
  });
}

size_t xetileRuntimeDescribeDrivers(char *out, size_t size) {
  return guarded<size_t>(0, [&] { return copyText(driverDescription(), out, size); });
}

size_t xetileRuntimeSelectedDevice(char *out, size_t size) {
  if (out && size)
    out[0] = '\0';
  return guarded<size_t>(0, [&] { return copyText(currentDevice().info().name, out, size); });
}

int xetileRuntimeSelectedIndex(void) {
  return guarded(-1, [] { return currentDeviceIndex(); });
}

size_t xetileRuntimeGenerateBuiltins(const void *spirv, size_t spirvSize, int lockstep, char *out,
                                     size_t size) {
  if (out && size)
    out[0] = '\0';
  return guarded<size_t>(0, [&] {
    SpirvModule module = SpirvModule::parse(spirv, spirvSize);
    return copyText(generateBuiltins(module, {}, lockstep ? Flavour::Lockstep : Flavour::Portable,
                                     checksPrefetches()),
                    out, size);
  });
}

size_t xetileRuntimeDescribeModule(const void *spirv, size_t spirvSize, char *out, size_t size) {
  if (out && size)
    out[0] = '\0';
  return guarded<size_t>(0, [&] {
    SpirvModule module = SpirvModule::parse(spirv, spirvSize);
    std::string kernels, notes, defined;
    for (const SpirvKernel &kernel : module.kernels)
      kernels += (kernels.empty() ? "" : ",\n ") + describe(kernel);
    PortableSpirv portable = makePortable(spirv, spirvSize, SubgroupOrder::AsDriven);
    for (const std::vector<std::string> &part :
         {portable.notes, shortenCompilation(portable.words, Subgroups::Whole).notes})
      for (const std::string &note : part)
        notes += (notes.empty() ? "" : ", ") + quoted(note);
    for (const std::string &name : importedNames(portable.words))
      defined += (defined.empty() ? "" : ", ") + quoted(name);
    return copyText("{\"kernels\": [" + kernels + "], \"notes\": [" + notes + "], \"defined\": [" +
                        defined + "]}",
                    out, size);
  });
}

size_t xetileRuntimePortableSpirv(const void *spirv, size_t spirvSize, int reversed, char *out,
                                  size_t size) {
  return guarded<size_t>(0, [&] {
    SubgroupOrder order = reversed ? SubgroupOrder::Reversed : SubgroupOrder::AsDriven;
    PortableSpirv portable =
        shortenCompilation(makePortable(spirv, spirvSize, order).words, Subgroups::Whole);
    size_t bytes = portable.words.size() * sizeof(uint32_t);
    if (out)
      std::memcpy(out, portable.words.data(), std::min(size, bytes));
    return bytes;
  });
}

void xetileRuntimeLaunch(void *kernel, const int64_t *grid, const int64_t *block,
                         const size_t *localBytes, size_t localCount, void **params,
                         size_t paramsCount, const XeTileHostBlock *blocks, size_t blockCount) {
  if (errorPending())
    return;
  guarded([&] {
    if (!kernel || !grid || !block)
      throw Error("a kernel that was not found was launched");
    auto *own = static_cast<Kernel *>(kernel);
    std::vector<size_t> local;
    if (localBytes)
      local.assign(localBytes, localBytes + localCount);
    // An access to nowhere ends the process; its kernel is told first. Checks have a watch of their
    // own.
    std::optional<FaultWatch> watch;
    if (!checksLaunches())
      watch.emplace(own->declaration->name.c_str());
    LaunchConfig config{
        {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, std::move(local)};
    if (!blockCount)
      return launch(*own, config, nullptr, params, paramsCount);
    HostCopies copies(*own, blocks, blockCount, params, paramsCount);
    launch(*own, config, nullptr, copies.arguments(), paramsCount, &copies);
    copies.copyBack();
  });
}

int xetileRuntimeGetStats(XeTileRuntimeStats *stats) {
  return guarded(1, [&] {
    if (!stats)
      throw Error("xetileRuntimeGetStats needs a place for the counters");
    *stats = {};
    BuildCounters counters = buildCounters();
    stats->launches = launchCount();
    stats->kernelNanoseconds = lastKernelNanoseconds();
    stats->buildNanoseconds = counters.lastNanoseconds;
    stats->programsBuilt = counters.built;
    stats->diskCacheHits = counters.diskHits;
    stats->memoryCacheHits = counters.memoryHits;
    stats->liveAllocations = liveAllocations();
    PrefetchCounters prefetches = lastPrefetches();
    stats->prefetches = prefetches.prefetches;
    stats->prefetchesAhead = prefetches.ahead;
    stats->prefetchSum = prefetches.sum;
    KeptCounters kept = keptCounters();
    stats->keptUploads = kept.uploads;
    stats->keptBytes = kept.bytes;
    stats->keptConstants = kept.live;
    return 0;
  });
}

void _mlir_ciface_xetileRuntimeKeep(XeTileMemory *result, intptr_t owner, intptr_t host,
                                    intptr_t bytes) {
  void *found = nullptr;
  if (!errorPending())
    found = guarded<void *>(nullptr, [&] {
      return keep(currentDevice(), reinterpret_cast<const void *>(owner),
                  reinterpret_cast<const void *>(host), static_cast<size_t>(bytes));
    });
  *result = {found, found, 0, bytes, 1};
}

void xetileRuntimeForget(const void *owner) {
  guarded([&] { forget(owner); });
}

} // extern "C"
