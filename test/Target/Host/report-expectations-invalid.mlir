// RUN: xetile-opt %s --verify-diagnostics --xetile-report-expectations

func.func private @helper(%holds: i1, %n: i64) {
  // expected-error@+1 {{is what a function expects that others of the module call: expected it in a public function}}
  call @xetile_expect(%n, %holds, %n, %n) : (i64, i1, i64, i64) -> ()
  return
}
func.func private @xetile_expect(i64, i1, i64, i64) attributes {xetile.expectations = [["cf.assert", "a"]]}
