#include "wafer/importers/onnx.h"

#include <filesystem>

#include "wafer/base/mapped_file.h"
#include "wafer/importers/onnx_importer.h"
#include "wafer/importers/recognize.h"
#include "wafer/ir/verify.h"

namespace wafer::importers {
namespace {

ir::Graph import_parsed(const OnnxModel& model, WireSource& source,
                        const std::optional<std::string>& folder, const OnnxOptions& options) {
  OnnxImporter open(model, source, ExternalData(folder), options, true);
  try {
    return open.run();
  } catch (const InputError&) {
    // The graph may need the batch as a number: then it gets the one given.
    if (!options.batch || !open.batch_is_open()) throw;
  }
  return OnnxImporter(model, source, ExternalData(folder), options, false).run();
}

ir::Graph import_source(WireSource& source, const std::optional<std::string>& folder,
                        const OnnxOptions& options) {
  const OnnxModel model = parse_onnx_model(source);
  ir::Graph graph = import_parsed(model, source, folder, options);
  graph = options.recognize ? recognize_all(graph) : drop_unused(graph);
  ir::verify(graph);
  return graph;
}

}  // namespace

ir::Graph import_onnx(const std::string& path, const OnnxOptions& options) {
  const MappedFile file(path);
  WireSource source{.name = path, .bytes = file.bytes()};
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return import_source(source, folder.empty() ? "." : folder, options);
}

ir::Graph import_onnx_bytes(std::string_view bytes, const std::string& name,
                            const OnnxOptions& options) {
  WireSource source{.name = name, .bytes = bytes};
  return import_source(source, std::nullopt, options);
}

}  // namespace wafer::importers
