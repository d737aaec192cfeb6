// RUN: xetile-opt %s --verify-diagnostics --split-input-file --xetile-report-expectations

func.func private @helper(%holds: i1, %n: i64) {
  // expected-error@+1 {{is what a function expects that others of the module call: expected it in a public function}}
  call @xetile_expect(%n, %holds, %n, %n) : (i64, i1, i64, i64) -> ()
  return
}
func.func private @xetile_expect(i64, i1, i64, i64) attributes {xetile.expectations = [["cf.assert", "a"]]}

// -----

func.func @numbers(%holds: i1, %n: i64) {
  %c2 = arith.constant 2 : i64
  // expected-error@+1 {{names expectation 2 of @xetile_expect, whose xetile.expectations has 1; expected a number from 1 to 1}}
  call @xetile_expect(%c2, %holds, %n, %n) : (i64, i1, i64, i64) -> ()
  return
}
func.func private @xetile_expect(i64, i1, i64, i64) attributes {xetile.expectations = [["cf.assert", "a"]]}
