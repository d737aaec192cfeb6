// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops of an importer that nobody lowered are named before upstream's inliner meets their bodies, which ends the process.
// RUN: xetile-opt %s --allow-unregistered-dialect --verify-diagnostics --xetile-prepare-for-cpu

func.func @scatter(%init: tensor<7x5xf32>, %rows: tensor<9x1xi64>, %updates: tensor<9x1x5xf32>) -> tensor<7x5xf32> {
  // expected-error @below {{'tm_tensor.scatter' op is left in host code: convert-tm-tensor-to-linalg comes before}}
  %0 = "tm_tensor.scatter"(%updates, %rows, %init) <{}> ({
  ^bb0(%x: f32, %y: f32):
    // expected-note @below {{it holds arith.addf}}
    %s = arith.addf %x, %y : f32
    // expected-error @below {{'tm_tensor.yield' op is left in host code}}
    // expected-note @below {{it holds tm_tensor.yield}}
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<9x1x5xf32>, tensor<9x1xi64>, tensor<7x5xf32>) -> tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}
