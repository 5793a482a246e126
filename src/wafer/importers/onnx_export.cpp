#include "wafer/importers/onnx_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "wafer/importers/onnx_exporter.h"

namespace wafer::importers {

using ir::Op;
using ir::OpKind;
using ir::Role;
using ir::ValueId;

std::string OnnxExporter::run(const std::string& file) {
  Frame frame;
  add_inputs(frame, file);
  problems_.throw_if_any(graph_.name + ": has no ONNX form:");
  const ir::Function& main = graph_.entry();
  run_function(main, frame, "");
  problems_.throw_if_any(graph_.name + ": has no ONNX form:");
  out_.scope.clear();
  for (const ir::Output& output : main.outputs) {
    Port& port = frame.at(output.value);
    out_.alias(whole(port), output.name);
    out_.output(output.name, port.type);
  }
  return out_.finish(graph_.name);
}

void OnnxExporter::add_inputs(Frame& frame, const std::string& file) {
  const ir::Function& main = graph_.entry();
  int64_t offset = 0;
  for (const ir::Input& input : main.inputs) {
    const TensorType& type = main.type_of(input.value);
    if (!has_onnx_type(type.dtype)) {
      problems_.add(fmt::format("input {} is {}, which is no element type of ONNX", input.name,
                                name_of(type.dtype)));
      continue;
    }
    frame[input.value] = port(type, input.name);
    if (input.role == Role::Data) {
      out_.input(input.name, type);
      for (size_t d = 0; d < type.shape.size(); ++d) {
        const Dim& dim = type.shape[d];
        if (dim.symbols().size() != 1 || dim.factor() != 1) continue;
        symbols_.try_emplace(dim.symbols()[0], input.name, static_cast<int64_t>(d));
      }
      continue;
    }
    if (!type.is_static()) {
      problems_.add(fmt::format("parameter {} has an open dimension: {}", input.name, type.text()));
      continue;
    }
    out_.external({.name = input.name,
                   .type = type,
                   .file = file + ".weights",
                   .offset = offset,
                   .parameter = input.role == Role::Parameter});
    offset += static_cast<int64_t>(type.bytes().value);
  }
}

void OnnxExporter::run_function(const ir::Function& function, Frame& frame,
                                const std::string& prefix) {
  for (const Op& op : function.ops) {
    try {
      if (op.kind == OpKind::Call) {
        run_call(op, frame, prefix);
      } else {
        run_op(function, op, frame, prefix);
      }
    } catch (const InputError& error) {
      const std::string place = op.location.empty() ? "" : " (" + op.location + ")";
      problems_.add(
          fmt::format("{} in {}{}: {}", name_of(op.kind), function.name, place, error.what()));
      for (ValueId v : op.results) frame[v] = port(function.type_of(v), "missing");
    }
  }
}

void OnnxExporter::run_op(const ir::Function& function, const Op& op, Frame& frame,
                          const std::string& prefix) {
  ExportHandler handler = find_export_handler(op.kind);
  if (handler == nullptr) handler = find_composite_handler(op.kind);
  if (handler == nullptr) refuse("has no form in ONNX; only forward graphs are exported");
  out_.scope = prefix;
  for (const std::string& part : {op.layer, op.scope}) {
    if (!part.empty()) out_.scope += "/" + part;
  }
  ExportCall call{.to = *this, .out = out_, .op = op, .operands = {}, .types = {}};
  for (ValueId v : op.operands) call.operands.push_back(&frame.at(v));
  for (ValueId v : op.results) call.types.push_back(function.type_of(v));
  std::vector<Port> results = handler(call);
  for (size_t i = 0; i < op.results.size(); ++i) frame[op.results[i]] = std::move(results[i]);
}

void OnnxExporter::run_call(const Op& op, Frame& frame, const std::string& prefix) {
  const ir::Function& callee = graph_.function(op.attrs.get<ir::FunctionId>(ir::AttrKey::Body));
  Frame inner;
  for (size_t i = 0; i < callee.inputs.size(); ++i) {
    inner[callee.inputs[i].value] = frame.at(op.operands[i]);
  }
  run_function(callee, inner, op.layer.empty() ? prefix : prefix + "/" + op.layer);
  for (size_t i = 0; i < op.results.size(); ++i) {
    frame[op.results[i]] = inner.at(callee.outputs[i].value);
  }
}

std::optional<double> Port::splat() const {
  if (constant == nullptr) return std::nullopt;
  if (constant->floats.size() == 1) return constant->floats[0];
  if (constant->integers.size() == 1) return static_cast<double>(constant->integers[0]);
  return std::nullopt;
}

/// Small constants are stored whole; of large splats one element is, which stretches.
void OnnxExporter::write_constant(Port& port) {
  constexpr int64_t Few = 64;
  if (port.constant == nullptr || !port.name.empty() || !port.narrow.empty()) return;
  const bool small = port.type.is_static() && port.type.elements() <= Few;
  if (!port.constant->splat || small) {
    port.name = out_.constant(*port.constant);
    return;
  }
  ir::Literal element = *port.constant;
  element.type.shape.clear();
  port.narrow = out_.constant(element);
}

const std::string& OnnxExporter::whole(Port& port) {
  write_constant(port);
  if (port.name.empty()) port.name = out_.node("Expand", {port.narrow, dims(port.type.shape)});
  return port.name;
}

const std::string& OnnxExporter::stretching(Port& port) {
  write_constant(port);
  return port.narrow.empty() ? whole(port) : port.narrow;
}

std::string OnnxExporter::dims(const Shape& shape) {
  ir::Ints numbers;
  for (const Dim& d : shape) {
    if (d.is_static()) numbers.push_back(d.value());
  }
  if (numbers.size() == shape.size()) return out_.ints(numbers);
  std::vector<std::string> parts;
  for (const Dim& d : shape) {
    std::string product = out_.ints({d.factor()});
    for (const std::string& symbol : d.symbols()) {
      const auto source = symbols_.find(symbol);
      if (source == symbols_.end()) refuse("no input has the dimension " + symbol);
      std::string& value = symbol_values_[symbol];
      if (value.empty()) {
        const auto& [input, dim] = source->second;
        value = out_.node("Shape", {input}, {{"start", dim}, {"end", dim + 1}});
      }
      const bool alone = d.factor() == 1 && product == out_.ints({1});
      product = alone ? value : out_.node("Mul", {product, value});
    }
    parts.push_back(product);
  }
  return out_.node("Concat", parts, {{"axis", int64_t{0}}});
}

std::string OnnxExporter::reshape(const std::string& value, const Shape& from, const Shape& to) {
  if (from == to) return value;
  ir::Ints numbers;
  size_t open = 0;
  for (const Dim& d : to) {
    numbers.push_back(d.is_static() ? d.value() : -1);
    open += d.is_static() ? 0 : 1;
  }
  const bool plain = open <= 1 && std::find(numbers.begin(), numbers.end(), 0) == numbers.end();
  return out_.node("Reshape", {value, plain ? out_.ints(numbers) : dims(to)},
                   plain ? OnnxAttrs{} : OnnxAttrs{{"allowzero", int64_t{1}}});
}

std::string onnx_bytes(const ir::Graph& graph, const std::string& file) {
  return OnnxExporter(graph).run(file);
}

void export_onnx(const ir::Graph& graph, const std::string& path) {
  const std::string bytes = onnx_bytes(graph, std::filesystem::path(path).filename().string());
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw InputError(path + ": cannot be written");
}

}  // namespace wafer::importers
