//===- ShareKernels.cpp - transform.xetile.share_kernels ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module with declared functions, and nested modules with a function for each. Out: one
// nested module of those that compute the same, which all calls call. Refused: nothing; a nested
// module with other contents stays.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

/// The function of a kernel that nobody has tiled yet; nothing for other modules.
func::FuncOp kernelFunction(ModuleOp nested) {
  if (!nested->hasAttr(kScheduleAttr) || !llvm::hasSingleElement(nested.getOps()))
    return nullptr;
  auto func = dyn_cast<func::FuncOp>(nested.getBody()->front());
  return func && !func.isExternal() ? func : nullptr;
}

/// Attributes of a function besides its name.
DictionaryAttr attributesOf(func::FuncOp func) {
  NamedAttrList attributes(func->getAttrDictionary());
  attributes.erase(func.getSymNameAttrName());
  return attributes.getDictionary(func.getContext());
}

/// True if both compute the same of their arguments, wherever they come from.
bool areEqual(func::FuncOp one, func::FuncOp other) {
  return one->getParentOp()->getDiscardableAttrDictionary() ==
             other->getParentOp()->getDiscardableAttrDictionary() &&
         attributesOf(one) == attributesOf(other) &&
         OperationEquivalence::isRegionEquivalentTo(&one.getBody(), &other.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// Of a body: the same for equal ones.
llvm::hash_code hashOf(func::FuncOp func) {
  llvm::hash_code hash = mlir::hash_value(func.getFunctionType());
  func.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

void shareKernels(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::DenseMap<size_t, SmallVector<func::FuncOp>> known;
  for (auto nested : llvm::make_early_inc_range(module.getOps<ModuleOp>())) {
    func::FuncOp func = kernelFunction(nested);
    if (!func)
      continue;
    SmallVector<func::FuncOp> &alike = known[hashOf(func)];
    func::FuncOp *first =
        llvm::find_if(alike, [&](func::FuncOp other) { return areEqual(other, func); });
    Operation *declared = symbols.lookup(func.getSymNameAttr());
    if (first == alike.end() || !declared) {
      alike.push_back(func);
      continue;
    }
    if (failed(SymbolTable::replaceAllSymbolUses(declared, first->getSymNameAttr(), module)))
      continue;
    symbols.erase(declared);
    nested.erase();
  }
}

} // namespace

DiagnosedSilenceableFailure ShareKernelsOp::apply(TransformRewriter &, TransformResults &,
                                                  TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getTarget()))) {
    auto module = dyn_cast<ModuleOp>(target);
    if (!module)
      return wrongTarget(op, target, "builtin.module");
    shareKernels(module);
  }
  return DiagnosedSilenceableFailure::success();
}

void ShareKernelsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
