// RUN: xetile-opt %s --split-input-file --verify-diagnostics --xetile-check-memory

// expected-error @below {{needs the name @f_check_memory for a function that checks memory: expected it to be free}}
func.func @f(%a: memref<8xf32>) {
  return
}
func.func private @f_check_memory()

// -----

// expected-error @below {{needs the name @f_checked for a function that checks memory}}
func.func @f(%a: memref<8xf32>) {
  return
}
func.func private @f_checked()
