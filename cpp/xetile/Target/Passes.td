//===- Passes.td - what the paths of all targets use -----------------===//
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
    // --xetile-check-lowered="forbid=xegpu,gpu.warp_execute_on_lane_0 after=xegpu-subgroup-distribute"
    gpu.warp_execute_on_lane_0(%lane)[16] { ... }
    // error: 'gpu.warp_execute_on_lane_0' op is left in device code after xegpu-subgroup-distribute: ...
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

#endif // XETILE_TARGET_PASSES_TD
