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
// access the same ones. Two of them are checked so, the second one with all arrays behind guards
// besides; all others only compare the results of both orders, on the host's own arrays and one
// copy of those that are written.
#include "CheckedArrays.h"

#include "Errors.h"
#include "Memory.h"

#include <algorithm>

namespace xetile::runtime {
namespace {

/// Launches of a kind that show what it accesses.
constexpr unsigned proofs = 2;

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
  choose(hosts, separated);
  for (size_t argument : placed)
    place(argument);
}

CheckedArrays::~CheckedArrays() {
  if (where == Where::Guarded)
    for (auto &[start, array] : arrays)
      if (array.second != array.first)
        releaseIdle(array.second);
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

void CheckedArrays::choose(HostCopies *hosts, Separate separated) {
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
  if (!kind.empty() && kernel.kinds[kind] >= proofs)
    where = Where::HostFirst;
  else if (fixed && ofHost)
    where = Where::HostSecond;
  for (auto &[start, array] : arrays) {
    bool filled = where == Where::Guarded      ? true
                  : where == Where::HostSecond ? array.onlyRead || !unfilled
                                               : !array.onlyRead && !unfilled;
    if (hosts && filled)
      hosts->fill(array.first);
    separate(array, hosts, all);
  }
}

void CheckedArrays::separate(CheckedArray &array, HostCopies *hosts, bool all) {
  if (where == Where::HostFirst) {
    array.first = hosts->host(array.first);
    if (array.onlyRead)
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
  for (const auto &[start, array] : arrays)
    if (where == Where::Guarded && address >= start && address - start <= array.size)
      return reinterpret_cast<uintptr_t>(array.second) + (address - start);
  return address;
}

std::optional<std::string> CheckedArrays::nameOf(uintptr_t allocation) const {
  for (const auto &[start, array] : arrays)
    if (start == allocation || reinterpret_cast<uintptr_t>(array.second) == allocation) {
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
    if (where != Where::HostFirst && array.first == array.second)
      fillFront(array.first, front);
}

bool CheckedArrays::sharesGuards() const {
  return where != Where::HostFirst &&
         std::any_of(arrays.begin(), arrays.end(),
                     [](const auto &entry) { return entry.second.first == entry.second.second; });
}

bool CheckedArrays::differ() const {
  return std::any_of(arrays.begin(), arrays.end(), [](const auto &entry) {
    const CheckedArray &array = entry.second;
    return !array.onlyRead && !equalBytes(array.first, array.second, array.size);
  });
}

CheckedArrays::Repeat CheckedArrays::fillRest() {
  if (!unfilled)
    return Repeat::None;
  unfilled = false;
  kernel.leavesSome = true;
  bool repeatsFirst = where == Where::HostSecond;
  for (const auto &[start, array] : arrays)
    if (!array.onlyRead)
      copyBytes(repeatsFirst ? array.first : array.second,
                repeatsFirst ? array.second : array.first, array.size);
  return repeatsFirst ? Repeat::First : Repeat::Second;
}

void CheckedArrays::reportDifference() const {
  for (const auto &[start, array] : arrays) {
    if (array.onlyRead || equalBytes(array.first, array.second, array.size))
      continue;
    size_t at = 0, different = 0;
    for (size_t i = array.size; i-- > 0;)
      if (array.first[i] != array.second[i]) {
        at = i;
        ++different;
      }
    throw Error("XETILE_CHECK: the kernel '" + kernel.declaration->name +
                "' leaves other results in " + *nameOf(start) +
                " when workgroups and their subgroups run in the other order: " +
                std::to_string(different) + " of " + std::to_string(array.size) +
                " bytes, the first at offset " + std::to_string(at) +
                ". Look for a missing barrier, or for two subgroups that write to one place");
  }
}

void CheckedArrays::settle(HostCopies *hosts) const {
  if (where != Where::Guarded)
    for (const auto &[start, array] : arrays)
      hosts->settle(reinterpret_cast<void *>(start));
}

bool CheckedArrays::wantsProof() const {
  return !kind.empty() && where != Where::HostFirst && kernel.kinds[kind] + 1 == proofs;
}

void CheckedArrays::countKind() const {
  if (!kind.empty() && where != Where::HostFirst)
    kernel.kinds.count(kind);
}

} // namespace xetile::runtime
