// RUN: xetile-opt %s --xetile-fuse-attention="threads=2 explain" --verify-diagnostics
// RUN: xetile-opt %s --xetile-fuse-attention="threads=2 explain" 2>/dev/null | FileCheck %s
// Remarks alone: nothing changes.

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "L1_cache_size_in_bytes" = 1024 : i32, "L2_cache_size_in_bytes" = 65536 : i32>>

module attributes {dlti.target_system_spec = #machine} {
// CHECK-LABEL: func @taken
// CHECK-NOT: scf.forall
func.func @taken(%q: tensor<250x32xf32>, %k: tensor<32x128xf32>, %v: tensor<128x16xf32>, %s0: tensor<250x128xf32>,
                 %r0: tensor<250xf32>) -> tensor<250x16xf32> {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<250x16xf32>
  %er = tensor.empty() : tensor<250xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%s0 : tensor<250x128xf32>) -> tensor<250x128xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<250xf32>) -> tensor<250xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<250x16xf32>) -> tensor<250x16xf32>
  // expected-note @+1 {{scores of 32 elements of queries and keys, for 16 of values; 5 ops on a block}}
  %s = linalg.matmul ins(%q, %k : tensor<250x32xf32>, tensor<32x128xf32>) outs(%zs : tensor<250x128xf32>) -> tensor<250x128xf32>
  %e = linalg.exp ins(%s : tensor<250x128xf32>) outs(%s0 : tensor<250x128xf32>) -> tensor<250x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<250x128xf32>) outs(%zr : tensor<250xf32>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : tensor<250x128xf32>, tensor<250xf32>) outs(%s0 : tensor<250x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<250x128xf32>
  // expected-remark @+3 {{attention: blocks of 64 of 250 rows of scores, by 128 keys}}
  // expected-note @+2 {{the scores of a block take 32768 bytes, all of them 128000; half of the second-level cache has 32768}}
  // expected-note @+1 {{one head, rows in 2 parts for threads}}
  %y = linalg.matmul ins(%p, %v : tensor<250x128xf32>, tensor<128x16xf32>) outs(%zy : tensor<250x16xf32>) -> tensor<250x16xf32>
  return %y : tensor<250x16xf32>
}

// Gradients want them.
func.func @powers_are_a_result(%q: tensor<250x32xf32>, %k: tensor<32x128xf32>, %v: tensor<128x16xf32>, %zs: tensor<250x128xf32>,
                               %zr: tensor<250xf32>, %zy: tensor<250x16xf32>) -> (tensor<250x16xf32>, tensor<250x128xf32>) {
  %s = linalg.matmul ins(%q, %k : tensor<250x32xf32>, tensor<32x128xf32>) outs(%zs : tensor<250x128xf32>) -> tensor<250x128xf32>
  %e = linalg.exp ins(%s : tensor<250x128xf32>) outs(%zs : tensor<250x128xf32>) -> tensor<250x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%e : tensor<250x128xf32>) outs(%zr : tensor<250xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%sum : tensor<250xf32>) outs(%zs : tensor<250x128xf32>) dimensions = [1]
  %p = linalg.div ins(%e, %b : tensor<250x128xf32>, tensor<250x128xf32>) outs(%zs : tensor<250x128xf32>) -> tensor<250x128xf32>
  // expected-remark @+2 {{attention: one op after the other}}
  // expected-note @+1 {{what is computed of its scores is used elsewhere, too}}
  %y = linalg.matmul ins(%p, %v : tensor<250x128xf32>, tensor<128x16xf32>) outs(%zy : tensor<250x16xf32>) -> tensor<250x16xf32>
  return %y, %p : tensor<250x16xf32>, tensor<250x128xf32>
}

func.func @scores_are_a_result(%q: tensor<250x32xf32>, %k: tensor<32x128xf32>, %v: tensor<128x16xf32>, %zs: tensor<250x128xf32>,
                               %zr: tensor<250xf32>, %zy: tensor<250x16xf32>) -> (tensor<250x16xf32>, tensor<250x128xf32>) {
  %s = linalg.matmul ins(%q, %k : tensor<250x32xf32>, tensor<32x128xf32>) outs(%zs : tensor<250x128xf32>) -> tensor<250x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<250x128xf32>) outs(%zr : tensor<250xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%sum : tensor<250xf32>) outs(%zs : tensor<250x128xf32>) dimensions = [1]
  %p = linalg.div ins(%s, %b : tensor<250x128xf32>, tensor<250x128xf32>) outs(%zs : tensor<250x128xf32>) -> tensor<250x128xf32>
  // expected-remark @+2 {{attention: one op after the other}}
  // expected-note @+1 {{its scores are used elsewhere, too}}
  %y = linalg.matmul ins(%p, %v : tensor<250x128xf32>, tensor<128x16xf32>) outs(%zy : tensor<250x16xf32>) -> tensor<250x16xf32>
  return %y, %s : tensor<250x16xf32>, tensor<250x128xf32>
}

func.func @sizes(%q: tensor<?x32xf32>, %k: tensor<32x128xf32>, %v: tensor<128x16xf32>, %zs: tensor<?x128xf32>,
                 %zr: tensor<?xf32>, %zy: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %s = linalg.matmul ins(%q, %k : tensor<?x32xf32>, tensor<32x128xf32>) outs(%zs : tensor<?x128xf32>) -> tensor<?x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<?x128xf32>) outs(%zr : tensor<?xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%sum : tensor<?xf32>) outs(%zs : tensor<?x128xf32>) dimensions = [1]
  %p = linalg.div ins(%s, %b : tensor<?x128xf32>, tensor<?x128xf32>) outs(%zs : tensor<?x128xf32>) -> tensor<?x128xf32>
  // expected-remark @+2 {{attention: one op after the other}}
  // expected-note @+1 {{its sizes are not all known, or it has no elements}}
  %y = linalg.matmul ins(%p, %v : tensor<?x128xf32>, tensor<128x16xf32>) outs(%zy : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

func.func @configured(%q: tensor<250x32xf32>, %k: tensor<32x128xf32>, %v: tensor<128x16xf32>, %zs: tensor<250x128xf32>,
                      %zr: tensor<250xf32>, %zy: tensor<250x16xf32>) -> tensor<250x16xf32> {
  %s = linalg.matmul {xetile.matmul_pack = "never"} ins(%q, %k : tensor<250x32xf32>, tensor<32x128xf32>)
      outs(%zs : tensor<250x128xf32>) -> tensor<250x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<250x128xf32>) outs(%zr : tensor<250xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%sum : tensor<250xf32>) outs(%zs : tensor<250x128xf32>) dimensions = [1]
  %p = linalg.div ins(%s, %b : tensor<250x128xf32>, tensor<250x128xf32>) outs(%zs : tensor<250x128xf32>) -> tensor<250x128xf32>
  // expected-remark @+2 {{attention: one op after the other}}
  // expected-note @+1 {{a matmul of it has a xetile.matmul_pack of its own}}
  %y = linalg.matmul ins(%p, %v : tensor<250x128xf32>, tensor<128x16xf32>) outs(%zy : tensor<250x16xf32>) -> tensor<250x16xf32>
  return %y : tensor<250x16xf32>
}

func.func @small(%q: tensor<8x8xf32>, %k: tensor<8x8xf32>, %v: tensor<8x8xf32>, %z: tensor<8x8xf32>, %r: tensor<8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %zz = linalg.fill ins(%zero : f32) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.matmul ins(%q, %k : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zz : tensor<8x8xf32>) -> tensor<8x8xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<8x8xf32>) outs(%zr : tensor<8xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%sum : tensor<8xf32>) outs(%z : tensor<8x8xf32>) dimensions = [1]
  %p = linalg.div ins(%s, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+2 {{attention: one op after the other}}
  // expected-note @+1 {{all of its scores, 256 bytes, stay in the first-level cache}}
  %y = linalg.matmul ins(%p, %v : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zz : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// A norm between two layers has the same structure; their weights would be read again for each block.
func.func @layers(%q: tensor<256x512xf32>, %k: tensor<512x512xf32>, %v: tensor<512x512xf32>, %r: tensor<256xf32>) -> tensor<256x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%r : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.matmul ins(%q, %k : tensor<256x512xf32>, tensor<512x512xf32>) outs(%z : tensor<256x512xf32>) -> tensor<256x512xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<256x512xf32>) outs(%zr : tensor<256xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%sum : tensor<256xf32>) outs(%e : tensor<256x512xf32>) dimensions = [1]
  %p = linalg.div ins(%s, %b : tensor<256x512xf32>, tensor<256x512xf32>) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  // expected-remark @+2 {{attention: one op after the other}}
  // expected-note @+1 {{a block has 64 rows of scores for keys and values of 512 and 512 elements, which it would read again}}
  %y = linalg.matmul ins(%p, %v : tensor<256x512xf32>, tensor<512x512xf32>) outs(%z : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %y : tensor<256x512xf32>
}

// Sums of columns want all rows.
func.func @columns(%q: tensor<128x32xf32>, %k: tensor<32x128xf32>, %v: tensor<128x16xf32>, %r: tensor<128xf32>) -> tensor<128x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %ey = tensor.empty() : tensor<128x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%r : tensor<128xf32>) -> tensor<128xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<128x16xf32>) -> tensor<128x16xf32>
  %s = linalg.matmul ins(%q, %k : tensor<128x32xf32>, tensor<32x128xf32>) outs(%z : tensor<128x128xf32>) -> tensor<128x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<128x128xf32>) outs(%zr : tensor<128xf32>) dimensions = [0]
  %b = linalg.broadcast ins(%sum : tensor<128xf32>) outs(%e : tensor<128x128xf32>) dimensions = [0]
  %p = linalg.div ins(%s, %b : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  // expected-remark @+2 {{attention: one op after the other}}
  // expected-note @+1 {{an op of it reduces rows of queries or heads}}
  %y = linalg.matmul ins(%p, %v : tensor<128x128xf32>, tensor<128x16xf32>) outs(%zy : tensor<128x16xf32>) -> tensor<128x16xf32>
  return %y : tensor<128x16xf32>
}

// Scores and the same transposed.
func.func @transposed(%q: tensor<128x32xf32>, %k: tensor<32x128xf32>, %v: tensor<128x16xf32>, %r: tensor<128xf32>) -> tensor<128x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %ey = tensor.empty() : tensor<128x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%r : tensor<128xf32>) -> tensor<128xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<128x16xf32>) -> tensor<128x16xf32>
  %s = linalg.matmul ins(%q, %k : tensor<128x32xf32>, tensor<32x128xf32>) outs(%z : tensor<128x128xf32>) -> tensor<128x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<128x128xf32>) outs(%zr : tensor<128xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%sum : tensor<128xf32>) outs(%e : tensor<128x128xf32>) dimensions = [1]
  %t = linalg.transpose ins(%s : tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) permutation = [1, 0]
  %p = linalg.div ins(%t, %b : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  // expected-remark @+2 {{attention: one op after the other}}
  // expected-note @+1 {{its dimensions are not those of queries, keys and values}}
  %y = linalg.matmul ins(%p, %v : tensor<128x128xf32>, tensor<128x16xf32>) outs(%zy : tensor<128x16xf32>) -> tensor<128x16xf32>
  return %y : tensor<128x16xf32>
}

// One row of queries has nothing to cut.
func.func @one_row(%q: tensor<4x1x32xf32>, %k: tensor<4x32x128xf32>, %v: tensor<4x128x16xf32>) -> tensor<4x1x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x1x128xf32>
  %er = tensor.empty() : tensor<4x1xf32>
  %ey = tensor.empty() : tensor<4x1x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x1x128xf32>) -> tensor<4x1x128xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x1xf32>) -> tensor<4x1xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<4x1x16xf32>) -> tensor<4x1x16xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<4x1x32xf32>, tensor<4x32x128xf32>) outs(%z : tensor<4x1x128xf32>) -> tensor<4x1x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<4x1x128xf32>) outs(%zr : tensor<4x1xf32>) dimensions = [2]
  %b = linalg.broadcast ins(%sum : tensor<4x1xf32>) outs(%e : tensor<4x1x128xf32>) dimensions = [2]
  %p = linalg.div ins(%s, %b : tensor<4x1x128xf32>, tensor<4x1x128xf32>) outs(%e : tensor<4x1x128xf32>) -> tensor<4x1x128xf32>
  // expected-remark @+2 {{attention: one op after the other}}
  // expected-note @+1 {{it has no rows of queries or no elements of values, of which there are two or more}}
  %y = linalg.batch_matmul ins(%p, %v : tensor<4x1x128xf32>, tensor<4x128x16xf32>) outs(%zy : tensor<4x1x16xf32>) -> tensor<4x1x16xf32>
  return %y : tensor<4x1x16xf32>
}
}
