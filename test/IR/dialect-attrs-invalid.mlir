// RUN: xetile-opt %s --split-input-file --verify-diagnostics

// What passes tell one another has types, and names that somebody reads.

// expected-error @+1 {{'func.func' op has an attribute that nobody reads, 'xetile.frozn'; expected xetile.frozen, }}
func.func private @misspelled(%a: tensor<4xf32>) attributes {xetile.frozn}

// -----

// expected-error @+1 {{'func.func' op has xetile.frozen, which belongs to arguments of functions}}
func.func private @of_a_function(%a: tensor<4xf32>) attributes {xetile.frozen}

// -----

// expected-error @+1 {{'func.func' op has xetile.rows, which belongs to operations}}
func.func @of_an_argument(%a: tensor<4xf32> {xetile.rows}) { return }

// -----

// expected-error @+1 {{'func.func' op expected xetile.frozen to be a unit, got true}}
func.func @no_unit(%a: tensor<4xf32> {xetile.frozen = true}) { return }

// -----

func.func @pack(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{'linalg.matmul' op expected xetile.matmul_pack to be "auto", "always" or "never", got "often"}}
  %d = linalg.matmul {xetile.matmul_pack = "often"}
    ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----

func.func @lanes(%a: vector<8x16xf32>) -> vector<8x16xf32> {
  // expected-error @+1 {{'arith.addf' op expected xetile.lanes to be an array of #xetile.lane_layout and unit, got [1]}}
  %d = arith.addf %a, %a {xetile.lanes = [1]} : vector<8x16xf32>
  return %d : vector<8x16xf32>
}

// -----

// Signs of bytes belong to the product, not to a note on it.
func.func @signs(%a: vector<8x32xi8>, %b: vector<32x16xi8>) {
  // expected-error @+1 {{'xetile.tile_mma' op has an attribute that nobody reads, 'xetile.unsigned_a'; expected unsigned_a and unsigned_b on xetile.tile_mma}}
  %d = xetile.tile_mma %a, %b {xetile.unsigned_a} : vector<8x32xi8>, vector<32x16xi8> -> vector<8x16xi32>
  return
}

// -----

// expected-error @+1 {{'llvm.func' op expected xetile.conditions to be an array of arrays of two or four strings, got}}
llvm.func @f_check() attributes {xetile.conditions = [["argument 0, dimension 0", "==", "its type"]]}
