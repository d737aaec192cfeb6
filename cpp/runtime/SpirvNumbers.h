// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SpirvNumbers.h: numbers of the SPIR-V specification, unified1, and of its extensions.
// Input: none; output: opcodes, and operands that more than one file reads. Refused: nothing; what
// becomes of extensions is told by PortableTables.h.
#ifndef XETILE_RUNTIME_SPIRVNUMBERS_H
#define XETILE_RUNTIME_SPIRVNUMBERS_H

#include <cstdint>

namespace xetile::runtime {

/// Opcodes, in their order, each named as its instruction without Op and the vendor.
namespace op {
constexpr unsigned undef = 1;
constexpr unsigned name = 5;
constexpr unsigned string = 7;
constexpr unsigned line = 8;
constexpr unsigned extension = 10;
constexpr unsigned extInstImport = 11;
constexpr unsigned extInst = 12;
constexpr unsigned memoryModel = 14;
constexpr unsigned entryPoint = 15;
constexpr unsigned executionMode = 16;
constexpr unsigned capability = 17;
constexpr unsigned typeVoid = 19;
constexpr unsigned typeBool = 20;
constexpr unsigned typeInt = 21;
constexpr unsigned typeFloat = 22;
constexpr unsigned typeVector = 23;
constexpr unsigned typeArray = 28;
constexpr unsigned typeStruct = 30;
constexpr unsigned typePointer = 32;
constexpr unsigned typeFunction = 33;
constexpr unsigned typeForward = 39;
constexpr unsigned constant = 43;
constexpr unsigned constantComposite = 44;
constexpr unsigned function = 54;
constexpr unsigned functionParameter = 55;
constexpr unsigned functionEnd = 56;
constexpr unsigned functionCall = 57;
constexpr unsigned variable = 59;
constexpr unsigned load = 61;
constexpr unsigned store = 62;
constexpr unsigned copyMemory = 63;
constexpr unsigned copyMemorySized = 64;
constexpr unsigned decorate = 71;
constexpr unsigned groupDecorate = 74;
constexpr unsigned vectorExtractDynamic = 77;
constexpr unsigned vectorShuffle = 79;
constexpr unsigned compositeConstruct = 80;
constexpr unsigned compositeExtract = 81;
constexpr unsigned compositeInsert = 82;
constexpr unsigned copyObject = 83;
constexpr unsigned convertPtrToU = 117;
constexpr unsigned bitcast = 124;
constexpr unsigned controlBarrier = 224;
constexpr unsigned atomicLoad = 227;
constexpr unsigned atomicStore = 228;
constexpr unsigned atomicExchange = 229;
constexpr unsigned atomicXor = 242;
constexpr unsigned label = 248;
constexpr unsigned switchOf = 251;
constexpr unsigned returnVoid = 253;
constexpr unsigned noLine = 317;
constexpr unsigned flagTestAndSet = 318;
constexpr unsigned flagClear = 319;
constexpr unsigned executionModeId = 331;
constexpr unsigned decorateId = 332;
constexpr unsigned nonUniformShuffle = 345;
constexpr unsigned nonUniformShuffleXor = 346;
constexpr unsigned nonUniformShuffleUp = 347;
constexpr unsigned nonUniformShuffleDown = 348;
constexpr unsigned shuffle = 5571;
constexpr unsigned shuffleDown = 5572;
constexpr unsigned shuffleUp = 5573;
constexpr unsigned shuffleXor = 5574;
constexpr unsigned blockRead = 5575;
constexpr unsigned blockWrite = 5576;
constexpr unsigned atomicFMin = 5614;
constexpr unsigned atomicFMax = 5615;
constexpr unsigned decorateString = 5632;
constexpr unsigned memberDecorateString = 5633;
constexpr unsigned atomicFAdd = 6035;
constexpr unsigned bf16FromFloat = 6116;
constexpr unsigned floatFromBf16 = 6117;
constexpr unsigned arrive = 6142;
constexpr unsigned wait = 6143;
constexpr unsigned blockLoad = 6231;
constexpr unsigned blockTransform = 6232;
constexpr unsigned blockTranspose = 6233;
constexpr unsigned blockPrefetch = 6234;
constexpr unsigned blockStore = 6235;
constexpr unsigned multiplyAccumulate = 6237;
constexpr unsigned roundToTf32 = 6426;
} // namespace op

/// Operands.
constexpr uint32_t modeLocalSize = 17, modeSubgroupSize = 35;
constexpr uint32_t linkageAttributes = 41, importLinkage = 1;

} // namespace xetile::runtime
#endif
