// RUN: xetile-opt %s --split-input-file --xetile-decompose-linalg --verify-diagnostics

func.func @winograd_of_open_sizes(%f: tensor<?x3x3x2xf32>, %e: tensor<6x6x2x?xf32>) -> tensor<6x6x2x?xf32> {
  // expected-error@below {{has sizes that are known at run time only: expected static ones; compile it for each size}}
  %g = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<?x3x3x2xf32>) outs(%e : tensor<6x6x2x?xf32>) -> tensor<6x6x2x?xf32>
  return %g : tensor<6x6x2x?xf32>
}

// -----

// Upstream's matrices are all zeros then.
func.func @winograd_of_integers(%f: tensor<5x3x3x2xi32>, %e: tensor<6x6x2x5xi32>) -> tensor<6x6x2x5xi32> {
  // expected-error@below {{has elements of 'i32': expected floats, as the matrices have fractions}}
  %g = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<5x3x3x2xi32>) outs(%e : tensor<6x6x2x5xi32>) -> tensor<6x6x2x5xi32>
  return %g : tensor<6x6x2x5xi32>
}

// -----

func.func @softmax_of_indices(%x: tensor<2x64xindex>, %e: tensor<2x64xindex>) -> tensor<2x64xindex> {
  // expected-error@below {{has elements of type 'index'; expected floats: convert them before and after}}
  %y = linalg.softmax dimension(1) ins(%x : tensor<2x64xindex>) outs(%e : tensor<2x64xindex>) -> tensor<2x64xindex>
  return %y : tensor<2x64xindex>
}

// -----

func.func @softmax_of_integers(%x: tensor<2x64xi32>, %e: tensor<2x64xi32>) -> tensor<2x64xi32> {
  // expected-error@below {{has elements of type 'i32'; expected floats: convert them before and after}}
  %y = linalg.softmax dimension(1) ins(%x : tensor<2x64xi32>) outs(%e : tensor<2x64xi32>) -> tensor<2x64xi32>
  return %y : tensor<2x64xi32>
}
