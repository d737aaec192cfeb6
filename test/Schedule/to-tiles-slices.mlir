// Slices that are put together, or multiplied: they are read where they are.
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

// A concatenation of slices of one tensor, along a dimension of which each workgroup has one index: it is read once, where
// that index lies.
// CHECK-LABEL: func.func @turned(
// CHECK: %[[A:.*]] = bufferization.to_buffer %{{.*}} read_only : tensor<4x32x64xf32>
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %[[I:.*]]) =
// CHECK-DAG: %[[LATE:.*]] = arith.select %{{.*}}, %c1, %c-3
// CHECK-DAG: %[[BY:.*]] = arith.select %{{.*}}, %c2, %[[LATE]]
// CHECK: %[[AT:.*]] = arith.addi %[[I]], %[[BY]]
// CHECK: memref.subview %[[A]][%[[AT]], 0, 0]
// CHECK: xetile.load_tile
// CHECK-NOT: xetile.load_tile
// CHECK: xetile.store_tile
func.func @turned(%A: tensor<4x32x64xf32>) -> tensor<4x32x64xf32> {
  %a = tensor.extract_slice %A[2, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<4x32x64xf32> to tensor<1x32x64xf32>
  %b = tensor.extract_slice %A[2, 0, 0] [2, 32, 64] [1, 1, 1] : tensor<4x32x64xf32> to tensor<2x32x64xf32>
  %c = tensor.extract_slice %A[0, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<4x32x64xf32> to tensor<1x32x64xf32>
  %D = tensor.concat dim(0) %a, %b, %c : (tensor<1x32x64xf32>, tensor<2x32x64xf32>, tensor<1x32x64xf32>) -> tensor<4x32x64xf32>
  return %D : tensor<4x32x64xf32>
}

// Those along rows of a tile, and of parts that begin elsewhere in other dimensions: both are read.
// CHECK-LABEL: func.func @beside(
// CHECK-COUNT-2: xetile.load_tile
// CHECK: xetile.store_tile
func.func @beside(%A: tensor<4x32x65xf32>) -> tensor<2x32x64xf32> {
  %a = tensor.extract_slice %A[2, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<4x32x65xf32> to tensor<1x32x64xf32>
  %b = tensor.extract_slice %A[3, 0, 1] [1, 32, 64] [1, 1, 1] : tensor<4x32x65xf32> to tensor<1x32x64xf32>
  %D = tensor.concat dim(0) %a, %b : (tensor<1x32x64xf32>, tensor<1x32x64xf32>) -> tensor<2x32x64xf32>
  return %D : tensor<2x32x64xf32>
}

// Slices of two tensors.
// CHECK-LABEL: func.func @of_two(
// CHECK-COUNT-2: xetile.load_tile
// CHECK: xetile.store_tile
func.func @of_two(%A: tensor<4x32x64xf32>, %B: tensor<4x32x64xf32>) -> tensor<2x32x64xf32> {
  %a = tensor.extract_slice %A[2, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<4x32x64xf32> to tensor<1x32x64xf32>
  %b = tensor.extract_slice %B[3, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<4x32x64xf32> to tensor<1x32x64xf32>
  %D = tensor.concat dim(0) %a, %b : (tensor<1x32x64xf32>, tensor<1x32x64xf32>) -> tensor<2x32x64xf32>
  return %D : tensor<2x32x64xf32>
}

// A convolution's filters and image are parts of what is in memory, which have all of k.
// CHECK-LABEL: func.func @parts(
// CHECK: xetile.tile_mma
// CHECK-LABEL: func.func @part_of_k(
// CHECK-NOT: xetile.tile_mma
// CHECK-LABEL: func.func @steps(
// CHECK-NOT: xetile.tile_mma
// CHECK-LABEL: func.func @fewer_dimensions(
// CHECK-NOT: xetile.tile_mma
#image = affine_map<(h, w, f, p, c) -> (h + p, w, c)>
#filter = affine_map<(h, w, f, p, c) -> (p, c, f)>
#sum = affine_map<(h, w, f, p, c) -> (h, w, f)>
func.func @parts(%x: tensor<9x33x32xf16>, %w: tensor<3x32x64xf16>) -> tensor<7x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %most = tensor.extract_slice %x[1, 1, 0] [8, 32, 32] [1, 1, 1] : tensor<9x33x32xf16> to tensor<8x32x32xf16>
  %taps = tensor.extract_slice %w[1, 0, 0] [2, 32, 32] [1, 1, 1] : tensor<3x32x64xf16> to tensor<2x32x32xf16>
  %e = tensor.empty() : tensor<7x32x32xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<7x32x32xf32>) -> tensor<7x32x32xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #sum],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%most, %taps : tensor<8x32x32xf16>, tensor<2x32x32xf16>) outs(%s : tensor<7x32x32xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %l = arith.extf %a : f16 to f32
    %r = arith.extf %b : f16 to f32
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<7x32x32xf32>
  return %y : tensor<7x32x32xf32>
}
func.func @part_of_k(%x: tensor<8x32x48xf16>, %w: tensor<2x32x32xf16>) -> tensor<7x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %part = tensor.extract_slice %x[0, 0, 0] [8, 32, 32] [1, 1, 1] : tensor<8x32x48xf16> to tensor<8x32x32xf16>
  %e = tensor.empty() : tensor<7x32x32xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<7x32x32xf32>) -> tensor<7x32x32xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #sum],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%part, %w : tensor<8x32x32xf16>, tensor<2x32x32xf16>) outs(%s : tensor<7x32x32xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %l = arith.extf %a : f16 to f32
    %r = arith.extf %b : f16 to f32
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<7x32x32xf32>
  return %y : tensor<7x32x32xf32>
}
func.func @steps(%x: tensor<8x64x32xf16>, %w: tensor<2x32x32xf16>) -> tensor<7x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %part = tensor.extract_slice %x[0, 0, 0] [8, 32, 32] [1, 2, 1] : tensor<8x64x32xf16> to tensor<8x32x32xf16>
  %e = tensor.empty() : tensor<7x32x32xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<7x32x32xf32>) -> tensor<7x32x32xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #sum],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%part, %w : tensor<8x32x32xf16>, tensor<2x32x32xf16>) outs(%s : tensor<7x32x32xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %l = arith.extf %a : f16 to f32
    %r = arith.extf %b : f16 to f32
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<7x32x32xf32>
  return %y : tensor<7x32x32xf32>
}
func.func @fewer_dimensions(%x: tensor<2x8x32x32xf16>, %w: tensor<2x32x32xf16>) -> tensor<7x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %part = tensor.extract_slice %x[1, 0, 0, 0] [1, 8, 32, 32] [1, 1, 1, 1] : tensor<2x8x32x32xf16> to tensor<8x32x32xf16>
  %e = tensor.empty() : tensor<7x32x32xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<7x32x32xf32>) -> tensor<7x32x32xf32>
  %y = linalg.generic {indexing_maps = [#image, #filter, #sum],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%part, %w : tensor<8x32x32xf16>, tensor<2x32x32xf16>) outs(%s : tensor<7x32x32xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %l = arith.extf %a : f16 to f32
    %r = arith.extf %b : f16 to f32
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<7x32x32xf32>
  return %y : tensor<7x32x32xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %funcs = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.foreach %funcs : !transform.any_op {
    ^bb0(%func: !transform.any_op):
      %open = transform.param.constant 0 : i64 -> !transform.param<i64>
      %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %open]
          : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    }
    transform.yield
  }
}
