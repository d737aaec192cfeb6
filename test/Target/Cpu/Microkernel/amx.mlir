// RUN: xetile-opt %s --deep-tile-matmul="threads=1" --xetile-bufferize-for-cpu -o %t.mlir
// RUN: xetile-opt %t.mlir --xetile-lower-microkernels="vector-bits=0" --canonicalize --cse | FileCheck %s
// RUN: xetile-opt %t.mlir --xetile-lower-to-cpu="vector-bits=0" | mlir-translate --mlir-to-llvmir \
// RUN:   | llc -O3 -mtriple=x86_64-linux-gnu -mattr=+prfchw,+amx-tile,+amx-bf16,+amx-int8,+avx512bw,+avx512vl,+avx512bf16,+avx512vnni \
// RUN:   | FileCheck %s --check-prefix=ASM

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"max_vector_width" = 512 : i32, "amx" = 1 : i32,
                                                                               "L1_cache_size_in_bytes" = 49152 : i32, "L2_cache_size_in_bytes" = 2097152 : i32>>
module attributes {dlti.target_system_spec = #machine} {
// Two by two tiles of sums in registers through all of k; nothing else.
// CHECK-LABEL: func @bf16
// CHECK-COUNT-4: amx.tile_zero : !amx.tile<16x16xf32>
// CHECK: scf.for {{.*}} -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>)
// Each of the 8 steps of k fetches 4 of 32 rows of C, which are two lines each.
// CHECK-COUNT-8: memref.prefetch {{.*}}, write, locality<3>, data : memref<32x32xf32, strided<[64, 1], offset: ?>>
// Tiles of A are read again by the next call, those of B pass.
// CHECK: %[[A0:.*]] = amx.tile_load {{.*}}] : {{.*}} into !amx.tile<16x32xbf16>
// CHECK: %[[B0:.*]] = amx.tile_load {{.*}}] {xetile.streamed} : {{.*}} into !amx.tile<16x32xbf16>
// CHECK: amx.tile_mulf %[[A0]], %[[B0]]
// CHECK: %[[B1:.*]] = amx.tile_load {{.*}}] {xetile.streamed} : {{.*}} into !amx.tile<16x32xbf16>
// CHECK: amx.tile_mulf %[[A0]], %[[B1]]
// CHECK: %[[A1:.*]] = amx.tile_load {{.*}}] : {{.*}} into !amx.tile<16x32xbf16>
// CHECK: amx.tile_mulf %[[A1]], %[[B0]]
// CHECK: amx.tile_mulf %[[A1]], %[[B1]]
// CHECK-NOT: amx.tile_load
// CHECK-COUNT-4: amx.tile_store
// CHECK-NOT: vector.load
//
// LLVM configures the tiles; the loop has four loads and four products.
// ASM-LABEL: bf16:
// ASM: ldtilecfg
// ASM-COUNT-4: tilezero
// ASM-COUNT-8: prefetchw
// ASM: tileloadd (
// ASM: tileloaddt1 (
// ASM: tdpbf16ps
// ASM: tileloaddt1 (
// ASM: tdpbf16ps
// ASM: tileloadd (
// ASM-COUNT-2: tdpbf16ps
func.func @bf16(%a: tensor<64x256xbf16>, %b: tensor<256x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %filled = linalg.fill ins(%zero : f32) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<KBlock = 256, innermostKBlock = 32>}
      ins(%a, %b : tensor<64x256xbf16>, tensor<256x64xbf16>) outs(%filled : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// 32 rows of A of 2 KiB are larger than the first-level cache: every other tile of n goes through k from its end. k comes
// in two blocks: the second one adds to C, which has been read by then.
// CHECK-LABEL: func @turns
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[STEP:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[END:.*]] = arith.constant 496 : index
// CHECK: scf.for %[[N:.*]] = %c0 to %{{.*}} step %[[STEP]]
// CHECK: scf.if
// CHECK: %[[NUMBER:.*]] = arith.divui %[[N]], %[[STEP]]
// CHECK: %[[BIT:.*]] = arith.andi %[[NUMBER]], %[[C1]]
// CHECK: %[[BACKWARDS:.*]] = arith.cmpi ne, %[[BIT]], %c0
// CHECK: %[[ORIGIN:.*]] = arith.select %[[BACKWARDS]], %[[END]], %c0
// CHECK: %[[SIGN:.*]] = arith.select %[[BACKWARDS]], %c-1, %[[C1]]
// CHECK: scf.for %[[K:.*]] = %c0 to %c256 step %c16
// CHECK: memref.prefetch
// CHECK: %[[DISTANCE:.*]] = arith.muli %[[K]], %[[SIGN]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[ORIGIN]], %[[DISTANCE]]
// CHECK: amx.tile_load %{{.*}}[%[[PLACE]], %c0] {xetile.streamed}
// CHECK: scf.for {{.*}} = %c256 to %c512 step %c16
// CHECK: else
// CHECK-NOT: memref.prefetch
// CHECK: scf.for {{.*}} = %c0 to %c512 step %c16
// CHECK-LABEL: func @bytes
func.func @turns(%a: tensor<64x2048xbf16>, %b: tensor<2048x256xbf16>, %c: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %zero = arith.constant 0.0 : f32
  %filled = linalg.fill ins(%zero : f32) outs(%c : tensor<64x256xf32>) -> tensor<64x256xf32>
  %d = linalg.matmul ins(%a, %b : tensor<64x2048xbf16>, tensor<2048x256xbf16>) outs(%filled : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %d : tensor<64x256xf32>
}

// Unsigned by signed bytes, C added to; 21 rows are two tiles of 11, which share one, the last 19 columns two of 10. k = 72
// fills no tiles: A and B are copied and filled up with zeros.
// CHECK-COUNT-4: amx.tile_load {{.*}} into !amx.tile<11x16xi32>
// CHECK: amx.tile_muli %{{.*}} zext, %{{.*}}, %{{.*}} : !amx.tile<11x64xi8>, !amx.tile<16x64xi8>, !amx.tile<11x16xi32>
// CHECK-COUNT-4: amx.tile_store
// CHECK-COUNT-4: amx.tile_load {{.*}} into !amx.tile<11x10xi32>
// CHECK: scf.for
// CHECK: amx.tile_load {{.*}} into !amx.tile<11x64xi8>
// CHECK: amx.tile_load {{.*}} into !amx.tile<16x40xi8>
// CHECK: amx.tile_muli %{{.*}} zext, %{{.*}}, %{{.*}} : !amx.tile<11x64xi8>, !amx.tile<16x40xi8>, !amx.tile<11x10xi32>
// CHECK-COUNT-4: amx.tile_store
// CHECK-NOT: vpdpbusd
// ASM-LABEL: bytes_tiles:
// ASM: ldtilecfg
// ASM: tdpbusd
// ASM-LABEL: bytes_tiles_0:
// ASM: ldtilecfg
// ASM: tdpbusd
// ASM-NOT: vpdpbusd
// ASM-LABEL: bytes:
// ASM-NOT: ldtilecfg
// ASM: call{{.*}} bytes_tiles
func.func @bytes(%a: tensor<21x72xi8>, %b: tensor<72x51xi8>, %c: tensor<21x51xi32>) -> tensor<21x51xi32> {
  %d = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<21x72xi8>, tensor<72x51xi8>) outs(%c : tensor<21x51xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %xi = arith.extui %x : i8 to i32
    %yi = arith.extsi %y : i8 to i32
    %p = arith.muli %xi, %yi : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<21x51xi32>
  return %d : tensor<21x51xi32>
}

// The same in place, as A is read once for 19 columns: the last 2 of 18 groups of k are copied to tiles, with zeros.
// CHECK-LABEL: func @in_place
// CHECK: %[[LAST:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64x64xi8>
// CHECK-NOT: vector.transfer_write {{.*}} memref<32x192xi8>
// CHECK: amx.tile_load {{.*}} into !amx.tile<11x64xi8>
// CHECK: %[[THERE:.*]] = vector.c{{.*}}mask {{.*}} : vector<64xi1>
// CHECK: vector.maskedload {{.*}}, %[[THERE]]
// CHECK: vector.store %{{.*}}, %[[LAST]]
// CHECK: arith.cmpi ult
// CHECK: vector.maskedload
// CHECK: vector.store %{{.*}}, %[[LAST]]
// CHECK: %[[A:.*]] = amx.tile_load %[[LAST]]{{.*}} into !amx.tile<11x64xi8>
// CHECK: %[[B:.*]] = amx.tile_load %[[LAST]]{{.*}} into !amx.tile<16x40xi8>
// CHECK: amx.tile_muli %[[A]] zext, %[[B]],
// CHECK: amx.tile_store
// CHECK-NOT: vpdpbusd
// CHECK-LABEL: func @rows
func.func @in_place(%a: tensor<21x72xi8>, %b: tensor<72x19xi8>, %c: tensor<21x19xi32>) -> tensor<21x19xi32> {
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

// The last 13 of 77 rows are tiles of 13 rows, in a loop of their own; B is packed once for all rows.
// CHECK: memref.alloc() {{.*}} : memref<3x320x64xbf16>
// CHECK-COUNT-1: vector.interleave
// CHECK: amx.tile_mulf {{.*}} !amx.tile<16x16xf32>
// CHECK-NOT: vector.interleave
// CHECK: amx.tile_mulf {{.*}} : !amx.tile<13x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<13x16xf32>
// CHECK-NOT: vector.fma
// LLVM configures tiles outside of loops: again after the call, for the next block.
// ASM-LABEL: rows_tiles:
// ASM: ldtilecfg
// ASM-NOT: ldtilecfg
// ASM: tdpbf16ps
// ASM-NOT: ldtilecfg
// ASM: tilerelease
// ASM-LABEL: rows:
// ASM-NOT: vdpbf16ps
func.func @rows(%a: tensor<77x640xbf16>, %b: tensor<640x96xbf16>, %c: tensor<77x96xf32>) -> tensor<77x96xf32> {
  %zero = arith.constant 0.0 : f32
  %filled = linalg.fill ins(%zero : f32) outs(%c : tensor<77x96xf32>) -> tensor<77x96xf32>
  %d = linalg.matmul ins(%a, %b : tensor<77x640xbf16>, tensor<640x96xbf16>) outs(%filled : tensor<77x96xf32>) -> tensor<77x96xf32>
  return %d : tensor<77x96xf32>
}
}
