// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CompileTimeVectors.cpp: vectors that kernels with barriers put together and take apart.
// Input: instructions of a module; output: calls in their place, which the OpenCL driver for CPUs
// compiles sooner. Refused: nothing; what is no vector of OpenCL stays.
//
// Where everything has masks, that driver makes a branch for each lane of every element that is
// put into a vector, or taken out of one. Triton loads sixteen numbers, each as a vector of one,
// and puts them together by thirty shuffles: thousands of branches. Here the vector is one call,
// and what stood between is dead, which the driver sees before it makes branches.
#include "CompileTimeVectors.h"

#include "SpirvModule.h"
#include "SpirvNumbers.h"

#include <algorithm>
#include <cstdlib>

namespace xetile::runtime {
namespace {

constexpr unsigned mostLanes = 16;
constexpr const char *mixName = "xt_mix", *pickName = "xt_pick";
constexpr uint32_t undefinedElement = 0xffffffff;

std::string typeName(unsigned bits, unsigned lanes) {
  SpirvType type;
  type.kind = SpirvType::Int;
  type.bits = bits;
  type.lanes = lanes;
  return type.openclName();
}

} // namespace

bool CompileTimeVectors::isFollowed(uint32_t type) const {
  uint32_t element = edit.elementOf(type);
  return element && edit.bytesOf(element) && !edit.storageOf(element);
}

bool CompileTimeVectors::isVector(uint32_t type) const {
  uint32_t lanes = edit.lanesOf(type);
  return isFollowed(type) && (lanes & (lanes - 1)) == 0 && lanes <= mostLanes;
}

bool CompileTimeVectors::assembles(unsigned opcode) {
  return opcode == op::vectorShuffle || opcode == op::compositeInsert ||
         opcode == op::compositeConstruct;
}

void CompileTimeVectors::find(const SpirvInstruction &in) {
  unsigned opcode = in.opcode(), length = in.length();
  if (length < 3)
    return;
  inFunctions |= opcode == op::function;
  if (opcode == op::undef && isFollowed(in[1]))
    parts[in[2]].resize(edit.lanesOf(in[1]));
  if (opcode == op::constantComposite && isFollowed(in[1]) && length == 3 + edit.lanesOf(in[1]))
    for (unsigned i = 3; i < length; ++i)
      parts[in[2]].push_back({in[i], 0});
  // Those of these that stay make whole vectors of what they use when they are reached.
  bool rewrites = (assembles(opcode) && isFollowed(in[1])) || opcode == op::compositeExtract;
  if (!inFunctions || rewrites)
    return;
  // Numbers among the operands may look like ids: then a vector is made that nobody uses.
  whole.insert(in.at + (edit.typeOf(in[2]) == in[1] ? 3 : 1), in.at + length);
}

CompileTimeVectors::Elements CompileTimeVectors::elementsOf(uint32_t id) const {
  if (auto found = parts.find(id); found != parts.end())
    return found->second;
  Elements elements;
  uint32_t type = edit.typeOf(id);
  if (isVector(type))
    for (unsigned i = 0; i < edit.lanesOf(type); ++i)
      elements.push_back({id, i});
  return elements;
}

CompileTimeVectors::Elements CompileTimeVectors::assembled(const SpirvInstruction &in) const {
  unsigned opcode = in.opcode(), length = in.length();
  if (opcode == op::compositeConstruct)
    return constructed(in);
  if (opcode == op::compositeInsert) {
    Elements elements = length == 6 ? elementsOf(in[4]) : Elements();
    if (in[5] >= elements.size() || edit.elementOf(edit.typeOf(in[3])))
      return {};
    elements[in[5]] = {in[3], 0};
    return elements;
  }
  Elements from = length > 5 ? elementsOf(in[3]) : Elements();
  Elements second = length > 5 ? elementsOf(in[4]) : Elements();
  if (from.empty() || second.empty())
    return {};
  from.insert(from.end(), second.begin(), second.end());
  Elements elements;
  for (unsigned i = 5; i < length; ++i) {
    if (in[i] != undefinedElement && in[i] >= from.size())
      return {};
    elements.push_back(in[i] == undefinedElement ? Element() : from[in[i]]);
  }
  return elements;
}

CompileTimeVectors::Elements CompileTimeVectors::constructed(const SpirvInstruction &in) const {
  Elements elements;
  for (unsigned i = 3; i < in.length(); ++i) {
    uint32_t type = edit.typeOf(in[i]);
    Elements more = elementsOf(in[i]);
    if (more.empty() && !edit.elementOf(type) && edit.bytesOf(type))
      more.push_back({in[i], 0});
    if (more.empty())
      return {};
    elements.insert(elements.end(), more.begin(), more.end());
  }
  return elements;
}

uint32_t CompileTimeVectors::bitsType(uint32_t type) {
  uint32_t element = edit.elementOf(type);
  uint32_t number = edit.intType(static_cast<uint32_t>(edit.bytesOf(element ? element : type)) * 8);
  return element && edit.lanesOf(type) > 1 ? edit.vectorType(number, edit.lanesOf(type)) : number;
}

uint32_t CompileTimeVectors::bitsOf(uint32_t value) {
  uint32_t type = edit.typeOf(value), wanted = bitsType(type);
  if (type == wanted)
    return value;
  uint32_t &known = bits[value];
  if (!known) {
    known = edit.newId();
    edit.emit(op::bitcast, {wanted, known, value});
    edit.declareType(known, wanted);
  }
  return known;
}

bool CompileTimeVectors::mix(const SpirvInstruction &in, const Elements &elements) {
  if (elements.size() == 1 && elements[0].value) {
    uint32_t value = elements[0].value, type = edit.typeOf(value);
    if (edit.bytesOf(type) == edit.bytesOf(in[1])) {
      edit.emit(type == in[1] ? op::copyObject : op::bitcast, {in[1], in[2], value});
      return true;
    }
  }
  std::vector<uint32_t> sources;
  std::string name = mixName;
  auto defined = std::find_if(elements.begin(), elements.end(),
                              [](const Element &element) { return element.value != 0; });
  if (defined == elements.end())
    return false;
  for (const Element &element : elements) {
    const Element &taken = element.value ? element : *defined;
    auto place = std::find(sources.begin(), sources.end(), taken.value);
    name += "_" + std::to_string(place - sources.begin()) + "x" + std::to_string(taken.index);
    if (place == sources.end())
      sources.push_back(taken.value);
  }
  std::vector<uint32_t> arguments;
  arguments.reserve(sources.size());
  for (uint32_t source : sources)
    arguments.push_back(bitsOf(source));
  uint32_t type = bitsType(in[1]);
  // Behind the name the number of a signature may stand.
  name += "_";
  if (type == in[1])
    edit.call(name, type, arguments, in[2]);
  else
    edit.emit(op::bitcast, {in[1], in[2], edit.call(name, type, arguments)});
  return true;
}

bool CompileTimeVectors::rewrite(const SpirvInstruction &in) {
  unsigned opcode = in.opcode();
  if (opcode == op::compositeExtract) {
    Elements elements = in.length() == 5 ? elementsOf(in[3]) : Elements();
    return in.length() == 5 && in[4] < elements.size() && mix(in, {elements[in[4]]});
  }
  if (opcode == op::vectorExtractDynamic)
    return pick(in);
  if (opcode == op::load)
    return loadWide(in);
  if (!assembles(opcode) || !isFollowed(in[1]))
    return false;
  Elements elements = assembled(in);
  if (elements.empty())
    return false;
  parts[in[2]] = elements;
  return whole.count(in[2]) && isVector(in[1]) && mix(in, elements);
}

/// Each element by itself, of vectors that OpenCL does not have; what stays of the load is dead.
bool CompileTimeVectors::loadWide(const SpirvInstruction &in) {
  uint32_t type = in.length() > 3 ? edit.typeOf(in[3]) : 0;
  std::optional<uint32_t> where = type ? edit.storageOf(type) : std::nullopt;
  bool shared = where && (*where == storage::workgroup || *where == storage::crossWorkgroup);
  if (!shared || !isFollowed(in[1]) || edit.lanesOf(in[1]) <= mostLanes || whole.count(in[2]))
    return false;
  uint32_t element = bitsType(edit.elementOf(in[1]));
  Elements &elements = parts[in[2]];
  for (unsigned i = 0; i < edit.lanesOf(in[1]); ++i)
    elements.push_back({edit.call("xt_load_element", element, {in[3], edit.uintConstant(i)}), 0});
  return false;
}

bool CompileTimeVectors::pick(const SpirvInstruction &in) {
  uint32_t type = in.length() > 4 ? edit.typeOf(in[3]) : 0;
  if (!isVector(type) || edit.lanesOf(type) < 2 || !edit.typeOf(in[4]))
    return false;
  uint32_t bitsOfResult = bitsType(in[1]);
  std::vector<uint32_t> arguments{bitsOf(in[3]), in[4]};
  if (bitsOfResult == in[1])
    edit.call(pickName, bitsOfResult, arguments, in[2]);
  else
    edit.emit(op::bitcast, {in[1], in[2], edit.call(pickName, bitsOfResult, arguments)});
  return true;
}

bool isVectorMix(const SpirvImport &import) {
  return import.name.rfind(mixName, 0) == 0 || import.name.rfind(pickName, 0) == 0;
}

void addVectorMix(BuiltinText &out, const SpirvImport &import) {
  std::string head = "XT_FUNCTION " + import.result.openclName() + " " + import.name + "(", body;
  for (size_t i = 0; i < import.parameters.size(); ++i)
    head += (i ? ", " : "") + import.parameters[i].openclName() + " p" + number(unsigned(i));
  if (import.name.rfind(pickName, 0) == 0)
    return out.add(head + ") { return p0[p1]; }\n");
  const char *at = import.name.c_str() + std::string(mixName).size();
  for (unsigned lane = 0; lane < import.result.lanes && *at == '_'; ++lane) {
    char *end = nullptr;
    auto source = static_cast<unsigned>(std::strtoul(at + 1, &end, 10));
    auto index = static_cast<unsigned>(std::strtoul(end + 1, &end, 10));
    at = end;
    const SpirvType &type = import.parameters[source];
    unsigned lanes = type.bits * type.lanes / import.result.bits;
    std::string value = "p" + number(source);
    if (type.bits != import.result.bits)
      value = "as_" + typeName(import.result.bits, lanes) + "(" + value + ")";
    static const char digits[] = "0123456789abcdef";
    body += (lane ? ", " : "") + value + (lanes > 1 ? std::string(".s") + digits[index] : "");
  }
  bool vector = import.result.lanes > 1;
  out.add(head + ") { return " + (vector ? "(" + import.result.openclName() + ")(" : "(") + body +
          "); }\n");
}

} // namespace xetile::runtime
