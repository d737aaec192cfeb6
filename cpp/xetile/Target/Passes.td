//===- Passes.td - what the paths of all targets use -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_PASSES_TD
#define XETILE_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckLowered : Pass<"xetile-check-lowered", "::mlir::ModuleOp"> {
  let summary = "Fail where a lowering left its input behind";
  let description = [{
    Upstream's passes succeed with ops left that they could not lower. Each op inside the `gpu.module`s (`scope=device`)
    or outside of them (`scope=host`) is an error at that op if its dialect or full name is in `forbid`, or if `allow` is
    given and names neither.

    ```mlir
    // --xetile-check-lowered="forbid=xegpu,gpu.warp_execute_on_lane_0 after=xetile-distribute-to-lanes"
    gpu.warp_execute_on_lane_0(%lane)[16] { ... }
    // error: 'gpu.warp_execute_on_lane_0' op is left in device code after xetile-distribute-to-lanes: ...
    ```
  }];
  let options = [
    Option<"scope", "scope", "std::string", "\"device\"", "'device' or 'host'">,
    ListOption<"forbid", "forbid", "std::string", "Dialects and full op names that must be gone">,
    ListOption<"allow", "allow", "std::string", "The only dialects and full op names that may be left">,
    Option<"after", "after", "std::string", "\"\"", "What should have lowered them, for the message">,
    Option<"hint", "hint", "std::string",
        "\"nothing lowers it in this form, change its shape, types or layout\"", "What to do, for the message">
  ];
}

def CheckTypes : Pass<"xetile-check-types", "::mlir::ModuleOp"> {
  let summary = "Refuse types that no lowering to LLVM takes";
  let description = [{
    Tensors, memory of tf32, and vectors of more than 4194304 elements. Upstream's passes fail on them without an error,
    or use up all memory. The pipelines to LLVM's dialect begin with this.

    ```mlir
    func.func @f(%a: tensor<4xf32>) { ... }
    // error: 'func.func' op has a value of type tensor<4xf32>, which has no memory: expected memref; ...
    ```
  }];
}

def BeginTarget : Pass<"xetile-begin-target", "::mlir::ModuleOp"> {
  let summary = "Say in the IR for which target it is compiled";
  let description = [{
    Runs the passes by which the target of that name begins: each `gpu.module` gets the target's attribute. A schedule
    that outlines kernels ends so, whichever target they are for.

    ```mlir
    // --xetile-begin-target=target=pvc
    gpu.module @kernels { ... }                                // before
    gpu.module @kernels [#xevm.target<chip = "pvc">] { ... }   // after
    ```
    Refused: names that no target has, and targets that nothing can be compiled for.
  }];
  let options = [Option<"target", "target", "std::string", "\"pvc\"", "Name of the target">];
}

def ApplySchedule : Pass<"xetile-apply-schedule", "::mlir::ModuleOp"> {
  let summary = "Apply a schedule that is in files";
  let description = [{
    Runs `@__transform_main` of the transform ops in `files`, on the module. What a schedule declares and does not
    define comes from beside it, else from the package: a part NAME from `parts/NAME.mlir`, another sequence from
    `NAME.mlir`. A schedule that is not the package's own is checked before it runs, and runs in a process of its own:
    an op that dies of what it is given is an error at its line. Upstream's `transform-preload-library` and `transform-interpreter` do the same for a schedule that is the
    context's only one; here each pass has its own, and its parameters (`transform.tune.knob`) take values:

    ```
    --xetile-apply-schedule="files=schedules/matmul.mlir values=workgroup_m=128,k_step=16 target=bmg"
    ```
  }];
  let options = [
    ListOption<"files", "files", "std::string", "Files and folders of transform ops">,
    ListOption<"values", "values", "std::string", "Values of the schedule's parameters, each name=value">,
    Option<"target", "target", "std::string", "\"\"", "Value of the parameter `target`, if the schedule has it">
  ];
  let dependentDialects = ["::mlir::transform::TransformDialect"];
}

#endif // XETILE_TARGET_PASSES_TD
