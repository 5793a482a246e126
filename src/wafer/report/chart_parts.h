#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wafer::report {

inline constexpr double CharacterWidth = 7.3;  ///< of the text of charts, at most on average
inline constexpr size_t ColourCount = 7;

/// Classes of a colour of the palette, the first again after the last.
std::string ink(size_t colour);

/// A text element. `anchor` is "start", "middle" or "end"; `more` are further attributes.
std::string svg_text(double x, double y, std::string_view anchor, std::string_view words,
                     std::string_view more = "");
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view style);
/// A mark whose form differs from colour to colour; `words` are told when pointed at.
std::string svg_mark(double x, double y, size_t colour, std::string_view words);

/// Words that fit in `width`, with "..." where some are left out.
std::string fitted(std::string_view words, double width);

/// What stands around a drawing of the size: the element with title and description, and a style
/// and background where it is a file of its own.
std::string framed(double width, double height, std::string_view title, std::string_view about,
                   bool own_file, const std::string& drawing);

}  // namespace wafer::report
