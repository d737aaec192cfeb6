// Of 8 queries of a subgroup the matrix unit adds up powers, too, where values leave registers for sums of all lanes.
// One query, whose keys workgroups share: its dimension comes behind those of the keys in what is reduced.
// RUN: sed -e 's/%Q: tensor<16x1024x/%Q: tensor<16x1x/; s/ins(%Q, %T : tensor<16x1024x/ins(%Q, %T : tensor<16x1x/' \
// RUN:     -e 's/16x1024x1024x/16x1x1024x/g; s/16x1024x64xf32/16x1x64xf32/g' %schedules/payloads/attention_f16.mlir > %t.one.mlir
// RUN: xetile-opt %t.one.mlir --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/attention.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefix=ONE
// RUN: sed -e 's/x64x/x128x/g' %schedules/payloads/attention_f16.mlir > %t.wide.mlir
// RUN: xetile-opt %t.wide.mlir --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/attention.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefix=WIDE
// RUN: sed -e 's/f16/bf16/g' %t.wide.mlir > %t.bf16.mlir
// RUN: xetile-opt %t.bf16.mlir --transform-preload-library='transform-library-paths=%schedules/parts,%schedules/attention.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefix=STEPS
// RUN: sed -e 's/"lazy"> = 0/"lazy"> = 60/' %schedules/attention.mlir > %t.lazy.mlir
// RUN: xetile-opt %t.wide.mlir --transform-preload-library='transform-library-paths=%schedules/parts,%t.lazy.mlir' \
// RUN:     --transform-interpreter | FileCheck %s --check-prefix=STEPS

// ONE: gpu.func @attention_0_attention_kernel
// ONE: scf.for {{.*}} -> (vector<8x64xf32>, vector<8x1xf32>, vector<8x16xf32>)
// ONE: %[[P:.*]] = arith.truncf %{{.*}} : vector<8x64xf32> to vector<8x64xf16>
// ONE: xetile.tile_mma %[[P]], %{{.*}}, %{{.*}} : vector<8x64xf16>, vector<64x16xf16>, vector<8x16xf32>
// ONE-NOT: xetile.tile_reduce <add>
// ONE: scf.yield

// Lanes add up what they have, as a tree, and are put together behind the loop.
// WIDE: gpu.func @attention_kernel
// WIDE: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[L:.*]] = %{{.*}}) -> (vector<128x128xf32>, vector<128x1xf32>, vector<128x16xf32>)
// WIDE: %[[SCALED:.*]] = arith.mulf %[[L]], %{{.*}} : vector<128x16xf32>
// WIDE-COUNT-8: vector.extract_strided_slice
// WIDE-COUNT-7: arith.addf
// WIDE: arith.addf %[[SCALED]], %{{.*}} : vector<128x16xf32>
// WIDE-NOT: xetile.tile_reduce <add>
// WIDE: scf.yield
// WIDE: xetile.tile_reduce <add> %[[LOOP]]#2, [1]

// Of bf16 there are no registers for it, and sums whose size decides are whole ones.
// STEPS: gpu.func @attention_kernel
// STEPS: scf.for {{.*}} -> (vector<128x128xf32>, vector<128x1xf32>, vector<128x1xf32>)
// STEPS: xetile.tile_reduce <add>
// STEPS: scf.yield
