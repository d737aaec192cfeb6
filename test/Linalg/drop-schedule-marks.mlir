// Steps for some schedules leave ops of others as they are; those for none in particular leave "none".
// REQUIRES: cpu
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-convolutions-to-matmuls{schedules=mine})' | FileCheck %s --check-prefix=MINE
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-convolutions-to-matmuls)' | FileCheck %s --check-prefix=ALL
// RUN: xetile-opt %s --pass-pipeline='builtin.module(xetile-drop-schedule-marks)' | FileCheck %s --check-prefix=DROP
// RUN: not xetile-opt %s --pass-pipeline='builtin.module(xetile-fuse-rows{rows=-1})' 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: rows = -1: expected 0 (what a cache holds) or more

// MINE-LABEL: func.func @mine
// MINE-NOT: linalg.conv
// MINE: func.func @other
// MINE: linalg.conv_1d_ncw_fcw {{.*}}xetile.schedule = "other"
// MINE: func.func @left
// MINE: linalg.conv_1d_ncw_fcw {{.*}}xetile.schedule = "none"
// ALL-LABEL: func.func @other
// ALL-NOT: linalg.conv
// ALL: func.func @left
// ALL: linalg.conv_1d_ncw_fcw {{.*}}xetile.schedule = "none"
// DROP-NOT: xetile.schedule
module {
func.func @mine(%x: tensor<1x3x10xf32>, %f: tensor<8x3x3xf32>, %c: tensor<1x8x8xf32>) -> tensor<1x8x8xf32> {
  %r = linalg.conv_1d_ncw_fcw {xetile.schedule = "mine"} ins(%x, %f : tensor<1x3x10xf32>, tensor<8x3x3xf32>)
      outs(%c : tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  return %r : tensor<1x8x8xf32>
}
func.func @other(%x: tensor<1x3x10xf32>, %f: tensor<8x3x3xf32>, %c: tensor<1x8x8xf32>) -> tensor<1x8x8xf32> {
  %r = linalg.conv_1d_ncw_fcw {xetile.schedule = "other"} ins(%x, %f : tensor<1x3x10xf32>, tensor<8x3x3xf32>)
      outs(%c : tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  return %r : tensor<1x8x8xf32>
}
func.func @left(%x: tensor<1x3x10xf32>, %f: tensor<8x3x3xf32>, %c: tensor<1x8x8xf32>) -> tensor<1x8x8xf32> {
  %r = linalg.conv_1d_ncw_fcw {xetile.schedule = "none"} ins(%x, %f : tensor<1x3x10xf32>, tensor<8x3x3xf32>)
      outs(%c : tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  return %r : tensor<1x8x8xf32>
}
}
