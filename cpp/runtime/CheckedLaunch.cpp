// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CheckedLaunch.cpp: launches under XETILE_CHECK.
// Input: a launch; output: the same results, and errors of the kernel. Refused: accesses outside of
// arrays, results that depend on the order of subgroups.
//
// The first run has its arrays in front of a guard, the second one, with subgroups in the other
// order, has copies of them behind one: accesses in front of an array are found by that. Arrays
// that are only read are not copied: the bytes between them and the page's begin, less than a page,
// are others in the second run, and where results differ there is a third one, with copies of all.
#include "CheckedLaunch.h"

#include "AccessLines.h"
#include "Errors.h"
#include "GuardedMemory.h"
#include "Memory.h"
#include "SurfaceCheck.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

namespace xetile::runtime {
namespace {

/// An allocation that arguments point into, and its copy; null where it is its own.
struct Twin {
  size_t size = 0;
  unsigned char *copy = nullptr;
  /// Numbers of the parameters.
  std::vector<size_t> parameters;
  bool onlyRead = true;
};

/// Which allocations have copies.
enum class Copies { Written, All };

class Twins {
public:
  Twins(const Kernel &kernel, void **arguments, size_t count, Copies copies)
      : kernel(kernel), pointers(count), values(arguments, arguments + count) {
    size_t next = 0;
    const std::vector<SpirvType> &parameters = kernel.declaration->parameters;
    for (size_t i = 0; i < parameters.size() && next < count; ++i) {
      if (parameters[i].kind == SpirvType::Pointer && parameters[i].storage == storage::workgroup)
        continue;
      if (parameters[i].kind == SpirvType::Pointer && !kernel.declaration->structBytes[i])
        add(i, next);
      ++next;
    }
    for (auto &[address, twin] : twins)
      if (copies == Copies::All || !twin.onlyRead)
        copy(reinterpret_cast<void *>(address), twin);
    for (size_t argument : placed)
      place(argument);
  }
  ~Twins() {
    for (auto &[address, twin] : twins)
      release(twin.copy, nullptr);
  }
  Twins(const Twins &) = delete;
  Twins &operator=(const Twins &) = delete;

  void **copied() { return values.data(); }

  /// "argument 2 ('b')" for the allocation at an address, or its copy.
  std::optional<std::string> nameOf(uintptr_t allocation) const {
    for (const auto &[address, twin] : twins)
      if (address == allocation || reinterpret_cast<uintptr_t>(twin.copy) == allocation) {
        std::string text;
        for (size_t parameter : twin.parameters) {
          const std::string &name = kernel.declaration->parameterNames[parameter];
          text += (text.empty() ? "argument " : " and argument ") + std::to_string(parameter) +
                  (name.empty() ? "" : " ('" + name + "')");
        }
        return text;
      }
    return std::nullopt;
  }

  /// The same place in the copy of its allocation; the place itself where there is none.
  uintptr_t inCopy(uintptr_t address) const {
    for (const auto &[start, twin] : twins)
      if (twin.copy && address >= start && address - start <= twin.size)
        return reinterpret_cast<uintptr_t>(twin.copy) + (address - start);
    return address;
  }

  /// Of the bytes in front of what has no copy.
  void fillFronts(Front front) const {
    for (const auto &[address, twin] : twins)
      if (!twin.copy)
        fillFront(reinterpret_cast<void *>(address), front);
  }

  bool hasCopiesOfAll() const {
    return std::all_of(twins.begin(), twins.end(),
                       [](const auto &entry) { return entry.second.copy != nullptr; });
  }

  bool differ() const {
    return std::any_of(twins.begin(), twins.end(), [](const auto &entry) {
      const Twin &twin = entry.second;
      return !twin.onlyRead &&
             std::memcmp(reinterpret_cast<const void *>(entry.first), twin.copy, twin.size) != 0;
    });
  }

  void reportDifference() const {
    for (const auto &[address, twin] : twins) {
      const auto *first = reinterpret_cast<const unsigned char *>(address);
      if (twin.onlyRead || std::memcmp(first, twin.copy, twin.size) == 0)
        continue;
      size_t at = 0, different = 0;
      for (size_t i = twin.size; i-- > 0;)
        if (first[i] != twin.copy[i]) {
          at = i;
          ++different;
        }
      throw Error("XETILE_CHECK: the kernel '" + kernel.declaration->name +
                  "' leaves other results in " + *nameOf(address) +
                  " when the subgroups of a workgroup run in the other order: " +
                  std::to_string(different) + " of " + std::to_string(twin.size) +
                  " bytes, the first at offset " + std::to_string(at) +
                  ". Look for a missing barrier, or for two subgroups that write to one place");
    }
  }

private:
  void add(size_t parameter, size_t argument) {
    auto *pointer = values[argument] ? *static_cast<unsigned char **>(values[argument]) : nullptr;
    std::optional<Extent> extent = pointer ? allocationOf(pointer) : std::nullopt;
    if (!extent)
      return;
    auto start = reinterpret_cast<uintptr_t>(extent->start);
    Twin &twin = twins[start];
    twin.size = extent->size;
    twin.parameters.push_back(parameter);
    twin.onlyRead &= kernel.declaration->onlyRead[parameter];
    placed.push_back(argument);
  }

  void copy(const void *from, Twin &twin) {
    twin.copy =
        static_cast<unsigned char *>(allocateBehindGuard(kernel.program->device(), twin.size));
    copyBytes(twin.copy, from, twin.size);
  }

  void place(size_t argument) {
    auto address = reinterpret_cast<uintptr_t>(*static_cast<void **>(values[argument]));
    pointers[argument] = reinterpret_cast<void *>(inCopy(address));
    values[argument] = &pointers[argument];
  }

  const Kernel &kernel;
  std::vector<void *> pointers, values;
  /// Arguments that point into allocations.
  std::vector<size_t> placed;
  std::map<uintptr_t, Twin> twins;
};

/// The kernel once more, on the copies, with calls that look for the line of what was found.
class LineSearch {
public:
  LineSearch(Kernel &kernel, const LaunchConfig &config, Twins &twins, size_t argumentCount,
             cl_command_queue queue, Enqueue enqueue, FaultWatch &watch)
      : kernel(kernel), config(config), twins(twins), argumentCount(argumentCount), queue(queue),
        enqueue(enqueue), watch(watch) {}

  /// ", at FILE:LINE"; "" where the module does not tell, or the second run does not do it again.
  std::string lineOf(const OutsideAccess &access) {
    WantedAccess wanted;
    wanted.data = twins.inCopy(access.allocation);
    wanted.dataEnd = wanted.data + access.size;
    wanted.begin = wanted.data - guardBytes;
    wanted.end = wanted.dataEnd + guardBytes;
    wanted.address = wanted.data + static_cast<uint64_t>(access.offset);
    return find(wanted);
  }

  std::string lineOf(const BrokenMessage &message) {
    WantedAccess wanted;
    wanted.base = twins.inCopy(message.base);
    wanted.width = message.width;
    wanted.height = message.height;
    wanted.pitch = message.pitch;
    wanted.x = message.x;
    wanted.hasX = message.byX;
    return find(wanted);
  }

private:
  std::string find(const WantedAccess &wanted) {
    // An error was found, which is told in any case.
    try {
      Program *locator = kernel.program->locator();
      if (!locator)
        return {};
      wantAccess(locator->handle(), queue, wanted);
      enqueue(*locator->kernel(kernel.declaration->name), config, twins.copied(), argumentCount,
              queue);
      (void)watch.take();
      uint32_t line = takeLine(locator->device().context(), locator->handle(), queue);
      return line && line <= locator->lines().size() ? ", at " + locator->lines()[line - 1] : "";
    } catch (const Error &) {
      return {};
    }
  }

  Kernel &kernel;
  const LaunchConfig &config;
  Twins &twins;
  size_t argumentCount;
  cl_command_queue queue;
  Enqueue enqueue;
  FaultWatch &watch;
};

void report(const Kernel &kernel, const Twins &twins, const OutsideAccess &access,
            const std::string &line) {
  std::string what = access.isWrite ? "writes to" : "reads from";
  std::string array = twins.nameOf(access.allocation).value_or("an array that is no argument");
  std::string where =
      access.offset < 0
          ? std::to_string(-access.offset) + " bytes in front of it"
          : std::to_string(access.offset - static_cast<int64_t>(access.size)) + " bytes behind it";
  throw Error("XETILE_CHECK: the kernel '" + kernel.declaration->name + "' " + what + " offset " +
              std::to_string(access.offset) + " of " + array + ", which has " +
              std::to_string(access.size) + " bytes: " + where + line +
              ". Its results are not to be used");
}

/// Runs a launch once and throws what was found.
class Checks {
public:
  Checks(Kernel &kernel, const LaunchConfig &config, size_t argumentCount, cl_command_queue queue,
         Enqueue enqueue)
      : kernel(kernel), config(config), argumentCount(argumentCount), queue(queue),
        enqueue(enqueue), watch(kernel.declaration->name.c_str()) {}

  void run(Kernel &one, Twins &twins, void **values) {
    enqueue(one, config, values, argumentCount, queue);
    std::optional<OutsideAccess> access = watch.take();
    LineSearch search(kernel, config, twins, argumentCount, queue, enqueue, watch);
    // A matrix that is larger than its array says more than the access that this led to.
    one.program->examine(queue, kernel.declaration->name,
                         [&](const BrokenMessage &message) { return search.lineOf(message); });
    if (access)
      report(kernel, twins, *access, search.lineOf(*access));
  }

private:
  Kernel &kernel;
  const LaunchConfig &config;
  size_t argumentCount;
  cl_command_queue queue;
  Enqueue enqueue;
  FaultWatch watch;
};

} // namespace

void launchChecked(Kernel &kernel, const LaunchConfig &config, void **arguments,
                   size_t argumentCount, cl_command_queue queue, Enqueue enqueue) {
  // Copies to the arrays may still be on their way.
  check(clFinish(queue), "waiting for the device");
  // Which of several atomic operations comes first is nobody's to say: results are not compared.
  bool compares = !kernel.declaration->hasAtomics;
  Twins twins(kernel, arguments, argumentCount, compares ? Copies::Written : Copies::All);
  Checks checks(kernel, config, argumentCount, queue, enqueue);
  checks.run(kernel, twins, arguments);
  Program *program = kernel.program->reversed();
  if (!program)
    return;
  Kernel &reversed = *program->kernel(kernel.declaration->name);
  twins.fillFronts(Front::Zero);
  checks.run(reversed, twins, twins.copied());
  twins.fillFronts(Front::Poisoned);
  if (!compares || !twins.differ())
    return;
  if (!twins.hasCopiesOfAll()) {
    Twins all(kernel, arguments, argumentCount, Copies::All);
    checks.run(reversed, all, all.copied());
  }
  twins.reportDifference();
}

} // namespace xetile::runtime
