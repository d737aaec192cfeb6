//===- Target.h - what a target is -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A target is data: its device's limits, its levels of IR, and functions that add the passes from
// each level to the next. Each room below Target/ registers its own; xetile-compile, Python and the
// command line walk the same list.
#ifndef XETILE_TARGET_TARGET_H
#define XETILE_TARGET_TARGET_H

#include "mlir/Pass/PassOptions.h"
#include "xetile/Facts/Result.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/Target/AttentionTiling.h"
#include "xetile/Target/MatmulTiling.h"
#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace mlir {
class OpPassManager;
class Type;
} // namespace mlir

namespace xetile {

/// User options of a target's levels, by name, typed; each target derives its own.
struct TargetOptions : virtual mlir::detail::PassOptions {
  virtual ~TargetOptions() = default;
  /// In alphabetic order.
  std::vector<llvm::StringRef> names() const;
  /// The option's description, empty if there is none of that name.
  llvm::StringRef describe(llvm::StringRef name) const;
};

/// Adds passes, on builtin.module.
using AddPasses = std::function<void(mlir::OpPassManager &, const TargetOptions &)>;

/// A form of the program that can be printed and read again.
struct Level {
  llvm::StringRef name;   // "4-xegpu"
  llvm::StringRef action; // what is done to reach it from the level before, for errors
  AddPasses addPasses;    // that; at level 0 to what users write; null where only schedules lead
};

struct Target {
  std::string name; // what users write
  std::string description;
  /// Device limits, shapes of the matrix unit, messages; null where code is for this machine.
  const TargetInfo *device = nullptr;
  llvm::StringRef binary; // what the last level holds
  /// Level 0 is functions on tensors, level 1 is what schedules make of them.
  std::vector<Level> levels;
  std::function<std::unique_ptr<TargetOptions>()> makeOptions;
  /// Options of the passes that a schedule replaces.
  std::vector<llvm::StringRef> tilingOptions;
  /// Says in the IR what it is compiled for, before the first level that asks. May be null.
  AddPasses begin;
  /// Why nothing can be compiled for it; empty if it can.
  std::string refusal;
  /// Tiles of a matmul, all sizes of them, where `device` is null; null where no schedule tiles.
  std::function<MatmulTiling(const MatmulProblem &, const MatmulTiling &)> chooseTiling;
  /// Why it cannot multiply `input` into sums of type `sum` by these tiles; beside the former.
  std::function<Problem(const MatmulTiling &, mlir::Type input, mlir::Type sum)> checkTiling;

  /// Into how many parts of k, of whole steps, to split a matmul, where tiles are open but for the
  /// step along k; null where none is split.
  std::function<int64_t(const MatmulProblem &, const MatmulTiling &)> chooseParts;

  /// Tiles of an attention; null where the rules for Intel's GPUs hold.
  std::function<AttentionTiling(const AttentionProblem &)> chooseAttention;
  /// Why kernels of such tiles do not compute it; beside the former.
  std::function<Problem(const AttentionProblem &)> checkAttention;

  /// The rows and columns of a workgroup's tile of a matrix that is computed element by element, of
  /// others of the same order, or each of windows of so many elements; null where the rules for
  /// Intel's GPUs hold.
  std::function<std::array<int64_t, 2>(int64_t rows, int64_t columns, int64_t windows)>
      chooseElementwise;

  /// Rows for one workgroup, one after the other, where all of them read the same, as gains and
  /// biases: at most so many.
  static constexpr int64_t kMostRowsInTurn = 16;
  int64_t mostRowsInTurn = kMostRowsInTurn;

  /// The rows and columns of the tile that a workgroup scans at a time, along its columns, of so
  /// many rows that are scanned; null where lanes walk over rows, as on Intel's GPUs.
  std::function<std::array<int64_t, 2>(int64_t rows, int64_t columns)> chooseScan;

  /// The filters and columns of a workgroup's tile of a convolution that its threads compute; null
  /// where the rules for Intel's GPUs hold.
  std::function<std::array<int64_t, 2>(int64_t filters, int64_t columns)> chooseConvolution;

  /// True if it gains by multiplying f32 exactly on its matrix unit, in tiles; null where there is
  /// no such way.
  std::function<bool(const MatmulProblem &)> multipliesF32;
  /// True if kernels of its matrix unit store elements of that type; beside the former.
  std::function<bool(mlir::Type)> storesOfProducts;

  /// True if only a schedule leads from level 0 to level 1.
  bool needsSchedule() const { return !levels[1].addPasses; }
  /// The number of the level of that name.
  std::optional<unsigned> findLevel(llvm::StringRef level) const;
};

/// For targets: a function that takes its own options, as one that takes any.
template <typename Options>
AddPasses withOptions(std::function<void(mlir::OpPassManager &, const Options &)> add) {
  // makeOptions of the same target made them.
  return [add](mlir::OpPassManager &pm, const TargetOptions &options) {
    add(pm, static_cast<const Options &>(options));
  };
}

/// The names of the options in a group.
template <typename Group> std::vector<llvm::StringRef> namesOf() {
  struct Names : TargetOptions, Group {};
  return Names().names();
}

/// Later ones of the same name are ignored: tools may register all passes twice.
void registerTarget(Target target);
/// Ordered by name; those that are refused are among them.
std::vector<const Target *> registeredTargets();
/// The target of that name if it tiles matmuls by rules of its own, else null.
const Target *findTilingTarget(llvm::StringRef name);
/// The same of a target with tiles of its own for attentions.
const Target *findAttentionTarget(llvm::StringRef name);
/// The target of that name, or why there is none that can be compiled for.
Result<const Target *> findTarget(llvm::StringRef name);

} // namespace xetile

#endif // XETILE_TARGET_TARGET_H
