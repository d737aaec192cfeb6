// A causal mask ends the loop over keys at the last key that a workgroup's queries see, and only the steps across the diagonal
// compare places.
// RUN: xetile-opt %s --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/attention.mlir' \
// RUN:     --transform-interpreter | FileCheck %s

// CHECK: gpu.func @attention_kernel
// CHECK-DAG: %[[M:.*]] = arith.muli %block_id_y, %c128
// CHECK: %[[WHOLE:.*]]:3 = scf.for %{{.*}} = %c0{{.*}} to %[[MIDDLE:.*]] step %c64
// CHECK-NOT: arith.cmpi
// CHECK-NOT: arith.select
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %{{.*}} step %c64{{.*}} iter_args(%{{.*}} = %[[WHOLE]]#0, %{{.*}} = %[[WHOLE]]#1, %{{.*}} = %[[WHOLE]]#2)
// CHECK: %[[SEEN:.*]] = arith.cmpi sle, %{{.*}}, %{{.*}} : vector<128x64xi32>
// CHECK: arith.select %[[SEEN]]
// CHECK: scf.yield
// CHECK-NOT: scf.for
#head = affine_map<(h, m, n) -> (h, m, n)>
func.func @attention(%Q: tensor<4x256x64xf16>, %K: tensor<4x256x64xf16>, %V: tensor<4x256x64xf16>) -> tensor<4x256x64xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %kt = tensor.empty() : tensor<4x64x256xf16>
  %es = tensor.empty() : tensor<4x256x256xf32>
  %ep = tensor.empty() : tensor<4x256x256xf16>
  %eo = tensor.empty() : tensor<4x256x64xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
  %T = linalg.transpose ins(%K : tensor<4x256x64xf16>) outs(%kt : tensor<4x64x256xf16>) permutation = [0, 2, 1]
  %S = linalg.batch_matmul ins(%Q, %T : tensor<4x256x64xf16>, tensor<4x64x256xf16>)
      outs(%zs : tensor<4x256x256xf32>) -> tensor<4x256x256xf32>
  %F = linalg.generic {indexing_maps = [#head, #head], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%S : tensor<4x256x256xf32>) outs(%es : tensor<4x256x256xf32>) {
  ^bb0(%s: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %c = arith.cmpi ule, %j, %i : index
    %f = arith.select %c, %s, %low : f32
    linalg.yield %f : f32
  } -> tensor<4x256x256xf32>
  %W = linalg.softmax dimension(2) ins(%F : tensor<4x256x256xf32>) outs(%es : tensor<4x256x256xf32>)
      -> tensor<4x256x256xf32>
  %P = linalg.generic {indexing_maps = [#head, #head], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%W : tensor<4x256x256xf32>) outs(%ep : tensor<4x256x256xf16>) {
  ^bb0(%w: f32, %o: f16):
    %p = arith.truncf %w : f32 to f16
    linalg.yield %p : f16
  } -> tensor<4x256x256xf16>
  %D = linalg.batch_matmul ins(%P, %V : tensor<4x256x256xf16>, tensor<4x256x64xf16>)
      outs(%zo : tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
  return %D : tensor<4x256x64xf32>
}
