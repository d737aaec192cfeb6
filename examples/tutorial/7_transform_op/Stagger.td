// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// transform.tutorial.stagger: the definition, of which mlir-tblgen makes the class, its parser and its printer.
include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def StaggerOp : Op<Transform_Dialect, "tutorial.stagger",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TransformEachOpTrait, TransformOpInterface]> {
  let cppNamespace = "tutorial";
  let summary = "lets each workgroup begin a loop at another step";
  let description = [{
    Workgroup (x, y) runs step (i + x + y) mod n where it ran step i of n: workgroups that read the same rows of A do not
    ask for the same bytes at the same time. Each step is still run once; sums come in another order.

    Silenceable failures:
    - stagger_c1: the loop begins at 0, and its end and step are constants.
    - stagger_c2: the step divides the end.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter, ::mlir::scf::ForOp loop,
        ::mlir::transform::ApplyToEachResultList &results, ::mlir::transform::TransformState &state);
  }];
}
