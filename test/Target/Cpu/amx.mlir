// RUN: xetile-opt %s --deep-tile-matmul="threads=1" --xetile-bufferize-for-cpu -o %t.mlir
// RUN: xetile-opt %t.mlir --xetile-lower-microkernels="vector-bits=0" --canonicalize --cse | FileCheck %s
// RUN: xetile-opt %t.mlir --xetile-lower-to-cpu="vector-bits=0" | mlir-translate --mlir-to-llvmir \
// RUN:   | llc -O3 -mtriple=x86_64-linux-gnu -mattr=+amx-tile,+amx-bf16,+amx-int8,+avx512bw,+avx512vl,+avx512bf16,+avx512vnni \
// RUN:   | FileCheck %s --check-prefix=ASM

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "amx" = 1 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// Two by two tiles of sums in registers through all of k; nothing else.
// CHECK-LABEL: func @bf16
// CHECK-COUNT-4: amx.tile_zero : !amx.tile<16x16xf32>
// CHECK: scf.for {{.*}} -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>)
// CHECK-COUNT-4: amx.tile_load {{.*}} into !amx.tile<16x32xbf16>
// CHECK-COUNT-4: amx.tile_mulf
// CHECK-COUNT-4: amx.tile_store
// CHECK-NOT: vector.load
//
// LLVM configures the tiles; the loop has four loads and four products.
// ASM-LABEL: bf16:
// ASM: ldtilecfg
// ASM-COUNT-4: tilezero
// ASM-COUNT-4: tileloadd
// ASM-COUNT-4: tdpbf16ps
func.func @bf16(%a: tensor<64x256xbf16>, %b: tensor<256x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %filled = linalg.fill ins(%zero : f32) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<KBlock = 256, innermostKBlock = 32>}
      ins(%a, %b : tensor<64x256xbf16>, tensor<256x64xbf16>) outs(%filled : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// Unsigned by signed bytes, C added to; k = 72 leaves 2 groups of 4, m and n leave 5 and 3: vector code goes on from C.
// CHECK-LABEL: func @bytes
// CHECK: amx.tile_load {{.*}} into !amx.tile<16x16xi32>
// CHECK: amx.tile_muli %{{.*}} zext, %{{.*}}, %{{.*}} : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
// CHECK: amx.tile_store
// CHECK: vpdpbusd
// ASM-LABEL: bytes:
// ASM: ldtilecfg
// ASM: tdpbusd
// ASM: vpdpbusd
func.func @bytes(%a: tensor<21x72xi8>, %b: tensor<72x19xi8>, %c: tensor<21x19xi32>) -> tensor<21x19xi32> {
  %d = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<21x72xi8>, tensor<72x19xi8>) outs(%c : tensor<21x19xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %xi = arith.extui %x : i8 to i32
    %yi = arith.extsi %y : i8 to i32
    %p = arith.muli %xi, %yi : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<21x19xi32>
  return %d : tensor<21x19xi32>
}
}
