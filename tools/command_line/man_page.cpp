#include "command_line/man_page.hpp"

#include <fmt/core.h>

#include <cctype>

namespace kith::tools {

namespace {

/// Escapes text for roff: hyphens stay ASCII, and no line is taken for a request.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '~': out += "\\(ti"; break;
      case '^': out += "\\(ha"; break;
      case '`': out += "\\(ga"; break;
      default: out += c;
    }
  }
  return out;
}
/// Quotes an argument of a macro.
std::string man_page_in_quotes(const std::string& text) {
  std::string out;
  for (char c : roff(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return '"' + out + '"';
}

std::string head(const std::string& page, const tool_model& t) {
  std::string title = page;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format(".TH {} 1 \"\" {} {}\n", man_page_in_quotes(title), man_page_in_quotes(t.name + " " + t.version),
                     man_page_in_quotes(t.name + " manual"));
}
std::string name(const std::string& page, const std::string& summary) {
  return fmt::format(".SH NAME\n{} \\- {}\n", roff(page), roff(summary));
}

/// The type of an option in the style of man pages: placeholders are slanted.
std::string type_of(const option_model& o) {
  return fmt::format("\\fI{}\\fR{}", roff(o.value.type), o.repeats ? " ..." : "");
}

std::string entry(const option_model& o) {
  std::string text = ".TP\n";
  if (!o.short_name.empty()) text += fmt::format("\\fB{}\\fR, ", roff(o.short_name));
  text += fmt::format("\\fB{}\\fR", roff(o.long_name));
  if (o.takes_value) text += " " + type_of(o);
  return text + "\n" + roff(o.text) + "\n";
}

std::string section(const char* title, const std::vector<std::string>& paragraphs) {
  if (paragraphs.empty()) return "";
  std::string text = fmt::format(".SH {}\n", man_page_in_quotes(title));
  bool first = true;
  for (std::string p : paragraphs) {
    if (!first) text += ".PP\n";
    first = false;
    p.erase(0, p.find_first_not_of(' '));
    text += roff(p) + "\n";
  }
  return text;
}

std::string synopsis(const tool_model& t, const command_model& c) {
  std::string text = fmt::format(".SH SYNOPSIS\n.B {} {}\n[\\fIOPTIONS\\fR]", roff(t.name), roff(c.name));
  for (const option_model& a : c.arguments) {
    const std::string type = type_of(a);
    text += a.required ? " " + type : " [" + type + "]";
  }
  text += "\n";
  for (std::string line : c.usage) {
    line.erase(0, line.find_first_not_of(' '));
    text += ".br\n" + roff(line) + "\n";
  }
  return text;
}

std::string subjects_of(const command_model& c) {
  if (c.subjects.empty()) return "";
  std::string text = ".SH \"WHAT IT RUNS\"\n";
  for (const subject& s : c.subjects) {
    text += fmt::format(".SS {}\n{}\n", man_page_in_quotes(s.name), roff(s.text));
    for (const subject::option& o : s.options) {
      text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff("--" + o.name), o.takes_value ? " \\fIVALUE\\fR" : "",
                          roff(o.text));
    }
  }
  return text;
}

std::string see_also(const tool_model& t, const std::string& but) {
  std::string text = ".SH \"SEE ALSO\"\n";
  std::vector<std::string> pages;
  if (!but.empty()) pages.push_back(t.name);
  for (const command_model& c : t.commands) {
    if (c.name != but) pages.push_back(t.name + "-" + c.name);
  }
  for (std::size_t i = 0; i < pages.size(); ++i)
    text += fmt::format(".BR {} (1){}\n", roff(pages[i]), i + 1 < pages.size() ? "," : "");
  return text;
}

}  // namespace

std::string man_page(const tool_model& t) {
  std::string text = head(t.name, t) + name(t.name, t.summary);
  text += fmt::format(".SH SYNOPSIS\n.B {}\n[\\fIOPTIONS\\fR] \\fIVERB\\fR ...\n", roff(t.name));
  text += section("DESCRIPTION", t.description) + ".SH VERBS\n";
  for (const command_model& c : t.commands)
    text += fmt::format(".TP\n.BR {} (1)\n{}\n", roff(t.name + "-" + c.name), roff(c.summary));
  text += ".SH OPTIONS\n";
  for (const option_model& o : t.options) text += entry(o);
  return text + see_also(t, "");
}

std::string man_page(const tool_model& t, const command_model& c) {
  const std::string page = t.name + "-" + c.name;
  std::string text = head(page, t) + name(page, c.summary) + synopsis(t, c) + section("DESCRIPTION", c.description);
  if (!c.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const option_model& a : c.arguments) text += entry(a);
  text += ".SH OPTIONS\n";
  for (const option_model& o : c.options) text += entry(o);
  return text + subjects_of(c) + section("JSON", c.json) + section("EXIT STATUS", c.exit_code) + see_also(t, c.name);
}

}  // namespace kith::tools
