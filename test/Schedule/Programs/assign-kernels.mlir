// Which op of a program belongs to which kernel.
// RUN: xetile-opt %s --transform-interpreter --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// What follows a matmul in its shape is in its kernel; a cast before it, too, where no other kernel can take it.
// CHECK-LABEL: func.func @layers
func.func @layers(%x: tensor<64x32xi8>, %w: tensor<32x64xf16>, %v: tensor<64x48xf16>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64x32xf16>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "matmul"}
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.sitofp
  %xf = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x32xi8>) outs(%e0 : tensor<64x32xf16>) {
  ^bb0(%a: i8, %o: f16):
    %f = arith.sitofp %a : i8 to f16
    linalg.yield %f : f16
  } -> tensor<64x32xf16>
  %e1 = tensor.empty() : tensor<64x64xf32>
  // CHECK: linalg.fill ins
  // CHECK-NOT: xetile.kernel
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: linalg.matmul {xetile.kernel = 0 : i64, xetile.schedule = "matmul"}
  %h = linalg.matmul ins(%xf, %w : tensor<64x32xf16>, tensor<32x64xf16>) outs(%z1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e2 = tensor.empty() : tensor<64x64xf16>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "matmul"}
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.maximumf
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<64x64xf32>) outs(%e2 : tensor<64x64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %m = arith.maximumf %a, %zero : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x64xf16>
  %e3 = tensor.empty() : tensor<64x48xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<64x48xf32>) -> tensor<64x48xf32>
  // CHECK: linalg.matmul {xetile.kernel = 1 : i64, xetile.schedule = "matmul"}
  %y = linalg.matmul ins(%r, %v : tensor<64x64xf16>, tensor<64x48xf16>) outs(%z3 : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %y : tensor<64x48xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// Along rows a workgroup sums up what it needs; along columns, too, if that is another kernel.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @rows_then_columns
func.func @rows_then_columns(%x: tensor<40x70xf32>) -> tensor<40x70xf32> {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<40xf32>
  %ec = tensor.empty() : tensor<70xf32>
  %e = tensor.empty() : tensor<40x70xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<40xf32>) -> tensor<40xf32>
  %zc = linalg.fill ins(%zero : f32) outs(%ec : tensor<70xf32>) -> tensor<70xf32>
  // CHECK: linalg.reduce {{.*}} dimensions = [1]{{ +}}{xetile.kernel = 0 : i64, xetile.schedule = "rows"}
  %s = linalg.reduce {arith.addf} ins(%x : tensor<40x70xf32>) outs(%zr : tensor<40xf32>) dimensions = [1]
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "rows"}
  %a = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<40x70xf32>, tensor<40xf32>) outs(%e : tensor<40x70xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  } -> tensor<40x70xf32>
  // CHECK: linalg.reduce {{.*}} dimensions = [0]{{ +}}{xetile.kernel = 1 : i64, xetile.schedule = "rows"}
  %t = linalg.reduce {arith.addf} ins(%a : tensor<40x70xf32>) outs(%zc : tensor<70xf32>) dimensions = [0]
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "rows"}
  %b = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %t : tensor<40x70xf32>, tensor<70xf32>) outs(%e : tensor<40x70xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.divf %p, %q : f32
    linalg.yield %d : f32
  } -> tensor<40x70xf32>
  return %b : tensor<40x70xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// A factor that is computed from a sum, and repeated along what was summed (with a dimension of size 1 between), is of
// the same kernel. A sum over three dimensions is not: each workgroup would sum anew.
#id = affine_map<(i, j) -> (i, j)>
#keep = affine_map<(i, j) -> (i, 0)>
// CHECK-LABEL: func.func @kept_dimension
func.func @kept_dimension(%x: tensor<40x70xf32>) -> tensor<40x70xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<40xf32>
  %e1 = tensor.empty() : tensor<40x1xf32>
  %e = tensor.empty() : tensor<40x70xf32>
  %z = linalg.fill ins(%zero : f32) outs(%es : tensor<40xf32>) -> tensor<40xf32>
  // CHECK: linalg.reduce {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "rows"}
  %s = linalg.reduce {arith.addf} ins(%x : tensor<40x70xf32>) outs(%z : tensor<40xf32>) dimensions = [1]
  %k = tensor.expand_shape %s [[0, 1]] output_shape [40, 1] : tensor<40xf32> into tensor<40x1xf32>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "rows"}
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%k : tensor<40x1xf32>) outs(%e1 : tensor<40x1xf32>) {
  ^bb0(%p: f32, %o: f32):
    %d = math.rsqrt %p : f32
    linalg.yield %d : f32
  } -> tensor<40x1xf32>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "rows"}
  %b = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %f : tensor<40x70xf32>, tensor<40x1xf32>) outs(%e : tensor<40x70xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.mulf %p, %q : f32
    linalg.yield %d : f32
  } -> tensor<40x70xf32>
  return %b : tensor<40x70xf32>
}
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
// CHECK-LABEL: func.func @over_batches
func.func @over_batches(%x: tensor<4x6x9x9xf32>) -> tensor<4x6x9x9xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<6xf32>
  %e = tensor.empty() : tensor<4x6x9x9xf32>
  %z = linalg.fill ins(%zero : f32) outs(%es : tensor<6xf32>) -> tensor<6xf32>
  // CHECK: linalg.reduce {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "rows"}
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4x6x9x9xf32>) outs(%z : tensor<6xf32>) dimensions = [0, 2, 3]
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "elementwise"}
  %b = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %s : tensor<4x6x9x9xf32>, tensor<6xf32>) outs(%e : tensor<4x6x9x9xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.mulf %p, %q : f32
    linalg.yield %d : f32
  } -> tensor<4x6x9x9xf32>
  return %b : tensor<4x6x9x9xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// Windows read elements several times: what they read is in memory, unless it costs nothing. Two small ones are one kernel.
#image = affine_map<(i, k) -> (i + k)>
#window = affine_map<(i, k) -> (k)>
#pixel = affine_map<(i, k) -> (i)>
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<62xf32>, tensor<62xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %w = tensor.empty() : tensor<3xf32>
  %ep = tensor.empty() : tensor<62xf32>
  %z = linalg.fill ins(%zero : f32) outs(%ep : tensor<62xf32>) -> tensor<62xf32>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "elementwise"}
  %dear = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %d = math.exp %p : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "rows"}
  %cheap = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %d = arith.negf %p : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "rows"}
  %a = linalg.generic {indexing_maps = [#image, #window, #pixel], iterator_types = ["parallel", "reduction"]}
      ins(%dear, %w : tensor<64xf32>, tensor<3xf32>) outs(%z : tensor<62xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<62xf32>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "rows"}
  %b = linalg.generic {indexing_maps = [#image, #window, #pixel], iterator_types = ["parallel", "reduction"]}
      ins(%cheap, %w : tensor<64xf32>, tensor<3xf32>) outs(%z : tensor<62xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<62xf32>
  return %a, %b : tensor<62xf32>, tensor<62xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// Numbers that were given stay together, alone, and keep their schedule.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @by_hand
func.func @by_hand(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  // CHECK: linalg.exp {xetile.kernel = 0 : i64, xetile.schedule = "elementwise"}
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  // CHECK: linalg.abs {xetile.kernel = 1 : i64, xetile.schedule = "mine"}
  %b = linalg.abs {xetile.kernel = 7} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  // CHECK: linalg.tanh {xetile.kernel = 1 : i64, xetile.schedule = "mine"}
  %c = linalg.tanh {xetile.kernel = 7, xetile.schedule = "mine"} ins(%b : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  // CHECK: linalg.negf {xetile.kernel = 2 : i64, xetile.schedule = "elementwise"}
  %d = linalg.negf ins(%c : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %d : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// Each block of the host's loops and branches has kernels of its own, numbered as they run.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @in_loops
func.func @in_loops(%x: tensor<64xf32>, %n: index, %some: i1) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64xf32>
  // CHECK: linalg.exp {xetile.kernel = 0 : i64
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<64xf32>) {
    // CHECK: linalg.abs {xetile.kernel = 1 : i64
    %b = linalg.abs ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    // CHECK: linalg.add {xetile.kernel = 1 : i64
    %c = linalg.add ins(%b, %t : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %d = scf.if %some -> tensor<64xf32> {
      // CHECK: linalg.tanh {xetile.kernel = 2 : i64
      %f = linalg.tanh ins(%c : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
      scf.yield %f : tensor<64xf32>
    } else {
      scf.yield %c : tensor<64xf32>
    }
    scf.yield %d : tensor<64xf32>
  }
  // CHECK: linalg.negf {xetile.kernel = 3 : i64
  %z = linalg.negf ins(%r : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %z : tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// Two that would be one kernel, as small ones, are not where one of them waits for the other by what the host reads.
// CHECK-LABEL: func.func @through_the_host
func.func @through_the_host(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  // CHECK: linalg.exp {xetile.kernel = 0 : i64
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %v = tensor.extract %a[%c0] : tensor<64xf32>
  %c = arith.cmpf ogt, %v, %zero : f32
  %p = scf.if %c -> tensor<64xf32> {
    scf.yield %x : tensor<64xf32>
  } else {
    scf.yield %y : tensor<64xf32>
  }
  // CHECK: linalg.exp {xetile.kernel = 1 : i64
  %b = linalg.exp ins(%p : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// A maximum is computed where what its row sums up is, and is a result for other kernels, too; but not where its kernel would
// wait for one of those.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#none = affine_map<(i, j) -> ()>
// CHECK-LABEL: func.func @for_two_kernels
// CHECK: dimensions = [1]{{ +}}{xetile.kernel = 0 : i64, xetile.schedule = "rows"}
// CHECK: linalg.generic {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "rows"}
// CHECK: dimensions = [0]{{ +}}{xetile.kernel = 1 : i64, xetile.schedule = "rows"}
func.func @for_two_kernels(%x: tensor<40x70xf32>) -> (tensor<40xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<40xf32>
  %e = tensor.empty() : tensor<f32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<40xf32>) -> tensor<40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %m = linalg.reduce {arith.maximumf} ins(%x : tensor<40x70xf32>) outs(%zr : tensor<40xf32>) dimensions = [1]
  %l = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : tensor<40x70xf32>, tensor<40xf32>) outs(%zr : tensor<40xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %t = arith.addf %o, %d : f32
    linalg.yield %t : f32
  } -> tensor<40xf32>
  %s = linalg.reduce {arith.addf} ins(%m : tensor<40xf32>) outs(%z : tensor<f32>) dimensions = [0]
  return %l, %s : tensor<40xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @one_waits_for_the_other
// CHECK: dimensions = [1]{{ +}}{xetile.kernel = 0 : i64, xetile.schedule = "rows"}
// CHECK: dimensions = [0]{{ +}}{xetile.kernel = 1 : i64, xetile.schedule = "rows"}
// CHECK: linalg.generic {{.*}} {xetile.kernel = 2 : i64, xetile.schedule = "rows"}
func.func @one_waits_for_the_other(%x: tensor<40x70xf32>) -> tensor<40xf32> {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<40xf32>
  %e = tensor.empty() : tensor<f32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<40xf32>) -> tensor<40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %m = linalg.reduce {arith.maximumf} ins(%x : tensor<40x70xf32>) outs(%zr : tensor<40xf32>) dimensions = [1]
  %s = linalg.reduce {arith.addf} ins(%m : tensor<40xf32>) outs(%z : tensor<f32>) dimensions = [0]
  %l = linalg.generic {indexing_maps = [#id, #row, #none, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m, %s : tensor<40x70xf32>, tensor<40xf32>, tensor<f32>) outs(%zr : tensor<40xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %f = arith.mulf %d, %r : f32
    %t = arith.addf %o, %f : f32
    linalg.yield %t : f32
  } -> tensor<40xf32>
  return %l : tensor<40xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// Long rows: a kernel of blocks' statistics, one of rows', and one of the results. What is computed of a row's statistics
// alone is with these, though only the results read it; not what reads memory besides.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @statistics
func.func @statistics(%x: tensor<40x7000xf32>, %p: tensor<40x32xf32>, %w: tensor<40xf32>) -> tensor<40x7000xf32> {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<40xf32>
  %e = tensor.empty() : tensor<40x7000xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<40xf32>) -> tensor<40xf32>
  // CHECK: linalg.reduce {{.*}} dimensions = [1]{{ +}}{xetile.kernel = 0 : i64, xetile.schedule = "rows"}
  %s = linalg.reduce {arith.addf} ins(%p : tensor<40x32xf32>) outs(%zr : tensor<40xf32>) dimensions = [1]
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "rows"}
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: math.rsqrt
  %r = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%s : tensor<40xf32>) outs(%er : tensor<40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.rsqrt %a : f32
    linalg.yield %q : f32
  } -> tensor<40xf32>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 0 : i64, xetile.schedule = "rows"}
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.mulf
  %t = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
      ins(%r, %s : tensor<40xf32>, tensor<40xf32>) outs(%er : tensor<40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.mulf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<40xf32>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "elementwise"}
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: arith.addf
  %u = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
      ins(%t, %w : tensor<40xf32>, tensor<40xf32>) outs(%er : tensor<40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.addf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<40xf32>
  // CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "elementwise"}
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %u : tensor<40x7000xf32>, tensor<40xf32>) outs(%e : tensor<40x7000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.mulf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<40x7000xf32>
  return %y : tensor<40x7000xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Small kernels of one shape are merged; a matmul joins only what all comes after it.
// CHECK-LABEL: func.func @copy_beside
// CHECK: linalg.matmul {xetile.kernel = 0 : i64, xetile.schedule = "matmul"}
// CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "elementwise"}
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.ceil
// CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "elementwise"}
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.floor
// CHECK: linalg.generic {{.*}} {xetile.kernel = 1 : i64, xetile.schedule = "elementwise"}
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.negf
func.func @copy_beside(%a: tensor<8x8xf16>, %b: tensor<8x8xf16>, %c: tensor<8x8xf16>)
    -> (tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>) {
  %e = tensor.empty() : tensor<8x8xf16>
  %p = linalg.matmul ins(%a, %b : tensor<8x8xf16>, tensor<8x8xf16>) outs(%c : tensor<8x8xf16>) -> tensor<8x8xf16>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x8xf16>) outs(%e : tensor<8x8xf16>) {
  ^bb0(%in: f16, %o: f16):
    %q = math.ceil %in : f16
    linalg.yield %q : f16
  } -> tensor<8x8xf16>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x8xf16>) outs(%e : tensor<8x8xf16>) {
  ^bb0(%in: f16, %o: f16):
    %q = math.floor %in : f16
    linalg.yield %q : f16
  } -> tensor<8x8xf16>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x8xf16>) outs(%e : tensor<8x8xf16>) {
  ^bb0(%in: f16, %o: f16):
    %q = arith.negf %in : f16
    linalg.yield %q : f16
  } -> tensor<8x8xf16>
  return %x, %y, %z : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf16>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}

// -----

// Numbers that are given may be any.
// CHECK-LABEL: func.func @any_numbers
// CHECK: linalg.exp {xetile.kernel = 0 : i64
// CHECK: linalg.abs {xetile.kernel = 1 : i64
// CHECK: linalg.tanh {xetile.kernel = 2 : i64
// CHECK: linalg.log {xetile.kernel = 2 : i64
func.func @any_numbers(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %e = tensor.empty() : tensor<1x64xf32>
  %0 = linalg.exp {xetile.kernel = -1 : i64} ins(%x : tensor<1x64xf32>) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %1 = linalg.abs {xetile.kernel = -9223372036854775808 : i64} ins(%0 : tensor<1x64xf32>) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %2 = linalg.tanh {xetile.kernel = 9223372036854775807 : i64} ins(%1 : tensor<1x64xf32>) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %3 = linalg.log {xetile.kernel = 9223372036854775807 : i64} ins(%2 : tensor<1x64xf32>) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  return %3 : tensor<1x64xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.xetile.assign_kernels %root : !transform.any_op
    transform.yield
  }
}
