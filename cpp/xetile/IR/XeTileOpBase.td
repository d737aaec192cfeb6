// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_XETILEOPBASE_TD
#define XETILE_IR_XETILEOPBASE_TD

include "mlir/Bytecode/BytecodeOpInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "xetile/IR/KnownAttrs.td"
include "xetile/IR/XeTileAttrs.td"
include "xetile/IR/XeTileTypes.td"

class XeTile_Op<string mnemonic, list<Trait> traits = []>
    : Op<XeTile_Dialect, mnemonic, traits # [XeTile_KnownAttrs]>;

/// An operation whose result type follows from its operands and attributes, for builders. The operation's own verifier
/// checks it too, with a message that names the constraint: the interface's comparison is switched off.
class XeTile_InferredOp<string mnemonic, list<Trait> traits = []> : XeTile_Op<mnemonic,
    traits # [DeclareOpInterfaceMethods<InferTypeOpInterface, ["refineReturnTypes"]>]> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::refineReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::mlir::success();
    }
  }];
}

/// Sizes are multiplied all over the dialect: what fits here cannot overflow there.
def XeTile_BoundedPred : CPred<"::xetile::isBoundedShape(::llvm::cast<::mlir::ShapedType>($_self).getShape())">;
class XeTile_VectorOfRank<list<int> ranks> : ConfinedType<FixedVectorOfRankAndType<ranks, [AnyType]>,
    [XeTile_BoundedPred], FixedVectorOfRankAndType<ranks, [AnyType]>.summary # " with fewer than 2^31 elements",
    "::mlir::VectorType">;

def XeTile_Vector2D : XeTile_VectorOfRank<[2]>;
def XeTile_Vector4D : XeTile_VectorOfRank<[4]>;
def XeTile_Vector : XeTile_VectorOfRank<[2, 4]>;
def XeTile_IndexVector : FixedVectorOfRankAndType<[2], [Index]>;
def XeTile_MaskVector : FixedVectorOfRankAndType<[2], [I1]>;
def XeTile_BaseLike : AnyTypeOf<[MemRefRankOf<[AnyType], [2]>, I64]>;

#endif // XETILE_IR_XETILEOPBASE_TD
