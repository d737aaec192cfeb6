// RUN: xetile-opt %s --convert-vector-to-xetile --split-input-file --verify-diagnostics

func.func @tensor(%A: tensor<64x64xf16>, %i: index) -> vector<32x16xf16> {
  %h = arith.constant 0.0 : f16
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: expected a memref, got 'tensor<64x64xf16>'; bufferize before}}
  %a = vector.transfer_read %A[%i, %i], %h : tensor<64x64xf16>, vector<32x16xf16>
  return %a : vector<32x16xf16>
}

// -----

func.func @rank(%A: memref<4x64x64xf16>, %i: index) -> vector<4x32x16xf16> {
  %h = arith.constant 0.0 : f16
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: expected a vector of one or two dimensions, got 'vector<4x32x16xf16>'}}
  %a = vector.transfer_read %A[%i, %i, %i], %h : memref<4x64x64xf16>, vector<4x32x16xf16>
  return %a : vector<4x32x16xf16>
}

// -----

func.func @mask(%A: memref<64x64xf16>, %i: index, %mask: vector<32x16xi1>) -> vector<32x16xf16> {
  %h = arith.constant 0.0 : f16
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: masked transfers are not supported; vectorize with tile sizes that divide the problem}}
  %a = vector.transfer_read %A[%i, %i], %h, %mask : memref<64x64xf16>, vector<32x16xf16>
  return %a : vector<32x16xf16>
}

// -----

func.func @innermost_batch(%A: memref<64x64x4xf16>, %i: index) -> vector<32x16xf16> {
  %h = arith.constant 0.0 : f16
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: expected a memref with column or row stride 1, got 'memref<64x64x4xf16>'}}
  %a = vector.transfer_read %A[%i, %i, %i], %h {permutation_map = affine_map<(m, n, b) -> (m, n)>} : memref<64x64x4xf16>, vector<32x16xf16>
  return %a : vector<32x16xf16>
}

// -----

func.func @one_number(%A: memref<64x64xf16>, %i: index) -> vector<32x16xf16> {
  %h = arith.constant 0.0 : f16
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: expected a permutation_map to one or two of the memref's dimensions, got affine_map<(d0, d1) -> (0, 0)>}}
  %a = vector.transfer_read %A[%i, %i], %h {in_bounds = [true, true], permutation_map = affine_map<(m, n) -> (0, 0)>} : memref<64x64xf16>, vector<32x16xf16>
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

func.func @several_k(%a: vector<32x4x16xf16>, %b: vector<4x16x32xf16>, %c: vector<32x32xf32>) -> vector<32x32xf32> {
  // expected-error @+1 {{'vector.contract' op cannot become a tile_mma: expected the sum over k of a[m, k] * b[k, n], or of these transposed}}
  %d = vector.contract {indexing_maps = [affine_map<(m, n, j, k) -> (m, j, k)>, affine_map<(m, n, j, k) -> (j, k, n)>,
      affine_map<(m, n, j, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"],
      kind = #vector.kind<add>} %a, %b, %c : vector<32x4x16xf16>, vector<4x16x32xf16> into vector<32x32xf32>
  return %d : vector<32x32xf32>
}

// -----

func.func @maximum(%a: vector<32x16xf32>, %b: vector<32x16xf32>, %c: vector<32x32xf32>) -> vector<32x32xf32> {
  // expected-error @+1 {{'vector.contract' op cannot become a tile_mma: expected the sum over k of a[m, k] * b[k, n], or of these transposed}}
  %d = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<maxnumf>} %a, %b, %c : vector<32x16xf32>, vector<32x16xf32> into vector<32x32xf32>
  return %d : vector<32x32xf32>
}

// -----

func.func @elements_that_tiles_have_not(%A: memref<64x64xi1>) -> vector<8x16xi1> {
  %c0 = arith.constant 0 : index
  %pad = arith.constant false
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: expected tile elements of type i8, i16, i32, i64, f16, bf16, tf32, f32 or f64, got 'i1'}}
  %v = vector.transfer_read %A[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xi1>, vector<8x16xi1>
  return %v : vector<8x16xi1>
}

// -----

func.func @index_elements(%A: memref<64x64xindex>, %v: vector<8x16xindex>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'vector.transfer_write' op cannot become a tile: expected tile elements of type i8, i16, i32, i64, f16, bf16, tf32, f32 or f64, got 'index'}}
  vector.transfer_write %v, %A[%c0, %c0] {in_bounds = [true, true]} : vector<8x16xindex>, memref<64x64xindex>
  return
}

// -----

func.func @scalable(%A: memref<64x64xf32>, %v: vector<8x[16]xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'vector.transfer_write' op cannot become a tile: expected a vector of fixed length, got 'vector<8x[16]xf32>'}}
  vector.transfer_write %v, %A[%c0, %c0] {in_bounds = [true, true]} : vector<8x[16]xf32>, memref<64x64xf32>
  return
}

// -----

func.func @memory_space(%A: memref<64x64xf32, 5>, %v: vector<8x16xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'vector.transfer_write' op cannot become a tile: expected a memref in global or shared memory, got 'memref<64x64xf32, 5>'}}
  vector.transfer_write %v, %A[%c0, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, memref<64x64xf32, 5>
  return
}

// -----

#map_a = affine_map<(m, n, k) -> (m, k)>
#map_b = affine_map<(m, n, k) -> (k, n)>
#map_c = affine_map<(m, n, k) -> (m, n)>
func.func @element_types(%a: vector<8x16xf64>, %b: vector<16x16xf64>, %c: vector<8x16xf64>) -> vector<8x16xf64> {
  // expected-error @+1 {{'vector.contract' op cannot become a tile_mma: it has no 'f64' * 'f64' -> 'f64'; expected element types (f16, f16) -> f32 or f16}}
  %d = vector.contract {indexing_maps = [#map_a, #map_b, #map_c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %a, %b, %c : vector<8x16xf64>, vector<16x16xf64> into vector<8x16xf64>
  return %d : vector<8x16xf64>
}

// -----

#map_a = affine_map<(m, n, k) -> (m, k)>
#map_b = affine_map<(m, n, k) -> (k, n)>
#map_c = affine_map<(m, n, k) -> (m, n)>
// Whether the bytes of b were signed, nobody can tell.
func.func @lost_extension(%x: vector<8x32xi8>, %b: vector<32x16xi32>, %c: vector<8x16xi32>) -> vector<8x16xi32> {
  %a = arith.extui %x : vector<8x32xi8> to vector<8x32xi32>
  // expected-error @+1 {{'vector.contract' op cannot become a tile_mma: it has no 'i8' * 'i32' -> 'i32'; expected element types}}
  %d = vector.contract {indexing_maps = [#map_a, #map_b, #map_c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %a, %b, %c : vector<8x32xi32>, vector<32x16xi32> into vector<8x16xi32>
  return %d : vector<8x16xi32>
}

// -----

func.func @mask_of_a_line(%A: memref<64xf16>, %i: index, %mask: vector<16xi1>) -> vector<16xf16> {
  %h = arith.constant 0.0 : f16
  // expected-error @+1 {{'vector.transfer_read' op cannot become a tile: expected a vector of one or two dimensions, got}}
  %a = vector.transfer_read %A[%i], %h, %mask : memref<64xf16>, vector<16xf16>
  return %a : vector<16xf16>
}
