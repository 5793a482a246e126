#include "wafer/importers/onnx_model.h"

#include <fmt/format.h>

#include <bit>

namespace wafer::importers {
namespace {

constexpr int DeepestGraph = 16;

std::string_view text_of(WireReader& reader, const WireField& field) {
  if (field.type != WireType::Bytes) reader.fail(fmt::format("field {} is no text", field.number));
  return field.bytes;
}

int64_t integer_of(WireReader& reader, const WireField& field) {
  if (field.type != WireType::Varint) {
    reader.fail(fmt::format("field {} is no integer", field.number));
  }
  return static_cast<int64_t>(field.scalar);
}

/// Enumerations and int32 fields: the low 32 bits, as protobuf reads them.
int32_t small_integer_of(WireReader& reader, const WireField& field) {
  return static_cast<int32_t>(integer_of(reader, field));
}

/// Calls take(reader, field) for each field of the message that `field` holds.
template <typename Take>
void each_field(WireReader& outer, const WireField& field, Take take) {
  WireReader reader(outer.source(), text_of(outer, field));
  WireField inner;
  while (reader.next(inner)) take(reader, inner);
}

OnnxKeyValue parse_key_value(WireReader& outer, const WireField& field) {
  OnnxKeyValue pair;
  each_field(outer, field, [&](WireReader& r, const WireField& f) {
    if (f.number == 1) pair.key = text_of(r, f);
    if (f.number == 2) pair.value = text_of(r, f);
  });
  return pair;
}

OnnxOpset parse_opset(WireReader& outer, const WireField& field) {
  OnnxOpset opset;
  each_field(outer, field, [&](WireReader& r, const WireField& f) {
    if (f.number == 1) opset.domain = text_of(r, f);
    if (f.number == 2) opset.version = integer_of(r, f);
  });
  return opset;
}

void parse_tensor(WireReader& outer, const WireField& field, OnnxTensor& tensor) {
  tensor.message = field.bytes;
  each_field(outer, field, [&](WireReader& r, const WireField& f) {
    switch (f.number) {
      case 1:
        return append_varints(r.source(), f, tensor.dims);
      case 2:
        tensor.data_type = small_integer_of(r, f);
        return;
      case 8:
        tensor.name = text_of(r, f);
        return;
      case 9:
        tensor.raw = text_of(r, f);
        tensor.has_raw = true;
        return;
      case 13:
        tensor.external_data.push_back(parse_key_value(r, f));
        return;
      case 14:
        tensor.external = integer_of(r, f) == 1;
        return;
      case 16:
        tensor.metadata.push_back(parse_key_value(r, f));
        return;
      default:
        return;
    }
  });
}

void parse_graph(WireReader& outer, const WireField& field, int depth, OnnxGraph& graph);

template <typename T>
T& only_element(std::vector<T>& at_most_one) {
  if (at_most_one.empty()) at_most_one.emplace_back();
  return at_most_one.front();
}

float float_of(WireReader& reader, const WireField& field) {
  if (field.type != WireType::Fixed32) reader.fail("a float attribute of another width");
  return std::bit_cast<float>(static_cast<uint32_t>(field.scalar));
}

void parse_attribute(WireReader& outer, const WireField& field, int depth, OnnxAttribute& a) {
  each_field(outer, field, [&](WireReader& r, const WireField& f) {
    switch (f.number) {
      case 1:
        a.name = text_of(r, f);
        return;
      case 2:
        a.f = float_of(r, f);
        return;
      case 3:
        a.i = integer_of(r, f);
        return;
      case 4:
        a.s = text_of(r, f);
        return;
      case 5:
        return parse_tensor(r, f, only_element(a.tensors));
      case 6:
        return parse_graph(r, f, depth + 1, only_element(a.graphs));
      case 7:
        return append_floats(r.source(), f, a.floats);
      case 8:
        return append_varints(r.source(), f, a.ints);
      case 9:
        a.strings.push_back(text_of(r, f));
        return;
      case 20:
        a.type = small_integer_of(r, f);
        return;
      case 21:
        a.reference = text_of(r, f);
        return;
      default:
        return;
    }
  });
}

void parse_node(WireReader& outer, const WireField& field, int depth, OnnxNode& node) {
  each_field(outer, field, [&](WireReader& r, const WireField& f) {
    switch (f.number) {
      case 1:
        node.inputs.push_back(text_of(r, f));
        return;
      case 2:
        node.outputs.push_back(text_of(r, f));
        return;
      case 3:
        node.name = text_of(r, f);
        return;
      case 4:
        node.op_type = text_of(r, f);
        return;
      case 5:
        return parse_attribute(r, f, depth, node.attributes.emplace_back());
      case 7:
        node.domain = text_of(r, f);
        return;
      case 9:
        node.metadata.push_back(parse_key_value(r, f));
        return;
      default:
        return;
    }
  });
}

OnnxDim parse_dim(WireReader& outer, const WireField& field) {
  OnnxDim dim;
  each_field(outer, field, [&](WireReader& r, const WireField& f) {
    if (f.number != 1 && f.number != 2) return;
    dim = {};  // the two are one of, the last wins
    if (f.number == 1) {
      dim.has_value = true;
      dim.value = integer_of(r, f);
    } else {
      dim.param = text_of(r, f);
    }
  });
  return dim;
}

void parse_tensor_type(WireReader& outer, const WireField& field, OnnxValueInfo& info) {
  info.is_tensor = true;
  each_field(outer, field, [&](WireReader& r, const WireField& f) {
    if (f.number == 1) info.element_type = small_integer_of(r, f);
    if (f.number != 2) return;
    info.has_shape = true;
    each_field(r, f, [&](WireReader& shape, const WireField& dim) {
      if (dim.number == 1) info.shape.push_back(parse_dim(shape, dim));
    });
  });
}

void parse_value_info(WireReader& outer, const WireField& field, OnnxValueInfo& info) {
  each_field(outer, field, [&](WireReader& r, const WireField& f) {
    if (f.number == 1) info.name = text_of(r, f);
    if (f.number != 2) return;
    each_field(r, f, [&](WireReader& type, const WireField& kind) {
      if (kind.number == 1) parse_tensor_type(type, kind, info);
    });
  });
}

void parse_graph(WireReader& outer, const WireField& field, int depth, OnnxGraph& graph) {
  if (depth > DeepestGraph) outer.fail("sub-graphs nested too deep");
  each_field(outer, field, [&](WireReader& r, const WireField& f) {
    switch (f.number) {
      case 1:
        return parse_node(r, f, depth, graph.nodes.emplace_back());
      case 2:
        graph.name = text_of(r, f);
        return;
      case 5:
        return parse_tensor(r, f, graph.initializers.emplace_back());
      case 11:
        return parse_value_info(r, f, graph.inputs.emplace_back());
      case 12:
        return parse_value_info(r, f, graph.outputs.emplace_back());
      case 15:
        graph.has_sparse_initializers = true;
        return;
      default:
        return;
    }
  });
}

void parse_function(WireReader& outer, const WireField& field, OnnxFunction& function) {
  each_field(outer, field, [&](WireReader& r, const WireField& f) {
    switch (f.number) {
      case 1:
        function.name = text_of(r, f);
        return;
      case 4:
        function.inputs.push_back(text_of(r, f));
        return;
      case 5:
        function.outputs.push_back(text_of(r, f));
        return;
      case 6:
        function.attributes.push_back(text_of(r, f));
        return;
      case 7:
        return parse_node(r, f, 0, function.nodes.emplace_back());
      case 9:
        function.opsets.push_back(parse_opset(r, f));
        return;
      case 10:
        function.domain = text_of(r, f);
        return;
      case 11:
        return parse_attribute(r, f, 0, function.defaults.emplace_back());
      case 13:
        function.overload = text_of(r, f);
        return;
      default:
        return;
    }
  });
}

}  // namespace

OnnxModel parse_onnx_model(WireSource& source) {
  OnnxModel model;
  WireReader reader(source, source.bytes);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        model.ir_version = integer_of(reader, field);
        break;
      case 2:
        model.producer = text_of(reader, field);
        break;
      case 7:
        model.has_graph = true;
        parse_graph(reader, field, 0, model.graph);
        break;
      case 8:
        model.opsets.push_back(parse_opset(reader, field));
        break;
      case 25:
        parse_function(reader, field, model.functions.emplace_back());
        break;
      default:
        break;
    }
  }
  return model;
}

}  // namespace wafer::importers
