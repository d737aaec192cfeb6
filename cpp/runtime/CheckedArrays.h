// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CheckedArrays.h: the arrays of both runs of a checked launch.
// Input: a kernel's arguments; output: arguments of both runs, and where results of the two differ.
// Refused: nothing.
#ifndef XETILE_RUNTIME_CHECKEDARRAYS_H
#define XETILE_RUNTIME_CHECKEDARRAYS_H

#include "GuardedMemory.h"
#include "HostBytes.h"
#include "HostCopies.h"
#include "Launch.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace xetile::runtime {

/// An allocation that arguments point into.
struct CheckedArray {
  size_t size = 0;
  /// Where each run finds it.
  unsigned char *first = nullptr, *second = nullptr;
  /// Numbers of the parameters.
  std::vector<size_t> parameters;
  bool onlyRead = true, onlyWritten = true;
  /// Of what the first run left, where the second one leaves its results in the same place.
  Digest digest;
  /// The first byte of a part of the digest that the second run changed; else none of the array's.
  size_t different = SIZE_MAX;
};

/// Which allocations the second run has elsewhere; with shadows, none has what the arrays have.
enum class Separate { Written, All, Shadows };

class CheckedArrays {
public:
  /// Fills the copies of `hosts`, which may be null, as far as the kernel reads them.
  CheckedArrays(Kernel &kernel, const LaunchConfig &config, void **arguments, size_t count,
                HostCopies *hosts, Separate separate);
  ~CheckedArrays();
  CheckedArrays(const CheckedArrays &) = delete;
  CheckedArrays &operator=(const CheckedArrays &) = delete;

  void **first() { return firstValues.data(); }
  void **second() { return secondValues.data(); }

  /// Where the line of an access is looked for: arguments between guards, and the place in them of
  /// one in the first run's arrays.
  void **searched() {
    return where == Where::HostSecond || where == Where::Shadow ? first() : second();
  }
  uintptr_t inSearched(uintptr_t address) const;

  /// True if a run on shadows is to show first that launches of this kind access nothing outside.
  bool wantsProof() const;
  /// Of shadows: true if the second run has guards that the first one lacks.
  bool hasOtherGuards() const;
  /// Called when the first run has ended without an error, of shadows as well, in so much time.
  void endFirst(uint64_t nanoseconds, cl_command_queue queue);

  /// "argument 2 ('b')" for the allocation at an address, or its copy.
  std::optional<std::string> nameOf(uintptr_t allocation) const;

  /// Of the bytes in front of what both runs have between the same guards.
  void fillFronts(Front front) const;

  /// True if accesses in front of an array that is only read are seen by results alone.
  bool sharesGuards() const;
  bool differ(cl_command_queue queue);
  /// The run that is to be repeated, after what it did not fill has what the other one left: what
  /// the kernel does not write is equal then.
  enum class Repeat { None, First, Second };
  Repeat fillRest();
  /// True if what is repeated is known to differ, though it need not do so again.
  bool differedInPlace() const { return differsInPlace; }
  /// Throws an Error if they differ, or did.
  void reportDifference() const;
  /// The host has the results itself.
  void settle(HostCopies *hosts) const;

  /// Called after a launch without an error, or the proof of one.
  void know(Known known) const;

private:
  /// Guarded: both runs have copies between guards. HostSecond: the second one has the arrays
  /// themselves where they are written: the first one showed what both access, as no address
  /// depends on the order of subgroups. HostFirst: the first run has the arrays themselves, and the
  /// second one where they are only read: a proof shows what launches of this kind access. InPlace:
  /// both have the arrays themselves, which are read or written, not both. Shadow: of a proof.
  enum class Where { Guarded, HostSecond, HostFirst, InPlace, Shadow };

  void add(size_t parameter, size_t argument);
  void choose(HostCopies *hosts, Separate separate);
  bool isOfKind(HostCopies *hosts) const;
  std::string kindOf(const LaunchConfig &config, size_t count) const;
  /// True if sizes and numbers alone show that all accesses lie within the arrays.
  bool liesWithin(const LaunchConfig &config, size_t count) const;
  void separate(CheckedArray &array, HostCopies *hosts, bool all);
  bool ofHostAlone() const { return where == Where::HostFirst || where == Where::InPlace; }
  void placeShadows();
  /// Those that are neither the caller's nor the host's.
  void releaseCopies() const;
  void place(size_t argument);

  Kernel &kernel;
  std::vector<void *> firstPointers, secondPointers, firstValues, secondValues;
  /// Arguments that point into allocations.
  std::vector<size_t> placed;
  /// By the address that the caller gave.
  std::map<uintptr_t, CheckedArray> arrays;
  Where where = Where::Guarded;
  bool unfilled = false, differsInPlace = false;
  /// No proof is needed.
  bool within = false;
  /// Equal for launches that access the same bytes of their arrays; "" if nobody knows that.
  std::string kind;
};

} // namespace xetile::runtime
#endif
