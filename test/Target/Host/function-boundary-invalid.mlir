// RUN: xetile-opt %s --split-input-file --xetile-box-scalars --xetile-results-to-arguments --xetile-store-bits-as-bytes --verify-diagnostics

// expected-error @below {{takes or returns numbers and is called in its module: expected calls of private functions only}}
func.func @called(%s: f32) -> f32 {
  return %s : f32
}
func.func @caller(%a: tensor<1xf32>, %s: f32) -> f32 {
  %r = func.call @called(%s) : (f32) -> f32
  return %r : f32
}

// -----

// expected-error @below {{result 0 is 'memref<?xf32>': expected static sizes in C order}}
func.func @dynamic(%a: memref<?xf32>) -> memref<?xf32> {
  return %a : memref<?xf32>
}

// -----

// expected-error @below {{is called in its module: expected calls of private functions only}}
func.func @called_for_memory(%a: memref<4xf32>) -> memref<4xf32> {
  return %a : memref<4xf32>
}
func.func private @user(%a: memref<4xf32>) {
  %r = func.call @called_for_memory(%a) : (memref<4xf32>) -> memref<4xf32>
  return
}

// -----

func.func @vectors(%a: memref<8xi1>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{moves vectors of i1 from or to memory, which holds them as bytes}}
  %v = vector.load %a[%c0] : memref<8xi1>, vector<8xi1>
  vector.store %v, %a[%c0] : memref<8xi1>, vector<8xi1>
  return
}
