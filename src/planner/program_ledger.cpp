// SPDX-License-Identifier: Apache-2.0
#include "planner/program_ledger.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>

namespace ullage::planner {
namespace {

using ledger::KnownBy;
using ledger::Line;
using program::Role;

struct Account {
  Role role;
  const char* id;
  const char* name;
};

/// In the order of the chart; a buffer is a parameter line.
constexpr std::array<Account, 7> accounts{{{Role::parameter, "parameters", "parameters"},
                                           {Role::gradient, "gradients", "gradients"},
                                           {Role::optimizer_state, "optimizer_state", "optimizer state"},
                                           {Role::workspace, "workspaces", "library workspaces"},
                                           {Role::input, "inputs", "inputs"},
                                           {Role::activation, "activations", "activations"},
                                           {Role::temporary, "temporaries", "temporaries"}}};

/// A path with a `*` for each number: the layers of a model as one.
std::string starred(const std::string& path) {
  std::string text;
  for (const std::string_view part : split(path, '.')) {
    const bool number =
        !part.empty() && std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; });
    text += text.empty() ? "" : ".";
    text += number ? "*" : std::string(part);
  }
  return text;
}

/// A group of tensors below a line, and one below that.
struct Group {
  std::uint64_t bytes = 0, count = 0;
  std::map<std::string, Group> inner;
  void add(std::uint64_t more) {
    bytes += more;
    ++count;
  }
};

bool by_module(Role role) {
  return role == Role::activation || role == Role::temporary;
}

class Grouping {
 public:
  explicit Grouping(const program::Program& program) : program_(program), names_(program) {}

  void add(const program::Tensor& tensor, Group& group) {
    group.add(tensor.bytes);
    Group& first = group.inner[names_.below_account(tensor)];
    first.add(tensor.bytes);
    if (by_module(tensor.role)) first.inner[program_.operators[tensor.by].name].add(tensor.bytes);
  }

 private:
  const program::Program& program_;
  LineNames names_;
};

/// Children by size, the largest first.
std::vector<Line> children_of(const std::string& id, const std::map<std::string, Group>& groups) {
  std::vector<Line> children;
  for (const auto& [name, group] : groups) {
    if (name.empty()) return {};
    const std::string child = id + '.' + name;
    children.push_back({child, name, group.bytes, KnownBy::derived, {}, children_of(child, group.inner), group.count});
  }
  std::ranges::stable_sort(children, [](const Line& left, const Line& right) { return left.bytes > right.bytes; });
  return children;
}

/// A buffer counts among the parameters.
Role account_role(Role role) {
  return role == Role::buffer ? Role::parameter : role;
}

}  // namespace

std::string LineNames::of(const program::Tensor& tensor) {
  const auto account = std::ranges::find(accounts, account_role(tensor.role), &Account::role);
  const std::string below = below_account(tensor);
  return below.empty() ? std::string(account->id) : std::string(account->id) + '.' + below;
}

std::string LineNames::below_account(const program::Tensor& tensor) {
  if (tensor.role == Role::buffer) return "buffers";
  if (tensor.role == Role::parameter) return "weights";
  if (tensor.kind != nullptr) return tensor.kind;
  return by_module(tensor.role) ? module_of(program_.operators[tensor.by].module) : "";
}

const std::string& LineNames::module_of(program::ModuleId module) {
  std::string& known = modules_[module];
  if (known.empty()) known = starred(program_.module_path(module));
  if (known.empty()) known = "the model itself";
  return known;
}

std::vector<Line> lines_of(const program::Program& program, const std::vector<LiveTensor>& live,
                           std::uint64_t reserved) {
  std::map<Role, Group> groups;
  Grouping grouping(program);
  std::uint64_t requested = 0, allocated = 0;
  for (const LiveTensor& one : live) {
    const program::Tensor& tensor = program.tensors[one.tensor];
    grouping.add(tensor, groups[account_role(tensor.role)]);
    requested += tensor.bytes;
    allocated += one.block_bytes;
  }
  std::vector<Line> lines;
  for (const Account& account : accounts)
    if (const auto found = groups.find(account.role); found != groups.end())
      lines.push_back({account.id,
                       account.name,
                       found->second.bytes,
                       KnownBy::derived,
                       {},
                       children_of(account.id, found->second.inner),
                       found->second.count});
  lines.push_back({"rounding", "rounding", allocated - requested, KnownBy::derived, {}, {}, 0});
  lines.push_back({"cached", "cached, not allocated", reserved - allocated, KnownBy::derived, {}, {}, 0});
  return lines;
}

}  // namespace ullage::planner
