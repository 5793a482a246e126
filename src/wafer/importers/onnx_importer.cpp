#include "wafer/importers/onnx_importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "wafer/importers/onnx_label.h"
#include "wafer/importers/onnx_ops.h"

namespace wafer::importers {

using ir::Role;

namespace {

constexpr int64_t OldestOpset = 7;
constexpr int64_t NewestOpset = 28;
constexpr size_t MostProblems = 1000;
constexpr std::string_view HeadOfProblems = ": cannot be imported:";
constexpr int DeepestCall = 64;
/// Integer tensors larger than this are inputs of the graph instead of constants in it.
constexpr int64_t LargestConstant = int64_t{1} << 22;
constexpr int64_t LargestKnown = int64_t{1} << 16;

std::map<std::string_view, int64_t> opset_map(const std::vector<OnnxOpset>& opsets) {
  std::map<std::string_view, int64_t> map;
  for (const OnnxOpset& o : opsets) map[o.domain == "ai.onnx" ? "" : o.domain] = o.version;
  return map;
}

std::string name_of(const OnnxNode& node) {
  if (!node.name.empty()) return std::string(node.name);
  for (std::string_view output : node.outputs) {
    if (!output.empty()) return fmt::format("{}({})", node.op_type, output);
  }
  return std::string(node.op_type);
}

const OnnxAttribute* attribute_of(const OnnxNode& node, std::string_view name) {
  for (const OnnxAttribute& a : node.attributes) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace

OnnxImporter::OnnxImporter(const OnnxModel& model, WireSource& source, ExternalData external,
                           const OnnxOptions& options, bool open_batch)
    : model_(model),
      source_(source),
      external_(std::move(external)),
      options_(options),
      dims_(options, open_batch),
      file_(std::filesystem::path(source.name).filename().string()),
      builder_(graph_, graph_.add_function("main")),
      fold_(builder_),
      opsets_(opset_map(model.opsets)) {
  graph_.name = std::filesystem::path(file_).stem().string();
  graph_.main = ir::FunctionId(0);
  for (const OnnxFunction& f : model.functions) functions_[{f.domain, f.name}] = &f;
}

ir::Graph OnnxImporter::run() {
  if (!model_.has_graph) throw InputError(source_.name + ": holds no ONNX graph");
  const int64_t opset = opsets_.count("") != 0 ? opsets_.at("") : 0;
  if (opset != 0 && (opset < OldestOpset || opset > NewestOpset)) {
    throw InputError(fmt::format("{}: is written in opset {}; supported are {} to {}", source_.name,
                                 opset, OldestOpset, NewestOpset));
  }
  if (model_.graph.has_sparse_initializers) {
    throw InputError(source_.name + ": sparse initializers are not supported");
  }
  OnnxFrame frame;
  frame.opsets = &opsets_;
  add_inputs(frame);
  dims_.throw_if_unbound(source_.name);
  import_nodes(model_.graph.nodes, frame, 0);
  add_outputs(frame);
  problems_.throw_if_any(source_.name + std::string(HeadOfProblems));
  return std::move(graph_);
}

void OnnxImporter::store_initializers(const OnnxGraph& graph, OnnxFrame& frame) const {
  for (const OnnxTensor& t : graph.initializers) {
    if (frame.initializers.emplace(t.name, &t).second) continue;
    throw InputError(fmt::format(
        "{}: initializer {} stands twice in the file; export it again with names that differ",
        source_.name, t.name));
  }
}

void OnnxImporter::add_inputs(OnnxFrame& frame) {
  store_initializers(model_.graph, frame);
  for (const OnnxValueInfo& input : model_.graph.inputs) {
    // Files of IR version 3 list initializers as inputs too.
    if (frame.initializers.count(input.name) != 0) continue;
    const std::optional<DType> dtype = dtype_of(input.element_type);
    if (!input.is_tensor || !dtype || !input.has_shape) {
      frame.missing[input.name] =
          fmt::format("input {} is {}; supported are tensors of numbers with a shape", input.name,
                      !input.is_tensor ? "no tensor"
                      : !dtype         ? "of type " + onnx_type_name(input.element_type)
                                       : "without a shape");
      continue;
    }
    frame.terms[input.name] = parameter(input.name, {*dtype, dims_.shape_of(input)}, Role::Data);
  }
}

void OnnxImporter::add_outputs(OnnxFrame& frame) {
  if (model_.graph.outputs.empty()) problems_.add("the graph has no outputs");
  std::set<std::string_view> names;
  for (const OnnxValueInfo& output : model_.graph.outputs) {
    const Term* term = find(frame, output.name);
    if (term == nullptr) continue;
    if (!names.insert(output.name).second) {
      problems_.add(fmt::format("output {} is listed twice", output.name));
      continue;
    }
    builder_.output(std::string(output.name), fold_.id(*term));
  }
}

void OnnxImporter::import_nodes(const std::vector<OnnxNode>& nodes, OnnxFrame& frame, int depth) {
  if (depth > DeepestCall) throw OnnxTooMuch(source_.name + ": functions call each other too deep");
  for (const OnnxNode& node : nodes) {
    if (--nodes_left_ < 0) {
      throw OnnxTooMuch(source_.name + ": more than 250000 nodes after inlining functions");
    }
    import_node(node, frame, depth);
  }
}

void OnnxImporter::import_node(const OnnxNode& node, OnnxFrame& frame, int depth) {
  set_place(node, frame);
  try {
    const auto function = functions_.find({node.domain, node.op_type});
    if (function != functions_.end()) return import_function(*function->second, node, frame, depth);
    const bool standard = node.domain.empty() || node.domain == "ai.onnx";
    if (standard && node.op_type == "If") return import_if(node, frame, depth);
    set_outputs(node, frame, call_handler(node, frame));
  } catch (const OnnxTooMuch&) {
    throw;
  } catch (const InputError& error) {
    fail_node(node, frame, error.what());
  }
}

Terms OnnxImporter::call_handler(const OnnxNode& node, OnnxFrame& frame) {
  const OnnxHandler handler = find_onnx_handler(node.domain, node.op_type);
  Terms inputs;
  bool complete = true;
  for (std::string_view name : node.inputs) {
    const Term* term = name.empty() ? nullptr : find(frame, name);
    complete = complete && (term != nullptr || name.empty());
    inputs.push_back(term == nullptr ? Term{} : *term);
  }
  if (handler == nullptr) throw InputError("op is not supported");
  if (!complete) {
    fail_node(node, frame, "");
    return {};
  }
  const int64_t opset = opset_of(frame, node.domain);
  OnnxCall call(*this, frame, node, std::move(inputs), opset);
  Terms results = handler(call);
  call.refuse_unread_attributes();
  if (node.op_type == "Constant" || node.op_type == "ConstantOfShape") {
    frame.constants.insert(node.outputs.begin(), node.outputs.end());
  }
  return results;
}

void OnnxImporter::set_outputs(const OnnxNode& node, OnnxFrame& frame, const Terms& results) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string_view name = node.outputs[i];
    if (name.empty() || frame.missing.count(name) != 0) continue;
    if (frame.terms.count(name) != 0) {
      problems_.add(fmt::format("{}: makes {} a second time", describe(node, frame), name));
    } else if (i < results.size()) {
      frame.terms[name] = results[i];
    } else {
      frame.missing[name] = fmt::format("{}: its output {} is used, which is not supported",
                                        describe(node, frame), i);
    }
  }
}

void OnnxImporter::import_if(const OnnxNode& node, OnnxFrame& frame, int depth) {
  const Term* condition = node.inputs.empty() ? nullptr : find(frame, node.inputs[0]);
  if (condition == nullptr) return fail_node(node, frame, "");
  if (!condition->known || condition->known->ints.size() != 1) {
    throw InputError("its condition depends on data, which is not supported");
  }
  const bool taken = condition->known->ints[0] != Dim(0);
  const OnnxAttribute* branch = attribute_of(node, taken ? "then_branch" : "else_branch");
  if (branch == nullptr || branch->graphs.empty()) throw InputError("lacks the branch to take");
  const OnnxGraph& graph = branch->graphs.front();
  OnnxFrame inner;
  inner.outer = &frame;
  inner.opsets = frame.opsets;
  inner.attributes = frame.attributes;
  inner.prefix = frame.prefix;
  store_initializers(graph, inner);
  import_nodes(graph.nodes, inner, depth + 1);
  Terms results;
  for (const OnnxValueInfo& output : graph.outputs) {
    const Term* term = find(inner, output.name);
    if (term == nullptr) return fail_node(node, frame, "");
    results.push_back(*term);
  }
  set_outputs(node, frame, results);
}

void OnnxImporter::import_function(const OnnxFunction& function, const OnnxNode& node,
                                   OnnxFrame& frame, int depth) {
  const std::map<std::string_view, int64_t> opsets = opset_map(function.opsets);
  OnnxFrame inner;
  inner.opsets = &opsets;
  inner.prefix = frame.prefix + name_of(node) + "/";
  for (const OnnxAttribute& a : function.defaults) inner.attributes[a.name] = &a;
  for (const OnnxAttribute& a : node.attributes) {
    if (a.reference.empty()) {
      inner.attributes[a.name] = &a;
    } else if (const auto given = frame.attributes.find(a.reference);
               given != frame.attributes.end()) {
      inner.attributes[a.name] = given->second;
    }
  }
  for (size_t i = 0; i < function.inputs.size() && i < node.inputs.size(); ++i) {
    if (node.inputs[i].empty()) continue;
    const Term* term = find(frame, node.inputs[i]);
    if (term == nullptr) return fail_node(node, frame, "");
    inner.terms[function.inputs[i]] = *term;
  }
  import_nodes(function.nodes, inner, depth + 1);
  Terms results;
  for (std::string_view output : function.outputs) {
    const Term* term = find(inner, output);
    if (term == nullptr) return fail_node(node, frame, "");
    results.push_back(*term);
  }
  set_outputs(node, frame, results);
}

const Term* OnnxImporter::find(OnnxFrame& frame, std::string_view name) {
  for (OnnxFrame* f = &frame; f != nullptr; f = f->outer) {
    if (const auto term = f->terms.find(name); term != f->terms.end()) return &term->second;
    if (const auto bad = f->missing.find(name); bad != f->missing.end()) {
      if (!bad->second.empty()) problems_.add(std::exchange(bad->second, ""));
      return nullptr;
    }
    const auto stored = f->initializers.find(name);
    if (stored == f->initializers.end()) continue;
    try {
      return &f->terms.emplace(name, term_of(*stored->second, name)).first->second;
    } catch (const InputError& error) {
      problems_.add(error.what());
      f->missing[name] = "";
      return nullptr;
    }
  }
  problems_.add(fmt::format("value {} is used, but made by no node before", name));
  frame.missing[name] = "";
  return nullptr;
}

Term OnnxImporter::term_of(const OnnxTensor& tensor, std::string_view name) {
  const TensorType type = type_of(tensor);
  check_size(tensor);
  for (const OnnxKeyValue& entry : tensor.metadata) {
    if (entry.key == RoleKey && entry.value == ConstantRole) {
      return parameter(name, type, Role::Constant);
    }
  }
  if (is_float(type.dtype) && type.elements() != 1) return tied_or_parameter(tensor, name, type);
  return constant_of(tensor, name);
}

Term OnnxImporter::constant_of(const OnnxTensor& tensor, std::string_view name) {
  const TensorType type = type_of(tensor);
  const int64_t count = type.elements();
  const Role role = is_float(type.dtype) ? Role::Parameter : Role::Constant;
  if (count > LargestConstant) return parameter(name, type, role);
  std::optional<Known> known = read_elements(tensor, source_, external_);
  if (!known && role == Role::Parameter) return parameter(name, type, role);
  if (!known) {
    // Shapes and plans need no values.
    return fold_.term(builder_.literal(
        {.type = type, .splat = false, .elided = true, .floats = {}, .integers = {}}));
  }
  if (count > LargestKnown) return fold_.term(builder_.literal(literal_of(*known)));
  return fold_.known(std::move(*known));
}

/// A matrix that is stored a second time, perhaps transposed (as some exporters do to tied
/// embeddings), is the first one.
Term OnnxImporter::tied_or_parameter(const OnnxTensor& tensor, std::string_view name,
                                     const TensorType& type) {
  const std::optional<TiedMatrices::Match> match = matrices_.match(tensor, external_);
  if (match) return match->transposed ? fold_.transpose(match->term, {1, 0}) : match->term;
  const Term made = parameter(name, type, Role::Parameter);
  matrices_.add(tensor, external_, made);
  return made;
}

Term OnnxImporter::parameter(std::string_view name, const TensorType& type, Role role) {
  std::string unique(name);
  for (int i = 1; !input_names_.insert(unique).second; ++i) {
    unique = fmt::format("{}.{}", name, i);
  }
  return fold_.term(builder_.input(unique, type, role));
}

Known OnnxImporter::elements(const OnnxTensor& tensor) {
  if (type_of(tensor).elements() > LargestConstant) {
    throw InputError(fmt::format("tensor \"{}\" is too large for a constant", tensor.name));
  }
  std::optional<Known> known = read_elements(tensor, source_, external_);
  if (known) return std::move(*known);
  throw InputError(fmt::format("the file with the data of tensor \"{}\" is absent", tensor.name));
}

Term OnnxImporter::as_weight(OnnxFrame& frame, std::string_view name, const Term& term) {
  if (!is_float(term.dtype()) || !term.type.is_static() || term.type.elements() <= 1) return term;
  for (OnnxFrame* f = &frame; f != nullptr; f = f->outer) {
    const auto found = f->terms.find(name);
    if (found == f->terms.end()) continue;
    if (f->constants.erase(name) == 0) return term;
    return found->second = parameter(name, term.type, Role::Parameter);
  }
  return term;
}

const OnnxTensor* OnnxImporter::stored(const OnnxFrame& frame, std::string_view name) const {
  for (const OnnxFrame* f = &frame; f != nullptr; f = f->outer) {
    const auto found = f->initializers.find(name);
    if (found != f->initializers.end()) return found->second;
  }
  return nullptr;
}

void OnnxImporter::set_role(const Term& term, Role role) {
  for (ir::Input& input : builder_.function().inputs) {
    if (input.value == term.id) input.role = role;
  }
}

void OnnxImporter::fail_node(const OnnxNode& node, OnnxFrame& frame, const std::string& problem) {
  if (!problem.empty()) problems_.add(fmt::format("{}: {}", describe(node, frame), problem));
  if (problems_.all().size() > MostProblems)
    problems_.throw_if_any(source_.name + std::string(HeadOfProblems));
  for (std::string_view output : node.outputs) frame.missing[output] = "";
}

std::string OnnxImporter::describe(const OnnxNode& node, OnnxFrame& frame) {
  std::vector<std::string> types;
  for (std::string_view name : node.inputs) {
    const Term* term = nullptr;
    for (OnnxFrame* f = &frame; f != nullptr && term == nullptr; f = f->outer) {
      if (const auto found = f->terms.find(name); found != f->terms.end()) term = &found->second;
    }
    types.push_back(term != nullptr ? term->type.text() : "?");
  }
  const std::string_view domain = node.domain.empty() ? "ai.onnx" : node.domain;
  return fmt::format("node {}{}: {} (domain {}, opset {}) of ({})", frame.prefix, name_of(node),
                     node.op_type, domain, opset_of(frame, node.domain), fmt::join(types, ", "));
}

void OnnxImporter::set_place(const OnnxNode& node, const OnnxFrame& frame) {
  builder_.location = fmt::format("{}:{}{}", file_, frame.prefix, name_of(node));
  const OnnxLabel label = label_of(node, frame.prefix);
  builder_.layer = label.layer;
  builder_.scope = label.scope;
}

int64_t OnnxImporter::opset_of(const OnnxFrame& frame, std::string_view domain) const {
  const auto found = frame.opsets->find(domain == "ai.onnx" ? "" : domain);
  return found == frame.opsets->end() ? 1 : found->second;
}

}  // namespace wafer::importers
