// A sum of rows becomes one kernel in XeTile, and nothing is left for the host.
// RUN: xetile-opt %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/rows.mlir' \
// RUN:     --transform-interpreter | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/rows.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// Sums of f16 are f32.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: linalg
// CHECK: gpu.launch_func @rows_kernel::@rows_kernel blocks in (%c1{{.*}}, %c5{{.*}}, %c1{{.*}}) threads in (%c128
// CHECK: gpu.func @rows_kernel
// CHECK: scf.for {{.*}} -> (vector<8x1024xf32>)
// CHECK: arith.select
// CHECK: arith.extf
// CHECK: xetile.tile_reduce <add> {{.*}} {wg_map = #{{.*}}} : vector<8x1024xf32> -> vector<8x1xf32>
// CHECK: arith.truncf
// CHECK: xetile.store_tile
func.func @rows(%A: tensor<40x100000xf16>) -> tensor<40xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<40xf16>
  %init = linalg.fill ins(%zero : f16) outs(%empty : tensor<40xf16>) -> tensor<40xf16>
  %D = linalg.reduce ins(%A : tensor<40x100000xf16>) outs(%init : tensor<40xf16>) dimensions = [1]
    (%x: f16, %s: f16) {
      %e = math.exp %x : f16
      %y = arith.addf %s, %e : f16
      linalg.yield %y : f16
    }
  return %D : tensor<40xf16>
}
