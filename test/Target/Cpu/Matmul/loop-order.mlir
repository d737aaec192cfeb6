// A loop order may be written by its name; it is printed as a number.
// RUN: xetile-opt %s | FileCheck %s
// RUN: xetile-opt %s --deep-tile-matmul='explain threads=1 config={"MBlock": 16, "loopOrder": "knm"}' -o /dev/null 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: xetile-opt %s --deep-tile-matmul='explain threads=1' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: not xetile-opt %s --deep-tile-matmul='config={"loopOrder":"kk"}' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not xetile-opt %s --deep-tile-matmul='config={"loopOrder":1.5}' 2>&1 | FileCheck %s --check-prefix=FRACTION
// RUN: not xetile-opt %s --deep-tile-matmul='config={"MBlock":"mnk"}' 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not xetile-opt %s --deep-tile-matmul='config={"loopOrder":6}' 2>&1 | FileCheck %s --check-prefix=NUMBER

// OPTION: remark: {{.*}}"MBlock": 16, {{.*}}"loopOrder": 5}
// OPTION: loop order 5 (knm), chosen
// ATTRIBUTE: remark: {{.*}}"loopOrder": 2}
// ATTRIBUTE: loop order 2 (nmk), chosen
// NAME: error: matmul config: loopOrder = "kk": expected 0 to 5, or one of mnk, mkn, nmk, nkm, kmn, knm
// FRACTION: error: matmul config: loopOrder = 1.5{{.*}}: expected 0 to 5, or one of mnk, mkn, nmk, nkm, kmn, knm
// SIZE: error: matmul config: MBlock = "mnk": expected an integer of 64 bits
// NUMBER: error: {{.*}} loopOrder = 6: expected 0 to 5, or one of mnk, mkn, nmk, nkm, kmn, knm

// CHECK: #xetile.matmul_config<innermostMBlock = 8, loopOrder = 2>
func.func @matmul(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = linalg.matmul {xetile.matmul_config = #xetile.matmul_config<innermostMBlock = 8, loopOrder = "nmk">}
      ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
