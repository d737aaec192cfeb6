// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CheckedLaunch.cpp: launches under XETILE_CHECK.
// Input: a launch; output: the same results, and errors of the kernel. Refused: accesses outside of
// arrays, results that depend on the order of subgroups.
//
// The first run has its arrays in front of a guard, the second one, with workgroups and their
// subgroups in the other order, has those that are written elsewhere (CheckedArrays.h). Arrays that
// are only read are not copied for it: the bytes between them and the page's begin, less than a
// page, are others in the second run, and where results differ there is a third one, with copies of
// all. Where numbers alone decide what is accessed, a run on shadows shows that it lies within the
// arrays, and both orders run on the arrays themselves.
#include "CheckedLaunch.h"

#include "AccessLines.h"
#include "CheckedArrays.h"
#include "Errors.h"
#include "GuardedMemory.h"
#include "SurfaceCheck.h"

#include <chrono>
#include <limits>
#include <optional>

namespace xetile::runtime {
namespace {

/// The kernel once more, between guards, with calls that look for the line of what was found.
class LineSearch {
public:
  LineSearch(Kernel &kernel, const LaunchConfig &config, CheckedArrays &arrays,
             size_t argumentCount, cl_command_queue queue, Enqueue enqueue, FaultWatch &watch)
      : kernel(kernel), config(config), arrays(arrays), argumentCount(argumentCount), queue(queue),
        enqueue(enqueue), watch(watch) {}

  /// ", at FILE:LINE"; "" where the module does not tell, or the second run does not do it again.
  std::string lineOf(const OutsideAccess &access) {
    WantedAccess wanted;
    wanted.data = arrays.inSearched(access.allocation);
    wanted.dataEnd = wanted.data + access.size;
    wanted.begin = wanted.data - guardBytes;
    wanted.end = wanted.dataEnd + guardBytes;
    wanted.address = wanted.data + static_cast<uint64_t>(access.offset);
    return find(wanted);
  }

  std::string lineOf(const BrokenMessage &message) {
    WantedAccess wanted;
    wanted.base = arrays.inSearched(message.base);
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
      enqueue(*locator->kernel(kernel.declaration->name), config, arrays.searched(), argumentCount,
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
  CheckedArrays &arrays;
  size_t argumentCount;
  cl_command_queue queue;
  Enqueue enqueue;
  FaultWatch &watch;
};

void report(const Kernel &kernel, const CheckedArrays &arrays, const OutsideAccess &access,
            const std::string &line) {
  std::string what = access.isWrite ? "writes to" : "reads from";
  std::string array = arrays.nameOf(access.allocation).value_or("an array that is no argument");
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

  /// Its nanoseconds.
  uint64_t run(Kernel &one, CheckedArrays &arrays, void **values) {
    auto start = std::chrono::steady_clock::now();
    enqueue(one, config, values, argumentCount, queue);
    auto taken = std::chrono::steady_clock::now() - start;
    std::optional<OutsideAccess> access = watch.take();
    LineSearch search(kernel, config, arrays, argumentCount, queue, enqueue, watch);
    // A matrix that is larger than its array says more than the access that this led to.
    one.program->examine(queue, kernel.declaration->name,
                         [&](const BrokenMessage &message) { return search.lineOf(message); });
    if (access)
      report(kernel, arrays, *access, search.lineOf(*access));
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count());
  }

private:
  Kernel &kernel;
  const LaunchConfig &config;
  size_t argumentCount;
  cl_command_queue queue;
  Enqueue enqueue;
  FaultWatch watch;
};

/// Ids of the other order are signed numbers of 32 bits.
bool fitsReversed(const LaunchConfig &config) {
  for (unsigned d = 0; d < 3; ++d)
    if (config.grid[d] > std::numeric_limits<int32_t>::max() / config.block[d])
      return false;
  return true;
}

} // namespace

void launchChecked(Kernel &kernel, const LaunchConfig &config, void **arguments,
                   size_t argumentCount, HostCopies *hosts, cl_command_queue queue,
                   Enqueue enqueue) {
  // Copies to the arrays may still be on their way.
  if (!hosts)
    check(clFinish(queue), "waiting for the device");
  // Which of several atomic operations comes first is nobody's to say: results are not compared.
  bool compares = !kernel.declaration->hasAtomics;
  CheckedArrays arrays(kernel, config, arguments, argumentCount, hosts,
                       compares ? Separate::Written : Separate::All);
  Checks checks(kernel, config, argumentCount, queue, enqueue);
  if (arrays.wantsProof()) {
    CheckedArrays shadows(kernel, config, arguments, argumentCount, nullptr, Separate::Shadows);
    shadows.endFirst(checks.run(kernel, shadows, shadows.first()), queue);
    if (shadows.hasOtherGuards())
      checks.run(kernel, shadows, shadows.second());
    arrays.know(Known::Proven);
  }
  arrays.endFirst(checks.run(kernel, arrays, arrays.first()), queue);
  Program *program = kernel.program->reversed();
  if (!program)
    return;
  Kernel &reversed = fitsReversed(config) ? *program->kernel(kernel.declaration->name) : kernel;
  arrays.fillFronts(Front::Zero);
  checks.run(reversed, arrays, arrays.second());
  arrays.fillFronts(Front::Poisoned);
  arrays.settle(hosts);
  bool differs = compares && arrays.differ(queue);
  if (differs) {
    CheckedArrays::Repeat repeat = arrays.fillRest();
    if (repeat == CheckedArrays::Repeat::First)
      checks.run(kernel, arrays, arrays.first());
    else if (repeat == CheckedArrays::Repeat::Second)
      checks.run(reversed, arrays, arrays.second());
    differs =
        repeat == CheckedArrays::Repeat::None || arrays.differ(queue) || arrays.differedInPlace();
  }
  if (differs && arrays.sharesGuards()) {
    CheckedArrays all(kernel, config, arguments, argumentCount, nullptr, Separate::All);
    checks.run(reversed, all, all.second());
  }
  if (differs)
    arrays.reportDifference();
  arrays.know(Known::Seen);
}

} // namespace xetile::runtime
