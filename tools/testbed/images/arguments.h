// `--name value` on the command line of a testbed application. What it does not know it refuses, with the
// list of what it knows: an experiment with a misspelt amount of work must not run with another one.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

class Arguments {
 public:
  // `known` holds the defaults.
  Arguments(int count, char** values, std::map<std::string, std::string> known) : values_(std::move(known)) {
    for (int i = 1; i < count; i += 2) {
      const std::string name = values[i];
      const bool is_flag = name.size() > 2 && name.compare(0, 2, "--") == 0;
      const auto found = is_flag ? values_.find(name.substr(2)) : values_.end();
      if (found == values_.end() || i + 1 == count) refuse(values[0], name);
      found->second = values[i + 1];
    }
  }

  const std::string& text(const std::string& name) const { return values_.at(name); }

  double number(const std::string& name) const {
    const std::string& text = values_.at(name);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || value < 0) refuse("", "--" + name + " " + text);
    return value;
  }

  long whole(const std::string& name) const { return static_cast<long>(number(name)); }

 private:
  [[noreturn]] void refuse(const std::string& program, const std::string& what) const {
    std::fprintf(stderr, "%s: cannot use '%s'; known, with defaults:\n", program.c_str(), what.c_str());
    for (const auto& [name, value] : values_)
      std::fprintf(stderr, "  --%s %s\n", name.c_str(), value.c_str());
    std::exit(2);
  }

  std::map<std::string, std::string> values_;
};
