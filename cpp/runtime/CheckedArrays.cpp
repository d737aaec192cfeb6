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
#include "CheckedArrays.h"

#include "Errors.h"
#include "Memory.h"

#include <algorithm>

namespace xetile::runtime {

CheckedArrays::CheckedArrays(Kernel &kernel, void **arguments, size_t count, HostCopies *hosts,
                             Separate separated)
    : kernel(kernel), pointers(count), first(arguments, arguments + count), values(first) {
  size_t next = 0;
  const std::vector<SpirvType> &parameters = kernel.declaration->parameters;
  for (size_t i = 0; i < parameters.size() && next < count; ++i) {
    if (parameters[i].kind == SpirvType::Pointer && parameters[i].storage == storage::workgroup)
      continue;
    if (parameters[i].kind == SpirvType::Pointer && !kernel.declaration->structBytes[i])
      add(i, next);
    ++next;
  }
  choose(hosts, separated);
  for (size_t argument : placed)
    place(argument);
}

CheckedArrays::~CheckedArrays() {
  if (!hostsOwn)
    for (auto &[start, array] : arrays)
      releaseIdle(array.second);
}

void CheckedArrays::add(size_t parameter, size_t argument) {
  auto *pointer = values[argument] ? *static_cast<unsigned char **>(values[argument]) : nullptr;
  std::optional<Extent> extent = pointer ? allocationOf(pointer) : std::nullopt;
  if (!extent)
    return;
  CheckedArray &array = arrays[reinterpret_cast<uintptr_t>(extent->start)];
  array.size = extent->size;
  array.parameters.push_back(parameter);
  array.onlyRead &=
      kernel.declaration->onlyRead[parameter] || !kernel.flow.writesThrough(parameter);
  array.onlyWritten &= !kernel.flow.readsThrough(parameter);
  placed.push_back(argument);
}

void CheckedArrays::choose(HostCopies *hosts, Separate separated) {
  bool all = separated == Separate::All;
  // Both runs access the same bytes; whatever they find there.
  bool fixed = !all && !(kernel.flow.decides & AccessFlow::exchanged);
  bool rewrites = true, ofHost = hosts && kernel.program->reversed();
  for (const auto &[start, array] : arrays) {
    if (array.onlyRead)
      continue;
    for (size_t parameter : array.parameters)
      fixed &= !kernel.flow.decidedBy(parameter);
    rewrites &= array.onlyWritten;
    ofHost &= hosts && hosts->written(reinterpret_cast<void *>(start)) &&
              (array.onlyWritten || fillsPages(array.size));
  }
  hostsOwn = fixed && ofHost;
  // A run may be repeated, as none of them reads what another one wrote.
  unfilled = fixed && rewrites && !kernel.leavesSome;
  for (auto &[start, array] : arrays) {
    bool elsewhere = all || !array.onlyRead;
    if (hosts && !(elsewhere && hostsOwn && unfilled))
      hosts->fill(reinterpret_cast<void *>(start));
    if (elsewhere)
      separate(start, array, hosts);
  }
}

void CheckedArrays::separate(uintptr_t start, CheckedArray &array, HostCopies *hosts) {
  auto *from = reinterpret_cast<void *>(start);
  if (hostsOwn) {
    array.second = hosts->written(from);
    return;
  }
  array.second =
      static_cast<unsigned char *>(allocateBehindGuard(kernel.program->device(), array.size));
  if (!unfilled)
    copyBytes(array.second, from, array.size);
}

void CheckedArrays::place(size_t argument) {
  auto address = reinterpret_cast<uintptr_t>(*static_cast<void **>(values[argument]));
  pointers[argument] = reinterpret_cast<void *>(address);
  for (const auto &[start, array] : arrays)
    if (array.second && address >= start && address - start <= array.size)
      pointers[argument] = array.second + (address - start);
  values[argument] = &pointers[argument];
}

uintptr_t CheckedArrays::inSearched(uintptr_t address) const {
  for (const auto &[start, array] : arrays)
    if (!hostsOwn && array.second && address >= start && address - start <= array.size)
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
    if (!array.second)
      fillFront(reinterpret_cast<void *>(start), front);
}

bool CheckedArrays::allSeparate() const {
  return std::all_of(arrays.begin(), arrays.end(),
                     [](const auto &entry) { return entry.second.second != nullptr; });
}

bool CheckedArrays::differ() const {
  return std::any_of(arrays.begin(), arrays.end(), [](const auto &entry) {
    const auto &[start, array] = entry;
    return !array.onlyRead &&
           !equalBytes(reinterpret_cast<const void *>(start), array.second, array.size);
  });
}

bool CheckedArrays::fillRest() {
  if (!unfilled)
    return false;
  unfilled = false;
  kernel.leavesSome = true;
  for (const auto &[start, array] : arrays) {
    auto *one = reinterpret_cast<unsigned char *>(start);
    if (array.onlyRead)
      continue;
    if (hostsOwn)
      copyBytes(one, array.second, array.size);
    else
      copyBytes(array.second, one, array.size);
  }
  return true;
}

void CheckedArrays::reportDifference() const {
  for (const auto &[start, array] : arrays) {
    const auto *one = reinterpret_cast<const unsigned char *>(start);
    if (array.onlyRead || equalBytes(one, array.second, array.size))
      continue;
    size_t at = 0, different = 0;
    for (size_t i = array.size; i-- > 0;)
      if (one[i] != array.second[i]) {
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
  if (hostsOwn)
    for (const auto &[start, array] : arrays)
      hosts->settle(reinterpret_cast<void *>(start));
}

} // namespace xetile::runtime
