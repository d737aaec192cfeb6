// The schedule of models for CPUs, in stock mlir-opt with the plugin and in xetile-opt.
// REQUIRES: cpu
// RUN: mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin %s \
// RUN:     --transform-preload-library='transform-library-paths=%schedules/match.mlir,%schedules/cpu_fuse.mlir,%schedules/cpu_model.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefixes=CHECK,CONV,ROWS,MERGED
// xetile-compile finds the others beside the file.
// RUN: xetile-opt %s --xetile-compile='target=cpu schedule=%schedules/cpu_model.mlir to=1-tiled set=threads=1' \
// RUN:     | FileCheck %s --check-prefixes=CHECK,CONV,ROWS,MERGED
// It is what the compiler does without a schedule.
// RUN: xetile-opt %s --xetile-compile='target=cpu schedule=%schedules/cpu_model.mlir set=threads=2 to=2-memory' > %t.with
// RUN: xetile-opt %s --xetile-compile='target=cpu threads=2 to=2-memory' | diff %t.with -

// What is changed in match.mlir is in the result, later passes do not take it back.
// RUN: rm -rf %t && mkdir %t && cp %schedules/cpu_model.mlir %t
// RUN: sed -e 's/@is_rows -> @cpu_rows/@is_rows -> @none/' %schedules/match.mlir > %t/match.mlir
// RUN: xetile-opt %s --xetile-compile='target=cpu schedule=%t/cpu_model.mlir set=threads=1 to=2-memory' \
// RUN:     | FileCheck %s --check-prefix=NO-ROWS
// RUN: sed -e 's/@is_convolution -> @cpu_convolution/@is_convolution -> @none/' %schedules/match.mlir > %t/match.mlir
// RUN: xetile-opt %s --xetile-compile='target=cpu schedule=%t/cpu_model.mlir set=threads=1 to=2-memory' \
// RUN:     | FileCheck %s --check-prefix=DIRECT
// RUN: sed -e 's/@is_elementwise -> @cpu_elementwise/@is_elementwise -> @none/' %schedules/match.mlir > %t/match.mlir
// RUN: xetile-opt %s --xetile-compile='target=cpu schedule=%t/cpu_model.mlir set=threads=1 to=1-tiled' \
// RUN:     | FileCheck %s --check-prefix=APART
// So is a step that is taken out.
// RUN: cp %schedules/match.mlir %t
// RUN: sed -e '/%%blocked = /,/any_op$/d; s/%%blocked/%%unique/' %schedules/cpu_fuse.mlir > %t/cpu_fuse.mlir
// RUN: xetile-opt %s --xetile-compile='target=cpu schedule=%t/cpu_model.mlir set=threads=1 to=2-memory' \
// RUN:     | FileCheck %s --check-prefix=NO-ROWS

// RUN: xetile-opt %s --xetile-compile='target=cpu schedule=%schedules/cpu_model.mlir set=threads=1,rows=16 to=1-tiled' \
// RUN:     | FileCheck %s --check-prefix=MANY-ROWS
// RUN: not xetile-opt %s --xetile-compile='target=cpu schedule=%schedules/cpu_model.mlir set=rows=-1' 2>&1 \
// RUN:     | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: parameter 'rows' is '-1', expected an integer from 0 to
// RUN: not xetile-opt %s --xetile-compile='target=cpu schedule=%schedules/cpu_model.mlir set=pack=some' 2>&1 \
// RUN:     | FileCheck %s --check-prefix=PACK
// PACK: pack: expected 'auto', 'always' or 'never', got 'some'

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 2 : i32,
    "L2_cache_size_in_bytes" = 65536 : i32>>
#both = affine_map<(m, n) -> (m, n)>
#rows = affine_map<(m, n) -> (m)>

module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func.func @model
// CONV-NOT: linalg.conv_2d
// CONV: xetile.microkernel
// MERGED: xetile.microkernel
// MERGED: math.tanh
// MERGED-NEXT: math.exp
// MERGED: scf.yield
// ROWS: scf.forall (%{{.*}}) = (0) to (64) step (2)
// ROWS: linalg.generic {{.*}}"reduction"{{.*}} ins(%{{.*}} : tensor<2x1024xf32>)
// ROWS: {xetile.rows}
// NO-ROWS-LABEL: func.func @model
// NO-ROWS: linalg.generic {{.*}}"reduction"{{.*}} ins(%{{.*}} : memref<64x1024xf32>)
// DIRECT: linalg.conv_2d_nchw_fchw
// What is left alone is no part of the matmul's loops.
// APART-LABEL: func.func @model
// APART: xetile.microkernel
// APART: xetile.microkernel
// APART-NEXT: tensor.insert_slice
// APART: linalg.generic {{.*}}xetile.schedule = "none"
// APART-NEXT: ^bb0
// APART-NEXT: math.tanh
// MANY-ROWS: scf.forall (%{{.*}}) = (0) to (64) step (16)
func.func @model(%x: tensor<1x3x10x10xf32>, %f: tensor<8x3x3x3xf32>, %c: tensor<1x8x8x8xf32>,
                 %w: tensor<8x1024xf32>) -> tensor<64x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %conv = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %f : tensor<1x3x10x10xf32>, tensor<8x3x3x3xf32>) outs(%c : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %flat = tensor.collapse_shape %conv [[0, 1, 2], [3]] : tensor<1x8x8x8xf32> into tensor<64x8xf32>
  %all = tensor.empty() : tensor<64x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%all : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %d = linalg.matmul ins(%flat, %w : tensor<64x8xf32>, tensor<8x1024xf32>) outs(%zeros : tensor<64x1024xf32>)
      -> tensor<64x1024xf32>
  %t = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<64x1024xf32>) outs(%all : tensor<64x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.tanh %in : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %some = tensor.empty() : tensor<64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%some : tensor<64xf32>) -> tensor<64xf32>
  %exp = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<64x1024xf32>) outs(%all : tensor<64x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  %sum = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x1024xf32>) outs(%none : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#both, #rows, #both], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x1024xf32>, tensor<64xf32>) outs(%all : tensor<64x1024xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %r = arith.divf %in, %s : f32
    linalg.yield %r : f32
  } -> tensor<64x1024xf32>
  return %y : tensor<64x1024xf32>
}
}
