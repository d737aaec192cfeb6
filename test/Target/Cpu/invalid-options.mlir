// What the options of the pass refuse: the value, and what was expected.
// RUN: not xetile-opt %s --deep-tile-matmul='config={"MThreads":0}' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not xetile-opt %s --deep-tile-matmul='config={"KBlock":-9223372036854775808}' 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: not xetile-opt %s --deep-tile-matmul='config={"NBlock":9223372036854775807}' 2>&1 | FileCheck %s --check-prefix=MOST
// RUN: not xetile-opt %s --deep-tile-matmul='config={"NBlock":99999999999999999999}' 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not xetile-opt %s --deep-tile-matmul='config={"NBlock":1.5}' 2>&1 | FileCheck %s --check-prefix=FRACTION
// RUN: not xetile-opt %s --deep-tile-matmul='config={"NBlock":"8"}' 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not xetile-opt %s --deep-tile-matmul='config={"NBlocks":8}' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not xetile-opt %s --deep-tile-matmul='config={"NBlock":}' 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not xetile-opt %s --deep-tile-matmul='config={"loopOrder":6}' 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not xetile-opt %s --deep-tile-matmul='config={"innermostMBlock":32}' 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: not xetile-opt %s --deep-tile-matmul='threads=-1' 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not xetile-opt %s --deep-tile-matmul='threads=4611686018427387904' 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not xetile-opt %s --deep-tile-matmul='machine=gpu' 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: not xetile-opt %s --deep-tile-matmul='pack=sometimes' 2>&1 | FileCheck %s --check-prefix=PACK
// RUN: not xetile-opt %s --xetile-lower-microkernels='vector-bits=96' 2>&1 | FileCheck %s --check-prefix=BITS

// ZERO: invalid-options.mlir:[[#@LINE+17]]:8: error: {{.*}} MThreads = 0: expected 1 to 2147483647
// LEAST: error: {{.*}} KBlock = -9223372036854775808: expected 1 to 2147483647
// MOST: error: {{.*}} NBlock = 9223372036854775807: expected 1 to 2147483647
// WIDE: error: matmul config: NBlock = {{.*}}: expected an integer of 64 bits
// FRACTION: error: matmul config: NBlock = 1.5{{.*}}: expected an integer of 64 bits
// TEXT: error: matmul config: NBlock = "8": expected an integer of 64 bits
// NAME: error: matmul config: unknown field 'NBlocks'; expected MThreads, NThreads
// SYNTAX: error: matmul config: expected a JSON object, got {"NBlock":}
// ORDER: error: {{.*}} loopOrder = 6: expected 0 to 5
// MULTIPLE: error: {{.*}} MBlock = 48: expected a multiple of innermostMBlock = 32
// THREADS: error: {{.*}} threads = -1: expected 0 to 2147483647
// MANY: error: {{.*}} threads = 4611686018427387904: expected 0 to 2147483647
// MACHINE: error: machine: expected 'auto' or 'dlti', got 'gpu'
// PACK: error: pack: expected 'auto', 'always' or 'never', got 'sometimes'
// BITS: error: vector-bits = 96, registers = 32: expected 0 (the machine's) or a power of two from 128 and at least 8 registers

func.func @matmul(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<MBlock = 48>} ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
