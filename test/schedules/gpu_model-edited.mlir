// Copies of gpu_model.mlir, applied by stock mlir-opt with the plugin. One leaves ops alone: they are listed.
// RUN: sed 's/^    transform.xetile.assign_kernels %fused chip = .*$/    transform.xetile.assign_kernels %fused : !transform.any_op\n    %ops = transform.structured.match ops{["linalg.reduce"]} in %fused : (!transform.any_op) -> !transform.any_op\n    transform.annotate %ops "xetile.schedule" : !transform.any_op/' %schedules/gpu_model.mlir > %t-leaves.mlir
// RUN: not mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%t-leaves.mlir' \
// RUN:     --transform-interpreter 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: error: expected the number of a kernel (xetile.kernel) and its schedule (xetile.schedule) at each op on tensors
// LEFT: note: linalg.reduce of arith.addf is in no kernel
// LEFT: note: linalg.reduce of arith.minimumf is in no kernel

// One gives two ops the number of one kernel: one is launched in place of two.
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/gpu_model.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefix=TWO
// TWO-COUNT-2: gpu.launch_func
// TWO-NOT: gpu.launch_func
// RUN: sed 's/^    transform.xetile.assign_kernels %fused chip = .*$/    %ops = transform.structured.match ops{["linalg.reduce"]} in %fused : (!transform.any_op) -> !transform.any_op\n    %number = transform.param.constant 0 : i64 -> !transform.param<i64>\n    transform.annotate %ops "xetile.kernel" = %number : !transform.any_op, !transform.param<i64>\n    transform.xetile.assign_kernels %fused : !transform.any_op/' %schedules/gpu_model.mlir > %t-merges.mlir
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%t-merges.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefix=ONE
// ONE-COUNT-1: gpu.launch_func
// ONE-NOT: gpu.launch_func

func.func @program(%x: tensor<9x50xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<9x50xf32>
  %el = tensor.empty() : tensor<9xf32>
  %z = linalg.fill ins(%zero : f32) outs(%el : tensor<9xf32>) -> tensor<9xf32>
  %i = linalg.fill ins(%inf : f32) outs(%el : tensor<9xf32>) -> tensor<9xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<9x50xf32>) outs(%z : tensor<9xf32>) dimensions = [1]
  %part = tensor.extract_slice %x[0, 10] [9, 40] [1, 1] : tensor<9x50xf32> to tensor<9x40xf32>
  %m = linalg.reduce {arith.minimumf} ins(%part : tensor<9x40xf32>) outs(%i : tensor<9xf32>) dimensions = [1]
  return %s, %m : tensor<9xf32>, tensor<9xf32>
}
