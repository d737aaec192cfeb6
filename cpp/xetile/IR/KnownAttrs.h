//===- KnownAttrs.h - operations without attributes that nobody reads -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR keeps any attribute on any operation. One without a dialect's prefix that the operation does
// not define looks like a property of it and is ignored: load_tile {transpose = [1, 0]} would load
// untransposed data. The trait KnownAttrs refuses such attributes in the verifier, the wrapper
// Strict those of a properties dictionary (`<{...}>`), which upstream's parser drops.
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_IR_KNOWNATTRS_H
#define XETILE_IR_KNOWNATTRS_H

#include "mlir/IR/OpDefinition.h"

namespace xetile {

/// Emits an error if `op` has a discardable attribute without a dialect's prefix.
llvm::LogicalResult verifyKnownAttrs(mlir::Operation *op);

/// Reports `name` as no attribute of the operation called `op`: what it takes, and what stands for
/// `name` where that is known. `emitError` opens the diagnostic.
llvm::LogicalResult refuseAttr(llvm::StringRef op, llvm::ArrayRef<llvm::StringRef> known,
                               llvm::StringRef name,
                               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Every attribute is one that the operation defines, or has a dialect's prefix.
template <typename ConcreteType>
struct KnownAttrs : mlir::OpTrait::TraitBase<ConcreteType, KnownAttrs> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyKnownAttrs(op); }
};

/// `Op` for its registration: the same operation, but its properties take known names alone.
template <typename Op> struct Strict : Op {
  using Op::Op;

  template <typename Properties>
  static llvm::LogicalResult
  setPropertiesFromAttr(Properties &properties, mlir::Attribute attr,
                        llvm::function_ref<mlir::InFlightDiagnostic()> emitError) {
    if (auto dictionary = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(attr))
      for (mlir::NamedAttribute named : dictionary)
        if (!Op::getInherentAttr(attr.getContext(), properties, named.getName()))
          return refuseAttr(Op::getOperationName(), Op::getAttributeNames(), named.getName(),
                            emitError);
    return Op::setPropertiesFromAttr(properties, attr, emitError);
  }
};

} // namespace xetile

/// It is registered as the operation itself.
template <typename Op> class mlir::detail::TypeIDResolver<xetile::Strict<Op>> {
public:
  static TypeID resolveTypeID() { return TypeID::get<Op>(); }
};

#endif // XETILE_IR_KNOWNATTRS_H
