//===- Test.h - checks of the layout tests -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TEST_LAYOUT_TEST_H
#define XETILE_TEST_LAYOUT_TEST_H

#include "xetile/Layout/BlockLoadPlan.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <random>
#include <string>

namespace xetile::test {

/// Counts checks and tells of those that fail, the first few in full.
struct Checks {
  uint64_t run = 0, failed = 0;

  bool check(bool holds, const llvm::Twine &what) {
    ++run;
    if (!holds && ++failed <= 20)
      llvm::errs() << "FAILED: " << what << '\n';
    return holds;
  }
  bool same(llvm::StringRef got, llvm::StringRef want, const llvm::Twine &what) {
    return check(got == want, what + "\n  got:      " + got + "\n  expected: " + want);
  }
  /// The result has a value.
  template <typename T> bool ok(const Result<T> &result, const llvm::Twine &what) {
    if (result)
      return check(true, what);
    return check(false, what + ": " + result.error().message);
  }
  /// The result is an error whose text contains `part`.
  template <typename T>
  void fails(const Result<T> &result, llvm::StringRef part, const llvm::Twine &what) {
    if (check(!result, what + ": expected an error"))
      check(llvm::StringRef(result.error().message).contains(part),
            what + ": '" + result.error().message + "' does not contain '" + part + "'");
  }
};

std::string readFile(llvm::StringRef path);

/// All kinds of messages that the target's checks allow, tried on the model: the fewest that one
/// subgroup needs, or nothing if none suits. Knows neither the planner nor its bit tables.
std::optional<uint64_t> fewestMessages(const PlanRequest &request, const LinearLayout &operand);

void testAlgebra(Checks &checks, std::mt19937_64 &random);
void testDpas(Checks &checks);
void testDocument(Checks &checks, llvm::StringRef inputs);
void testConformance(Checks &checks, llvm::StringRef inputs);
void testErrors(Checks &checks);
void testProperties(Checks &checks, std::mt19937_64 &random, uint64_t cases);

} // namespace xetile::test

#endif // XETILE_TEST_LAYOUT_TEST_H
