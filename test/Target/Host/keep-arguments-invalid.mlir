// RUN: xetile-opt %s --split-input-file --xetile-keep-arguments --verify-diagnostics

// expected-error @below {{may write to argument 0 of type 'memref<4x4xf32, strided<[8, 1]>>', which callers keep: expected memory in C order}}
func.func @pitch(%a: memref<4x4xf32, strided<[8, 1]>>) -> memref<f32> {
  %c0 = arith.constant 0 : index
  %r = memref.alloc() : memref<f32>
  %x = memref.load %r[] : memref<f32>
  memref.store %x, %a[%c0, %c0] : memref<4x4xf32, strided<[8, 1]>>
  return %r : memref<f32>
}

// -----

func.func private @callee(memref<*xf32>)

// expected-error @below {{may write to argument 0 of type 'memref<*xf32>', which callers keep}}
func.func @unranked(%a: memref<*xf32>) -> memref<f32> {
  %r = memref.alloc() : memref<f32>
  func.call @callee(%a) : (memref<*xf32>) -> ()
  return %r : memref<f32>
}

// -----

// What is only read may have any form.
func.func @read(%a: memref<4x4xf32, strided<[8, 1]>>) -> f32 {
  %c0 = arith.constant 0 : index
  %x = memref.load %a[%c0, %c0] : memref<4x4xf32, strided<[8, 1]>>
  return %x : f32
}
