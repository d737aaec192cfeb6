// RUN: split-file %s %t

// A machine that is described is the same on every other.
// RUN: xetile-opt %t/tiles.mlir --deep-tile-matmul="threads=1" --xetile-bufferize-for-cpu --xetile-lower-microkernels="vector-bits=0" -o %t/tiles.out
// RUN: env XETILE_CPU_WITHOUT=avx xetile-opt %t/tiles.mlir --deep-tile-matmul="threads=1" --xetile-bufferize-for-cpu --xetile-lower-microkernels="vector-bits=0" -o %t/tiles-without.out
// RUN: diff %t/tiles.out %t/tiles-without.out
// RUN: FileCheck %s --check-prefix=TILES --input-file=%t/tiles.out
// RUN: xetile-opt %t/little.mlir --deep-tile-matmul --xetile-bufferize-for-cpu --xetile-lower-microkernels="vector-bits=0" -o %t/little.out
// RUN: env XETILE_CPU_WITHOUT=avx xetile-opt %t/little.mlir --deep-tile-matmul --xetile-bufferize-for-cpu --xetile-lower-microkernels="vector-bits=0" -o %t/little-without.out
// RUN: diff %t/little.out %t/little-without.out
// RUN: FileCheck %s --check-prefix=LITTLE --input-file=%t/little.out

// One that is not described is the host, without what the environment takes from it.
// RUN: env XETILE_CPU_WITHOUT=avx xetile-opt %t/host.mlir --deep-tile-matmul="threads=1" --xetile-bufferize-for-cpu --xetile-lower-microkernels="vector-bits=0" | FileCheck %s --check-prefix=HOST
// RUN: env XETILE_CPU_WITHOUT=sse2000 not xetile-opt %t/host.mlir --deep-tile-matmul="threads=1" 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: env XETILE_CPU_WITHOUT=sse2000 xetile-opt %t/tiles.mlir --deep-tile-matmul="threads=1" -o /dev/null

// Rates of the host are no description of a machine, and not those of one that is described.
// RUN: env XETILE_CPU_WITHOUT=avx xetile-opt %t/rates.mlir --deep-tile-matmul="threads=1" --xetile-bufferize-for-cpu --xetile-lower-microkernels="vector-bits=0" | FileCheck %s --check-prefix=HOST
// RUN: xetile-opt %t/rates.mlir --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RATES
// RUN: xetile-opt %t/both.mlir --deep-tile-matmul="explain threads=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not xetile-opt %t/rates.mlir --deep-tile-matmul="machine=dlti" 2>&1 | FileCheck %s --check-prefix=REQUIRED
// RUN: not xetile-opt %t/slow.mlir --deep-tile-matmul 2>&1 | FileCheck %s --check-prefix=SLOW

// TILES: amx.tile_mulf
// LITTLE-NOT: scf.forall
// LITTLE-NOT: vector<{{[0-9]+}}xbf16>, vector<{{[0-9]+}}xbf16>) ->
// LITTLE: vector.fma {{.*}} : vector<4xf32>
// LITTLE-NOT: amx.
// HOST: vector.fma {{.*}} : vector<4xf32>
// HOST-NOT: vector<8xf32>
// WRONG: error: {{.*}}XETILE_CPU_WITHOUT=sse2000: 'sse2000' is no feature of a CPU
// A rate that is not more than twice or less than half of what any CPU of the table has: others would be limited there.
// RATES: rates (DLTI), ns: multiply-add of f32 0.20,
// BOTH: rates (typical{{.*}}), ns: multiply-add of f32
// BOTH-NOT: 0.20,
// REQUIRED: expected a machine description: no DLTI entry "CPU", "num_threads" is around it
// SLOW: DLTI entry "host", "copy_l2_ns": expected nanoseconds, a float from 0.001 to 1e9, got 0.000000e+00 : f64

//--- tiles.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "max_vector_width" = 512 : i32, "amx" = 1 : i32>>} {
func.func @f(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
}

//--- little.mlir
// One thread, 128 bits: what any x86-64 has.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "L2_cache_size_in_bytes" = 262144 : i32>>} {
func.func @f(%a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}
}

//--- host.mlir
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

//--- rates.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<
    "multiply_add_ns" = 0.2 : f64>>} {
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
}

//--- both.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"num_threads" = 2 : i32>,
    "host" = #dlti.target_device_spec<"multiply_add_ns" = 0.2 : f64>>} {
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
}

//--- slow.mlir
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"host" = #dlti.target_device_spec<
    "copy_l2_ns" = 0.0 : f64>>} {
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
}
