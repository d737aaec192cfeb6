// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SpirvNumbers.h: numbers of the SPIR-V specification, unified1, and of its extensions.
// Input: none; output: opcodes, and operands that more than one file reads. Refused: nothing; what
// becomes of extensions is told by PortableTables.h.
#ifndef XETILE_RUNTIME_SPIRVNUMBERS_H
#define XETILE_RUNTIME_SPIRVNUMBERS_H

#include <cstdint>

namespace xetile::runtime {

/// Opcodes, in their order, each named as its instruction without Op and the vendor; those of
/// integers without I, U and S, which has Signed or Unsigned behind it where both exist.
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
constexpr unsigned constantNull = 46;
constexpr unsigned specConstant = 50;
constexpr unsigned specConstantOp = 52;
constexpr unsigned function = 54;
constexpr unsigned functionParameter = 55;
constexpr unsigned functionEnd = 56;
constexpr unsigned functionCall = 57;
constexpr unsigned variable = 59;
constexpr unsigned load = 61;
constexpr unsigned store = 62;
constexpr unsigned copyMemory = 63;
constexpr unsigned copyMemorySized = 64;
constexpr unsigned accessChain = 65;
constexpr unsigned inBoundsAccessChain = 66;
constexpr unsigned ptrAccessChain = 67;
constexpr unsigned inBoundsPtrAccessChain = 70;
constexpr unsigned decorate = 71;
constexpr unsigned groupDecorate = 74;
constexpr unsigned vectorExtractDynamic = 77;
constexpr unsigned vectorInsertDynamic = 78;
constexpr unsigned vectorShuffle = 79;
constexpr unsigned compositeConstruct = 80;
constexpr unsigned compositeExtract = 81;
constexpr unsigned compositeInsert = 82;
constexpr unsigned copyObject = 83;
constexpr unsigned convertFToU = 109;
constexpr unsigned convertFToS = 110;
constexpr unsigned convertSToF = 111;
constexpr unsigned convertUToF = 112;
constexpr unsigned convertU = 113;
constexpr unsigned convertS = 114;
constexpr unsigned convertPtrToU = 117;
constexpr unsigned convertUToPtr = 120;
constexpr unsigned bitcast = 124;
constexpr unsigned negate = 126;
constexpr unsigned add = 128;
constexpr unsigned subtract = 130;
constexpr unsigned multiply = 132;
constexpr unsigned divideUnsigned = 134;
constexpr unsigned divideSigned = 135;
constexpr unsigned modUnsigned = 137;
constexpr unsigned remSigned = 138;
constexpr unsigned modSigned = 139;
constexpr unsigned select = 169;
constexpr unsigned equal = 170;
constexpr unsigned notEqual = 171;
constexpr unsigned greaterUnsigned = 172;
constexpr unsigned greaterSigned = 173;
constexpr unsigned greaterEqualUnsigned = 174;
constexpr unsigned greaterEqualSigned = 175;
constexpr unsigned lessUnsigned = 176;
constexpr unsigned lessSigned = 177;
constexpr unsigned lessEqualUnsigned = 178;
constexpr unsigned lessEqualSigned = 179;
constexpr unsigned shiftRight = 194;
constexpr unsigned shiftRightSigned = 195;
constexpr unsigned shiftLeft = 196;
constexpr unsigned bitwiseOr = 197;
constexpr unsigned bitwiseXor = 198;
constexpr unsigned bitwiseAnd = 199;
constexpr unsigned bitwiseNot = 200;
constexpr unsigned bitReverse = 204;
constexpr unsigned bitCount = 205;
constexpr unsigned controlBarrier = 224;
constexpr unsigned atomicLoad = 227;
constexpr unsigned atomicStore = 228;
constexpr unsigned atomicExchange = 229;
constexpr unsigned atomicXor = 242;
constexpr unsigned phi = 245;
constexpr unsigned loopMerge = 246;
constexpr unsigned selectionMerge = 247;
constexpr unsigned label = 248;
constexpr unsigned branchConditional = 250;
constexpr unsigned switchOf = 251;
constexpr unsigned returnVoid = 253;
constexpr unsigned returnValue = 254;
constexpr unsigned lifetimeStart = 256;
constexpr unsigned lifetimeStop = 257;
constexpr unsigned groupBroadcast = 263;
constexpr unsigned noLine = 317;
constexpr unsigned flagTestAndSet = 318;
constexpr unsigned flagClear = 319;
constexpr unsigned executionModeId = 331;
constexpr unsigned decorateId = 332;
constexpr unsigned nonUniformBroadcast = 337;
constexpr unsigned nonUniformBroadcastFirst = 338;
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
constexpr uint32_t noSignedWrap = 4469, noUnsignedWrap = 4470;

} // namespace xetile::runtime
#endif
