// For bash 4 or newer. The bash-completion package is needed only to load the file.
#include "command_line/completion.hpp"

#include <fmt/core.h>

namespace kith::tools {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
  return text;
}

/// Sets the values that an option or argument may have.
std::string value(const value_model& v) {
  std::string text;
  if (!v.words.empty()) text += fmt::format("words='{}' ", joined(v.words));
  if (v.files || v.folders) text += fmt::format("paths={} ", v.files ? "file" : "directory");
  if (v.list) text += "list=1 ";
  return text.empty() ? ":" : text;
}

std::string names(const option_model& o) {
  return o.short_name.empty() ? o.long_name : o.short_name + "|" + o.long_name;
}

/// What may follow within a command: a value after an option that takes one; else options, or the next argument.
std::string command(const command_model& c) {
  std::string text = fmt::format("    {})\n      case $before in\n", c.name), options;
  for (const option_model& o : c.options) {
    options += (options.empty() ? "" : " ") + (o.short_name.empty() ? "" : o.short_name + " ") + o.long_name;
    if (o.takes_value) text += fmt::format("        {}) {}; kind=value ;;\n", names(o), value(o.value));
  }
  text += "      esac\n      if [[ $kind != value ]]; then\n";
  text += fmt::format("        options='{}'\n", options);
  if (!c.subjects.empty()) {
    text += "        case $first in\n";
    for (const subject& s : c.subjects) {
      std::string own;
      for (const subject::option& o : s.options) own += " --" + o.name;
      text += fmt::format("          {}) options+='{}' ;;\n", s.name, own);
    }
    text += "        esac\n";
  }
  text += "        case $arguments in\n";
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    const bool last = i + 1 == c.arguments.size() && c.arguments[i].repeats;
    text += fmt::format("          {}) {} ;;\n", last ? "*" : std::to_string(i), value(c.arguments[i].value));
  }
  return text + "        esac\n      fi ;;\n";
}

/// The options that take a value. The word after such an option is not an argument.
std::string taking_values(const tool_model& t) {
  std::string all;
  for (const command_model& c : t.commands) {
    for (const option_model& o : c.options) {
      if (o.takes_value) all += (all.empty() ? "" : "|") + fmt::format("{}:{}", c.name, o.long_name);
      if (o.takes_value && !o.short_name.empty()) all += fmt::format("|{}:{}", c.name, o.short_name);
    }
  }
  return all;
}

constexpr const char* body = R"(
_@NAME@() {
  local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local verb= first= arguments=0 kind= words= options= paths= list= skip= prefix= i word
  COMPREPLY=()
  # bash takes --option=value apart at the equals sign.
  [[ $now == '=' ]] && now=
  [[ $before == '=' ]] && before=${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      COMPREPLY=($(compgen -c -f -- "$now"))
      return
    fi
    [[ $word == '=' ]] && { skip=1; continue; }
    if [[ -n $skip ]]; then skip=; continue; fi
    case $verb:$word in
      @VALUED@) [[ ${COMP_WORDS[i+1]} == '=' ]] || skip=1 ;;
      *:-*) ;;
      :*) verb=$word ;;
      *) [[ $arguments == 0 ]] && first=$word; arguments=$((arguments + 1)) ;;
    esac
  done
  case $verb in
    '') words='@VERBS@'; options='@OPTIONS@' ;;
@COMMANDS@  esac
  [[ $now == -* && $kind != value ]] && { words=$options; paths=; list=; }
  if [[ -n $list && $now == *,* ]]; then
    prefix=${now%,*},
    now=${now##*,}
  fi
  COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$now"))
  [[ -n $paths ]] && COMPREPLY+=($(compgen -A "$paths" -- "$now"))
  [[ ${COMPREPLY[0]} == */ || $paths == file ]] && compopt -o filenames 2>/dev/null
  return 0
}
complete -F _@NAME@ @NAME@
)";

void replace(std::string& text, const std::string& mark, const std::string& by) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
}

}  // namespace

std::string bash_completion(const tool_model& t) {
  std::vector<std::string> verbs, options;
  std::string commands;
  for (const command_model& c : t.commands) {
    verbs.push_back(c.name);
    commands += command(c);
  }
  for (const option_model& o : t.options) options.push_back(o.long_name);
  std::string text = "# Completion of " + t.name + " for bash; made from its command line." + body;
  std::string function = t.name;  // kith-bench: a hyphen is allowed in a function's name
  replace(text, "@NAME@", function);
  replace(text, "@VALUED@", taking_values(t));
  replace(text, "@VERBS@", joined(verbs));
  replace(text, "@OPTIONS@", joined(options));
  replace(text, "@COMMANDS@", commands);
  return text;
}

}  // namespace kith::tools
