// RUN: xetile-opt %s --xetile-fuse-attention=threads=2 | FileCheck %s
// RUN: xetile-opt %s --xetile-fuse-attention=threads=2 --deep-tile-matmul=threads=2 --cse | FileCheck %s --check-prefix=TILED
// RUN: not xetile-opt %s --xetile-fuse-attention=threads=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// NEGATIVE: error: threads = -1: expected 0 (the machine's cores) or more

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "L1_cache_size_in_bytes" = 1024 : i32, "L2_cache_size_in_bytes" = 65536 : i32, "max_vector_width" = 512 : i32,
    "num_threads" = 2 : i32>>
#all = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>

module attributes {dlti.target_system_spec = #machine} {

// Three heads for two threads: each is done in two parts of two blocks of rows, the last of which computes some rows
// again. The transpose of the keys is folded away, what scales them is done once for a part, quotients for the output.
// CHECK-LABEL: func @heads(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<3x250x32xf32>, %[[K:[^:]*]]: tensor<3x128x32xf32>, %[[V:[^:]*]]: tensor<3x128x48xf32>)
// CHECK-NOT: linalg.transpose
// CHECK-NOT: tensor<3x250x128xf32>
// CHECK: scf.forall (%[[H:.*]], %[[P:.*]]) in (3, 2) shared_outs(%{{.*}} = %{{.*}}) -> (tensor<3x250x48xf32>) {
// CHECK: %[[KEYS:.*]] = tensor.extract_slice %[[K]][%[[H]], 0, 0] [1, 128, 32]
// CHECK: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[KEYS]] : tensor<128x32xf32>)
// CHECK: %[[VALUES:.*]] = tensor.extract_slice %[[V]][%[[H]], 0, 0] [1, 128, 48]
// CHECK: scf.for
// CHECK: affine.min
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %[[Q]][%[[H]], %{{.*}}, 0] [1, 64, 32]
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[ROWS]], %[[SCALED]] : tensor<64x32xf32>, tensor<128x32xf32>)
// CHECK-SAME: xetile.matmul_config = #{{.*}}, xetile.matmul_pack_before_loop}
// CHECK: %[[E:.*]] = linalg.generic {{.*}} ins(%[[S]], %{{.*}} : tensor<64x128xf32>, tensor<64xf32>) outs(%[[S]] : tensor<64x128xf32>)
// CHECK: %[[O:.*]] = linalg.generic {{.*}} ins(%[[E]], %[[VALUES]] : tensor<64x128xf32>, tensor<128x48xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[O]], %{{.*}} : tensor<64x48xf32>, tensor<64xf32>)
// CHECK: arith.divf
// CHECK: scf.forall.in_parallel
// CHECK: } {xetile.rows}
// Keys and values are packed before the loop over blocks, and no thread starts others.
// TILED-LABEL: func @heads(
// TILED: scf.forall (%{{.*}}, %{{.*}}) in (3, 2)
// TILED: %[[PACKED:.*]] = scf.for {{.*}} -> (tensor<{{.*}}x32x{{.*}}xf32>)
// TILED: %[[PACKEDV:.*]] = scf.for {{.*}} -> (tensor<{{.*}}x128x{{.*}}xf32>)
// TILED: affine.min
// TILED-NOT: scf.forall
// TILED: tensor.extract_slice %[[PACKED]]
// TILED: linalg.batch_reduce_matmul
// TILED: tensor.extract_slice %[[PACKEDV]]
// TILED: linalg.batch_reduce_matmul
func.func @heads(%q: tensor<3x250x32xf32>, %k: tensor<3x128x32xf32>, %v: tensor<3x128x48xf32>) -> tensor<3x250x48xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.25 : f32
  %ek = tensor.empty() : tensor<3x32x128xf32>
  %es = tensor.empty() : tensor<3x250x128xf32>
  %er = tensor.empty() : tensor<3x250xf32>
  %ey = tensor.empty() : tensor<3x250x48xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<3x250x128xf32>) -> tensor<3x250x128xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<3x250xf32>) -> tensor<3x250xf32>
  %lr = linalg.fill ins(%lowest : f32) outs(%er : tensor<3x250xf32>) -> tensor<3x250xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<3x250x48xf32>) -> tensor<3x250x48xf32>
  %kt = linalg.transpose ins(%k : tensor<3x128x32xf32>) outs(%ek : tensor<3x32x128xf32>) permutation = [0, 2, 1]
  %ks = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%kt : tensor<3x32x128xf32>) outs(%ek : tensor<3x32x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %scale : f32
    linalg.yield %t : f32
  } -> tensor<3x32x128xf32>
  %s = linalg.batch_matmul ins(%q, %ks : tensor<3x250x32xf32>, tensor<3x32x128xf32>)
      outs(%zs : tensor<3x250x128xf32>) -> tensor<3x250x128xf32>
  %max = linalg.reduce { arith.maximumf } ins(%s : tensor<3x250x128xf32>) outs(%lr : tensor<3x250xf32>) dimensions = [2]
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<3x250x128xf32>, tensor<3x250xf32>) outs(%es : tensor<3x250x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<3x250x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<3x250x128xf32>) outs(%zr : tensor<3x250xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<3x250x128xf32>, tensor<3x250xf32>) outs(%es : tensor<3x250x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<3x250x128xf32>
  %y = linalg.batch_matmul ins(%p, %v : tensor<3x250x128xf32>, tensor<3x128x48xf32>)
      outs(%zy : tensor<3x250x48xf32>) -> tensor<3x250x48xf32>
  return %y : tensor<3x250x48xf32>
}

// Any reduction will do, one head has no dimension, and a mask of indices is computed for each block.
// CHECK-LABEL: func @one_head(
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK-NOT: tensor<256x128xi1>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x32xf32>, tensor<32x128xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[S]], %{{.*}}, %{{.*}} : tensor<64x128xf32>, tensor<64xi32>, tensor<128xi32>)
// CHECK: arith.cmpi sge
// CHECK: math.exp
func.func @one_head(%q: tensor<256x32xf32>, %k: tensor<32x128xf32>, %v: tensor<128x16xf32>, %i: tensor<256xi32>,
                    %j: tensor<128xi32>) -> tensor<256x16xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<256x128xf32>
  %em = tensor.empty() : tensor<256x128xi1>
  %er = tensor.empty() : tensor<256xf32>
  %ey = tensor.empty() : tensor<256x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<256x128xf32>) -> tensor<256x128xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<256xf32>) -> tensor<256xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<256x16xf32>) -> tensor<256x16xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i, %j : tensor<256xi32>, tensor<128xi32>) outs(%em : tensor<256x128xi1>) {
  ^bb0(%a: i32, %b: i32, %o: i1):
    %t = arith.cmpi sge, %a, %b : i32
    linalg.yield %t : i1
  } -> tensor<256x128xi1>
  %bias = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                          iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<256x128xi1>) outs(%es : tensor<256x128xf32>) {
  ^bb0(%a: i1, %o: f32):
    %t = arith.select %a, %zero, %lowest : f32
    linalg.yield %t : f32
  } -> tensor<256x128xf32>
  %s = linalg.matmul ins(%q, %k : tensor<256x32xf32>, tensor<32x128xf32>) outs(%zs : tensor<256x128xf32>) -> tensor<256x128xf32>
  %d = linalg.add ins(%s, %bias : tensor<256x128xf32>, tensor<256x128xf32>) outs(%es : tensor<256x128xf32>) -> tensor<256x128xf32>
  %e = linalg.exp ins(%d : tensor<256x128xf32>) outs(%es : tensor<256x128xf32>) -> tensor<256x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<256x128xf32>) outs(%zr : tensor<256xf32>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : tensor<256x128xf32>, tensor<256xf32>) outs(%es : tensor<256x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<256x128xf32>
  %y = linalg.matmul ins(%p, %v : tensor<256x128xf32>, tensor<128x16xf32>) outs(%zy : tensor<256x16xf32>) -> tensor<256x16xf32>
  return %y : tensor<256x16xf32>
}

// Without a reduction between them two matmuls share no rows.
// CHECK-LABEL: func @two_matmuls(
// CHECK-NOT: scf.forall
// CHECK: linalg.matmul
// CHECK: linalg.exp
// CHECK: linalg.matmul
func.func @two_matmuls(%q: tensor<256x32xf32>, %k: tensor<32x128xf32>, %v: tensor<128x16xf32>, %zs: tensor<256x128xf32>,
                       %zy: tensor<256x16xf32>) -> tensor<256x16xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<256x32xf32>, tensor<32x128xf32>) outs(%zs : tensor<256x128xf32>) -> tensor<256x128xf32>
  %e = linalg.exp ins(%s : tensor<256x128xf32>) outs(%zs : tensor<256x128xf32>) -> tensor<256x128xf32>
  %y = linalg.matmul ins(%e, %v : tensor<256x128xf32>, tensor<128x16xf32>) outs(%zy : tensor<256x16xf32>) -> tensor<256x16xf32>
  return %y : tensor<256x16xf32>
}
}
