// RUN: xetile-opt %s --split-input-file --deep-tile-matmul="machine=dlti" --verify-diagnostics

#none = #xetile.matmul_config<loopOrder = 3>
func.func @no_machine(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expected a machine description: no DLTI entry "CPU", "num_threads" is around it}}
  %d = linalg.matmul {xetile.matmul_config = #none} ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// expected-error @below {{MBlock = 0: expected a positive integer}}
#zero = #xetile.matmul_config<MBlock = 0>

// -----

// expected-error @below {{loopOrder = 6: expected 0 to 5, or one of mnk, mkn, nmk, nkm, kmn, knm}}
#order = #xetile.matmul_config<loopOrder = 6>

// -----

// expected-error @below {{loopOrder = "kkk": expected 0 to 5, or one of mnk, mkn, nmk, nkm, kmn, knm}}
#order_name = #xetile.matmul_config<loopOrder = "kkk">

// -----

// expected-error @below {{expected integer value}}
#size_name = #xetile.matmul_config<MBlock = "mnk">

// -----

// expected-error @below {{expected one of MThreads, NThreads, KThreads, MBlock, NBlock, KBlock, innermostMBlock, innermostNBlock, innermostKBlock, loopOrder, once each, got 'MBlock'}}
#twice = #xetile.matmul_config<MBlock = 8, MBlock = 8>

// -----

// expected-error @below {{KBlock = 100: expected a multiple of innermostKBlock = 64}}
#multiple = #xetile.matmul_config<KBlock = 100, innermostKBlock = 64>

// -----

// expected-error @below {{once each, got 'mthreads'}}
#name = #xetile.matmul_config<mthreads = 1>

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "num_threads" = 4 : i32, "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
    "L3_cache_size_in_bytes" = 0 : i32, "max_vector_width" = 512 : i32>>} {
  func.func @cache(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
    // expected-error @below {{"L3_cache_size_in_bytes": expected a positive integer}}
    %d = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %d : tensor<8x8xf32>
  }
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "num_threads" = 4 : i32, "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
    "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32>>} {
  func.func @threads(%a: tensor<64x64xf32>, %low: tensor<64x64xf8E5M2>) -> tensor<64x64xf32> {
    // expected-error @below {{NThreads = 3: expected at most 2, as MThreads * NThreads * KThreads may be 4 at most}}
    %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MThreads = 2, NThreads = 3>}
      ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %d : tensor<64x64xf32>
  }
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "num_threads" = 4 : i32, "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
    "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32>>} {
  func.func @type(%a: tensor<64x64xf32>, %low: tensor<64x64xf8E5M2>) -> tensor<64x64xf32> {
    // expected-error @below {{element types 'f8E5M2', 'f8E5M2' -> 'f32': expected f16, bf16, f32 or f64}}
    %d = linalg.matmul ins(%low, %low : tensor<64x64xf8E5M2>, tensor<64x64xf8E5M2>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %d : tensor<64x64xf32>
  }
}

// -----

// expected-error @below {{MBlock = -9223372036854775808: expected a positive integer}}
#least = #xetile.matmul_config<MBlock = -9223372036854775808>

// -----

// expected-error @below {{KThreads = -1: expected a positive integer}}
#negative = #xetile.matmul_config<KThreads = -1>

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "num_threads" = 4294967296 : i64, "L1_cache_size_in_bytes" = 32768 : i32,
    "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32>>} {
  func.func @cores(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
    // expected-error @below {{"num_threads" = 4294967296: expected 1 to 2147483647}}
    %d = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %d : tensor<8x8xf32>
  }
}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "num_threads" = 4 : i32, "L1_cache_size_in_bytes" = 32768 : i32, "L2_cache_size_in_bytes" = 1048576 : i32,
    "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 384 : i32>>} {
  func.func @width(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
    // expected-error @below {{"max_vector_width" = 384: expected 128, 256 or 512}}
    %d = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %d : tensor<8x8xf32>
  }
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32, "L1_cache_size_in_bytes" = 32768 : i32,
    "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32,
    "name" = "i486">>
module attributes {dlti.target_system_spec = #machine} {
func.func @unknown_cpu(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{DLTI entry "CPU", "name": expected one of znver4, znver5, emeraldrapids, sapphirerapids, amx, got "i486"; leave it out and give rates}}
  %d = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
}

// -----

#machine = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"num_threads" = 1 : i32, "L1_cache_size_in_bytes" = 32768 : i32,
    "L2_cache_size_in_bytes" = 1048576 : i32, "L3_cache_size_in_bytes" = 33554432 : i32, "max_vector_width" = 512 : i32,
    "uncertainty" = 1.5 : f64>>
module attributes {dlti.target_system_spec = #machine} {
func.func @uncertainty(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{DLTI entry "CPU", "uncertainty": expected a part of a rate, a float from 0 to 1, got 1.500000e+00 : f64}}
  %d = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
}
