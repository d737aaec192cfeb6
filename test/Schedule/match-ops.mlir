// RUN: xetile-opt %s --transform-interpreter --verify-diagnostics | FileCheck %s

// What steps take, as transform.foreach_match asks.
#row = affine_map<(m, k) -> (m, k)>
#sum = affine_map<(m, k) -> (m)>
module attributes {transform.with_named_sequence} {
// CHECK-LABEL: func.func @ops
func.func @ops(%a: tensor<8x64xf32>, %b: tensor<64x8xf32>, %c: tensor<8x8xf32>, %x: tensor<1x3x10x10xf32>,
               %f: tensor<8x3x3x3xf32>, %y: tensor<1x8x8x8xf32>, %g: tensor<3x3x3xf32>, %z: tensor<1x3x8x8xf32>,
               %s: tensor<8xf32>) {
  // CHECK: linalg.matmul {found = "matmul"}
  %0 = linalg.matmul ins(%a, %b : tensor<8x64xf32>, tensor<64x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: linalg.conv_2d_nchw_fchw {{.*}}found = "convolution"
  %1 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %f : tensor<1x3x10x10xf32>, tensor<8x3x3x3xf32>) outs(%y : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  // Depthwise: no sum over channels.
  // CHECK: linalg.depthwise_conv_2d_nchw_chw
  // CHECK-NOT: found
  %2 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%x, %g : tensor<1x3x10x10xf32>, tensor<3x3x3xf32>) outs(%z : tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %3 = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%s : tensor<8xf32>) dimensions = [1]
  // CHECK: return
  return
}

// What kernels of GPUs are anchors of.
// CHECK-LABEL: func.func @anchors
func.func @anchors(%a: tensor<8x64xf16>, %b: tensor<64x8xf16>, %c: tensor<8x8xf32>, %wide: tensor<8x64xf32>,
                   %tall: tensor<64x8xf32>, %line: tensor<8xf32>, %at: tensor<8xi64>) {
  // CHECK: linalg.matmul {found = "product"}
  %0 = linalg.matmul ins(%a, %b : tensor<8x64xf16>, tensor<64x8xf16>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  // The matrix unit would round f32; every second column is no tile.
  // CHECK: linalg.matmul {{{.*}}matmul"}
  %1 = linalg.matmul ins(%wide, %tall : tensor<8x64xf32>, tensor<64x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  %steps = tensor.extract_slice %a[0, 0] [8, 32] [1, 2] : tensor<8x64xf16> to tensor<8x32xf16>
  %half = tensor.extract_slice %b[0, 0] [32, 8] [1, 1] : tensor<64x8xf16> to tensor<32x8xf16>
  // CHECK: linalg.matmul {{{.*}}matmul"}
  %2 = linalg.matmul ins(%steps, %half : tensor<8x32xf16>, tensor<32x8xf16>) outs(%c : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  // CHECK: linalg.generic {{.*}} attrs = {{.*}}found = "scan"
  %3:2 = linalg.generic {indexing_maps = [#row, #row, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%wide : tensor<8x64xf32>) outs(%wide, %line : tensor<8x64xf32>, tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32, %last: f32):
    %y = arith.addf %last, %x : f32
    linalg.yield %y, %y : f32, f32
  } -> (tensor<8x64xf32>, tensor<8xf32>)
  // CHECK: linalg.generic {{.*}} attrs = {{.*}}found = "gather"
  %4 = linalg.generic {indexing_maps = [#sum, #row], iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<8xi64>) outs(%wide : tensor<8x64xf32>) {
  ^bb0(%i: i64, %o: f32):
    %row = arith.index_cast %i : i64 to index
    %column = linalg.index 1 : index
    %y = tensor.extract %wide[%row, %column] : tensor<8x64xf32>
    linalg.yield %y : f32
  } -> tensor<8x64xf32>
  // CHECK: linalg.exp ins
  %5 = linalg.exp ins(%wide : tensor<8x64xf32>) outs(%wide : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// CHECK-LABEL: func.func @rows_by_number
// CHECK: linalg.generic {{.*}} attrs = {{.*}}found = "scatter"
func.func @rows_by_number(%x: tensor<7x5xf32>, %rows: tensor<9xi64>, %updates: tensor<9x5xf32>) -> tensor<7x5xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(d, w, n) -> (n)>, affine_map<(d, w, n) -> (n, w)>, affine_map<(d, w, n) -> (d, w)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %updates : tensor<9xi64>, tensor<9x5xf32>) outs(%x : tensor<7x5xf32>) {
  ^bb0(%row: i64, %update: f32, %before: f32):
    %d = linalg.index 0 : index
    %n = arith.index_cast %d : index to i64
    %here = arith.cmpi eq, %n, %row : i64
    %taken = arith.select %here, %update, %before : f32
    linalg.yield %taken : f32
  } -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}
transform.named_sequence @is_matmul(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
  transform.xetile.match_matmul %op : !transform.any_op
  transform.yield %op : !transform.any_op
}
transform.named_sequence @is_convolution(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
  transform.xetile.match_convolution %op : !transform.any_op
  transform.yield %op : !transform.any_op
}
transform.named_sequence @is_product(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
  transform.xetile.match_product %op : !transform.any_op
  transform.yield %op : !transform.any_op
}
transform.named_sequence @is_scan(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
  transform.xetile.match_scan %op : !transform.any_op
  transform.yield %op : !transform.any_op
}
transform.named_sequence @is_gather(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
  transform.xetile.match_gather %op : !transform.any_op
  transform.yield %op : !transform.any_op
}
transform.named_sequence @is_scatter(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
  transform.xetile.match_scatter %op : !transform.any_op
  transform.yield %op : !transform.any_op
}
transform.named_sequence @scatter(%op: !transform.any_op {transform.readonly}) {
  %name = transform.param.constant "scatter" -> !transform.any_param
  transform.annotate %op "found" = %name : !transform.any_op, !transform.any_param
  transform.yield
}
transform.named_sequence @product(%op: !transform.any_op {transform.readonly}) {
  %name = transform.param.constant "product" -> !transform.any_param
  transform.annotate %op "found" = %name : !transform.any_op, !transform.any_param
  transform.yield
}
transform.named_sequence @scan(%op: !transform.any_op {transform.readonly}) {
  %name = transform.param.constant "scan" -> !transform.any_param
  transform.annotate %op "found" = %name : !transform.any_op, !transform.any_param
  transform.yield
}
transform.named_sequence @gather(%op: !transform.any_op {transform.readonly}) {
  %name = transform.param.constant "gather" -> !transform.any_param
  transform.annotate %op "found" = %name : !transform.any_op, !transform.any_param
  transform.yield
}
transform.named_sequence @matmul(%op: !transform.any_op {transform.readonly}) {
  %name = transform.param.constant "matmul" -> !transform.any_param
  transform.annotate %op "found" = %name : !transform.any_op, !transform.any_param
  transform.yield
}
transform.named_sequence @convolution(%op: !transform.any_op {transform.readonly}) {
  %name = transform.param.constant "convolution" -> !transform.any_param
  transform.annotate %op "found" = %name : !transform.any_op, !transform.any_param
  transform.yield
}
transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %functions = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  transform.foreach_match in %functions @is_product -> @product, @is_matmul -> @matmul, @is_convolution -> @convolution,
      @is_scan -> @scan, @is_scatter -> @scatter, @is_gather -> @gather : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}
