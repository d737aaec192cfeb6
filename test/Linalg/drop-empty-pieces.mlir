// REQUIRES: cpu
// RUN: xetile-opt %s --xetile-drop-empty-pieces | FileCheck %s
// RUN: xetile-opt %s --xetile-bufferize-for-cpu --xetile-lower-to-cpu | FileCheck %s --check-prefix=DONE

// DONE: llvm.func @padded
// CHECK-LABEL: func @padded
// CHECK-NEXT:    %[[ALL:.*]] = tensor.generate {
// CHECK-NEXT:    ^bb0(%[[ROW:.*]]: index, %{{.*}}: index):
// CHECK-NEXT:      tensor.yield %[[ROW]] : index
// CHECK:         return %[[ALL]] : tensor<3x2xindex>
func.func @padded(%x: tensor<0x2xindex>) -> tensor<3x2xindex> {
  %t = tensor.pad %x low[3, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %i : index
  } : tensor<0x2xindex> to tensor<3x2xindex>
  return %t : tensor<3x2xindex>
}

// DONE: llvm.func @sizes_known_at_run_time_only
// CHECK-LABEL: func @sizes_known_at_run_time_only
// CHECK-SAME:    %[[X:.*]]: tensor<?x0xf32>, %[[V:.*]]: f32
// CHECK:         %[[ROWS:.*]] = tensor.dim %[[X]]
// CHECK:         %[[MORE:.*]] = affine.apply #{{.*}}()[%[[ROWS]]]
// CHECK:         tensor.generate %[[MORE]] {
// CHECK:           tensor.yield %[[V]]
// CHECK:         } : tensor<?x2xf32>
func.func @sizes_known_at_run_time_only(%x: tensor<?x0xf32>, %v: f32) -> tensor<?x2xf32> {
  %t = tensor.pad %x low[3, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x0xf32> to tensor<?x2xf32>
  return %t : tensor<?x2xf32>
}

// DONE: llvm.func @one_piece
// CHECK-LABEL: func @one_piece
// CHECK-SAME:    %{{.*}}: tensor<0x2xf32>, %[[Y:.*]]: tensor<3x2xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @one_piece(%x: tensor<0x2xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %t = tensor.concat dim(0) %y, %x : (tensor<3x2xf32>, tensor<0x2xf32>) -> tensor<3x2xf32>
  return %t : tensor<3x2xf32>
}

// DONE: llvm.func @pieces
// CHECK-LABEL: func @pieces
// CHECK-SAME:    %{{.*}}: tensor<0x2xf32>, %[[Y:.*]]: tensor<?x2xf32>
// CHECK-NEXT:    tensor.concat dim(0) %[[Y]], %[[Y]] : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
func.func @pieces(%x: tensor<0x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %t = tensor.concat dim(0) %y, %x, %y : (tensor<?x2xf32>, tensor<0x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %t : tensor<?x2xf32>
}

// DONE: llvm.func @nothing
// CHECK-LABEL: func @nothing
// CHECK-NEXT:    %[[NOTHING:.*]] = tensor.empty() : tensor<6x0xf32>
// CHECK-NEXT:    return %[[NOTHING]]
func.func @nothing(%x: tensor<3x0xf32>) -> tensor<6x0xf32> {
  %t = tensor.concat dim(0) %x, %x : (tensor<3x0xf32>, tensor<3x0xf32>) -> tensor<6x0xf32>
  return %t : tensor<6x0xf32>
}

// DONE: llvm.func @slice
// CHECK-LABEL: func @slice
// CHECK-NEXT:    %[[NOTHING:.*]] = tensor.empty() : tensor<0xf32>
// CHECK-NEXT:    return %[[NOTHING]]
func.func @slice(%x: tensor<3x3xf32>) -> tensor<0xf32> {
  %t = tensor.extract_slice %x[1, 1] [1, 0] [2, 1] : tensor<3x3xf32> to tensor<0xf32>
  return %t : tensor<0xf32>
}

// DONE: llvm.func @slice_of_slice
// CHECK-LABEL: func @slice_of_slice
// CHECK-SAME:    %{{.*}}: tensor<3x?xf32>, %[[N:.*]]: index
// CHECK:         %[[NOTHING:.*]] = tensor.empty(%[[N]]) : tensor<0x?xf32>
// CHECK-NEXT:    return %[[NOTHING]]
func.func @slice_of_slice(%x: tensor<3x?xf32>, %n: index) -> tensor<0x?xf32> {
  %s = tensor.extract_slice %x[2, 0] [1, %n] [1, 1] : tensor<3x?xf32> to tensor<1x?xf32>
  %t = tensor.extract_slice %s[0, 0] [0, %n] [1, 1] : tensor<1x?xf32> to tensor<0x?xf32>
  return %t : tensor<0x?xf32>
}

// DONE: llvm.func @inserted
// CHECK-LABEL: func @inserted
// CHECK-SAME:    %{{.*}}: tensor<0xf32>, %[[Y:.*]]: tensor<3x3xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @inserted(%x: tensor<0xf32>, %y: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %t = tensor.insert_slice %x into %y[1, 2] [1, 0] [2, 1] : tensor<0xf32> into tensor<3x3xf32>
  return %t : tensor<3x3xf32>
}

// Canonicalization makes this size a part of the type.
// DONE: llvm.func @constant_size
// CHECK-LABEL: func @constant_size
// CHECK:         %[[ZERO:.*]] = arith.constant 0
// CHECK:         tensor.empty(%[[ZERO]]) : tensor<?xf32>
func.func @constant_size(%x: tensor<3xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.extract_slice %x[2] [%c0] [1] : tensor<3xf32> to tensor<?xf32>
  return %t : tensor<?xf32>
}

// The result's type says what its pieces' types do not.
// DONE: llvm.func @nothing_of_any
// CHECK-LABEL: func @nothing_of_any
// CHECK-NEXT:    %[[NOTHING:.*]] = tensor.empty() : tensor<0x2xf32>
// CHECK-NEXT:    return %[[NOTHING]]
func.func @nothing_of_any(%x: tensor<?x2xf32>) -> tensor<0x2xf32> {
  %t = tensor.concat dim(0) %x, %x : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<0x2xf32>
  return %t : tensor<0x2xf32>
}

// Nothing is computed.
// DONE: llvm.func @exponentials
// CHECK-LABEL: func @exponentials
// CHECK-NEXT:    %[[NOTHING:.*]] = tensor.empty() : tensor<0x3xf32>
// CHECK-NOT:     linalg
// CHECK:         return
func.func @exponentials(%x: tensor<0x3xf32>, %e: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %y = linalg.exp ins(%x : tensor<0x3xf32>) outs(%e : tensor<0x3xf32>) -> tensor<0x3xf32>
  return %y : tensor<0x3xf32>
}

// DONE: llvm.func @unpacked
// CHECK-LABEL: func @unpacked
// CHECK-NEXT:    %[[NOTHING:.*]] = tensor.empty() : tensor<0xi8>
// CHECK-NEXT:    return %[[NOTHING]]
func.func @unpacked(%x: tensor<0x4xi8>, %e: tensor<0xi8>) -> tensor<0xi8> {
  %y = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [4] into %e : tensor<0x4xi8> -> tensor<0xi8>
  return %y : tensor<0xi8>
}

// DONE: llvm.func @sum
// CHECK-LABEL: func @sum
// CHECK-SAME:    %{{.*}}: tensor<0x3xf32>, %[[START:.*]]: tensor<3xf32>
// CHECK-NEXT:    return %[[START]]
func.func @sum(%x: tensor<0x3xf32>, %start: tensor<3xf32>) -> tensor<3xf32> {
  %y = linalg.reduce {arith.addf} ins(%x : tensor<0x3xf32>) outs(%start : tensor<3xf32>) dimensions = [0]
  return %y : tensor<3xf32>
}

// The other size is the run's.
// DONE: llvm.func @open_product
// CHECK-LABEL: func @open_product
// CHECK-SAME:    %[[START:[a-z0-9]*]]: tensor<?x3xf32>)
// CHECK-NEXT:    return %[[START]]
func.func @open_product(%x: tensor<?x0xf32>, %y: tensor<0x3xf32>, %start: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %z = linalg.matmul ins(%x, %y : tensor<?x0xf32>, tensor<0x3xf32>) outs(%start : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %z : tensor<?x3xf32>
}

// A loop may have no end: it stays.
// CHECK-LABEL: func @loop
// CHECK:         scf.while
func.func @loop(%x: tensor<0xf32>, %go: i1) -> tensor<0xf32> {
  %y = scf.while (%a = %x) : (tensor<0xf32>) -> tensor<0xf32> {
    scf.condition(%go) %a : tensor<0xf32>
  } do {
  ^bb0(%a: tensor<0xf32>):
    scf.yield %a : tensor<0xf32>
  }
  return %y : tensor<0xf32>
}
