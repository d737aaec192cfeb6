// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CheckedArrays.cpp: the arrays of both runs of a checked launch.
// Input: a kernel's arguments; output: arguments of the second run, and where results of the two
// differ. Refused: nothing.
//
// In the first run arrays lie in front of a guard. In the second one, those that are written lie
// behind one, in copies, which tells of accesses in front of them; or they are the host's own,
// which spares a copy and the way back. For that it has to be known that the second run goes where
// the first one went, and that the first one saw all accesses in front: the array fills its pages,
// or nothing reads it, as writes are seen in any case.
//
// Where numbers alone decide which bytes are accessed, launches with the same numbers and sizes
// access the same ones, whatever their arrays hold. A run on shadows, memory between guards that
// has nothing of the arrays and takes no place in caches, proves that these lie within them; then
// both orders run on the host's own arrays. Of what is only written a digest is compared; what is
// read and written has one copy. No run is needed where the numbers tell where accesses may go
// (AccessRanges.h). Where a run takes longer than copies, the first launch of another kind has
// copies instead of a proof, which comes with the second one.
#include "CheckedArrays.h"

#include "DeviceDigest.h"
#include "Errors.h"
#include "Memory.h"

#include <algorithm>

namespace xetile::runtime {
namespace {

/// About what one thread copies. Which of two ways a launch is checked in depends on it, no result.
constexpr uint64_t copiedPerNanosecond = 4;

/// Guards behind arrays of other sizes are not at their ends.
constexpr size_t guardAlignment = 64;

bool isLocal(const SpirvType &type) {
  return type.kind == SpirvType::Pointer && type.storage == storage::workgroup;
}

} // namespace

CheckedArrays::CheckedArrays(Kernel &kernel, const LaunchConfig &config, void **arguments,
                             size_t count, HostCopies *hosts, Separate separated)
    : kernel(kernel), firstPointers(count), secondPointers(count),
      firstValues(arguments, arguments + count), secondValues(firstValues) {
  size_t next = 0;
  const std::vector<SpirvType> &parameters = kernel.declaration->parameters;
  for (size_t i = 0; i < parameters.size() && next < count; ++i) {
    if (isLocal(parameters[i]))
      continue;
    if (parameters[i].kind == SpirvType::Pointer && !kernel.declaration->structBytes[i])
      add(i, next);
    ++next;
  }
  if (separated == Separate::Written && isOfKind(hosts))
    kind = kindOf(config, count);
  within = !kind.empty() && kernel.kinds[kind] != Known::Proven && liesWithin(config, count);
  // Who throws in a constructor is not destroyed.
  try {
    choose(hosts, separated);
  } catch (...) {
    releaseCopies();
    throw;
  }
  for (size_t argument : placed)
    place(argument);
}

CheckedArrays::~CheckedArrays() { releaseCopies(); }

void CheckedArrays::releaseCopies() const {
  if (where != Where::Guarded && where != Where::Shadow)
    return;
  for (const auto &[start, array] : arrays) {
    if (array.second != array.first)
      releaseIdle(array.second);
    if (reinterpret_cast<uintptr_t>(array.first) != start)
      releaseIdle(array.first);
  }
}

void CheckedArrays::add(size_t parameter, size_t argument) {
  auto *pointer =
      firstValues[argument] ? *static_cast<unsigned char **>(firstValues[argument]) : nullptr;
  std::optional<Extent> extent = pointer ? allocationOf(pointer) : std::nullopt;
  if (!extent)
    return;
  CheckedArray &array = arrays[reinterpret_cast<uintptr_t>(extent->start)];
  array.size = extent->size;
  array.first = array.second = static_cast<unsigned char *>(extent->start);
  array.parameters.push_back(parameter);
  array.onlyRead &=
      kernel.declaration->onlyRead[parameter] || !kernel.flow.writesThrough(parameter);
  array.onlyWritten &= !kernel.flow.readsThrough(parameter);
  placed.push_back(argument);
}

/// True if launches with the same numbers and sizes access the same bytes, and the host's own
/// arrays will do. Those of 2D block messages will not: their rules are those of a device's memory.
bool CheckedArrays::isOfKind(HostCopies *hosts) const {
  if (!hosts || !kernel.program->hasReversed() || kernel.program->examinesSurfaces() ||
      !kernel.flow.isKnown())
    return false;
  return std::all_of(arrays.begin(), arrays.end(), [&](const auto &entry) {
    const CheckedArray &array = entry.second;
    bool decides = std::any_of(array.parameters.begin(), array.parameters.end(),
                               [&](size_t i) { return kernel.flow.decidedBy(i); });
    bool written = std::any_of(array.parameters.begin(), array.parameters.end(),
                               [&](size_t i) { return kernel.flow.writesThrough(i); });
    bool taken = array.onlyRead ? !written && hosts->host(array.first) != nullptr
                                : hosts->written(array.first) != nullptr;
    return taken && !decides && array.size % guardAlignment == 0;
  });
}

std::string CheckedArrays::kindOf(const LaunchConfig &config, size_t count) const {
  std::string text;
  auto append = [&](const void *from, size_t bytes) {
    text.append(static_cast<const char *>(from), bytes);
  };
  append(&config.grid, sizeof config.grid);
  append(&config.block, sizeof config.block);
  for (size_t bytes : config.localBytes)
    append(&bytes, sizeof bytes);
  const SpirvKernel &declaration = *kernel.declaration;
  size_t next = 0;
  for (size_t i = 0; i < declaration.parameters.size() && next < count; ++i) {
    if (isLocal(declaration.parameters[i]))
      continue;
    const void *value = firstValues[next];
    bool pointer =
        declaration.parameters[i].kind == SpirvType::Pointer && !declaration.structBytes[i];
    if (!value || (pointer && std::find(placed.begin(), placed.end(), next) == placed.end()))
      return "";
    ++next;
    if (!pointer) {
      if (kernel.flow.decidedBy(i))
        append(value, declaration.structBytes[i] ? declaration.structBytes[i]
                                                 : declaration.parameters[i].bytes());
      continue;
    }
    // Which array, its size, and where in it.
    auto address = reinterpret_cast<uintptr_t>(*static_cast<void *const *>(value));
    auto array = std::prev(arrays.upper_bound(address));
    const size_t place[] = {static_cast<size_t>(std::distance(arrays.begin(), array)),
                            array->second.size, address - array->first};
    append(place, sizeof place);
  }
  return text;
}

bool CheckedArrays::liesWithin(const LaunchConfig &config, size_t count) const {
  const SpirvKernel &declaration = *kernel.declaration;
  if (!kernel.program->ranges())
    return false;
  LaunchNumbers launch;
  std::copy(config.grid.begin(), config.grid.end(), launch.grid.begin());
  std::copy(config.block.begin(), config.block.end(), launch.block.begin());
  launch.arguments.resize(declaration.parameters.size());
  size_t next = 0;
  for (size_t i = 0; i < declaration.parameters.size() && next < count; ++i) {
    if (isLocal(declaration.parameters[i]))
      continue;
    LaunchArgument &argument = launch.arguments[i];
    void *value = firstValues[next++];
    if (declaration.parameters[i].kind != SpirvType::Pointer) {
      argument.number = value;
      argument.bytes = declaration.parameters[i].bytes();
    } else if (!declaration.structBytes[i]) {
      auto address = reinterpret_cast<uintptr_t>(*static_cast<void *const *>(value));
      auto array = std::prev(arrays.upper_bound(address));
      argument.offset = address - array->first;
      argument.bytes = array->second.size;
    }
  }
  return kernel.program->ranges()->within(declaration.name, launch);
}

void CheckedArrays::choose(HostCopies *hosts, Separate separated) {
  if (separated == Separate::Shadows)
    return placeShadows();
  bool all = separated == Separate::All;
  // Both runs access the same bytes, whatever they find there.
  bool fixed = !all && !(kernel.flow.decides & AccessFlow::exchanged);
  bool rewrites = true, ofHost = hosts && kernel.program->hasReversed();
  for (const auto &[start, array] : arrays) {
    if (array.onlyRead)
      continue;
    for (size_t parameter : array.parameters)
      fixed &= !kernel.flow.decidedBy(parameter);
    rewrites &= array.onlyWritten;
    ofHost &= hosts && hosts->written(array.first) && (array.onlyWritten || fillsPages(array.size));
  }
  // A run may be repeated, as none of them reads what another one wrote.
  unfilled = fixed && rewrites && !kernel.leavesSome;
  if (!kind.empty() && (within || kernel.copiesTakeLonger || kernel.kinds[kind] != Known::Nothing))
    where = rewrites ? Where::InPlace : Where::HostFirst;
  else if (fixed && ofHost)
    where = Where::HostSecond;
  // From the first run on there is in place all that a kernel leaves.
  unfilled |= where == Where::InPlace;
  for (auto &[start, array] : arrays) {
    bool filled = where == Where::Guarded      ? true
                  : where == Where::HostSecond ? array.onlyRead || !unfilled
                  : where == Where::HostFirst  ? !array.onlyRead
                                               : false;
    if (hosts && filled)
      hosts->fill(array.first);
    separate(array, hosts, all);
  }
}

void CheckedArrays::placeShadows() {
  where = Where::Shadow;
  Device &device = kernel.program->device();
  auto shadow = [&](const CheckedArray &array, Against against) {
    return static_cast<unsigned char *>(
        allocateShadow(device, array.size, against, !array.onlyRead));
  };
  for (auto &[start, array] : arrays) {
    array.first = array.second = shadow(array, Against::End);
    if (!fillsPages(array.size))
      array.second = shadow(array, Against::Start);
  }
}

void CheckedArrays::separate(CheckedArray &array, HostCopies *hosts, bool all) {
  if (ofHostAlone()) {
    array.first = hosts->host(array.first);
    if (array.onlyRead || where == Where::InPlace)
      array.second = array.first;
    return;
  }
  if (array.onlyRead && !all)
    return;
  if (where == Where::HostSecond) {
    array.second = hosts->written(array.first);
    return;
  }
  array.second =
      static_cast<unsigned char *>(allocateBehindGuard(kernel.program->device(), array.size));
  if (!unfilled)
    copyBytes(array.second, array.first, array.size);
}

void CheckedArrays::place(size_t argument) {
  auto address = reinterpret_cast<uintptr_t>(*static_cast<void **>(firstValues[argument]));
  auto found = std::prev(arrays.upper_bound(address));
  firstPointers[argument] = found->second.first + (address - found->first);
  secondPointers[argument] = found->second.second + (address - found->first);
  firstValues[argument] = &firstPointers[argument];
  secondValues[argument] = &secondPointers[argument];
}

uintptr_t CheckedArrays::inSearched(uintptr_t address) const {
  for (const auto &[start, array] : arrays) {
    bool shadow = where == Where::Shadow;
    uintptr_t from = shadow ? reinterpret_cast<uintptr_t>(array.second) : start;
    const unsigned char *to = shadow ? array.first : array.second;
    if ((shadow || where == Where::Guarded) && address >= from && address - from <= array.size)
      return reinterpret_cast<uintptr_t>(to) + (address - from);
  }
  return address;
}

std::optional<std::string> CheckedArrays::nameOf(uintptr_t allocation) const {
  for (const auto &[start, array] : arrays)
    if (start == allocation || reinterpret_cast<uintptr_t>(array.first) == allocation ||
        reinterpret_cast<uintptr_t>(array.second) == allocation) {
      std::string text;
      for (size_t parameter : array.parameters) {
        const std::string &name = kernel.declaration->parameterNames[parameter];
        text += (text.empty() ? "argument " : " and argument ") + std::to_string(parameter) +
                (name.empty() ? "" : " ('" + name + "')");
      }
      return text;
    }
  return std::nullopt;
}

void CheckedArrays::fillFronts(Front front) const {
  for (const auto &[start, array] : arrays)
    if (!ofHostAlone() && array.first == array.second)
      fillFront(array.first, front);
}

bool CheckedArrays::sharesGuards() const {
  return !ofHostAlone() && std::any_of(arrays.begin(), arrays.end(), [](const auto &entry) {
    return entry.second.first == entry.second.second;
  });
}

bool CheckedArrays::wantsProof() const {
  return ofHostAlone() && !within && kernel.kinds[kind] != Known::Proven;
}

bool CheckedArrays::hasOtherGuards() const {
  return std::any_of(arrays.begin(), arrays.end(),
                     [](const auto &entry) { return entry.second.first != entry.second.second; });
}

void CheckedArrays::endFirst(uint64_t nanoseconds, cl_command_queue queue) {
  uint64_t copied = 0;
  for (auto &[start, array] : arrays) {
    if (array.onlyRead)
      copied += array.size;
    else if (where == Where::InPlace)
      array.digest =
          digestBy(kernel.program->device(), queue, array.first, array.size, Order::Backwards);
  }
  kernel.copiesTakeLonger = nanoseconds < copied / copiedPerNanosecond;
}

bool CheckedArrays::differ(cl_command_queue queue) {
  bool differs = false;
  for (auto &[start, array] : arrays) {
    if (array.onlyRead)
      continue;
    if (where != Where::InPlace) {
      differs |= !equalBytes(array.first, array.second, array.size);
      continue;
    }
    Digest digest =
        digestBy(kernel.program->device(), queue, array.first, array.size, Order::Forwards);
    array.different = firstDifference(array.digest, digest, array.size);
    differs |= array.different < array.size;
  }
  return differs;
}

CheckedArrays::Repeat CheckedArrays::fillRest() {
  if (!unfilled)
    return Repeat::None;
  unfilled = false;
  bool repeatsFirst = where == Where::HostSecond || where == Where::InPlace;
  if (where == Where::InPlace) {
    // To tell which bytes differ takes the results of both.
    where = Where::HostFirst;
    differsInPlace = true;
    for (auto &[start, array] : arrays)
      if (!array.onlyRead)
        array.second = reinterpret_cast<unsigned char *>(start);
  } else {
    kernel.leavesSome = true;
  }
  bool toSecond = !repeatsFirst || differsInPlace;
  for (const auto &[start, array] : arrays)
    if (!array.onlyRead)
      copyBytes(toSecond ? array.second : array.first, toSecond ? array.first : array.second,
                array.size);
  return repeatsFirst ? Repeat::First : Repeat::Second;
}

void CheckedArrays::reportDifference() const {
  auto report = [&](uintptr_t start, const std::string &what) {
    throw Error("XETILE_CHECK: the kernel '" + kernel.declaration->name +
                "' leaves other results in " + *nameOf(start) +
                " when workgroups and their subgroups run in the other order: " + what +
                ". Look for a missing barrier, or for two subgroups that write to one place");
  };
  for (const auto &[start, array] : arrays) {
    if (array.onlyRead || equalBytes(array.first, array.second, array.size))
      continue;
    size_t at = 0, different = 0;
    for (size_t i = array.size; i-- > 0;)
      if (array.first[i] != array.second[i]) {
        at = i;
        ++different;
      }
    report(start, std::to_string(different) + " of " + std::to_string(array.size) +
                      " bytes, the first at offset " + std::to_string(at));
  }
  // Of those that differed, what was repeated was equal.
  for (const auto &[start, array] : arrays)
    if (array.different < array.size)
      report(start, "not in each launch, behind offset " + std::to_string(array.different) +
                        " of " + std::to_string(array.size) + " bytes");
}

void CheckedArrays::settle(HostCopies *hosts) const {
  if (where != Where::Guarded)
    for (const auto &[start, array] : arrays)
      hosts->settle(reinterpret_cast<void *>(start));
}

void CheckedArrays::know(Known known) const {
  if (!kind.empty() && kernel.kinds[kind] < known)
    kernel.kinds.set(kind, known);
}

} // namespace xetile::runtime
