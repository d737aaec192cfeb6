//===- CheckCpuFeatures.cpp - intrinsics that a CPU does not have ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module in the LLVM dialect. Out: the same. Refused: intrinsics of x86 whose instructions
// the CPU does not have; LLVM would end the process when it selects them.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xetile/Target/Host/HostFeatures.h"
#include "xetile/Target/Host/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKCPUFEATURES
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct Family {
  /// After "llvm.x86.".
  StringRef prefix;
  /// As LLVM's option -mattr calls it.
  StringRef feature;
};
} // namespace

/// The first that fits counts. The rows of whole instruction sets are at the end.
static constexpr Family kFamilies[] = {
    {"tdpbf16ps", "amx-bf16"},
    {"tdpfp16ps", "amx-fp16"},
    {"tdpb", "amx-int8"},
    {"tile", "amx-tile"},
    {"ldtilecfg", "amx-tile"},
    {"sttilecfg", "amx-tile"},
    {"avx512bf16.", "avx512bf16"},
    {"avx512fp16.", "avx512fp16"},
    {"avx512.vpdp", "avx512vnni"},
    {"avx512.", "avx512f"},
    {"avx2.vpdpb", "avxvnniint8"},
    {"avx2.vpdpw", "avxvnniint16"},
    {"avx2.", "avx2"},
    {"avx.", "avx"},
};

/// The feature that an intrinsic needs and the CPU does not have; empty if there is none.
static StringRef missingFeature(StringRef intrinsic, const llvm::StringSet<> &features) {
  if (!intrinsic.consume_front("llvm.x86."))
    return {};
  const Family *family = llvm::find_if(
      kFamilies, [&](const Family &each) { return intrinsic.starts_with(each.prefix); });
  if (family == std::end(kFamilies) || features.contains(family->feature))
    return {};
  // Shorter vectors have the same instructions in another encoding.
  if (family->feature == "avx512vnni" && !intrinsic.ends_with(".512") &&
      features.contains("avxvnni"))
    return {};
  return family->feature;
}

static StringRef intrinsicOf(Operation *op) {
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return call.getIntrin();
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    return call.getCallee().value_or("");
  return {};
}

namespace {
struct CheckCpuFeatures : xetile::impl::CheckCpuFeaturesBase<CheckCpuFeatures> {
  using CheckCpuFeaturesBase::CheckCpuFeaturesBase;

  void runOnOperation() override {
    llvm::StringSet<> available;
    for (const std::string &feature : features)
      available.insert(feature);
    if (features.empty() && !wrongHostFeatures().empty()) {
      getOperation().emitError() << wrongHostFeatures();
      return signalPassFailure();
    }
    if (features.empty())
      for (const llvm::StringMapEntry<bool> &feature : hostFeatures())
        if (feature.second)
          available.insert(feature.first());
    StringRef whose = features.empty() ? "this CPU" : "the CPU";
    llvm::StringSet<> told;
    getOperation()->walk([&](Operation *op) {
      StringRef intrinsic = intrinsicOf(op);
      StringRef missing = missingFeature(intrinsic, available);
      if (missing.empty() || !told.insert(missing).second)
        return;
      op->emitError() << intrinsic << " is an instruction of " << missing << ", which " << whose
                      << " does not have; a DLTI entry \"CPU\" of the module or an operation of "
                         "amx or x86vector asks for it: remove that, or compile on such a CPU";
    });
    if (!told.empty())
      signalPassFailure();
  }
};
} // namespace
