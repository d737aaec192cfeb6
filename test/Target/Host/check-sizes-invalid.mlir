// RUN: xetile-opt %s --split-input-file --xetile-check-sizes --verify-diagnostics

func.func @from_data(%a: tensor<8xf32>, %b: tensor<1xindex>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %s = arith.addi %b, %b : tensor<1xindex>
  %i = tensor.extract %s[%c0] : tensor<1xindex>
  // expected-error @below {{has sizes or offsets that only the function itself computes}}
  %r = tensor.extract_slice %a[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @not_known(%a: tensor<?xf32>, %s: tensor<2xindex>) -> tensor<?x?xf32> {
  // expected-error @below {{takes or gives tensors of sizes known at run time only, and what sizes fit together is not known for it}}
  %r = tensor.reshape %a(%s) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// expected-error @below {{needs the name @f_checked for a function that checks sizes}}
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func private @f_checked(tensor<8xf32>)

// -----

// Upstream's analysis reads behind its memory for such dimensions.
func.func @no_such_dimension(%a: tensor<?xf32>) -> tensor<?xf32> {
  %far = arith.constant 2147483647 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'tensor.dim' op asks for dimension 2147483647 of 'tensor<?xf32>': expected one from 0 to 0}}
  %n = tensor.dim %a, %far : tensor<?xf32>
  %r = scf.for %i = %far to %n step %c4 iter_args(%t = %a) -> (tensor<?xf32>) {
    %s = tensor.extract_slice %t[%i] [%c1] [1] : tensor<?xf32> to tensor<?xf32>
    scf.yield %t : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

func.func @numbers(%a: tensor<?xf32>) {
  %c0 = arith.constant 0 : i64
  %c-1 = arith.constant -1 : i64
  %true = arith.constant true
  // expected-error @below {{names expectation 0 of @xetile_expect, whose xetile.expectations has 1; expected a number from 1 to 1}}
  call @xetile_expect(%c0, %true, %c0, %c-1) : (i64, i1, i64, i64) -> ()
  return
}
func.func private @xetile_expect(i64, i1, i64, i64) attributes {xetile.expectations = [["cf.assert", "a"]]}
