// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltinDpas.cpp: D = C + A * B on matrices spread over a subgroup of 16.
// Input: element types, accumulator type and rows; output: an OpenCL C function.
// Refused: nothing; BuiltinName.cpp has checked types and signature.
//
// Who holds which element (cl_intel_subgroup_matrix_multiply_accumulate, _tf32):
// - accumulator and result, rows x 16: lane n holds column n, component r is row r.
// - B, depth x 16: lane n holds column n in 8 dwords, lower k in lower bits.
// - A, rows x depth: component r of the short vector is row r; lane l holds k = l S to l S + S - 1
// in its 16 bits, lower
//   k in lower bits, S = 1 (f16, bf16), 2 (8-bit) or 4 (4-bit).
// - A of tf32, depth 8: component i of lane l is row 2 i + l / 8, column l % 8.
// tf32 uses the upper 19 bits of a float. Products are summed in f32 in the order of k; sums of 4-
// and 8-bit products are exact there (below 2^24) and are added to C modulo 2^32. f16 and bf16
// accumulators are rounded once, to nearest even. The extensions leave the order and the
// intermediate rounding open.
#include "BuiltinText.h"

namespace xetile::runtime {
namespace {

bool isSigned(MatrixElement element) {
  return element == MatrixElement::S8 || element == MatrixElement::S4;
}

std::string vectorName(const char *element, unsigned lanes) {
  return lanes == 1 ? element : element + number(lanes);
}

// 16 bits of A, in an unsigned short vector `x` of n lanes, to n floats: the element `s` of each.
std::string decodeA(MatrixElement element, const std::string &x, unsigned s, unsigned lanes) {
  std::string n = lanes == 1 ? "" : number(lanes), type = vectorName("float", lanes);
  switch (element) {
  case MatrixElement::F16:
  case MatrixElement::TF32:
    return "";
  case MatrixElement::BF16:
    return "as_" + type + "(convert_uint" + n + "(" + x + ") << 16)";
  default:
    break;
  }
  unsigned width = element == MatrixElement::S8 || element == MatrixElement::U8 ? 8 : 4;
  // The casts undo C's promotion of scalars to int.
  if (isSigned(element))
    return "convert_" + type + "(as_short" + n + "((ushort" + n + ")(" + x + " << (ushort)" +
           number(16 - width - s * width) + ")) >> (short)" + number(16 - width) + ")";
  return "convert_" + type + "((" + x + " >> (ushort)" + number(s * width) + ") & (ushort)" +
         number((1u << width) - 1) + ")";
}

// Up to 16 elements of B from `p`, which points to their bytes, as float16 (float8 for tf32).
std::string decodeB(MatrixElement element) {
  switch (element) {
  case MatrixElement::F16:
    return "vload_half16(0, (__private half *)p)";
  case MatrixElement::BF16:
    return "as_float16(convert_uint16(vload16(0, (__private ushort *)p)) << 16)";
  case MatrixElement::TF32:
    return "as_float8(vload8(0, (__private uint *)p) & 0xffffe000u)";
  case MatrixElement::S8:
    return "convert_float16(vload16(0, (__private char *)p))";
  case MatrixElement::U8:
    return "convert_float16(vload16(0, (__private uchar *)p))";
  case MatrixElement::S4:
    return "xt_nibbles(convert_float8(as_char8(vload8(0, (__private uchar *)p) << (uchar)4) >> "
           "(char)4), "
           "convert_float8(as_char8(vload8(0, (__private uchar *)p)) >> (char)4))";
  case MatrixElement::U4:
    return "xt_nibbles(convert_float8(vload8(0, (__private uchar *)p) & (uchar)15), "
           "convert_float8(vload8(0, (__private uchar *)p) >> (uchar)4))";
  }
  return "";
}

// Statements that turn an accumulator `from` into floats, and floats into a result.
std::string widen(Dpas::Accumulator accumulator, const std::string &value, unsigned lanes) {
  std::string n = lanes == 1 ? "" : number(lanes);
  switch (accumulator) {
  case Dpas::F32:
    return value;
  case Dpas::F16:
    return "convert_float" + n + "(" + value + ")";
  case Dpas::BF16:
    return "as_float" + n + "(convert_uint" + n + "(as_ushort" + n + "(" + value + ")) << 16)";
  case Dpas::S32:
    return "(float" + n + ")0";
  }
  return "";
}

std::string narrow(Dpas::Accumulator accumulator, const std::string &sum, const std::string &start,
                   unsigned lanes) {
  std::string n = lanes == 1 ? "" : number(lanes);
  switch (accumulator) {
  case Dpas::F32:
    return sum;
  case Dpas::F16:
    return "convert_half" + n + "_rte(" + sum + ")";
  case Dpas::BF16:
    return "xt_bf16_" + number(lanes) + "(" + sum + ")";
  case Dpas::S32:
    return start + " + convert_int" + n + "(" + sum + ")";
  }
  return "";
}

// Helpers are static and may be repeated, so each carries the function it serves in its name
// through a macro guard.
std::string helpers(const Dpas &dpas, unsigned lanes) {
  std::string text;
  if (dpas.b == MatrixElement::S4 || dpas.b == MatrixElement::U4)
    text += R"(
#ifndef XT_NIBBLES
#define XT_NIBBLES
static __attribute__((always_inline)) float16 xt_nibbles(float8 low, float8 high) {
  float16 all;
  all.even = low;
  all.odd = high;
  return all;
}
#endif
)";
  if (dpas.accumulator == Dpas::BF16)
    text += bf16RoundingText(lanes);
  return text;
}

// A's column k for all rows, from the lanes' arrays; `k` runs over the chunk of depth that starts
// at `a`.
std::string columnOfA(const Dpas &dpas, unsigned k, unsigned rows) {
  std::string n = rows == 1 ? "" : number(rows);
  if (dpas.a == MatrixElement::F16)
    return "vload_half" + n + "(" + number(k) + ", (__private half *)a)";
  if (dpas.a == MatrixElement::TF32) {
    std::string mask = " & 0xffffe000u)", bits = "((__private uint *)a)";
    if (rows == 1)
      return "as_float(" + bits + "[" + number(k) + "]" + mask;
    unsigned half = rows / 2;
    std::string parts;
    for (unsigned r = 0; r < rows; ++r)
      parts += (r ? ", " : "") + bits + "[" + number((k + (r % 2) * 8) * half + r / 2) + "]";
    return "as_float" + n + "((uint" + n + ")(" + parts + ")" + mask;
  }
  unsigned perLane = dpas.elementsPerLane();
  std::string value = rows == 1
                          ? "((__private ushort *)a)[" + number(k / perLane) + "]"
                          : "vload" + n + "(" + number(k / perLane) + ", (__private ushort *)a)";
  return decodeA(dpas.a, value, k % perLane, rows);
}

/// Sums of f16 may come as their bits.
static std::string sumTypeOf(const SpirvImport &import, const Dpas &dpas) {
  return dpas.accumulator == Dpas::F16 ? vectorName("half", dpas.rows) : import.result.openclName();
}

/// Where lanes' operands are: one after the other, in their own arrays or in copies of these.
static std::string lockstepOperands(const SpirvImport &import, const Dpas &dpas, unsigned floatsOfB,
                                    const std::string &sums) {
  unsigned bytesOfA = import.parameters[0].bytes(), bytesOfC = import.result.bytes();
  std::string typeOfA = import.parameters[0].openclName(), typeOfC = sumTypeOf(import, dpas);
  std::string body = expand(
      R"( {
  @a_type@ a_array[1];
  int8 b_array[1];
  @c_type@ c_array[1];
  float b_floats[@b_count@] __attribute__((aligned(64)));
@sums@  a_array[0] = a_;
  b_array[0] = as_int8(b_);
  c_array[0] = as_@c_type@(c_);
  ulong a = XT_FIRST((ulong)a_array), b = XT_FIRST((ulong)b_array), c = XT_FIRST((ulong)c_array);
  __private float *floats = (__private float *)XT_FIRST((ulong)b_floats);
  XT_FENCE();
)",
      {{"a_type", typeOfA}, {"c_type", typeOfC}, {"b_count", number(floatsOfB)}, {"sums", sums}});
  // Lanes' arrays that do not follow one another: gather them into the first lane's scratch.
  body += expand(
      R"(  bool packed = XT_LAST((ulong)a_array) == a + @a_last@ && XT_LAST((ulong)b_array) == b + 480 &&
                XT_LAST((ulong)c_array) == c + @c_last@;
  uchar a_copy[@a_all@], b_copy[512], c_copy[@c_all@];
  if (!packed) {
    a = XT_FIRST((ulong)a_copy), b = XT_FIRST((ulong)b_copy), c = XT_FIRST((ulong)c_copy);
    int lane = get_sub_group_local_id();
    XT_LOOP for (int i = 0; i < @a_bytes@; ++i) ((__private uchar *)a)[lane * @a_bytes@ + i] = ((__private uchar *)a_array)[i];
    XT_LOOP for (int i = 0; i < 32; ++i) ((__private uchar *)b)[lane * 32 + i] = ((__private uchar *)b_array)[i];
    XT_LOOP for (int i = 0; i < @c_bytes@; ++i) ((__private uchar *)c)[lane * @c_bytes@ + i] = ((__private uchar *)c_array)[i];
    XT_FENCE();
  }
  __private @stored@ *sums_in = (__private @stored@ *)c;
)",
      {{"a_last", number(15 * bytesOfA)},
       {"c_last", number(15 * bytesOfC)},
       {"a_all", number(16 * bytesOfA)},
       {"c_all", number(16 * bytesOfC)},
       {"a_bytes", number(bytesOfA)},
       {"c_bytes", number(bytesOfC)},
       {"stored", typeOfC}});
  return body;
}

/// Eight columns' sums of products of `chunk` columns of A.
static std::string lockstepSums(const std::string &sumType, unsigned chunk) {
  std::string body;
  for (unsigned j = 0; j < 8; ++j)
    body += "      " + sumType + " s" + number(j) + " = sums[n + " + number(j) + "];\n";
  for (unsigned k = 0; k < chunk; ++k) {
    body += "     ";
    for (unsigned j = 0; j < 8; ++j)
      body += " s" + number(j) + " = fma(a" + number(k) + ", (" + sumType + ")bn[" +
              number(j * chunk + k) + "], s" + number(j) + ");";
    body += "\n";
  }
  for (unsigned j = 0; j < 8; ++j)
    body += "      sums[n + " + number(j) + "] = s" + number(j) + ";\n";
  return body;
}

// With lanes after lanes in memory, A is depth x rows, B is 16 x depth and C is 16 x rows, all
// row-major: C[n] += B[n][k]
// * A[k] on vectors of `rows` floats, 8 columns n at a time so that 8 sums are under way; B's
// elements are broadcast from memory, which costs nothing beside the multiplication.
void addLockstep(BuiltinText &out, const SpirvImport &import, const Dpas &dpas) {
  unsigned rows = dpas.rows, chunk = dpas.depth < 16 ? dpas.depth : 16, chunks = dpas.depth / chunk;
  unsigned bytesOfA = import.parameters[0].bytes(), bytesOfC = import.result.bytes();
  bool separateSums = dpas.accumulator != Dpas::F32;
  std::string n = rows == 1 ? "" : number(rows), sumType = "float" + n;

  out.add(helpers(dpas, rows));
  out.addHead(import, {"a_", "b_", "c_"});
  std::string body = lockstepOperands(import, dpas, 16 * chunk,
                                      separateSums ? "  " + sumType + " sum_array[16];\n" : "");
  if (separateSums)
    body += "  __private " + sumType + " *sums = (__private " + sumType +
            " *)XT_FIRST((ulong)sum_array);\n" +
            "  XT_LOOP for (int n = 0; n < 16; ++n) sums[n] = " +
            widen(dpas.accumulator, "sums_in[n]", rows) + ";\n";
  else
    body += "  __private " + sumType + " *sums = sums_in;\n";

  unsigned bytesOfB = 32 / chunks, lanesOfA = dpas.a == MatrixElement::TF32 ? 16 : 16 / chunks;
  body += "  XT_LOOP for (int part = 0; part < " + number(chunks) + "; ++part) {\n";
  for (unsigned k = 0; k < chunk; ++k)
    body += "    " + sumType + " a" + number(k) + " = " + columnOfA(dpas, k, rows) + ";\n";
  body += expand(
      R"(    XT_LOOP for (int n = 0; n < 16; ++n) {
      ulong p = b + n * 32 + part * @b_bytes@;
      vstore@chunk@(@decode@, n, floats);
    }
    XT_LOOP for (int n = 0; n < 16; n += 8) {
      __private float *bn = floats + n * @chunk@;
)",
      {{"b_bytes", number(bytesOfB)}, {"chunk", number(chunk)}, {"decode", decodeB(dpas.b)}});
  body += lockstepSums(sumType, chunk);
  body += "    }\n    a += " + number(lanesOfA * bytesOfA) + ";\n  }\n";
  if (separateSums)
    body += "  XT_LOOP for (int n = 0; n < 16; ++n) sums_in[n] = " +
            narrow(dpas.accumulator, "sums[n]", "sums_in[n]", rows) + ";\n";
  body += expand(R"(  XT_FENCE();
  if (!packed)
    XT_LOOP for (int i = 0; i < @c_bytes@; ++i)
      ((__private uchar *)c_array)[i] = ((__private uchar *)c)[get_sub_group_local_id() * @c_bytes@ + i];
  return as_@result@(c_array[0]);
}
)",
                 {{"c_bytes", number(bytesOfC)}, {"result", import.result.openclName()}});
  out.add(body);
}

void addPortable(BuiltinText &out, const SpirvImport &import, const Dpas &dpas) {
  unsigned rows = dpas.rows, perLane = dpas.elementsPerLane(),
           chunk = dpas.depth < 16 ? dpas.depth : 16;
  bool tf32 = dpas.a == MatrixElement::TF32;
  out.add(helpers(dpas, 1));
  out.addHead(import, {"a_", "b_", "c_"});
  std::string sumType = sumTypeOf(import, dpas);
  std::string body = " {\n  " + sumType + " c = as_" + sumType + "(c_);\n  float a[" +
                     number(rows * perLane) + "], b[" + number(dpas.depth) + "], s[" +
                     number(rows) + "];\n  int8 b_bits[1];\n  b_bits[0] = as_int8(b_);\n";
  body += expand(R"(  for (int part = 0; part < @parts@; ++part) {
    __private uchar *p = (__private uchar *)b_bits + part * @bytes@;
    vstore@chunk@(@decode@, part, b);
  }
)",
                 {{"parts", number(dpas.depth / chunk)},
                  {"bytes", number(32 * chunk / dpas.depth)},
                  {"chunk", number(chunk)},
                  {"decode", decodeB(dpas.b)}});
  auto component = [](const std::string &vector, unsigned lanes, unsigned i) {
    return lanes == 1 ? vector : vector + ".s" + number(i);
  };
  unsigned vectorOfA = import.parameters[0].lanes;
  for (unsigned i = 0; i < vectorOfA; ++i)
    for (unsigned e = 0; e < perLane; ++e) {
      std::string value = component("a_", vectorOfA, i),
                  to = "  a[" + number(i * perLane + e) + "] = ";
      if (tf32)
        body += to + "as_float(as_uint(" + value + ") & 0xffffe000u);\n";
      else if (dpas.a == MatrixElement::F16)
        body += "  { ushort bits = as_ushort(" + value + "); " + to +
                "vload_half(0, (__private half *)&bits); }\n";
      else
        body += to + decodeA(dpas.a, "as_ushort(" + value + ")", e, 1) + ";\n";
    }
  for (unsigned r = 0; r < rows; ++r)
    body +=
        "  s[" + number(r) + "] = " + widen(dpas.accumulator, component("c", rows, r), 1) + ";\n";
  body += "  for (int k = 0; k < " + number(dpas.depth) + "; ++k) {\n";
  for (unsigned r = 0; r < rows; ++r) {
    std::string value, lane;
    if (tf32) {
      value = "a[" + number(r / 2) + "]";
      lane = "k + " + number(r % 2 * 8);
    } else {
      value = perLane == 1 ? "a[" + number(r) + "]"
                           : "a[" + number(r * perLane) + " + k % " + number(perLane) + "]";
      lane = "k / " + number(perLane);
    }
    body += "    s[" + number(r) + "] = fma(sub_group_broadcast(" + value + ", " + lane +
            "), b[k], s[" + number(r) + "]);\n";
  }
  body += "  }\n  " + sumType + " d;\n";
  for (unsigned r = 0; r < rows; ++r)
    body += "  " + component("d", rows, r) + " = " +
            narrow(dpas.accumulator, "s[" + number(r) + "]", component("c", rows, r), 1) + ";\n";
  out.add(body + "  return as_" + import.result.openclName() + "(d);\n}\n");
}

} // namespace

void addDpas(BuiltinText &out, const SpirvImport &import, const Dpas &dpas) {
  if (dpas.accumulator == Dpas::F16)
    out.requireFp16();
  if (out.flavour == Flavour::Lockstep)
    addLockstep(out, import, dpas);
  else
    addPortable(out, import, dpas);
}

} // namespace xetile::runtime
