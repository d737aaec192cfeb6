//===- MatmulConfig.cpp - the fields of a matmul configuration ---------------===//
// In: field numbers and values, JSON. Out: a MatmulConfig, JSON. Refused: JSON that is no object of
// known fields with integers; the attribute's verifier and the rewrite judge the values.
//===----------------------------------------------------------------------===//
#include "xetile/IR/MatmulConfig.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace xetile;

llvm::ArrayRef<llvm::StringLiteral> MatmulConfig::fieldNames() {
  static constexpr llvm::StringLiteral names[kNumFields] = {
      "MThreads", "NThreads",        "KThreads",        "MBlock",          "NBlock",
      "KBlock",   "innermostMBlock", "innermostNBlock", "innermostKBlock", "loopOrder"};
  return names;
}

int64_t MatmulConfig::get(unsigned field) const {
  const std::array<int64_t, 3> *groups[] = {&threads, &block, &innermost};
  return field < 9 ? (*groups[field / 3])[field % 3] : loopOrder;
}

void MatmulConfig::set(unsigned field, int64_t value) {
  std::array<int64_t, 3> *groups[] = {&threads, &block, &innermost};
  (field < 9 ? (*groups[field / 3])[field % 3] : loopOrder) = value;
}

std::array<MatmulDim, 3> MatmulConfig::middleLoops() const {
  static constexpr std::array<MatmulDim, 3> orders[kNumLoopOrders] = {
      {kM, kN, kK}, {kM, kK, kN}, {kN, kM, kK}, {kN, kK, kM}, {kK, kM, kN}, {kK, kN, kM}};
  return orders[loopOrder];
}

std::string xetile::readConfig(llvm::StringRef json, PartialConfig &config) {
  llvm::StringRef text = json.trim();
  if (text.empty())
    return {};
  // Pass options lose their outer braces on the way.
  std::string whole = text.starts_with("{") ? text.str() : ("{" + text + "}").str();
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(whole);
  if (!parsed)
    return "matmul config: expected a JSON object, got " + whole + ": " +
           llvm::toString(parsed.takeError());
  const llvm::json::Object *object = parsed->getAsObject();
  if (!object)
    return "matmul config: expected a JSON object, got " + whole;
  auto names = MatmulConfig::fieldNames();
  for (const auto &[key, value] : *object) {
    llvm::StringRef name = key;
    auto found = llvm::find(names, name);
    if (found == names.end())
      return ("matmul config: unknown field '" + name +
              "'; expected MThreads, NThreads, KThreads, MBlock, NBlock, KBlock, innermostMBlock, "
              "innermostNBlock, innermostKBlock or loopOrder")
          .str();
    std::optional<int64_t> integer = value.getAsInteger();
    if (!integer)
      return llvm::formatv("matmul config: {0} = {1}: expected an integer of 64 bits", name, value)
          .str();
    config[found - names.begin()] = *integer;
  }
  return {};
}

std::string xetile::writeConfig(const MatmulConfig &config) {
  std::string text;
  auto names = MatmulConfig::fieldNames();
  for (unsigned field = 0; field < MatmulConfig::kNumFields; ++field)
    text +=
        (field ? ", \"" : "{\"") + names[field].str() + "\": " + std::to_string(config.get(field));
  return text + "}";
}
