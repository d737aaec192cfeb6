// RUN: split-file %s %t
// RUN: xetile-opt %t/bytes.mlir --deep-tile-matmul="threads=1" | FileCheck %t/bytes.mlir --check-prefix=TILED
// RUN: xetile-opt %t/bytes.mlir --deep-tile-matmul="threads=1" --xetile-bufferize-for-cpu \
// RUN:   --xetile-lower-microkernels="vector-bits=0" --canonicalize --cse | FileCheck %t/bytes.mlir
// RUN: xetile-opt %t/threads.mlir --deep-tile-matmul="threads=2" --xetile-bufferize-for-cpu --xetile-lower-to-cpu="vector-bits=512 int8-dot" \
// RUN:   | FileCheck %t/threads.mlir
// RUN: xetile-opt %t/packed.mlir --xetile-lower-microkernels="int8-dot bf16-dot" --canonicalize --cse | FileCheck %t/packed.mlir
// RUN: xetile-opt %t/unfold.mlir --deep-tile-matmul="threads=1" | FileCheck %t/unfold.mlir

//--- bytes.mlir
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "int8_dot" = 1 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// Signed by signed bytes: A is copied with its top bits flipped, and what that adds is taken from the sums by columns.
// TILED-LABEL: func @signed
// TILED: %[[BYTES:.*]] = vector.transfer_read {{.*}} tensor<48x64xi8>, vector<64xi8>
// TILED: %[[FLIP:.*]] = arith.constant dense<-128> : vector<64xi8>
// TILED: arith.xori %[[BYTES]], %[[FLIP]]
// TILED: vector.transfer_write {{.*}} vector<64xi8>, tensor<2x16x128xi8>
// TILED: %[[ONES:.*]] = arith.constant dense<1> : vector<64xi8>
// TILED: %[[FACTOR:.*]] = arith.constant dense<-128> : vector<16xi32>
// TILED: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[ONES]], %{{.*}})
// TILED: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[ONES]], %{{.*}})
// TILED: arith.muli %{{.*}}, %[[FACTOR]] : vector<16xi32>
// TILED: %[[C:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : tensor<32xi32>)
// TILED: linalg.generic {{.*}} outs(%[[C]]
// TILED: arith.extui %{{.*}} : i8 to i32
// TILED: arith.extsi %{{.*}} : i8 to i32
//
// The sums start with the correction; no saturation.
// CHECK-LABEL: func @signed
// CHECK: %[[BIAS:.*]] = vector.load %{{.*}} : memref<32xi32, {{.*}}>, vector<16xi32>
// CHECK: arith.addi %{{.*}}, %[[BIAS]]
// CHECK: %[[GROUPS:.*]] = vector.load %{{.*}} vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %{{.*}}, %[[GROUPS]]) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// CHECK-NOT: vpdpbusds
func.func @signed(%a: tensor<48x64xi8>, %b: tensor<64x64xi8>, %c: tensor<48x64xi32>) -> tensor<48x64xi32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<innermostMBlock = 12, innermostNBlock = 32>}
      ins(%a, %b : tensor<48x64xi8>, tensor<64x64xi8>) outs(%c : tensor<48x64xi32>) -> tensor<48x64xi32>
  return %d : tensor<48x64xi32>
}
}

//--- threads.mlir
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "int8_dot" = 1 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// Each thread copies rows in a loop; beside it, in the same body, the microkernel has none.
// CHECK-LABEL: llvm.func @threads
// CHECK: omp.loop_nest
// CHECK-NOT: alloca_scope
// CHECK: llvm.cond_br
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: omp.yield
func.func @threads(%a: tensor<2x2x1xi8>, %b: tensor<2x1x1xi8>, %c: tensor<2x2x1xi32>) -> tensor<2x2x1xi32> {
  %d = linalg.batch_matmul ins(%a, %b : tensor<2x2x1xi8>, tensor<2x1x1xi8>) outs(%c : tensor<2x2x1xi32>) -> tensor<2x2x1xi32>
  return %d : tensor<2x2x1xi32>
}
}

//--- packed.mlir
#a = affine_map<(m, n, k, p) -> (m, k, p)>
#b = affine_map<(m, n, k, p) -> (k, n, p)>
#c = affine_map<(m, n, k, p) -> (m, n)>
// Signed A and unsigned B: the instruction takes them the other way around.
// CHECK-LABEL: func @mixed
// CHECK: %[[B:.*]] = vector.load %{{.*}} : memref<8x64xi8>, vector<64xi8>
// CHECK: %[[A:.*]] = vector.load %{{.*}} : memref<2x8x4xi8>, vector<4xi8>
// CHECK: vector.bitcast %[[A]] : vector<4xi8> to vector<1xi32>
// CHECK: %[[FACTOR:.*]] = vector.bitcast %{{.*}} : vector<16xi32> to vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[B]], %[[FACTOR]])
func.func @mixed(%a: memref<2x8x4xi8>, %b: memref<8x16x4xi8>, %c: memref<2x16xi32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<2x8x4xi8>, memref<8x16x4xi8>) outs(%c : memref<2x16xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %xi = arith.extsi %x : i8 to i32
    %yi = arith.extui %y : i8 to i32
    %p = arith.muli %xi, %yi : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  }
  return
}

// Groups of f16 have no instruction: taken apart, widened, multiplied and added one after the other.
// CHECK-LABEL: func @halves
// CHECK: %[[PAIRS:.*]] = vector.load %{{.*}} : memref<8x32xf16>, vector<32xf16>
// CHECK: %[[EVEN:.*]], %[[ODD:.*]] = vector.deinterleave %[[PAIRS]]
// CHECK: arith.extf %[[EVEN]] : vector<16xf16> to vector<16xf32>
// CHECK: arith.extf %[[ODD]] : vector<16xf16> to vector<16xf32>
// CHECK-COUNT-4: vector.fma
func.func @halves(%a: memref<2x8x2xf16>, %b: memref<8x16x2xf16>, %c: memref<2x16xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<2x8x2xf16>, memref<8x16x2xf16>) outs(%c : memref<2x16xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %xf = arith.extf %x : f16 to f32
    %yf = arith.extf %y : f16 to f32
    %p = arith.mulf %xf, %yf : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  }
  return
}

//--- unfold.mlir
// Plain rows beside packed weights: each part of the index of A becomes a dimension, and nothing is copied.
#a = affine_map<(m, N, n, K, k, p) -> (m, K * 32 + k * 2 + p)>
#b = affine_map<(m, N, n, K, k, p) -> (N, K, k, n, p)>
#c = affine_map<(m, N, n, K, k, p) -> (m, N, n)>
// CHECK-LABEL: func @unfold
// CHECK: %[[A:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2, 3]] output_shape [40, 4, 16, 2]
// CHECK-NOT: vector.transfer_write
// CHECK: tensor.extract_slice %[[A]]
// CHECK: linalg.generic
func.func @unfold(%a: tensor<40x128xbf16>, %b: tensor<2x4x16x32x2xbf16>, %c: tensor<40x2x32xf32>) -> tensor<40x2x32xf32> {
  %d = linalg.generic {indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"],
      xetile.matmul_config = #xetile.matmul_config<innermostMBlock = 8>}
      ins(%a, %b : tensor<40x128xbf16>, tensor<2x4x16x32x2xbf16>) outs(%c : tensor<40x2x32xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %xf = arith.extf %x : bf16 to f32
    %yf = arith.extf %y : bf16 to f32
    %p = arith.mulf %xf, %yf : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<40x2x32xf32>
  return %d : tensor<40x2x32xf32>
}
