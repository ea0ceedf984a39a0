#include "policy/list.hpp"

#include "base/fork.hpp"
#include "base/nearest.hpp"
#include "policy/ads.hpp"
#include "policy/auto/automatic.hpp"
#include "policy/central.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/contract/register_policy.hpp"
#include "policy/dep.hpp"
#include "policy/dfifo.hpp"
#include "policy/home_cache.hpp"
#include "policy/nabbit.hpp"
#include "policy/nabbitc.hpp"
#include "policy/numa.hpp"
#include "policy/one_node.hpp"
#include "policy/organisation.hpp"
#include "policy/reference.hpp"
#include "policy/rip_dep.hpp"
#include "policy/rip_mw.hpp"
#include "policy/socket.hpp"
#include "policy/source.hpp"
#include "policy/steal.hpp"
#include "policy/token.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

namespace kith {

static_assert(world<native::world> && world<sequential::world>);

namespace {

struct listed_policy {
  policy_entry about;
  policy_maker<native::world> native;
  policy_maker<sequential::world> sequential;

  template <class World>
  policy_maker<World> maker() const noexcept {
    if constexpr (std::is_same_v<World, native::world>) {
      return native;
    } else {
      return sequential;
    }
  }
};

template <template <class> class Policy>
constexpr listed_policy listed() {
  return {Policy<native::world>::about, build_policy<Policy<native::world>, native::world>,
          build_policy<Policy<sequential::world>, sequential::world>};
}

/// If one node has all workers, `auto` is `steal` itself, with options.
template <class World>
std::unique_ptr<policy<World>> build_auto(const policy_context& context, const policy_options& given) {
  if (context.workers.inhabited().size() > 1) return std::make_unique<automatic<World>>(context, given);
  const char* as =
      given.is("keeps", "feeder") ? "steal:near=one,follows=own,keeps=feeder" : "steal:near=one,follows=own";
  return std::make_unique<steal<World>>(context, policy_options(as, steal<World>::options));
}

/// one_node.hpp says when such a policy is `steal`.
template <template <class> class Policy, class World>
std::unique_ptr<policy<World>> build_by_node(const policy_context& context, const policy_options& given) {
  const auto inhabited = static_cast<std::int32_t>(context.workers.inhabited().size());
  if (!is_steal(inhabited, given)) return std::make_unique<Policy<World>>(context, given);
  return std::make_unique<steal<World>>(context, policy_options("steal", steal<World>::options));
}

template <template <class> class Policy>
constexpr listed_policy listed_by_node() {
  return {Policy<native::world>::about, build_by_node<Policy, native::world>, build_by_node<Policy, sequential::world>};
}

/// organisation.hpp says which policies have two kinds of queues.
template <template <class> class Policy, class World>
std::unique_ptr<policy<World>> build_organised(const policy_context& context, const policy_options& given) {
  using own = Policy<World>;
  if (given.is("organisation", own::own_organisation)) return std::make_unique<own>(context, given);
  return std::make_unique<affinity_policy<World, typename own::affinity>>(context, given);
}

template <template <class> class Policy>
constexpr listed_policy listed_organised() {
  return {Policy<native::world>::about, build_organised<Policy, native::world>,
          build_organised<Policy, sequential::world>};
}

template <class World>
using fifo = central<World, queue_order::fifo>;
template <class World>
using lifo = central<World, queue_order::lifo>;
template <class World>
using random_order = central<World, queue_order::random>;

// A new policy is one line here, and its include.
constexpr std::array policies{
    listed_policy{automatic<native::world>::about, build_auto<native::world>, build_auto<sequential::world>},
    listed_organised<fifo>(),
    listed<lifo>(),
    listed_organised<random_order>(),
    listed_organised<source>(),
    listed<token>(),
    listed<reference_policy>(),
    listed<steal>(),
    listed_by_node<numa_policy>(),
    listed<home_cache>(),
    listed<dfifo>(),
    listed_by_node<socket>(),
    listed_by_node<dep>(),
    listed_by_node<rip_dep>(),
    listed_by_node<rip_mw>(),
    listed<nabbit>(),
    listed<nabbitc>(),
    listed<ads>(),
};

std::mutex registering;
[[maybe_unused]] const bool registering_is_kept = (keep_over_fork(registering), true);  // base/fork.hpp says why
std::vector<listed_policy>& registered() {
  static std::vector<listed_policy>& all = *new std::vector<listed_policy>;
  return all;
}
[[maybe_unused]] const std::vector<listed_policy>& registered_before_main = registered();

std::vector<listed_policy> all_policies() {
  std::vector<listed_policy> all(policies.begin(), policies.end());
  const std::lock_guard lock(registering);
  all.insert(all.end(), registered().begin(), registered().end());
  return all;
}

/// Names the policy in what its constructor throws, if that is not Kith's own.
template <class World>
std::unique_ptr<policy<World>> built(policy_maker<World> maker, const policy_context& context,
                                     const policy_options& given) {
  try {
    return maker(context, given);
  } catch (const error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw error("policy '" + given.policy() + "': its constructor failed: " + e.what());
  } catch (...) {
    throw error("policy '" + given.policy() + "': its constructor threw what is no std::exception");
  }
}

bool may_be_in_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; }

}  // namespace

std::vector<policy_entry> policy_list() {
  std::vector<policy_entry> entries;
  for (const listed_policy& p : all_policies()) entries.push_back(p.about);
  return entries;
}

void register_policy(const policy_entry& about, policy_maker<native::world> native,
                     policy_maker<sequential::world> sequential) {
  const std::string_view name = about.name != nullptr ? about.name : "";
  if (name.empty() || !std::ranges::all_of(name, may_be_in_a_name))
    throw error("register_policy(): '" + std::string(name) + "': expected a name of letters, digits and '-'");
  const std::lock_guard lock(registering);
  const auto has_name = [&](const listed_policy& p) { return name == p.about.name; };
  if (name == "replay" || std::ranges::any_of(policies, has_name) || std::ranges::any_of(registered(), has_name))
    throw error("register_policy(): there is a policy '" + std::string(name) + "' already; choose another name");
  if (native == nullptr || sequential == nullptr)
    throw error("register_policy(): '" + std::string(name) + "': expected a function that builds it, for both worlds");
  registered().push_back({about, native, sequential});
}

template <class World>
std::unique_ptr<policy<World>> make_policy(const std::string& text, const policy_context& context) {
  const std::string_view name = policy_name(text);
  std::vector<std::string> names;
  for (const listed_policy& p : all_policies()) {
    names.emplace_back(p.about.name);
    if (name == names.back()) return built(p.maker<World>(), context, policy_options(text, p.about.options));
  }
  throw error(no_such("policy", name, names), error_kind::setting);
}

template std::unique_ptr<policy<native::world>> make_policy<native::world>(const std::string&, const policy_context&);
template std::unique_ptr<policy<sequential::world>> make_policy<sequential::world>(const std::string&,
                                                                                   const policy_context&);

}  // namespace kith
