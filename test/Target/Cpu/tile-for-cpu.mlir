// What a CPU does without a schedule: schedules/cpu_model.mlir, whose text the library has.
// RUN: xetile-opt %s --xetile-tile-for-cpu="threads=1" | FileCheck %s --check-prefixes=TILED,FUSED
// It is the very file.
// RUN: xetile-opt %s --xetile-tile-for-cpu="threads=2" > %t.own
// RUN: xetile-opt %s --xetile-apply-schedule="files=%schedules/cpu_model.mlir values=threads=2" | diff %t.own -
// Its parameters.
// RUN: xetile-opt %s --xetile-tile-for-cpu='threads=1 fuse=false config={"innermostMBlock": 4, "innermostNBlock": 8}' | FileCheck %s --check-prefixes=TILED,APART
// RUN: not xetile-opt %s --xetile-tile-for-cpu="pack=some" 2>&1 | FileCheck %s --check-prefix=PACK
// Other sequences.
// RUN: xetile-opt %s --xetile-tile-for-cpu="sequence=match" | FileCheck %s --check-prefix=MATCHED
// RUN: xetile-opt %s --xetile-tile-for-cpu="sequence=find_matmuls" | FileCheck %s --check-prefix=MATMULS
// RUN: not xetile-opt %s --xetile-tile-for-cpu="sequence=nosuch" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// Remarks change nothing.
// RUN: xetile-opt %s --xetile-tile-for-cpu="threads=2 explain" 2>%t.said | diff %t.own -
// RUN: FileCheck %s --check-prefix=SAID < %t.said

// An error is what the step says, and nothing of the schedule that nobody named.
// PACK-NOT: error
// PACK: error: pack: expected 'auto', 'always' or 'never', got 'some'
// PACK-NOT: error
// UNKNOWN: error: the schedule has no transform.named_sequence @nosuch with a body

// SAID: remark: {"MThreads":
// SAID: remark: a loop nest

// TILED-LABEL: func.func @f
// TILED: xetile.microkernel
// APART-SAME: array<i64: 4, 8>
// FUSED: math.tanh
// APART: linalg.tanh {xetile.schedule = "cpu_elementwise"}
// MATCHED: linalg.conv_1d_ncw_fcw {{.*}}xetile.schedule = "cpu_convolution"
// MATCHED: linalg.matmul {{.*}}xetile.schedule = "cpu_matmul"
// MATCHED: linalg.tanh {{.*}}xetile.schedule = "cpu_elementwise"
// MATCHED: linalg.reduce {{.*}}xetile.schedule = "cpu_rows"
// MATMULS-LABEL: func.func @f
// MATMULS-NOT: linalg.conv
// MATMULS: linalg.matmul {{.*}}xetile.schedule = "cpu_matmul"
// MATMULS: linalg.tanh
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "num_threads" = 2 : i32, "L2_cache_size_in_bytes" = 65536 : i32>>} {
func.func @f(%x: tensor<1x3x10xf32>, %k: tensor<8x3x3xf32>, %c: tensor<1x8x8xf32>, %w: tensor<8x48xf32>,
             %d: tensor<8x48xf32>, %s: tensor<8xf32>) -> (tensor<8x48xf32>, tensor<8xf32>) {
  %conv = linalg.conv_1d_ncw_fcw ins(%x, %k : tensor<1x3x10xf32>, tensor<8x3x3xf32>)
      outs(%c : tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %flat = tensor.collapse_shape %conv [[0, 1], [2]] : tensor<1x8x8xf32> into tensor<8x8xf32>
  %m = linalg.matmul ins(%flat, %w : tensor<8x8xf32>, tensor<8x48xf32>) outs(%d : tensor<8x48xf32>) -> tensor<8x48xf32>
  %t = linalg.tanh ins(%m : tensor<8x48xf32>) outs(%d : tensor<8x48xf32>) -> tensor<8x48xf32>
  %r = linalg.reduce {arith.addf} ins(%t : tensor<8x48xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  return %t, %r : tensor<8x48xf32>, tensor<8xf32>
}
}
