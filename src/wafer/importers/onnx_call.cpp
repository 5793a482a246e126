#include "wafer/importers/onnx_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "wafer/importers/onnx_importer.h"

namespace wafer::importers {

using ir::Ints;

OnnxCall::OnnxCall(OnnxImporter& importer, OnnxFrame& frame, const OnnxNode& n, Terms inputs,
                   int64_t version)
    : fold(importer.fold()),
      node(n),
      opset(version),
      importer_(importer),
      frame_(frame),
      inputs_(std::move(inputs)) {}

bool OnnxCall::has(size_t i) const { return i < inputs_.size() && !node.inputs[i].empty(); }

const Term& OnnxCall::in(size_t i) const {
  if (!has(i)) refuse(fmt::format("input {} is not given", i));
  return inputs_[i];
}

const Term& OnnxCall::weight(size_t i) {
  inputs_[i] = importer_.as_weight(frame_, node.inputs[i], in(i));
  return inputs_[i];
}

const Term& OnnxCall::statistic(size_t i) {
  const Term& term = weight(i);
  importer_.set_role(term, ir::Role::Constant);
  return term;
}

const Known& OnnxCall::known_in(size_t i, const char* what) const {
  const Term& term = in(i);
  if (!term.known) {
    refuse(
        fmt::format("{} (input {}) must be known from the file and the dimensions given, but is "
                    "computed as {}",
                    what, i, term.type.text()));
  }
  return *term.known;
}

Shape OnnxCall::dims_in(size_t i, const char* what) const {
  const Known& known = known_in(i, what);
  if (known.is_float_type()) refuse(fmt::format("{} (input {}) must hold integers", what, i));
  return known.ints;
}

Ints OnnxCall::ints_in(size_t i, const char* what) const {
  Ints result;
  for (const Dim& d : dims_in(i, what)) {
    if (!d.is_static()) {
      refuse(fmt::format("{} (input {}) is {} while that is open", what, i, d.text()));
    }
    result.push_back(d.factor());
  }
  return result;
}

int64_t OnnxCall::int_in(size_t i, const char* what) const {
  const Ints values = ints_in(i, what);
  if (values.size() != 1) refuse(fmt::format("{} (input {}) must be one number", what, i));
  return values.front();
}

std::vector<double> OnnxCall::floats_in(size_t i, const char* what) const {
  if (has(i) && !inputs_[i].known) {
    const OnnxTensor* stored = importer_.stored(frame_, node.inputs[i]);
    if (stored != nullptr) return importer_.elements(*stored).floats;
  }
  const Known& known = known_in(i, what);
  if (!known.is_float_type()) refuse(fmt::format("{} (input {}) must hold floats", what, i));
  return known.floats;
}

double OnnxCall::float_in(size_t i, const char* what) const {
  const std::vector<double> values = floats_in(i, what);
  if (values.size() != 1) refuse(fmt::format("{} (input {}) must be one number", what, i));
  return values.front();
}

const OnnxAttribute* OnnxCall::attribute(std::string_view name) const {
  read_.insert(name);
  for (const OnnxAttribute& a : node.attributes) {
    if (a.name != name) continue;
    if (a.reference.empty()) return &a;
    const auto given = frame_.attributes.find(a.reference);
    return given == frame_.attributes.end() ? nullptr : given->second;
  }
  return nullptr;
}

const OnnxAttribute* OnnxCall::attribute(std::string_view name, OnnxAttributeType type) const {
  const OnnxAttribute* a = attribute(name);
  // Files of IR version 1 leave the type out.
  if (a != nullptr && a->type != 0 && a->type != static_cast<int32_t>(type)) {
    refuse(fmt::format("attribute {} is of another type than its specification has", name));
  }
  return a;
}

int64_t OnnxCall::integer(std::string_view name, std::optional<int64_t> otherwise) const {
  const OnnxAttribute* a = attribute(name, OnnxAttributeType::Int);
  if (a == nullptr && !otherwise) refuse(fmt::format("needs the attribute {}", name));
  return a == nullptr ? *otherwise : a->i;
}

double OnnxCall::real(std::string_view name, std::optional<double> otherwise) const {
  const OnnxAttribute* a = attribute(name, OnnxAttributeType::Float);
  if (a == nullptr && !otherwise) refuse(fmt::format("needs the attribute {}", name));
  return a == nullptr ? *otherwise : static_cast<double>(a->f);
}

std::string OnnxCall::text(std::string_view name, std::string_view otherwise) const {
  const OnnxAttribute* a = attribute(name, OnnxAttributeType::String);
  return std::string(a == nullptr ? otherwise : a->s);
}

Ints OnnxCall::ints(std::string_view name, const Ints& otherwise) const {
  const OnnxAttribute* a = attribute(name, OnnxAttributeType::Ints);
  return a == nullptr ? otherwise : a->ints;
}

std::vector<float> OnnxCall::floats(std::string_view name) const {
  const OnnxAttribute* a = attribute(name, OnnxAttributeType::Floats);
  return a == nullptr ? std::vector<float>() : a->floats;
}

Known OnnxCall::tensor(std::string_view name) const {
  const OnnxAttribute* a = attribute(name, OnnxAttributeType::Tensor);
  if (a == nullptr || a->tensors.empty()) refuse(fmt::format("needs the attribute {}", name));
  return importer_.elements(a->tensors.front());
}

Term OnnxCall::constant_tensor(std::string_view name) {
  const OnnxAttribute* a = attribute(name, OnnxAttributeType::Tensor);
  if (a == nullptr || a->tensors.empty()) refuse(fmt::format("needs the attribute {}", name));
  return importer_.constant_of(a->tensors.front(), node.outputs.empty() ? "" : node.outputs[0]);
}

std::optional<Ints> OnnxCall::list(size_t i, std::string_view name, int64_t since) const {
  if (opset >= since) {
    if (!has(i)) return std::nullopt;
    return ints_in(i, std::string(name).c_str());
  }
  if (!has_attribute(name)) return std::nullopt;
  return ints(name);
}

int64_t OnnxCall::axis(int64_t value, int rank) const {
  if (value < -rank || value >= rank) {
    refuse(fmt::format("axis {} where there are {} dimensions", value, rank));
  }
  return value < 0 ? value + rank : value;
}

Ints OnnxCall::axes(const Ints& values, int rank) const {
  Ints result;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int64_t value : values) {
    const int64_t d = axis(value, rank);
    if (seen[static_cast<size_t>(d)]) refuse(fmt::format("axis {} stands twice", value));
    seen[static_cast<size_t>(d)] = true;
    result.push_back(d);
  }
  return result;
}

void OnnxCall::refuse_unread_attributes() const {
  // How it is computed, or what it gives in cases that are refused elsewhere.
  constexpr auto Harmless = std::to_array<std::string_view>(
      {"stash_type", "softmax_precision", "qk_matmul_output_mode", "storage_order",
       "consumed_inputs", "momentum", "is_test", "seed", "ratio", "saturate", "round_mode",
       "output_dtype", "sorted"});
  for (const OnnxAttribute& a : node.attributes) {
    const bool harmless = std::find(Harmless.begin(), Harmless.end(), a.name) != Harmless.end();
    if (!harmless && read_.count(a.name) == 0) {
      refuse(fmt::format("attribute {} is not supported", a.name));
    }
  }
}

void OnnxCall::refuse(const std::string& what) const { throw InputError(what); }

void OnnxCall::require(std::string_view name, int64_t value) const {
  const OnnxAttribute* a = attribute(name);
  if (a != nullptr && a->i != value) {
    refuse(fmt::format("attribute {} = {} is not supported, only {}", name, a->i, value));
  }
}

void OnnxCall::refuse_input(size_t i, const char* what) const {
  if (has(i)) refuse(fmt::format("{} (input {}) is not supported", what, i));
}

bool OnnxCall::batch_statistics() const { return importer_.options().batch_statistics; }

}  // namespace wafer::importers
