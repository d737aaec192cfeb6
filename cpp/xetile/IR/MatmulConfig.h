//===- MatmulConfig.h - how a matmul is cut into nine loops ------------------===//
#ifndef XETILE_IR_MATMULCONFIG_H
#define XETILE_IR_MATMULCONFIG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace xetile {

/// The dimensions of a matmul, as indices into the arrays below.
enum MatmulDim : unsigned { kM = 0, kN = 1, kK = 2 };

/// All ten values of a `#xetile.matmul_config`; arrays are in the order M, N, K, sizes in elements.
struct MatmulConfig {
  std::array<int64_t, 3> threads = {1, 1, 1};
  std::array<int64_t, 3> block = {1, 1, 1};
  std::array<int64_t, 3> innermost = {1, 1, 1};
  int64_t loopOrder = 0;

  static constexpr int64_t kNumLoopOrders = 6;
  static constexpr unsigned kNumFields = 10;
  /// `MThreads`, ..., `innermostKBlock`, `loopOrder`: the names in every textual form.
  static llvm::ArrayRef<llvm::StringLiteral> fieldNames();
  int64_t get(unsigned field) const;
  void set(unsigned field, int64_t value);
  /// The middle loops from the outermost to the innermost: mnk, mkn, nmk, nkm, kmn, knm.
  std::array<MatmulDim, 3> middleLoops() const;
};

/// Some of the ten fields of a MatmulConfig.
using PartialConfig = std::array<std::optional<int64_t>, MatmulConfig::kNumFields>;

/// Reads a JSON object of some fields, `{"MThreads": 2, ...}`, over those in `config`. Returns what
/// is wrong with it; an empty string if nothing is.
std::string readConfig(llvm::StringRef json, PartialConfig &config);
/// All fields as a JSON object, on one line.
std::string writeConfig(const MatmulConfig &config);

} // namespace xetile

#endif // XETILE_IR_MATMULCONFIG_H
