#include "table.hpp"

#include "base/printable.hpp"

#include "terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace kith::tools {

namespace {

constexpr std::size_t table_gap = 2;     // between columns
constexpr std::size_t least_label = 12;  // if labels are long; columns leave at least this much

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string l; std::getline(in, l);) all.push_back(l);
  return all;
}

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// Breaks a label without spaces after its commas.
std::string in_pieces(const std::string& label, std::size_t indent, std::size_t width) {
  std::string text;
  std::size_t column = indent;
  for (std::size_t at = 0; at < label.size();) {
    const std::size_t end = std::min(label.find_first_of(", ", at), label.size() - 1) + 1;
    if (column > indent && column + end - at > width) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    }
    text += label.substr(at, end - at);
    column += end - at;
    at = end;
  }
  return text;
}

}  // namespace

table::table(std::string label_head, std::vector<std::string> heads)
    : label_head_(std::move(label_head)), heads_(std::move(heads)), left_(heads_.size(), false) {}

table& table::left(std::size_t column) {
  left_[column] = true;
  return *this;
}

void table::row(std::string label, std::vector<std::string> cells, std::string note) {
  for (std::string& c : cells) c = printable(c);
  lines_.push_back({printable(label), std::move(cells), printable(note)});
}

std::size_t table::width_of(std::size_t column) const {
  std::size_t width = 0;
  for (const std::string& l : lines_of(heads_[column])) width = std::max(width, l.size());
  for (const line& l : lines_) {
    if (column < l.cells.size()) width = std::max(width, l.cells[column].size());
  }
  return width;
}

std::string table::text(std::size_t indent, std::size_t width) const {
  std::size_t label = label_head_.size();
  for (const line& l : lines_) label = std::max(label, l.label.size());
  std::size_t all = indent;
  for (std::size_t c = 0; c < heads_.size(); ++c) all += table_gap + width_of(c);
  if (all + label > width) {  // long labels get their own line; the column of labels is for the others
    const std::size_t room = std::max(width > all ? width - all : 0, least_label);
    label = label_head_.size();
    for (const line& l : lines_) {
      if (l.label.size() <= room) label = std::max(label, l.label.size());
    }
  }
  std::string text;
  for (std::size_t first = 0; first < heads_.size();) {
    std::size_t last = first, used = indent + label;
    while (last < heads_.size() && (last == first || used + table_gap + width_of(last) <= width))
      used += table_gap + width_of(last++);
    text += (text.empty() ? "" : "\n") + block(first, last, label, indent, width);
    first = last;
  }
  return text;
}

std::string table::block(std::size_t first, std::size_t last, std::size_t label, std::size_t indent,
                         std::size_t width) const {
  const std::string margin(indent, ' ');
  std::size_t head_lines = 1;
  for (std::size_t c = first; c < last; ++c) head_lines = std::max(head_lines, lines_of(heads_[c]).size());
  const auto cell = [&](std::size_t c, const std::string& text) {
    return std::string(table_gap, ' ') +
           (left_[c] ? fmt::format("{:<{}}", text, width_of(c)) : fmt::format("{:>{}}", text, width_of(c)));
  };
  std::string text;
  for (std::size_t h = 0; h < head_lines; ++h) {  // heads are aligned at the bottom
    std::string l = fmt::format("{:<{}}", h + 1 == head_lines ? label_head_ : "", label);
    for (std::size_t c = first; c < last; ++c) {
      const std::vector<std::string> head = lines_of(heads_[c]);
      const std::size_t above = head_lines - head.size();
      l += cell(c, h < above ? "" : head[h - above]);
    }
    text += margin + styled(trimmed(l), tone::faint) + "\n";
  }
  for (const line& row : lines_) {
    const bool alone = row.label.size() > label;
    if (alone) text.append(margin).append(in_pieces(row.label, indent, width)).append("\n");
    std::string l = fmt::format("{:<{}}", alone ? "" : row.label, label);
    for (std::size_t c = first; c < last; ++c) l += cell(c, c < row.cells.size() ? row.cells[c] : "");
    l.insert(0, margin);
    l = trimmed(l);
    if (!row.note.empty() && last == heads_.size()) {
      const std::size_t at = l.size() + table_gap;
      // The note is put after the row if there is room for a few words, else below it.
      l += at + std::min<std::size_t>(30, row.note.size()) <= width
               ? std::string(table_gap, ' ') + folded(row.note, at, width)
               : "\n" + std::string(indent + table_gap, ' ') + folded(row.note, indent + table_gap, width);
    }
    text += l + "\n";
  }
  return text;
}

}  // namespace kith::tools
