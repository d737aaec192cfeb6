// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop over workgroups becomes a kernel in a gpu.module of its own.
//
//   func: forall workgroups (m, n): ...
// becomes
//   func: launch kernel, one workgroup for each (m, n, batches), each with a grid of subgroups
//   gpu.module: kernel: ...
//
// From here on a workgroup's work is done by subgroups_m * subgroups_n subgroups of 16 lanes.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @outline_kernel(%module: !transform.any_op {transform.consumed},
                                           %subgroups_m: !transform.param<i64> {transform.readonly},
                                           %subgroups_n: !transform.param<i64> {transform.readonly},
                                           %target: !transform.any_param {transform.readonly})
      -> (!transform.any_op, !transform.any_op) {
    %workgroups = transform.structured.match ops{["scf.forall"]} in %module : (!transform.any_op) -> !transform.any_op
    // Adjacent workgroups (x) share rows of A in the caches.
    %launch = transform.xetile.launch_workgroups %workgroups : (!transform.any_op) -> !transform.any_op
    transform.xetile.set_launch_subgroups %launch sg_layout = [%subgroups_m, %subgroups_n]
        : !transform.any_op, !transform.param<i64>

    // Offsets and constants move into the launch, so that only the matrices are the kernel's arguments.
    %host = transform.get_parent_op %launch {deduplicate, op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
    %arith = transform.apply_registered_pass "lower-affine" to %host : (!transform.any_op) -> !transform.any_op
    %sunk = transform.apply_registered_pass "gpu-launch-sink-index-computations" to %arith
        : (!transform.any_op) -> !transform.any_op
    %outlined = transform.apply_registered_pass "gpu-kernel-outlining" to %module
        : (!transform.any_op) -> !transform.any_op
    %with_target = transform.apply_registered_pass "xetile-begin-target" with options = {"target" = %target}
        to %outlined : (!transform.any_op, !transform.any_param) -> !transform.any_op

    %kernel = transform.structured.match ops{["gpu.module"]} in %with_target : (!transform.any_op) -> !transform.any_op
    %host_funcs = transform.structured.match ops{["func.func"]} in %with_target : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %kernel { transform.apply_patterns.canonicalization } {apply_cse} : !transform.any_op
    transform.apply_patterns to %host_funcs { transform.apply_patterns.canonicalization } : !transform.any_op
    transform.yield %with_target, %kernel : !transform.any_op, !transform.any_op
  }
}
