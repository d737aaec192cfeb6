//===- MatmulConfig.h - how a matmul is cut into nine loops ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_MATMULCONFIG_H
#define XETILE_IR_MATMULCONFIG_H

#include "xetile/Facts/Result.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace xetile {

/// The dimensions of a matmul, as indices into the arrays below.
enum MatmulDim : unsigned { kM = 0, kN = 1, kK = 2 };

/// A value for each field of a configuration. MatmulFields.td names the fields and tells what they
/// mean; MatmulConfigAttr::visitFields goes through them. Sizes are in elements.
template <typename Value> struct MatmulFields {
  std::array<Value, 3> threads, block, innermost;
  Value loopOrder;

  bool operator==(const MatmulFields &other) const {
    return threads == other.threads && block == other.block && innermost == other.innermost &&
           loopOrder == other.loopOrder;
  }
};

/// All fields.
struct MatmulConfig : MatmulFields<int64_t> {
  MatmulConfig() : MatmulFields{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0} {}

  int64_t allThreads() const { return threads[kM] * threads[kN] * threads[kK]; }

  /// The loops over blocks from the outermost to the innermost.
  std::array<MatmulDim, 3> middleLoops() const;
};

/// Some fields.
struct PartialConfig : MatmulFields<std::optional<int64_t>> {
  PartialConfig() : MatmulFields{} {}

  /// Takes the fields that `other` has.
  void overrideBy(const PartialConfig &other);
};
llvm::hash_code hash_value(const PartialConfig &config);

/// A field's name in every textual form, what it means, and what leaves it open where a value has
/// to be given.
struct MatmulField {
  llvm::StringRef name, doc;
  int64_t open;
};
/// In the order in which they are printed.
llvm::ArrayRef<MatmulField> allMatmulFields();
/// The fields' names, a comma and a space between them.
std::string joinFieldNames();
/// The field called `name`, null if there is none.
std::optional<int64_t> *findField(PartialConfig &config, llvm::StringRef name);
/// The sentinel that leaves the field called `name` open where a value has to be given.
int64_t openValueOf(llvm::StringRef name);
/// The name of `field`, which is one of those of `config`.
llvm::StringRef fieldName(const MatmulConfig &config, const int64_t &field);
llvm::StringRef fieldName(const PartialConfig &config, const std::optional<int64_t> &field);

/// "mnk" to "knm": what `loopOrder` may be written as instead of a number, which is the index here.
llvm::ArrayRef<llvm::StringLiteral> loopOrderNames();
std::optional<int64_t> findLoopOrder(llvm::StringRef name);
bool isLoopOrder(int64_t number);
/// The legal values, for messages.
std::string describeLoopOrders();

/// Reads a JSON object of some fields, `{"MThreads": 2, "loopOrder": "nkm"}`, over those in
/// `config`. Returns what is wrong with it.
Problem readConfig(llvm::StringRef json, PartialConfig &config);
/// All fields as a JSON object, on one line.
std::string writeConfig(const MatmulConfig &config);

} // namespace xetile

#endif // XETILE_IR_MATMULCONFIG_H
