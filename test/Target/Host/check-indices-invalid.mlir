// RUN: xetile-opt %s --split-input-file --verify-diagnostics --xetile-check-indices

func.func @sums(%i: tensor<4xindex>, %z: tensor<index>) -> tensor<index> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
    ins(%i : tensor<4xindex>) outs(%z : tensor<index>) {
  ^bb0(%a: index, %o: index):
    // expected-error@+1 {{depends on what the operation around it sums up, so that it cannot be checked}}
    %v = tensor.extract %i[%o] : tensor<4xindex>
    linalg.yield %v : index
  } -> tensor<index>
  return %r : tensor<index>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func private @g(index) -> index
func.func @effects(%i: tensor<4xindex>, %e: tensor<4xindex>) -> tensor<4xindex> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%i : tensor<4xindex>) outs(%e : tensor<4xindex>) {
  ^bb0(%a: index, %o: index):
    %x = func.call @g(%a) : (index) -> index
    // expected-error@+1 {{depends on an operation with side effects}}
    %v = tensor.extract %i[%x] : tensor<4xindex>
    linalg.yield %v : index
  } -> tensor<4xindex>
  return %r : tensor<4xindex>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @while(%i: tensor<4xindex>, %e: tensor<4xindex>) -> tensor<4xindex> {
  %c9 = arith.constant 9 : index
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%i : tensor<4xindex>) outs(%e : tensor<4xindex>) {
  ^bb0(%a: index, %o: index):
    %w = scf.while (%x = %a) : (index) -> index {
      %c = arith.cmpi slt, %x, %c9 : index
      scf.condition(%c) %x : index
    } do {
    ^bb0(%x: index):
      // expected-error@+1 {{is in a region that cannot be checked: expected it in the body of a linalg operation, in scf.if or in scf.for there}}
      %v = tensor.extract %i[%x] : tensor<4xindex>
      scf.yield %v : index
    }
    linalg.yield %w : index
  } -> tensor<4xindex>
  return %r : tensor<4xindex>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @own(%i: tensor<4xindex>, %e: tensor<4xindex>) -> tensor<4xindex> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%i : tensor<4xindex>) outs(%e : tensor<4xindex>) {
  ^bb0(%a: index, %o: index):
    %t = tensor.from_elements %a, %a : tensor<2xindex>
    // expected-error@+1 {{reads a tensor that the body itself makes by an index that is not known to be in range}}
    %v = tensor.extract %t[%a] : tensor<2xindex>
    linalg.yield %v : index
  } -> tensor<4xindex>
  return %r : tensor<4xindex>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error@+1 {{has the name @xetile_expect, which is needed for what the function expects of its data}}
func.func private @xetile_expect()
func.func @name(%i: tensor<4xindex>, %e: tensor<4xindex>) -> tensor<4xindex> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%i : tensor<4xindex>) outs(%e : tensor<4xindex>) {
  ^bb0(%a: index, %o: index):
    %v = tensor.extract %i[%a] : tensor<4xindex>
    linalg.yield %v : index
  } -> tensor<4xindex>
  return %r : tensor<4xindex>
}
