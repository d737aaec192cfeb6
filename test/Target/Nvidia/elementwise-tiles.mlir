// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that compute element by element have tiles of long rows on sm_90a, and those of Intel's GPUs elsewhere.
// RUN: sed -e s/ROWS/4096/g -e s/COLUMNS/4096/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/elementwise.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=MANY
// RUN: sed -e s/ROWS/4096/g -e s/COLUMNS/4096/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=pvc schedule=%schedules/elementwise.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=XE
// RUN: sed -e s/ROWS/4096/g -e s/COLUMNS/4096/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/elementwise.mlir to=1-xetile-workgroup set=workgroup_m=64,workgroup_n=32,subgroups_m=2,subgroups_n=1})" | FileCheck %s --check-prefix=GIVEN
// RUN: sed -e s/ROWS/4096/g -e s/COLUMNS/4096/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/elementwise.mlir to=1-xetile-workgroup set=workgroup_m=64})" | FileCheck %s --check-prefix=ROWS-GIVEN
// RUN: sed -e s/f32/bf16/g -e s/ROWS/4096/g -e s/COLUMNS/4096/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/elementwise.mlir to=2-ring})" | FileCheck %s --check-prefix=NARROW
// RUN: sed -e s/ROWS/2/g -e s/COLUMNS/1048576/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/elementwise.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=LONG
// RUN: sed -e s/ROWS/100/g -e s/COLUMNS/1000/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/elementwise.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=FEW
// RUN: sed -e s/ROWS/65536/g -e s/COLUMNS/72/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/elementwise.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=SHORT
// RUN: sed -e s/ROWS/65536/g -e s/COLUMNS/333/g %s | xetile-opt --pass-pipeline="builtin.module(xetile-compile{target=sm_90a schedule=%schedules/elementwise.mlir to=1-xetile-workgroup})" | FileCheck %s --check-prefix=PITCH

// 256 threads have 16 elements each.
// MANY: !xetile.tile<4x1024xf32
// XE: !xetile.tile<128x64xf32
// GIVEN: !xetile.tile<64x32xf32
// ROWS-GIVEN: !xetile.tile<64x64xf32
// As many elements of 2 bytes.
// NARROW: threads = 256
// NARROW: !xetile.tile<4x1024xbf16
// LONG: !xetile.tile<2x2048xf32
// Two tiles for each multiprocessor where there are so many; columns fill them but for an eighth.
// FEW: !xetile.tile<1x512xf32
// SHORT: !xetile.tile<256x16xf32
// Rows that begin anywhere.
// PITCH: !xetile.tile<64x128xf32
func.func @kernel(%a: tensor<ROWSxCOLUMNSxf32>, %b: tensor<ROWSxCOLUMNSxf32>) -> tensor<ROWSxCOLUMNSxf32> {
  %e = tensor.empty() : tensor<ROWSxCOLUMNSxf32>
  %c = linalg.add ins(%a, %b : tensor<ROWSxCOLUMNSxf32>, tensor<ROWSxCOLUMNSxf32>) outs(%e : tensor<ROWSxCOLUMNSxf32>) -> tensor<ROWSxCOLUMNSxf32>
  return %c : tensor<ROWSxCOLUMNSxf32>
}
