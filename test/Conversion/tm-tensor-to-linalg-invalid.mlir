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
  // expected-error @+1 {{expected no op of torch-mlir's own dialect but tm_tensor.scan, got tm_tensor.sort}}
  %y = "tm_tensor.sort"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
