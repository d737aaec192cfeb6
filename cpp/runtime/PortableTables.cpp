// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PortableTables.cpp: what becomes of the parts of SPIR-V that go beyond OpenCL's.
// Input: numbers of capabilities, execution modes, decorations, instructions; output: names and
// reasons. Refused: nothing.
//
// The numbers are those of the SPIR-V registry. What Intel's CPU driver (2026.22) takes was tried:
// it names a capability that it does not take, and ends the process at an extension that it does
// not know.
#include "PortableTables.h"

#include <cstring>

namespace xetile::runtime {
namespace {

constexpr Fate Kept = Fate::Kept, Dropped = Fate::Dropped, Rewritten = Fate::Rewritten,
               Refused = Fate::Refused;

constexpr PortableRow capabilities[] = {
    {4464, "DenormPreserve", Dropped, "CPUs keep denormal numbers"},
    {4465, "DenormFlushToZero", Dropped, "CPUs keep denormal numbers: results may differ by them"},
    {4466, "SignedZeroInfNanPreserve", Dropped, "the driver's default"},
    {4467, "RoundingModeRTE", Dropped, "the driver's default"},
    {4468, "RoundingModeRTZ", Refused, "the driver rounds to nearest"},
    {5568, "SubgroupShuffleINTEL", Kept, ""},
    {5569, "SubgroupBufferBlockIOINTEL", Kept, ""},
    {5570, "SubgroupImageBlockIOINTEL", Kept, ""},
    {5603, "FunctionPointersINTEL", Kept, ""},
    {5604, "IndirectReferencesINTEL", Kept, ""},
    {5606, "AsmINTEL", Refused, "it is assembly of a GPU"},
    {5612, "AtomicFloat32MinMaxEXT", Kept, ""},
    {5613, "AtomicFloat64MinMaxEXT", Kept, ""},
    {5616, "AtomicFloat16MinMaxEXT", Kept, ""},
    {5617, "VectorComputeINTEL", Dropped, "modules declare it for VectorAnyINTEL's sake"},
    {5619, "VectorAnyINTEL", Kept, ""},
    {5629, "ExpectAssumeKHR", Kept, ""},
    {5821, "FunctionFloatControlINTEL", Dropped, "it controls the GPU's rounding per function"},
    {5844, "ArbitraryPrecisionIntegersINTEL", Rewritten, ""},
    {5886, "UnstructuredLoopControlsINTEL", Kept, ""},
    {5892, "KernelAttributesINTEL", Dropped, "it is about the largest workgroup"},
    {5897, "FPGAKernelAttributesINTEL", Dropped, "it is about FPGAs"},
    {5910, "MemoryAccessAliasingINTEL", Kept, ""},
    {6025, "BitInstructions", Kept, ""},
    {6033, "AtomicFloat32AddEXT", Kept, ""},
    {6034, "AtomicFloat64AddEXT", Kept, ""},
    {6089, "LongCompositesINTEL", Kept, ""},
    {6094, "OptNoneINTEL", Kept, ""},
    {6095, "AtomicFloat16AddEXT", Kept, ""},
    {6115, "BFloat16ConversionINTEL", Kept, ""},
    {6118, "JointMatrixINTEL", Refused, "the driver has no joint matrices"},
    {6022, "CooperativeMatrixKHR", Refused, "the driver has no cooperative matrices"},
    {6141, "SplitBarrierINTEL", Rewritten, ""},
    {6169, "FPMaxErrorINTEL", Kept, ""},
    {6187, "GlobalVariableHostAccessINTEL", Kept, ""},
    {6220, "SubgroupBufferPrefetchINTEL", Dropped, "prefetches change no result"},
    {6228, "Subgroup2DBlockIOINTEL", Rewritten, ""},
    {6229, "Subgroup2DBlockTransformINTEL", Rewritten, ""},
    {6230, "Subgroup2DBlockTransposeINTEL", Rewritten, ""},
    {6236, "SubgroupMatrixMultiplyAccumulateINTEL", Rewritten, ""},
    {6400, "GroupUniformArithmeticKHR", Kept, ""},
    {6425, "TensorFloat32RoundingINTEL", Rewritten, ""},
    {6427, "MaskedGatherScatterINTEL", Kept, ""},
    {6441, "CacheControlsINTEL", Dropped, "caches change no result"},
    {6460, "RegisterLimitsINTEL", Dropped, "it is about registers of a GPU"},
    {5116, "BFloat16TypeKHR", Refused, "the driver has no bfloat16 type"},
    {6016, "DotProductInputAllKHR", Refused, "the driver has dot products of 4 x 8 bits only"},
    {6017, "DotProductInput4x8BitKHR", Refused, "the driver has packed dot products only"},
    {6018, "DotProductInput4x8BitPackedKHR", Kept, ""},
    {6019, "DotProductKHR", Kept, ""},
};

constexpr PortableRow executionModes[] = {
    {4459, "DenormPreserve", Dropped, "CPUs keep denormal numbers"},
    {4460, "DenormFlushToZero", Dropped, "CPUs keep denormal numbers: results may differ by them"},
    {4461, "SignedZeroInfNanPreserve", Dropped, "the driver's default"},
    {4462, "RoundingModeRTE", Dropped, "the driver's default"},
    {4463, "RoundingModeRTZ", Refused, "the driver rounds to nearest"},
    {5618, "SharedLocalMemorySizeINTEL", Dropped, "local memory comes with the launch"},
    {5893, "MaxWorkgroupSizeINTEL", Dropped, "the launch says how large a workgroup is"},
    {5894, "MaxWorkDimINTEL", Dropped, "the launch says how many dimensions there are"},
    {5895, "NoGlobalOffsetINTEL", Dropped, "launches here have none"},
    {5896, "NumSIMDWorkitemsINTEL", Dropped, "it is about FPGAs"},
    {6417, "NamedBarrierCountINTEL", Dropped, "the driver counts barriers itself"},
    {6461, "MaximumRegistersINTEL", Dropped, "it is about registers of a GPU"},
    {6462, "MaximumRegistersIdINTEL", Dropped, "it is about registers of a GPU"},
    {6463, "NamedMaximumRegistersINTEL", Dropped, "it is about registers of a GPU"},
};

constexpr PortableRow decorations[] = {
    {4469, "NoSignedWrap", Kept, ""},
    {4470, "NoUnsignedWrap", Kept, ""},
    {5602, "ReferencedIndirectlyINTEL", Kept, ""},
    {5914, "AliasScopeINTEL", Kept, ""},
    {5915, "NoAliasINTEL", Kept, ""},
    {6170, "FPMaxErrorDecorationINTEL", Kept, ""},
    {6442, "CacheControlLoadINTEL", Dropped, "caches change no result"},
    {6443, "CacheControlStoreINTEL", Dropped, "caches change no result"},
};

constexpr PortableRow instructions[] = {
    {4417, "OpTypeUntypedPointerKHR", Refused, "the driver has no untyped pointers"},
    {4418, "OpUntypedVariableKHR", Refused, "the driver has no untyped pointers"},
    {4419, "OpUntypedAccessChainKHR", Refused, "the driver has no untyped pointers"},
    {4423, "OpUntypedPtrAccessChainKHR", Refused, "the driver has no untyped pointers"},
    {4450, "OpSDotKHR", Kept, ""},
    {4451, "OpUDotKHR", Kept, ""},
    {4452, "OpSUDotKHR", Kept, ""},
    {4453, "OpSDotAccSatKHR", Kept, ""},
    {4454, "OpUDotAccSatKHR", Kept, ""},
    {4455, "OpSUDotAccSatKHR", Kept, ""},
    {4456, "OpTypeCooperativeMatrixKHR", Refused, "the driver has no cooperative matrices"},
    {4457, "OpCooperativeMatrixLoadKHR", Refused, "the driver has no cooperative matrices"},
    {4458, "OpCooperativeMatrixStoreKHR", Refused, "the driver has no cooperative matrices"},
    {4459, "OpCooperativeMatrixMulAddKHR", Refused, "the driver has no cooperative matrices"},
    {5571, "OpSubgroupShuffleINTEL", Kept, ""},
    {5572, "OpSubgroupShuffleDownINTEL", Kept, ""},
    {5573, "OpSubgroupShuffleUpINTEL", Kept, ""},
    {5574, "OpSubgroupShuffleXorINTEL", Kept, ""},
    {5575, "OpSubgroupBlockReadINTEL", Kept, ""},
    {5576, "OpSubgroupBlockWriteINTEL", Kept, ""},
    {5577, "OpSubgroupImageBlockReadINTEL", Kept, ""},
    {5578, "OpSubgroupImageBlockWriteINTEL", Kept, ""},
    {5600, "OpConstantFunctionPointerINTEL", Kept, ""},
    {5601, "OpFunctionPointerCallINTEL", Kept, ""},
    {5609, "OpAsmTargetINTEL", Refused, "it is assembly of a GPU"},
    {5610, "OpAsmINTEL", Refused, "it is assembly of a GPU"},
    {5611, "OpAsmCallINTEL", Refused, "it is assembly of a GPU"},
    {5614, "OpAtomicFMinEXT", Kept, ""},
    {5615, "OpAtomicFMaxEXT", Kept, ""},
    {5630, "OpAssumeTrueKHR", Kept, ""},
    {5631, "OpExpectKHR", Kept, ""},
    {5887, "OpLoopControlINTEL", Dropped, "it is a wish about loops"},
    {5911, "OpAliasDomainDeclINTEL", Kept, ""},
    {5912, "OpAliasScopeDeclINTEL", Kept, ""},
    {5913, "OpAliasScopeListDeclINTEL", Kept, ""},
    {6035, "OpAtomicFAddEXT", Kept, ""},
    {6090, "OpTypeStructContinuedINTEL", Kept, ""},
    {6091, "OpConstantCompositeContinuedINTEL", Kept, ""},
    {6092, "OpSpecConstantCompositeContinuedINTEL", Kept, ""},
    {6096, "OpCompositeConstructContinuedINTEL", Kept, ""},
    {6116, "OpConvertFToBF16INTEL", Kept, ""},
    {6117, "OpConvertBF16ToFINTEL", Kept, ""},
    {6119, "OpTypeJointMatrixINTEL", Refused, "the driver has no joint matrices"},
    {6120, "OpJointMatrixLoadINTEL", Refused, "the driver has no joint matrices"},
    {6121, "OpJointMatrixStoreINTEL", Refused, "the driver has no joint matrices"},
    {6122, "OpJointMatrixMadINTEL", Refused, "the driver has no joint matrices"},
    {6142, "OpControlBarrierArriveINTEL", Rewritten, ""},
    {6143, "OpControlBarrierWaitINTEL", Rewritten, ""},
    {6221, "OpSubgroupBlockPrefetchINTEL", Dropped, "prefetches change no result"},
    {6231, "OpSubgroup2DBlockLoadINTEL", Rewritten, ""},
    {6232, "OpSubgroup2DBlockLoadTransformINTEL", Rewritten, ""},
    {6233, "OpSubgroup2DBlockLoadTransposeINTEL", Rewritten, ""},
    {6234, "OpSubgroup2DBlockPrefetchINTEL", Rewritten, ""},
    {6235, "OpSubgroup2DBlockStoreINTEL", Rewritten, ""},
    {6237, "OpSubgroupMatrixMultiplyAccumulateINTEL", Rewritten, ""},
    {6401, "OpGroupIMulKHR", Kept, ""},
    {6402, "OpGroupFMulKHR", Kept, ""},
    {6403, "OpGroupBitwiseAndKHR", Kept, ""},
    {6404, "OpGroupBitwiseOrKHR", Kept, ""},
    {6405, "OpGroupBitwiseXorKHR", Kept, ""},
    {6406, "OpGroupLogicalAndKHR", Kept, ""},
    {6407, "OpGroupLogicalOrKHR", Kept, ""},
    {6408, "OpGroupLogicalXorKHR", Kept, ""},
    {6426, "OpRoundFToTF32INTEL", Rewritten, ""},
    {6428, "OpMaskedGatherINTEL", Kept, ""},
    {6429, "OpMaskedScatterINTEL", Kept, ""},
};

constexpr const char *extensions[] = {
    "SPV_EXT_shader_atomic_float_add",
    "SPV_EXT_shader_atomic_float_min_max",
    "SPV_EXT_shader_atomic_float16_add",
    "SPV_INTEL_bfloat16_conversion",
    "SPV_INTEL_fp_max_error",
    "SPV_INTEL_function_pointers",
    "SPV_INTEL_global_variable_host_access",
    "SPV_INTEL_long_composites",
    "SPV_INTEL_masked_gather_scatter",
    "SPV_INTEL_memory_access_aliasing",
    "SPV_INTEL_optnone",
    "SPV_INTEL_subgroups",
    "SPV_INTEL_vector_compute", // modules have it for VectorAnyINTEL, which is kept
    "SPV_KHR_bit_instructions",
    "SPV_KHR_expect_assume",
    "SPV_KHR_integer_dot_product",
    "SPV_KHR_linkonce_odr",
    "SPV_KHR_no_integer_wrap_decoration",
    "SPV_KHR_non_semantic_info",
    "SPV_KHR_uniform_group_instructions",
};

template <size_t N> const PortableRow *find(const PortableRow (&rows)[N], uint32_t number) {
  for (const PortableRow &row : rows)
    if (row.number == number)
      return &row;
  return nullptr;
}

} // namespace

const PortableRow *findCapability(uint32_t number) { return find(capabilities, number); }
const PortableRow *findExecutionMode(uint32_t number) { return find(executionModes, number); }
const PortableRow *findDecoration(uint32_t number) { return find(decorations, number); }
const PortableRow *findInstruction(uint32_t number) { return find(instructions, number); }

bool knowsExtension(const char *name) {
  for (const char *known : extensions)
    if (std::strcmp(known, name) == 0)
      return true;
  return false;
}

} // namespace xetile::runtime
