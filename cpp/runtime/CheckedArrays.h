// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CheckedArrays.h: the arrays of both runs of a checked launch.
// Input: a kernel's arguments; output: arguments of the second run, and where results of the two
// differ. Refused: nothing.
#ifndef XETILE_RUNTIME_CHECKEDARRAYS_H
#define XETILE_RUNTIME_CHECKEDARRAYS_H

#include "GuardedMemory.h"
#include "HostCopies.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace xetile::runtime {

/// An allocation that arguments point into.
struct CheckedArray {
  size_t size = 0;
  /// Where the second run finds it; null where it is the same memory.
  unsigned char *second = nullptr;
  /// Numbers of the parameters.
  std::vector<size_t> parameters;
  bool onlyRead = true, onlyWritten = true;
};

/// Which allocations the second run has elsewhere.
enum class Separate { Written, All };

class CheckedArrays {
public:
  /// Fills the copies of `hosts`, which may be null, as far as the kernel reads them.
  CheckedArrays(Kernel &kernel, void **arguments, size_t count, HostCopies *hosts,
                Separate separate);
  ~CheckedArrays();
  CheckedArrays(const CheckedArrays &) = delete;
  CheckedArrays &operator=(const CheckedArrays &) = delete;

  void **second() { return values.data(); }

  /// True if the second run has the host's own arrays, and no copies. Then the first one, which has
  /// copies between guards, showed what both access: no address depends on the order of subgroups.
  bool inPlace() const { return hostsOwn; }

  /// Where the line of an access is looked for: arguments between guards, and the place in them of
  /// one in the first run's arrays.
  void **searched() { return hostsOwn ? first.data() : values.data(); }
  uintptr_t inSearched(uintptr_t address) const;

  /// "argument 2 ('b')" for the allocation at an address, or its copy.
  std::optional<std::string> nameOf(uintptr_t allocation) const;

  /// Of the bytes in front of what has no copy.
  void fillFronts(Front front) const;

  bool allSeparate() const;
  bool differ() const;
  /// Fills what was not filled, and may differ where the kernel does not write. If there is such,
  /// its run is to be repeated: the first one, if inPlace(), else the second one.
  bool fillRest();
  /// Throws an Error if they differ.
  void reportDifference() const;
  /// The host has the results of the second run.
  void settle(HostCopies *hosts) const;

private:
  void add(size_t parameter, size_t argument);
  void choose(HostCopies *hosts, Separate separate);
  void separate(uintptr_t start, CheckedArray &array, HostCopies *hosts);
  void place(size_t argument);

  Kernel &kernel;
  std::vector<void *> pointers, first, values;
  /// Arguments that point into allocations.
  std::vector<size_t> placed;
  std::map<uintptr_t, CheckedArray> arrays;
  bool hostsOwn = false, unfilled = false;
};

} // namespace xetile::runtime
#endif
