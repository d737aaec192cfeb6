//===- CheckPasses.td - what a call is given, and what was asserted -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_CHECK_PASSES_TD
#define XETILE_TARGET_HOST_CHECK_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckCpuFeatures : Pass<"xetile-check-cpu-features", "::mlir::ModuleOp"> {
  let summary = "Refuse intrinsics of x86 that the CPU does not have";
  let description = [{
    A module may describe another machine than this one (DLTI entries `amx`, `bf16_dot`, `int8_dot`), so that its code
    can be looked at. Machine code for this CPU cannot be made of it: LLVM would end the process. This refuses, at the
    op that asks for them, calls of `llvm.x86.*` for AMX, AVX, AVX2 and the sets that AVX-512 consists of.

    With the features of a CPU without AMX, `llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"(...)` is an error:
    `llvm.x86.tdpbf16ps.internal is an instruction of amx-bf16, which this CPU does not have; ...`
  }];
  let options = [
    ListOption<"features", "features", "std::string", "LLVM's names of what the CPU has; by default this CPU's">
  ];
}

def CheckSizes : Pass<"xetile-check-sizes", "::mlir::ModuleOp"> {
  let summary = "Write the function that checks sizes before a call";
  let description = [{
    Sizes of arguments that are known at run time only must fit together: shared dimensions of a contraction, operands
    of elementwise ops, what slices, concatenations and reshapes take. Beside each public `@f` on tensors for which there
    are such conditions `@f_check` is written. It takes descriptors of the arguments, and of the results where all their
    sizes are static, and returns the number of the first condition that does not hold (0 for none) and the values of
    its two sides. The attribute `xetile.conditions` says what the conditions are.

    For `linalg.matmul` on `%a, %b: tensor<?x?xf32>`:
    ```mlir
    func.func @f_check(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, ...) -> (i64, i64, i64)
      attributes {xetile.conditions = [
        ["argument 0, dimension 1", "==", "argument 1, dimension 0", "linalg.matmul in line 3"], ...]}
    ```

    What the function expects (`xetile-check-asserts`) and follows from its arguments is a condition, too, of the form
    `[place, text]`.

    Conditions inside loops and branches are computed for each step that will run, unless they are known to hold.
    Refused, with the op's location: sizes and offsets that depend on what the function computes, unless they are known
    to be in bounds; ops on tensors of dynamic sizes of which it is not known here what they ask for. Elements that the
    body of a linalg op reads by indices that are data (`tensor.extract` in a gather) are left to `xetile-check-indices`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
      "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CheckIndices : Pass<"xetile-check-indices", "::mlir::ModuleOp"> {
  let summary = "Keep indices that bodies compute in range, and tell those that were not";
  let description = [{
    A `tensor.extract` in the body of a linalg op (or of `tensor.generate`, `tensor.pad`) may have an index that is data.
    One that is not proved to be in range is limited to it, so that no other memory is read. A reduction before the op,
    over those loops that the index depends on, finds the greatest one, and the function expects of it that it was in
    range: a call of `@xetile_expect`, for `xetile-report-expectations`, whose attribute `xetile.expectations` has place and
    text of each. Indices that are known to be in range (constants, `linalg.index`, what was clamped, in an elementwise op
    before, too) stay as they are.

    In the body, for `%t: tensor<10xf32>`:
    ```mlir
    %x = arith.index_cast %in : i64 to index
    %v = tensor.extract %t[%x] : tensor<10xf32>      // before
    %y = arith.minui %x, %c9 : index                 // after
    %v = tensor.extract %t[%y] : tensor<10xf32>
    ```
    A `vector.gather` of a tensor, outside of bodies, has lanes masked that are outside of the tensor, and expects none.

    Refused: indices that depend on what the op sums up, or on side effects; such an op in a region of the body other
    than `scf.if` and `scf.for`; elements of tensors that the body makes; `vector.gather` in bodies.
  }];
  let dependentDialects = ["::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def CheckAsserts : Pass<"xetile-check-asserts", "::mlir::ModuleOp"> {
  let summary = "Expect what assertions assert, instead of ending the process";
  let description = [{
    `cf.assert` becomes a call of `@xetile_expect`, for `xetile-report-expectations`: the run goes on, and the caller gets
    an error with place and message of the first that failed, but no results. One in the body of a linalg op (or of
    `tensor.generate`, `tensor.pad`) becomes a reduction before the op. Assertions that are known to hold are dropped.
    Integer divisions of functions with others divide by 1 where there is no quotient: they may be what is asserted.

    Before: `cf.assert %holds, "n is small"`

    After: `call @xetile_expect(%c1_i64, %holds, %c0_i64, %c-1_i64) : (i64, i1, i64, i64) -> ()`

    Refused, in bodies, as by `xetile-check-indices`, which runs before.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def ReportExpectations : Pass<"xetile-report-expectations", "::mlir::ModuleOp"> {
  let summary = "Return which expectation of the data did not hold";
  let description = [{
    Calls of `@xetile_expect(number, holds, got, bound)` record the first that does not hold, in memory of the function's
    own; threads of a parallel loop may, too. The function returns it behind its results: the number, from 1, of the
    expectation in the attribute `xetile.expectations`, one `[place, text]` each, 0 if all hold, then `got` and `bound`.
    Loops of `scf.while` end then: a condition that was asserted may be what ends them.

    Before: `func.func @f(%a: memref<4xi64>, %r: memref<4xf32>)`

    After: `func.func @f(%a: memref<4xi64>, %r: memref<4xf32>) -> (i64, i64, i64) attributes {xetile.expectations = ...}`

    Refused: such calls in functions that the module calls.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def CheckMemory : Pass<"xetile-check-memory", "::mlir::ModuleOp"> {
  let summary = "Write the function that checks descriptors before a call";
  let description = [{
    Callers from C pass descriptors of memory: their sizes must be those of the types, arrays be in C order, and results
    share no memory with others. Beside each public `@f` on such memory `@f_check_memory` is written, which computes what
    `@f_check` of `xetile-check-sizes` computes. Arguments with the attribute `xetile.result` are results, those with
    `xetile.written` are written besides; both attributes are removed.

    For `%a: memref<8xf32>, %r: memref<8xf32> {xetile.result}`:
    ```mlir
    func.func @f_check_memory(%a: memref<?xf32, strided<[?], offset: ?>>, ...) -> (i64, i64, i64)
      attributes {xetile.conditions = [["argument 0, dimension 0", "==", "8", "its type"], ...,
        ["result 0", "apart from", "argument 0", "results share no memory"]]}
    ```
    Functions on numbers, or on memory of other layouts, stay alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def AddCheckedEntry : Pass<"xetile-add-checked-entry", "::mlir::ModuleOp"> {
  let summary = "Write the C function that checks sizes and calls";
  let description = [{
    In the LLVM dialect, where `@f` and the checks of `xetile-check-sizes` and `xetile-check-memory` have C interfaces:
    `@f_checked` takes the same addresses of descriptors as `_mlir_ciface_f`. It returns null after a call, or a text
    that says what is wrong, and nothing was called then. Of a function with expectations of its data
    (`xetile-report-expectations`) it returns the text of the one that did not hold, after the call. Where the module has the variable `@xetile_refused`, a text that
    it points to is returned first: what the system did not lend.

    ```c
    const char *f_checked(struct memref2d *a, struct memref2d *b, struct memref2d *result);
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def DropProvenAsserts : Pass<"xetile-drop-proven-asserts", "::mlir::func::FuncOp"> {
  let summary = "Remove assertions that are known to hold";
  let description = [{
    As of indices that were limited before. Kernels of GPUs have no way to tell of the others, which a schedule refuses.

    Before: `cf.assert %below, "index must be smaller than dim size"`, where `%below` compares a number from 0 to 9 with 10

    After: nothing
  }];
}

#endif // XETILE_TARGET_HOST_CHECK_PASSES_TD
