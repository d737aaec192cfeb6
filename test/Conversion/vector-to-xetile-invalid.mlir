// RUN: xetile-opt %s --convert-vector-to-xetile --split-input-file --verify-diagnostics

func.func @tensor(%A: tensor<64x64xf16>, %i: index) -> vector<32x16xf16> {
  %h = arith.constant 0.0 : f16
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: expected a memref, got 'tensor<64x64xf16>'; bufferize before}}
  %a = vector.transfer_read %A[%i, %i], %h : tensor<64x64xf16>, vector<32x16xf16>
  return %a : vector<32x16xf16>
}

// -----

func.func @rank(%A: memref<4x64x64xf16>, %i: index) -> vector<32x16xf16> {
  %h = arith.constant 0.0 : f16
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: expected a 2D memref and vector, got 'memref<4x64x64xf16>' and 'vector<32x16xf16>'}}
  %a = vector.transfer_read %A[%i, %i, %i], %h : memref<4x64x64xf16>, vector<32x16xf16>
  return %a : vector<32x16xf16>
}

// -----

func.func @mask(%A: memref<64x64xf16>, %i: index, %mask: vector<32x16xi1>) -> vector<32x16xf16> {
  %h = arith.constant 0.0 : f16
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: masked transfers are not supported; vectorize with tile sizes that divide the problem}}
  %a = vector.transfer_read %A[%i, %i], %h, %mask : memref<64x64xf16>, vector<32x16xf16>
  return %a : vector<32x16xf16>
}

// -----

func.func @transposed(%A: memref<64x64xf16>, %i: index) -> vector<32x16xf16> {
  %h = arith.constant 0.0 : f16
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: expected an identity permutation_map, got affine_map<(d0, d1) -> (d1, d0)>}}
  %a = vector.transfer_read %A[%i, %i], %h {permutation_map = affine_map<(m, n) -> (n, m)>} : memref<64x64xf16>, vector<32x16xf16>
  return %a : vector<32x16xf16>
}

// -----

func.func @padding(%A: memref<64x64xf16>, %i: index, %h: f16) -> vector<32x16xf16> {
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: expected a constant padding value for a transfer that may be out of bounds}}
  %a = vector.transfer_read %A[%i, %i], %h : memref<64x64xf16>, vector<32x16xf16>
  return %a : vector<32x16xf16>
}

// -----

func.func @column_stride(%A: memref<64x64xf16, strided<[128, 2]>>, %v: vector<32x16xf16>, %i: index) {
  // expected-error @+1 {{'vector.transfer_write' op cannot become a tile: expected a memref with column or row stride 1, got 'memref<64x64xf16, strided<[128, 2]>>'}}
  vector.transfer_write %v, %A[%i, %i] : vector<32x16xf16>, memref<64x64xf16, strided<[128, 2]>>
  return
}

// -----

func.func @transposed_b(%a: vector<32x16xf16>, %b: vector<32x16xf16>, %c: vector<32x32xf32>) -> vector<32x32xf32> {
  // expected-error @+1 {{'vector.contract' op cannot become a tile_mma: expected the sum over k of a[m, k] * b[k, n]}}
  %d = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %a, %b, %c : vector<32x16xf16>, vector<32x16xf16> into vector<32x32xf32>
  return %d : vector<32x32xf32>
}
