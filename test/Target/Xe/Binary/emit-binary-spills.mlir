// Machine code that spills is made again with more registers, of which what spills less stays.
// REQUIRES: ocloc
// RUN: xetile-opt %s --xetile-compile="target=bmg schedule=%schedules/matmul.mlir to=5-xevm" > %t.mlir
// RUN: xetile-opt %t.mlir --xetile-compile="target=bmg from=5-xevm native=require native-chips=bmg,pvc" | FileCheck %s --check-prefix=AUTO
// RUN: xetile-opt %t.mlir --xetile-lower-xevm-to-binary="native=require" | FileCheck %s --check-prefix=AUTO-ONE
// RUN: xetile-opt %t.mlir --xetile-compile="target=bmg from=5-xevm native=require large-register-file=false" | FileCheck %s --check-prefix=SMALL
// RUN: xetile-opt %t.mlir --xetile-compile="target=bmg from=5-xevm native=require large-register-file=false" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARNING
//
// A smaller tile of C fits.
// RUN: xetile-opt %s --xetile-compile="schedule=%schedules/matmul.mlir set=workgroup_m=64,workgroup_n=64,subgroups_m=4 native=require" | FileCheck %s --check-prefix=FITS
// RUN: xetile-opt %s --xetile-compile="schedule=%schedules/matmul.mlir set=workgroup_m=64,workgroup_n=64,subgroups_m=4 native=require large-register-file=true" | FileCheck %s --check-prefix=LARGE

// WARNING: warning: spills {{[0-9]+}} bytes of a thread on bmg: vectors of 224 registers live at once, of 128 that a thread has: 16 x vector<8x16xf32> (128 registers), 3 x vector<2x32x16xf16> (96 registers); smaller tiles or steps need fewer

// AUTO: properties = {chip = "bmg", kind = "native", registers = 256 : i64, spill = 0 : i64}
// AUTO-SAME: properties = {chip = "pvc", kind = "native", registers = 256 : i64, spill = 0 : i64}
// AUTO-ONE: properties = {chip = "bmg", kind = "native", registers = 256 : i64, spill = 0 : i64}
// SMALL: properties = {chip = "bmg", kind = "native", registers = 128 : i64, spill = {{[1-9][0-9]*}} : i64}
// FITS: properties = {chip = "pvc", kind = "native", registers = 128 : i64, spill = 0 : i64}
// LARGE: properties = {chip = "pvc", kind = "native", registers = 256 : i64, spill = 0 : i64}

func.func @matmul(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16>)
                     outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %d : tensor<1024x1024xf32>
}
