// RUN: xetile-opt %s --xetile-fuse-rows --canonicalize --cse | FileCheck %s
// RUN: xetile-opt %s --xetile-fuse-rows=threads=2 --canonicalize --cse | FileCheck %s --check-prefix=THREADS

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L2_cache_size_in_bytes" = 8192 : i32>>
#both = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>
#columns = affine_map<(m, n) -> (n)>
#swapped = affine_map<(m, n) -> (n, m)>

module attributes {dlti.target_system_spec = #machine} {
// A row of x, of powers and of results take 768 bytes: four of them fit half of the cache with what else there is.
// What several ops read of a block is computed once, in the memory of the results.
// CHECK-LABEL: func @softmax
// CHECK: scf.forall (%[[M:.*]]) = (0) to (8) step (4) shared_outs(%[[ALL:.*]] = %{{.*}})
// CHECK: %[[Y:.*]] = tensor.extract_slice %[[ALL]]
// CHECK: %[[EXP:.*]] = linalg.generic {{.*}} outs(%[[Y]] :
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} outs(%[[EXP]] :
// CHECK: arith.divf
// CHECK-NOT: math.exp
// CHECK: {xetile.rows}
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @softmax(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %some = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%some : tensor<8xf32>) -> tensor<8xf32>
  %all = tensor.empty() : tensor<8x64xf32>
  %exp = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%all : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<8x64xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<8x64xf32>, tensor<8xf32>) outs(%all : tensor<8x64xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// Sums of columns: blocks are as wide as some lines of a cache.
// CHECK-LABEL: func @columns
// CHECK: scf.forall (%{{.*}}) = (0) to (256) step (64)
// CHECK: arith.addf
// CHECK: arith.mulf
// CHECK: {xetile.rows}
func.func @columns(%x: tensor<6x256xf32>) -> tensor<6x256xf32> {
  %zero = arith.constant 0.0 : f32
  %some = tensor.empty() : tensor<256xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%some : tensor<256xf32>) -> tensor<256xf32>
  %sum = linalg.generic {indexing_maps = [#both, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<6x256xf32>) outs(%zeros : tensor<256xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<256xf32>
  %all = tensor.empty() : tensor<6x256xf32>
  %y = linalg.generic {indexing_maps = [#both, #columns, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<6x256xf32>, tensor<256xf32>) outs(%all : tensor<6x256xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.mulf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<6x256xf32>
  return %y : tensor<6x256xf32>
}

// A symmetric sum reads powers along rows and along columns: no block of rows has all of them. They stay outside, the sums
// of rows do not.
// CHECK-LABEL: func @read_in_two_ways
// CHECK: %[[EXP:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: scf.forall
// CHECK-NOT: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: {xetile.rows}
func.func @read_in_two_ways(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %some = tensor.empty() : tensor<64xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%some : tensor<64xf32>) -> tensor<64xf32>
  %all = tensor.empty() : tensor<64x64xf32>
  %exp = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%all : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x64xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#both, #swapped, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %exp, %sum : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>) outs(%all : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32, %o: f32):
    %u = arith.addf %a, %b : f32
    %t = arith.divf %u, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// The sum is a result, too: it stays outside, and what is left is one op, which only threads have a use for.
// CHECK-LABEL: func @read_elsewhere
// CHECK-NOT: scf.forall
// CHECK: return
// THREADS-LABEL: func @read_elsewhere
// THREADS: scf.forall
// THREADS: arith.addf
// THREADS: {xetile.rows}
// THREADS: scf.forall
// THREADS: arith.mulf
// THREADS: {xetile.rows}
func.func @read_elsewhere(%x: tensor<8x256xf32>) -> (tensor<8x256xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %some = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%some : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x256xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %all = tensor.empty() : tensor<8x256xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<8x256xf32>, tensor<8xf32>) outs(%all : tensor<8x256xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.mulf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<8x256xf32>
  return %y, %sum : tensor<8x256xf32>, tensor<8xf32>
}

// Less than half of the cache.
// CHECK-LABEL: func @small
// CHECK-NOT: scf.forall
// THREADS-LABEL: func @small
// THREADS-NOT: scf.forall
func.func @small(%x: tensor<8x16xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%b : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// Without elements there are no blocks.
// CHECK-LABEL: func @without_elements(
// CHECK-NOT: scf.forall
// CHECK: return
func.func @without_elements(%x: tensor<0x?xf32>) -> tensor<0x?xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<0x?xf32>
  %e = tensor.empty(%n) : tensor<0x?xf32>
  %y = linalg.exp ins(%x : tensor<0x?xf32>) outs(%e : tensor<0x?xf32>) -> tensor<0x?xf32>
  return %y : tensor<0x?xf32>
}

// A sum of no elements is no part of a block, though the rows that it makes have some.
// CHECK-LABEL: func @empty_producer(
// CHECK-NOT: scf.forall
// CHECK: linalg.reduce
// THREADS-LABEL: func @empty_producer(
// THREADS: linalg.reduce {{.*}} ins(%{{.*}} : tensor<?x0xf32>)
func.func @empty_producer(%x: tensor<?x0xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %s = linalg.reduce {arith.addf} ins(%x : tensor<?x0xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %c0 = arith.constant 0 : index
  %n = tensor.dim %z, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.exp ins(%s : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
}
