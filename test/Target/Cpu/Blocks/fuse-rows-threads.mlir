// RUN: xetile-opt %s --xetile-fuse-rows --canonicalize | FileCheck %s --check-prefix=ONE
// RUN: xetile-opt %s --xetile-fuse-rows=threads=2 --canonicalize | FileCheck %s --check-prefix=TWO
// RUN: xetile-opt %s --xetile-fuse-rows=threads=16 --canonicalize | FileCheck %s --check-prefix=MANY
// RUN: xetile-opt %s --xetile-fuse-rows="threads=16 rows=512" --canonicalize | FileCheck %s --check-prefix=ROWS

// The first level is so small that no row fits it.
#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L1_cache_size_in_bytes" = 1024 : i32,
  "L2_cache_size_in_bytes" = 2097152 : i32>>
#both = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>

module attributes {dlti.target_system_spec = #machine} {
// Eight blocks are what half of a cache holds, sixteen threads have one each; the rows of a block that is asked for stay.
// ONE-LABEL: func @large
// ONE: scf.forall (%{{.*}}) = (0) to (1024) step (128)
// TWO-LABEL: func @large
// TWO: scf.forall (%{{.*}}) = (0) to (1024) step (128)
// MANY-LABEL: func @large
// MANY: scf.forall (%{{.*}}) = (0) to (1024) step (64)
// ROWS-LABEL: func @large
// ROWS: scf.forall (%{{.*}}) = (0) to (1024) step (512)
func.func @large(%x: tensor<1024x768xf32>) -> tensor<1024x768xf32> {
  %zero = arith.constant 0.0 : f32
  %some = tensor.empty() : tensor<1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%some : tensor<1024xf32>) -> tensor<1024xf32>
  %all = tensor.empty() : tensor<1024x768xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1024x768xf32>) outs(%zeros : tensor<1024xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<1024xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<1024x768xf32>, tensor<1024xf32>) outs(%all : tensor<1024x768xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<1024x768xf32>
  return %y : tensor<1024x768xf32>
}

// All of it stays in a cache, but is enough for two threads, and for more as long as a block has some KiB.
// ONE-LABEL: func @small
// ONE-NOT: scf.forall
// TWO-LABEL: func @small
// TWO: scf.forall (%{{.*}}) = (0) to (120) step (60)
// MANY-LABEL: func @small
// MANY: scf.forall (%{{.*}}) = (0) to (120) step (8)
func.func @small(%x: tensor<120x512xf32>) -> tensor<120x512xf32> {
  %zero = arith.constant 0.0 : f32
  %some = tensor.empty() : tensor<120xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%some : tensor<120xf32>) -> tensor<120xf32>
  %all = tensor.empty() : tensor<120x512xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<120x512xf32>) outs(%zeros : tensor<120xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<120xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<120x512xf32>, tensor<120xf32>) outs(%all : tensor<120x512xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<120x512xf32>
  return %y : tensor<120x512xf32>
}

// Of which a thread would not take as long as it takes to start.
// TWO-LABEL: func @tiny
// TWO-NOT: scf.forall
func.func @tiny(%x: tensor<16x512xf32>) -> tensor<16x512xf32> {
  %zero = arith.constant 0.0 : f32
  %some = tensor.empty() : tensor<16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%some : tensor<16xf32>) -> tensor<16xf32>
  %all = tensor.empty() : tensor<16x512xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x512xf32>) outs(%zeros : tensor<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<16xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<16x512xf32>, tensor<16xf32>) outs(%all : tensor<16x512xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<16x512xf32>
  return %y : tensor<16x512xf32>
}
}
