// RUN: xetile-opt %s --split-input-file --xetile-lower-math --verify-diagnostics

func.func @wide(%x: f128) -> f128 {
  // expected-error @below {{expected elements of f16, bf16, f32 or f64, got 'f128'; convert them before and after}}
  %y = math.exp %x : f128
  return %y : f128
}

// -----

func.func @tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected scalars or vectors of static size, got 'tensor<4xf32>'}}
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @scalable(%x: vector<[4]xf32>) -> vector<[4]xf32> {
  // expected-error @below {{expected scalars or vectors of static size}}
  %y = math.exp %x : vector<[4]xf32>
  return %y : vector<[4]xf32>
}

// -----

func.func @huge(%x: vector<16385xf32>) -> vector<16385xf32> {
  // expected-error @below {{expected vectors of 16384 lanes at most, got 'vector<16385xf32>'; loop over parts of it}}
  %y = math.exp %x : vector<16385xf32>
  return %y : vector<16385xf32>
}

// -----

func.func @no_number_of_lanes(%x: vector<4294967296x4294967296xf32>) -> vector<4294967296x4294967296xf32> {
  // expected-error @below {{expected vectors of 16384 lanes at most, got 'vector<4294967296x4294967296xf32>'}}
  %y = math.exp %x : vector<4294967296x4294967296xf32>
  return %y : vector<4294967296x4294967296xf32>
}

// -----

// expected-note @below {{it is here}}
func.func @sinf(%x: f32) -> f32 {
  // expected-error @below {{calls the library's function @sinf, expected no other @sinf in the module; rename it}}
  %y = math.sin %x : f32
  return %y : f32
}
