#pragma once

#include <span>
#include <string>

#include "wafer/importers/huggingface_fields.h"
#include "wafer/models/spec.h"

namespace wafer::importers {

/// A head by its name in `architectures`.
struct Architecture {
  const char* name;
  models::Head head;
  bool pooler = false;
};

/// One model_type: how its keys become a spec, and the heads it may have, the first of which stands
/// where a file names none.
struct Family {
  const char* model_type;
  models::TransformerSpec (*read)(const Fields& config);
  std::span<const Architecture> architectures;
};

std::span<const Family> families();

}  // namespace wafer::importers
