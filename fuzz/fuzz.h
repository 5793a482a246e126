#pragma once

#include <cstdint>
#include <string_view>

#include "wafer/base/error.h"

/// Runs `read` on one input. An error that tells the user what is wrong with it is a right answer;
/// anything else that is thrown, InternalError above all, ends the program and is a find.
template <typename Read>
int fuzz_reader(const uint8_t* data, size_t size, Read read) {
  try {
    read(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const wafer::InputError&) {
  } catch (const wafer::CapacityError&) {
  }
  return 0;
}
