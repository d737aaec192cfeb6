// Configurations that fit no such problem, element types, ops that are no matmuls: the field, its value, what is legal.
// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="threads=16" --verify-diagnostics

func.func @innermost(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{innermostNBlock = 65: expected at most 64}}
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<innermostNBlock = 65>}
    ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----

func.func @blocks(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{KThreads = 5: expected 1 to 4, the number of innermost blocks in 64 elements}}
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<KThreads = 5, innermostKBlock = 16>}
    ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----

func.func @cores(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{KThreads = 2: expected at most 1, as MThreads * NThreads * KThreads may be 16 at most}}
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 4, NThreads = 4, KThreads = 2>}
    ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----

func.func @dynamic(%a: tensor<?x64xf32>, %b: tensor<64x64xf32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error @below {{MBlock = 8192: expected at most 4096, as the size is known at run time only}}
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 8192, innermostMBlock = 64>}
    ins(%a, %b : tensor<?x64xf32>, tensor<64x64xf32>) outs(%c : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// -----

func.func @unit(%a: tensor<2x2x16x32xf32>, %b: tensor<2x2x32x16xf32>, %c: tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32> {
  // expected-error @below {{innermostMBlock = 8: expected a multiple of the operand's blocks of 16}}
  %d = linalg.generic {xetile.matmul_config = #xetile.matmul_config<innermostMBlock = 8>,
      indexing_maps = [affine_map<(M, N, K, m, n, k) -> (M, K, m, k)>, affine_map<(M, N, K, m, n, k) -> (N, K, k, n)>,
                       affine_map<(M, N, K, m, n, k) -> (M, N, m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x2x16x32xf32>, tensor<2x2x32x16xf32>) outs(%c : tensor<2x2x16x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x2x16x16xf32>
  return %d : tensor<2x2x16x16xf32>
}

// -----

func.func @narrow(%a: tensor<64x64xi4>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  // expected-error @below {{element types 'i4', 'i4' -> 'i32': expected integers of 8 to 64 bits}}
  %d = linalg.matmul ins(%a, %a : tensor<64x64xi4>, tensor<64x64xi4>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %d : tensor<64x64xi32>
}

// -----

func.func @narrower_result(%a: tensor<64x64xf32>, %c: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @below {{element types 'f32', 'f32' -> 'bf16': expected a result at least as wide as the operands}}
  %d = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %d : tensor<64x64xbf16>
}

// -----

func.func @mixed(%a: tensor<64x64xi8>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{element types 'i8', 'i8' -> 'f32': expected all of them floats or all of them signless integers}}
  %d = linalg.matmul ins(%a, %a : tensor<64x64xi8>, tensor<64x64xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----

func.func @no_config(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{expected xetile.matmul_config to be a #xetile.matmul_config, got 3 : i64}}
  %d = linalg.matmul {xetile.matmul_config = 3}
    ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----

func.func @no_matmul(%a: tensor<64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{has a xetile.matmul_config but cannot be tiled: expected two inputs and one output}}
  %d = linalg.broadcast ins(%a : tensor<64xf32>) outs(%c : tensor<64x64xf32>) dimensions = [0]
    {xetile.matmul_config = #xetile.matmul_config<MBlock = 8>}
  return %d : tensor<64x64xf32>
}

// -----

// Bytes of it, or products of sizes, would overflow the cost model's numbers.
func.func @no_memory(%a: tensor<8x16xf32>, %b: tensor<16x1099511627776xf32>, %c: tensor<8x1099511627776xf32>) -> tensor<8x1099511627776xf32> {
  // expected-error @below {{cannot be tiled: expected operands of fewer than 2^44 elements, which a process can address}}
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 8>}
    ins(%a, %b : tensor<8x16xf32>, tensor<16x1099511627776xf32>) outs(%c : tensor<8x1099511627776xf32>) -> tensor<8x1099511627776xf32>
  return %d : tensor<8x1099511627776xf32>
}

// -----

// The largest that there is.
func.func @large(%a: tensor<8x16xf32>, %b: tensor<16x1099511627775xf32>, %c: tensor<8x1099511627775xf32>) -> tensor<8x1099511627775xf32> {
  // expected-error @below {{KThreads = 99: expected at most 16}}
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<KThreads = 99, innermostKBlock = 16>}
    ins(%a, %b : tensor<8x16xf32>, tensor<16x1099511627775xf32>) outs(%c : tensor<8x1099511627775xf32>) -> tensor<8x1099511627775xf32>
  return %d : tensor<8x1099511627775xf32>
}
