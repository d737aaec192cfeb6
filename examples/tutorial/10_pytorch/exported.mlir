// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0) -> (d0)>
#map5 = affine_map<(d0, d1) -> (0, d1)>
#map6 = affine_map<(d0, d1) -> ()>
#map7 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> ()>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map11 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @model(%arg0: tensor<2x60x128xf32>, %arg1: tensor<128xf32>, %arg2: tensor<128xf32>, %arg3: tensor<128xf32>, %arg4: tensor<128xf32>, %arg5: tensor<384x128xf32>, %arg6: tensor<384xf32>, %arg7: tensor<128x128xf32>, %arg8: tensor<128xf32>, %arg9: tensor<512x128xf32>, %arg10: tensor<512xf32>, %arg11: tensor<128x512xf32>, %arg12: tensor<128xf32>) -> tensor<2x60x128xf32> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = arith.constant dense<true> : tensor<60x60xi1>
    %cst_5 = arith.constant 0.70710678118654757 : f64
    %cst_6 = arith.constant 0xFFF0000000000000 : f64
    %cst_7 = arith.constant 0.42044820762685725 : f64
    %cst_8 = arith.constant 1.000000e-05 : f64
    %cst_9 = arith.constant 7.812500e-03 : f32
    %cst_10 = arith.constant 5.000000e-01 : f32
    %cst_11 = arith.constant 1.000000e+00 : f32
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x60x128xf32> into tensor<120x128xf32>
    %0 = tensor.empty() : tensor<120x1xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<120x1xf32>) -> tensor<120x1xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%collapsed : tensor<120x128xf32>) outs(%1 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.addf %in, %out : f32
      linalg.yield %91 : f32
    } -> tensor<120x1xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<120x1xf32>) outs(%0 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.mulf %in, %cst_9 : f32
      linalg.yield %91 : f32
    } -> tensor<120x1xf32>
    %4 = tensor.empty() : tensor<120x128xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed, %3 : tensor<120x128xf32>, tensor<120x1xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.subf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %5 : tensor<120x128xf32>, tensor<120x128xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.mulf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%6 : tensor<120x128xf32>) outs(%1 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.addf %in, %out : f32
      linalg.yield %91 : f32
    } -> tensor<120x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<120x1xf32>) outs(%0 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.mulf %in, %cst_9 : f32
      linalg.yield %91 : f32
    } -> tensor<120x1xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<120x1xf32>) outs(%0 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.truncf %cst_8 : f64 to f32
      %92 = arith.addf %in, %91 : f32
      linalg.yield %92 : f32
    } -> tensor<120x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<120x1xf32>) outs(%0 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = math.rsqrt %in : f32
      linalg.yield %91 : f32
    } -> tensor<120x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %10 : tensor<120x128xf32>, tensor<120x1xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.mulf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%11, %arg1 : tensor<120x128xf32>, tensor<128xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.mulf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%12, %arg2 : tensor<120x128xf32>, tensor<128xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.addf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %14 = tensor.empty() : tensor<128x384xf32>
    %transposed = linalg.transpose ins(%arg5 : tensor<384x128xf32>) outs(%14 : tensor<128x384xf32>) permutation = [1, 0] 
    %15 = tensor.empty() : tensor<120x384xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<120x384xf32>) -> tensor<120x384xf32>
    %17 = linalg.matmul ins(%13, %transposed : tensor<120x128xf32>, tensor<128x384xf32>) outs(%16 : tensor<120x384xf32>) -> tensor<120x384xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%17, %arg6 : tensor<120x384xf32>, tensor<384xf32>) outs(%15 : tensor<120x384xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.addf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x384xf32>
    %expanded = tensor.expand_shape %18 [[0, 1], [2, 3, 4]] output_shape [2, 60, 3, 4, 32] : tensor<120x384xf32> into tensor<2x60x3x4x32xf32>
    %19 = tensor.empty() : tensor<3x2x4x60x32xf32>
    %transposed_12 = linalg.transpose ins(%expanded : tensor<2x60x3x4x32xf32>) outs(%19 : tensor<3x2x4x60x32xf32>) permutation = [2, 0, 3, 1, 4] 
    %extracted_slice = tensor.extract_slice %transposed_12[0, 0, 0, 0, 0] [1, 2, 4, 60, 32] [1, 1, 1, 1, 1] : tensor<3x2x4x60x32xf32> to tensor<1x2x4x60x32xf32>
    %extracted_slice_13 = tensor.extract_slice %transposed_12[1, 0, 0, 0, 0] [1, 2, 4, 60, 32] [1, 1, 1, 1, 1] : tensor<3x2x4x60x32xf32> to tensor<1x2x4x60x32xf32>
    %extracted_slice_14 = tensor.extract_slice %transposed_12[2, 0, 0, 0, 0] [1, 2, 4, 60, 32] [1, 1, 1, 1, 1] : tensor<3x2x4x60x32xf32> to tensor<1x2x4x60x32xf32>
    %collapsed_15 = tensor.collapse_shape %extracted_slice [[0, 1], [2], [3], [4]] : tensor<1x2x4x60x32xf32> into tensor<2x4x60x32xf32>
    %collapsed_16 = tensor.collapse_shape %extracted_slice_13 [[0, 1], [2], [3], [4]] : tensor<1x2x4x60x32xf32> into tensor<2x4x60x32xf32>
    %20 = tensor.empty() : tensor<2x4x60x32xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_15 : tensor<2x4x60x32xf32>) outs(%20 : tensor<2x4x60x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.truncf %cst_7 : f64 to f32
      %92 = arith.mulf %in, %91 : f32
      linalg.yield %92 : f32
    } -> tensor<2x4x60x32xf32>
    %22 = tensor.empty() : tensor<60xi64>
    %23 = linalg.generic {indexing_maps = [#map4], iterator_types = ["parallel"]} outs(%22 : tensor<60xi64>) {
    ^bb0(%out: i64):
      %91 = linalg.index 0 : index
      %92 = arith.index_cast %91 : index to i64
      linalg.yield %92 : i64
    } -> tensor<60xi64>
    %expanded_17 = tensor.expand_shape %23 [[0, 1]] output_shape [1, 60] : tensor<60xi64> into tensor<1x60xi64>
    %expanded_18 = tensor.expand_shape %23 [[0, 1]] output_shape [60, 1] : tensor<60xi64> into tensor<60x1xi64>
    %24 = tensor.empty() : tensor<60x60xi64>
    %25 = linalg.generic {indexing_maps = [#map5, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_17, %expanded_18 : tensor<1x60xi64>, tensor<60x1xi64>) outs(%24 : tensor<60x60xi64>) {
    ^bb0(%in: i64, %in_37: i64, %out: i64):
      %91 = arith.subi %in, %in_37 : i64
      linalg.yield %91 : i64
    } -> tensor<60x60xi64>
    %26 = tensor.empty() : tensor<60x60xi1>
    %27 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%25 : tensor<60x60xi64>) outs(%26 : tensor<60x60xi1>) {
    ^bb0(%in: i64, %out: i1):
      %91 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %91 : i1
    } -> tensor<60x60xi1>
    %28 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%27, %cst_4 : tensor<60x60xi1>, tensor<60x60xi1>) outs(%26 : tensor<60x60xi1>) {
    ^bb0(%in: i1, %in_37: i1, %out: i1):
      %91 = arith.andi %in, %in_37 : i1
      linalg.yield %91 : i1
    } -> tensor<60x60xi1>
    %29 = tensor.empty() : tensor<60x60xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map6, #map6, #map], iterator_types = ["parallel", "parallel"]} ins(%28, %cst_2, %cst_3 : tensor<60x60xi1>, tensor<f32>, tensor<f32>) outs(%29 : tensor<60x60xf32>) {
    ^bb0(%in: i1, %in_37: f32, %in_38: f32, %out: f32):
      %91 = arith.select %in, %in_37, %in_38 : f32
      linalg.yield %91 : f32
    } -> tensor<60x60xf32>
    %31 = tensor.empty() : tensor<2x4x32x60xf32>
    %transposed_19 = linalg.transpose ins(%collapsed_16 : tensor<2x4x60x32xf32>) outs(%31 : tensor<2x4x32x60xf32>) permutation = [0, 1, 3, 2] 
    %32 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_19 : tensor<2x4x32x60xf32>) outs(%31 : tensor<2x4x32x60xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.truncf %cst_7 : f64 to f32
      %92 = arith.mulf %in, %91 : f32
      linalg.yield %92 : f32
    } -> tensor<2x4x32x60xf32>
    %collapsed_20 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<2x4x60x32xf32> into tensor<8x60x32xf32>
    %collapsed_21 = tensor.collapse_shape %32 [[0, 1], [2], [3]] : tensor<2x4x32x60xf32> into tensor<8x32x60xf32>
    %33 = tensor.empty() : tensor<8x60x60xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<8x60x60xf32>) -> tensor<8x60x60xf32>
    %35 = linalg.batch_matmul ins(%collapsed_20, %collapsed_21 : tensor<8x60x32xf32>, tensor<8x32x60xf32>) outs(%34 : tensor<8x60x60xf32>) -> tensor<8x60x60xf32>
    %expanded_22 = tensor.expand_shape %35 [[0, 1], [2], [3]] output_shape [2, 4, 60, 60] : tensor<8x60x60xf32> into tensor<2x4x60x60xf32>
    %36 = tensor.empty() : tensor<2x4x60x60xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22, %30 : tensor<2x4x60x60xf32>, tensor<60x60xf32>) outs(%36 : tensor<2x4x60x60xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.addf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<2x4x60x60xf32>
    %38 = tensor.empty() : tensor<2x4x60xi64>
    %39 = linalg.fill ins(%c0_i64 : i64) outs(%38 : tensor<2x4x60xi64>) -> tensor<2x4x60xi64>
    %40 = tensor.empty() : tensor<2x4x60xf32>
    %41 = linalg.fill ins(%cst_0 : f32) outs(%40 : tensor<2x4x60xf32>) -> tensor<2x4x60xf32>
    %42:2 = linalg.generic {indexing_maps = [#map3, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%37 : tensor<2x4x60x60xf32>) outs(%41, %39 : tensor<2x4x60xf32>, tensor<2x4x60xi64>) {
    ^bb0(%in: f32, %out: f32, %out_37: i64):
      %91 = linalg.index 3 : index
      %92 = arith.index_cast %91 : index to i64
      %93 = arith.maximumf %in, %out : f32
      %94 = arith.cmpf ogt, %in, %out : f32
      %95 = arith.select %94, %92, %out_37 : i64
      linalg.yield %93, %95 : f32, i64
    } -> (tensor<2x4x60xf32>, tensor<2x4x60xi64>)
    %expanded_23 = tensor.expand_shape %42#0 [[0], [1], [2, 3]] output_shape [2, 4, 60, 1] : tensor<2x4x60xf32> into tensor<2x4x60x1xf32>
    %43 = tensor.empty() : tensor<2x4x60x1xi1>
    %44 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_23 : tensor<2x4x60x1xf32>) outs(%43 : tensor<2x4x60x1xi1>) {
    ^bb0(%in: f32, %out: i1):
      %91 = arith.extf %in : f32 to f64
      %92 = arith.cmpf oeq, %91, %cst_6 : f64
      linalg.yield %92 : i1
    } -> tensor<2x4x60x1xi1>
    %45 = tensor.empty() : tensor<2x4x60x1xf32>
    %46 = linalg.generic {indexing_maps = [#map3, #map9, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44, %cst_2, %expanded_23 : tensor<2x4x60x1xi1>, tensor<f32>, tensor<2x4x60x1xf32>) outs(%45 : tensor<2x4x60x1xf32>) {
    ^bb0(%in: i1, %in_37: f32, %in_38: f32, %out: f32):
      %91 = arith.select %in, %in_37, %in_38 : f32
      linalg.yield %91 : f32
    } -> tensor<2x4x60x1xf32>
    %47 = linalg.generic {indexing_maps = [#map3, #map10, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%37, %46 : tensor<2x4x60x60xf32>, tensor<2x4x60x1xf32>) outs(%36 : tensor<2x4x60x60xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.subf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<2x4x60x60xf32>
    %48 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%47 : tensor<2x4x60x60xf32>) outs(%36 : tensor<2x4x60x60xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = math.exp %in : f32
      linalg.yield %91 : f32
    } -> tensor<2x4x60x60xf32>
    %49 = linalg.fill ins(%cst : f32) outs(%45 : tensor<2x4x60x1xf32>) -> tensor<2x4x60x1xf32>
    %50 = linalg.generic {indexing_maps = [#map3, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%48 : tensor<2x4x60x60xf32>) outs(%49 : tensor<2x4x60x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.addf %in, %out : f32
      linalg.yield %91 : f32
    } -> tensor<2x4x60x1xf32>
    %51 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%50 : tensor<2x4x60x1xf32>) outs(%43 : tensor<2x4x60x1xi1>) {
    ^bb0(%in: f32, %out: i1):
      %91 = arith.cmpf oeq, %in, %cst : f32
      linalg.yield %91 : i1
    } -> tensor<2x4x60x1xi1>
    %52 = linalg.generic {indexing_maps = [#map9, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_1, %50 : tensor<f32>, tensor<2x4x60x1xf32>) outs(%45 : tensor<2x4x60x1xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.divf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<2x4x60x1xf32>
    %53 = linalg.generic {indexing_maps = [#map3, #map9, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%51, %cst_2, %52 : tensor<2x4x60x1xi1>, tensor<f32>, tensor<2x4x60x1xf32>) outs(%45 : tensor<2x4x60x1xf32>) {
    ^bb0(%in: i1, %in_37: f32, %in_38: f32, %out: f32):
      %91 = arith.select %in, %in_37, %in_38 : f32
      linalg.yield %91 : f32
    } -> tensor<2x4x60x1xf32>
    %54 = linalg.generic {indexing_maps = [#map3, #map10, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48, %53 : tensor<2x4x60x60xf32>, tensor<2x4x60x1xf32>) outs(%36 : tensor<2x4x60x60xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.mulf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<2x4x60x60xf32>
    %collapsed_24 = tensor.collapse_shape %54 [[0, 1], [2], [3]] : tensor<2x4x60x60xf32> into tensor<8x60x60xf32>
    %collapsed_25 = tensor.collapse_shape %extracted_slice_14 [[0, 1, 2], [3], [4]] : tensor<1x2x4x60x32xf32> into tensor<8x60x32xf32>
    %55 = tensor.empty() : tensor<8x60x32xf32>
    %56 = linalg.fill ins(%cst : f32) outs(%55 : tensor<8x60x32xf32>) -> tensor<8x60x32xf32>
    %57 = linalg.batch_matmul ins(%collapsed_24, %collapsed_25 : tensor<8x60x60xf32>, tensor<8x60x32xf32>) outs(%56 : tensor<8x60x32xf32>) -> tensor<8x60x32xf32>
    %expanded_26 = tensor.expand_shape %57 [[0, 1], [2], [3]] output_shape [2, 4, 60, 32] : tensor<8x60x32xf32> into tensor<2x4x60x32xf32>
    %58 = tensor.empty() : tensor<2x60x4x32xf32>
    %transposed_27 = linalg.transpose ins(%expanded_26 : tensor<2x4x60x32xf32>) outs(%58 : tensor<2x60x4x32xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_28 = tensor.collapse_shape %transposed_27 [[0, 1], [2, 3]] : tensor<2x60x4x32xf32> into tensor<120x128xf32>
    %59 = tensor.empty() : tensor<128x128xf32>
    %transposed_29 = linalg.transpose ins(%arg7 : tensor<128x128xf32>) outs(%59 : tensor<128x128xf32>) permutation = [1, 0] 
    %60 = linalg.fill ins(%cst : f32) outs(%4 : tensor<120x128xf32>) -> tensor<120x128xf32>
    %61 = linalg.matmul ins(%collapsed_28, %transposed_29 : tensor<120x128xf32>, tensor<128x128xf32>) outs(%60 : tensor<120x128xf32>) -> tensor<120x128xf32>
    %62 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%61, %arg8 : tensor<120x128xf32>, tensor<128xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.addf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %expanded_30 = tensor.expand_shape %62 [[0, 1], [2]] output_shape [2, 60, 128] : tensor<120x128xf32> into tensor<2x60x128xf32>
    %63 = tensor.empty() : tensor<2x60x128xf32>
    %64 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %expanded_30 : tensor<2x60x128xf32>, tensor<2x60x128xf32>) outs(%63 : tensor<2x60x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.addf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<2x60x128xf32>
    %collapsed_31 = tensor.collapse_shape %64 [[0, 1], [2]] : tensor<2x60x128xf32> into tensor<120x128xf32>
    %65 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%collapsed_31 : tensor<120x128xf32>) outs(%1 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.addf %in, %out : f32
      linalg.yield %91 : f32
    } -> tensor<120x1xf32>
    %66 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%65 : tensor<120x1xf32>) outs(%0 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.mulf %in, %cst_9 : f32
      linalg.yield %91 : f32
    } -> tensor<120x1xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_31, %66 : tensor<120x128xf32>, tensor<120x1xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.subf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %68 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%67, %67 : tensor<120x128xf32>, tensor<120x128xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.mulf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %69 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%68 : tensor<120x128xf32>) outs(%1 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.addf %in, %out : f32
      linalg.yield %91 : f32
    } -> tensor<120x1xf32>
    %70 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%69 : tensor<120x1xf32>) outs(%0 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.mulf %in, %cst_9 : f32
      linalg.yield %91 : f32
    } -> tensor<120x1xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%70 : tensor<120x1xf32>) outs(%0 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.truncf %cst_8 : f64 to f32
      %92 = arith.addf %in, %91 : f32
      linalg.yield %92 : f32
    } -> tensor<120x1xf32>
    %72 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%71 : tensor<120x1xf32>) outs(%0 : tensor<120x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = math.rsqrt %in : f32
      linalg.yield %91 : f32
    } -> tensor<120x1xf32>
    %73 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%67, %72 : tensor<120x128xf32>, tensor<120x1xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.mulf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %74 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%73, %arg3 : tensor<120x128xf32>, tensor<128xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.mulf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %75 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%74, %arg4 : tensor<120x128xf32>, tensor<128xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.addf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %76 = tensor.empty() : tensor<128x512xf32>
    %transposed_32 = linalg.transpose ins(%arg9 : tensor<512x128xf32>) outs(%76 : tensor<128x512xf32>) permutation = [1, 0] 
    %77 = tensor.empty() : tensor<120x512xf32>
    %78 = linalg.fill ins(%cst : f32) outs(%77 : tensor<120x512xf32>) -> tensor<120x512xf32>
    %79 = linalg.matmul ins(%75, %transposed_32 : tensor<120x128xf32>, tensor<128x512xf32>) outs(%78 : tensor<120x512xf32>) -> tensor<120x512xf32>
    %80 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%79, %arg10 : tensor<120x512xf32>, tensor<512xf32>) outs(%77 : tensor<120x512xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.addf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x512xf32>
    %expanded_33 = tensor.expand_shape %80 [[0, 1], [2]] output_shape [2, 60, 512] : tensor<120x512xf32> into tensor<2x60x512xf32>
    %81 = tensor.empty() : tensor<2x60x512xf32>
    %82 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_33 : tensor<2x60x512xf32>) outs(%81 : tensor<2x60x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.truncf %cst_5 : f64 to f32
      %92 = arith.mulf %in, %91 : f32
      linalg.yield %92 : f32
    } -> tensor<2x60x512xf32>
    %83 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<2x60x512xf32>) outs(%81 : tensor<2x60x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = math.erf %in : f32
      linalg.yield %91 : f32
    } -> tensor<2x60x512xf32>
    %84 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_33 : tensor<2x60x512xf32>) outs(%81 : tensor<2x60x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.mulf %in, %cst_10 : f32
      linalg.yield %91 : f32
    } -> tensor<2x60x512xf32>
    %85 = linalg.generic {indexing_maps = [#map11, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%83 : tensor<2x60x512xf32>) outs(%81 : tensor<2x60x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %91 = arith.addf %in, %cst_11 : f32
      linalg.yield %91 : f32
    } -> tensor<2x60x512xf32>
    %86 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%84, %85 : tensor<2x60x512xf32>, tensor<2x60x512xf32>) outs(%81 : tensor<2x60x512xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.mulf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<2x60x512xf32>
    %collapsed_34 = tensor.collapse_shape %86 [[0, 1], [2]] : tensor<2x60x512xf32> into tensor<120x512xf32>
    %87 = tensor.empty() : tensor<512x128xf32>
    %transposed_35 = linalg.transpose ins(%arg11 : tensor<128x512xf32>) outs(%87 : tensor<512x128xf32>) permutation = [1, 0] 
    %88 = linalg.matmul ins(%collapsed_34, %transposed_35 : tensor<120x512xf32>, tensor<512x128xf32>) outs(%60 : tensor<120x128xf32>) -> tensor<120x128xf32>
    %89 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%88, %arg12 : tensor<120x128xf32>, tensor<128xf32>) outs(%4 : tensor<120x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.addf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<120x128xf32>
    %expanded_36 = tensor.expand_shape %89 [[0, 1], [2]] output_shape [2, 60, 128] : tensor<120x128xf32> into tensor<2x60x128xf32>
    %90 = linalg.generic {indexing_maps = [#map11, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %expanded_36 : tensor<2x60x128xf32>, tensor<2x60x128xf32>) outs(%63 : tensor<2x60x128xf32>) {
    ^bb0(%in: f32, %in_37: f32, %out: f32):
      %91 = arith.addf %in, %in_37 : f32
      linalg.yield %91 : f32
    } -> tensor<2x60x128xf32>
    return %90 : tensor<2x60x128xf32>
  }
}
