// What to_tiles refuses.
// RUN: xetile-opt %s --transform-interpreter --split-input-file --verify-diagnostics

// to_tiles_c1
// expected-note @below {{target op}}
func.func private @f(tensor<4xf32>)
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %three = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-error @below {{expected func.func with a body, got func.func}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %three]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c2: nothing is computed.
// expected-error @below {{expected a function that returns tensors that it computes}}
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %three = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %three]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c2: two dimensions that become one, whose places only a run could tell.
func.func @f(%a: tensor<8x?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<8x?xf32>
  %x = linalg.exp ins(%a : tensor<8x?xf32>) outs(%e : tensor<8x?xf32>) -> tensor<8x?xf32>
  // expected-error @below {{expected sizes known when compiled of dimensions that become one, but of the first of them: a tile would run along several}}
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<8x?xf32> into tensor<?xf32>
  return %y : tensor<?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %three = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %three]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c2: no elements.
func.func @f(%a: tensor<4x0xf32>) -> tensor<4x0xf32> {
  // expected-error @below {{expected tensors that have elements}}
  %y = linalg.exp ins(%a : tensor<4x0xf32>) outs(%a : tensor<4x0xf32>) -> tensor<4x0xf32>
  return %y : tensor<4x0xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %three = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %three]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c2: two shapes.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %y = linalg.exp ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-error @below {{expected results of one shape in a kernel, got tensor<4x8xf32> and tensor<8xf32>: compile them by themselves}}
  %z = linalg.exp ins(%b : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %three = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %three]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c2: elements that tiles do not have.
func.func @f(%a: tensor<8xf32>) -> tensor<8xi1> {
  %e = tensor.empty() : tensor<8xi1>
  // expected-error @below {{expected tensors of f16, bf16, f32, f64 or integers of 8, 16, 32 or 64 bits in memory, got i1}}
  %y = linalg.map ins(%a : tensor<8xf32>) outs(%e : tensor<8xi1>) (%x: f32, %o: i1) {
    %c = arith.cmpf ogt, %x, %x : f32
    linalg.yield %c : i1
  }
  return %y : tensor<8xi1>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %three = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %three]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c3: another op.
func.func @f(%a: tensor<8xf32>, %b: tensor<4xindex>) -> tensor<4x1x1xf32> {
  %i = tensor.empty() : tensor<4x1x1xindex>
  // expected-error @below {{expected linalg ops and ops that move elements of tensors in a kernel, got tensor.gather}}
  %y = tensor.gather %a[%i] gather_dims([0]) : (tensor<8xf32>, tensor<4x1x1xindex>) -> tensor<4x1x1xf32>
  return %y : tensor<4x1x1xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %three = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %three]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c3: a reduction, where elementwise ops were asked for.
func.func @f(%a: tensor<8x8xf32>, %i: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{expected elementwise ops: the schedule 'rows' takes reductions}}
  %y = linalg.reduce { arith.addf } ins(%a : tensor<8x8xf32>) outs(%i : tensor<8xf32>) dimensions = [1]
  return %y : tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %three = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %three] elementwise
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c4: a number that memory cannot have.
func.func @f(%a: tensor<8xi32>, %n: i1) -> tensor<8xi32> {
  // expected-error @below {{expected numbers that are there before the kernel, of the types of tensors' elements}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%a : tensor<8xi32>) {
  ^bb0(%o: i32):
    %i = arith.extui %n : i1 to i32
    linalg.yield %i : i32
  } -> tensor<8xi32>
  return %y : tensor<8xi32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %three = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %three]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c4: there is no memory that a quotient of indices could be read from.
func.func @f(%a: tensor<8x64xf32>, %z: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %q = tensor.extract_slice %a[0, 0] [4, 64] [1, 1] : tensor<8x64xf32> to tensor<4x64xf32>
  %y = tensor.concat dim(0) %q, %q : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<8x64xf32>
  // expected-error @below {{expected what is read by indices to be in memory, or computed element by element of what is: it is computed by tensor.concat}}
  %r = tensor.insert_slice %y into %z[1, 0] [8, 64] [2, 1] : tensor<8x64xf32> into tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %open]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c7: what is read elsewhere than where it is written is not known yet.
#both = affine_map<(m, n) -> (m, n)>
#last = affine_map<(m, n) -> (m)>
func.func @f(%a: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %any = tensor.empty() : tensor<8x64xf32>
  %start = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%start : tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{expected what reads a scan in its kernel to be elementwise, in the order of its dimensions: compile what comes after by itself}}
  %y:2 = linalg.generic {indexing_maps = [#both, #both, #last], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x64xf32>) outs(%any, %zeros : tensor<8x64xf32>, tensor<8xf32>) {
  ^bb0(%e: f32, %_: f32, %before: f32):
    %sum = arith.addf %before, %e : f32
    linalg.yield %sum, %sum : f32, f32
  } -> (tensor<8x64xf32>, tensor<8xf32>)
  %r = tensor.concat dim(1) %y#0, %y#0 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x128xf32>
  %s = tensor.extract_slice %r[0, 32] [8, 64] [1, 1] : tensor<8x128xf32> to tensor<8x64xf32>
  return %s : tensor<8x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %open]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c5
// expected-error @below {{sg_layout = [1, 3] does not divide the tile of 8 x 64 elements: expected a multiple of 3 columns, the same for each subgroup: 63 or 66}}
func.func @f(%a: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = linalg.exp ins(%a : tensor<8x64xf32>) outs(%a : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    %three = transform.param.constant 3 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %three]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}

// -----

// to_tiles_c6: a product whose operand is a product would be computed again and again.
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %i: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{it would be computed anew in each step of another reduction: compile the program without a schedule by name, which makes several kernels of it (gpu_model.mlir), or for the target cpu}}
  %x = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%x, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %open = transform.param.constant 0 : i64 -> !transform.param<i64>
    // expected-note @below {{required by this step of the schedule}}
    %loop, %sm, %sn = transform.xetile.to_tiles %func tile = [%open, %open] sg_layout = [%open, %open]
        : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.yield
  }
}
