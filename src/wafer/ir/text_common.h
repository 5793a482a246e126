#pragma once

// What the printers share; not for use outside ir/.

#include <string>
#include <string_view>
#include <vector>

#include "wafer/ir/graph.h"

namespace wafer::ir {

/// The name that text forms give to each value of a function: its place in the order in which
/// values are defined, inputs first. Equal graphs may number their values in another way.
std::vector<uint32_t> numbering(const Function& function);

/// In double quotes; quotes, backslashes and control characters escaped.
std::string quoted(std::string_view text);
/// "@layer" or, when it is no plain word, "@\"a b\"".
std::string function_text(const Graph& graph, FunctionId id);
/// The value of an attribute as the grammar of docs/spec/graph-text.md writes it.
std::string attr_text(const Graph& graph, const AttrValue& value);
/// The op's kind, for element-wise ops the name of their function.
std::string_view spelled_kind(const Op& op);

}  // namespace wafer::ir
