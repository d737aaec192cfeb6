// RUN: xetile-opt %s --allow-unregistered-dialect --convert-tm-tensor-to-linalg --split-input-file --verify-diagnostics

func.func @operands(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{a scan of torch-mlir: expected an input, two outputs and a body}}
  %y = "tm_tensor.scan"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @dimension(%x: tensor<8xf32>) -> tensor<8xf32> {
  %last = tensor.empty() : tensor<f32>
  // expected-error @+1 {{a scan of torch-mlir: expected `dimension` to be one of its 1}}
  %y:2 = "tm_tensor.scan"(%x, %x, %last) <{dimension = 1 : i64, inclusive = true}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return %y#0 : tensor<8xf32>
}

// -----

func.func @no_dimension(%x: tensor<8xf32>) -> tensor<8xf32> {
  %last = tensor.empty() : tensor<f32>
  // expected-error @+1 {{a scan of torch-mlir: expected `dimension` to be one of its 1}}
  %y:2 = "tm_tensor.scan"(%x, %x, %last) <{inclusive = true}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return %y#0 : tensor<8xf32>
}

// -----

func.func @exclusive(%x: tensor<8xf32>) -> tensor<8xf32> {
  %last = tensor.empty() : tensor<f32>
  // expected-error @+1 {{a scan of torch-mlir: expected `inclusive = true`; shift the result of such a one instead}}
  %y:2 = "tm_tensor.scan"(%x, %x, %last) <{dimension = 0 : i64, inclusive = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return %y#0 : tensor<8xf32>
}

// -----

func.func @last(%x: tensor<8xf32>) -> tensor<f32> {
  %last = tensor.empty() : tensor<f32>
  // expected-error @+1 {{a scan of torch-mlir: expected no use of the second result; the last values of the first are it}}
  %y:2 = "tm_tensor.scan"(%x, %x, %last) <{dimension = 0 : i64, inclusive = true}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return %y#1 : tensor<f32>
}

// -----

func.func @difference(%x: tensor<8xf32>) -> tensor<8xf32> {
  %last = tensor.empty() : tensor<f32>
  // expected-error @+1 {{a scan of torch-mlir: expected a body of one commutative op with a neutral element, as arith.addf, of both values}}
  %y:2 = "tm_tensor.scan"(%x, %x, %last) <{dimension = 0 : i64, inclusive = true}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return %y#0 : tensor<8xf32>
}

// -----

func.func @square(%x: tensor<8xf32>) -> tensor<8xf32> {
  %last = tensor.empty() : tensor<f32>
  // expected-error @+1 {{a scan of torch-mlir: expected a body of one commutative op with a neutral element, as arith.addf, of both values}}
  %y:2 = "tm_tensor.scan"(%x, %x, %last) <{dimension = 0 : i64, inclusive = true}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %b, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return %y#0 : tensor<8xf32>
}

// -----

func.func @nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  %last = tensor.empty() : tensor<f32>
  // expected-error @+1 {{a scan of torch-mlir: expected a body of one commutative op with a neutral element, as arith.addf, of both values}}
  %y:2 = "tm_tensor.scan"(%x, %x, %last) <{dimension = 0 : i64, inclusive = true}> ({
  ^bb0(%a: f32, %b: f32):
    "tm_tensor.yield"(%a) : (f32) -> ()
  }) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return %y#0 : tensor<8xf32>
}

// -----

func.func @numbers(%x: tensor<f32>) -> tensor<f32> {
  %last = tensor.empty() : tensor<f32>
  // expected-error @+1 {{a scan of torch-mlir: expected tensors of one type, with dimensions, got 'tensor<f32>' and 'tensor<f32>'}}
  %y:2 = "tm_tensor.scan"(%x, %x, %last) <{dimension = 0 : i64, inclusive = true}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %y#0 : tensor<f32>
}

// -----

func.func @sort(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected no op of torch-mlir's own dialect but tm_tensor.scan and tm_tensor.scatter, got tm_tensor.sort}}
  %y = "tm_tensor.sort"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @scatter_columns(%x: tensor<7x5xf32>, %i: tensor<9x1xi64>, %u: tensor<9x1x5xf32>) -> tensor<7x5xf32> {
  // expected-error @+1 {{a scatter of torch-mlir: expected indices of the first dimensions, one column for each number of `dimension_map`}}
  %y = "tm_tensor.scatter"(%u, %i, %x) <{dimension_map = array<i64: 0, 1>, unique_indices = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<9x1x5xf32>, tensor<9x1xi64>, tensor<7x5xf32>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @scatter_last(%x: tensor<7x5xf32>, %i: tensor<9x1xi64>, %u: tensor<9x1x5xf32>) -> tensor<7x5xf32> {
  // expected-error @+1 {{a scatter of torch-mlir: expected indices of the first dimensions, one column for each number of `dimension_map`}}
  %y = "tm_tensor.scatter"(%u, %i, %x) <{dimension_map = array<i64: 1>, unique_indices = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<9x1x5xf32>, tensor<9x1xi64>, tensor<7x5xf32>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @scatter_parts(%x: tensor<7x5xf32>, %i: tensor<9x1xi64>, %u: tensor<9x1x4xf32>) -> tensor<7x5xf32> {
  // expected-error @+1 {{a scatter of torch-mlir: expected an update of each row, in all of its other dimensions, got 'tensor<9x1x4xf32>' for 'tensor<7x5xf32>'}}
  %y = "tm_tensor.scatter"(%u, %i, %x) <{dimension_map = array<i64: 0>, unique_indices = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<9x1x4xf32>, tensor<9x1xi64>, tensor<7x5xf32>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @scatter_difference(%x: tensor<7x5xf32>, %i: tensor<9x1xi64>, %u: tensor<9x1x5xf32>) -> tensor<7x5xf32> {
  // expected-error @+1 {{a scatter of torch-mlir: expected a body of one commutative op with a neutral element, as arith.addf, of an update and an element, or of the update alone}}
  %y = "tm_tensor.scatter"(%u, %i, %x) <{dimension_map = array<i64: 0>, unique_indices = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %b, %a : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<9x1x5xf32>, tensor<9x1xi64>, tensor<7x5xf32>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @scatter_indices(%x: tensor<7x5xf32>, %i: tensor<9xi64>, %u: tensor<9x1x5xf32>) -> tensor<7x5xf32> {
  // expected-error @+1 {{a scatter of torch-mlir: expected tensors, with a matrix of integers as indices, and `dimension_map`}}
  %y = "tm_tensor.scatter"(%u, %i, %x) <{dimension_map = array<i64: 0>, unique_indices = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %b, %a : f32
    "tm_tensor.yield"(%s) : (f32) -> ()
  }) : (tensor<9x1x5xf32>, tensor<9xi64>, tensor<7x5xf32>) -> tensor<7x5xf32>
  return %y : tensor<7x5xf32>
}

// -----

func.func @scatter_operands(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{a scatter of torch-mlir: expected updates, indices, an output and a body}}
  %y = "tm_tensor.scatter"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
