#include "memory/memory_space.hpp"

#include "base/address.hpp"
#include "base/atomic.hpp"
#include "base/made_once.hpp"
#include "memory/numa_calls.hpp"
#include "memory/pages.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace kith {

namespace {

constexpr std::uint64_t real_space = 0;

std::uint64_t next_number() noexcept {
  static atomic<std::uint64_t> last{0};
  return last.fetch_add(1, relaxed) + 1;
}

/// Whether pages can be placed on a machine with several nodes. Reports a refusal once per process.
bool may_place() {
  static constinit made_once<bool> may;
  return may.get([]() -> bool {
    const numa::rights& r = numa::process_rights();
    if (r.can_place()) return true;
    std::fprintf(stderr,
                 "kith: memory: the system refuses to place pages (mbind: %s), so they lie where they are first "
                 "touched; `kith doctor` says more\n",
                 std::strerror(r.bind));
    return false;
  });
}

/// Maps address space for `bytes` in whole pages: huge ones if they are wanted and the system has them.
page_map map_for(std::size_t bytes, bool huge, bool dry) {
  const std::size_t large = huge ? huge_page_size() : 0;
  page_map p;
  p.page_bytes = large != 0 ? large : page_size();
  if (bytes > static_cast<std::size_t>(-1) - p.page_bytes) throw std::bad_alloc();
  p.bytes = std::max<std::size_t>(1, (bytes + p.page_bytes - 1) / p.page_bytes) * p.page_bytes;
  void* const got = map_pages(p.bytes, p.page_bytes);
  p.begin = reinterpret_cast<std::uintptr_t>(got);
  if (large != 0 && !dry) want_huge_pages(got, p.bytes);
  return p;
}

}  // namespace

memory_space::memory_space(const machine& on, std::span<const node_id> worker_nodes, std::vector<node_id> serving,
                           region_table& regions, options o)
    : on_(on),
      regions_(regions),
      options_(o),
      nodes_(on, worker_nodes),
      view_(regions, std::move(serving)),
      space_(on.pretended ? next_number() : real_space),
      owner_(next_number()),
      huge_unasked_(unasked_huge_page_size() != 0),
      edges_(on.nodes.size() < 2 || on.pretended || o.dry ? 0 : std::max(huge_page_size(), unasked_huge_page_size())) {
  static_cast<void>(huge_page_size());  // early, not in a task while another thread forks (base/fork.hpp)
  if (on.nodes.size() > 1 && !on.pretended) static_cast<void>(numa::interleaves_by_low_bits());
  places_ = on.nodes.size() > 1 && (on.pretended || may_place());
  if (on.nodes.size() > 1 && !on.pretended) keep_own();
  block_table::of_process().add_listener(*this);
  if (on.nodes.size() > 1) {
    regions.settle_with([this](region& r) { settle(r); });
  }
}

void memory_space::keep_own() {
  std::vector<node_memory*> at(on_.nodes.size());
  for (const machine::node& n : on_.nodes) {
    node_memory*& nearest_one = at[nearest(n.id).index()];
    if (nearest_one == nullptr)
      nearest_one = own_.emplace_back(std::make_unique<node_memory>(system_node(nearest(n.id)))).get();
    own_of_.push_back(nearest_one);
  }
}

memory_space::~memory_space() { block_table::of_process().remove_listener(*this); }

bool memory_space::moves() const noexcept {
  return on_.nodes.size() > 1 && !on_.pretended && numa::process_rights().can_move();
}

node_id memory_space::node_of_system(int os_index) const noexcept {
  const auto at = std::ranges::find(on_.nodes, os_index, &machine::node::os_index);
  return at == on_.nodes.end() ? node_id() : at->id;
}

node_id memory_space::node_of_caller() const noexcept {
  const node_id here = on_.pretended ? node_id() : node_of_system(numa::node_here());
  return here ? here : nodes_.in_turn().front();
}

/// Maps the memory and decides where it should be. `how` becomes the distribution that was finally requested.
page_map memory_space::decide(std::size_t bytes, distribution& how, node_id caller_node) {
  if (how.what() == distribution::standard) how = how.huge() ? options_.standard.in_huge_pages() : options_.standard;
  if (how.what() == distribution::at_node && how.node_number() < 0)
    throw error("allocate: node " + std::to_string(how.node_number()) + ": expected a number from 0 on");
  page_map p = map_for(bytes, how.huge(), options_.dry);
  if (!places_) return p;
  p.what = how.what();
  switch (p.what) {
    case distribution::fine:
      p.nodes = nodes_.dealt();
      if (!on_.pretended && numa::interleaves_by_low_bits()) p.first_page = p.begin / p.page_bytes >> 32 << 32;
      break;
    case distribution::block: p.nodes = nodes_.in_turn(); break;
    case distribution::coarse:
      p.nodes = {nodes_.in_turn()[next_coarse_.fetch_add(1, relaxed) % nodes_.in_turn().size()]};
      break;
    case distribution::local: p.nodes = {nodes_.nearest(caller_node ? caller_node : node_of_caller())}; break;
    case distribution::at_node: p.nodes = {nodes_.nearest(node_id(how.node_number() % nodes()))}; break;
    case distribution::standard:
    case distribution::system:
    case distribution::deferred: break;
  }
  return p;
}

/// Tells the system. If it refuses (for example, because of too many mappings), first touch decides.
void memory_space::carry_out(const page_map& p) const noexcept {
  if (!places_ || on_.pretended || options_.dry) return;
  // These distributions may put neighbouring pages on two nodes, but a huge page is on one. Other distributions
  // decide for whole mappings, which no huge page crosses, or leave it to first touch: keep_apart().
  const bool by_pages = p.what == distribution::fine || p.what == distribution::deferred;
  if (by_pages && huge_unasked_ && p.page_bytes == page_size()) refuse_huge_pages(p.address(), p.bytes);
  if (p.nodes.empty()) return;
  if (p.spreads() && p.what == distribution::fine) {
    std::vector<int> all;
    for (node_id n : p.nodes) all.push_back(system_node(n));
    numa::interleave(p.address(), p.bytes, all);
    return;
  }
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const std::uintptr_t from = p.share_begin(i),
                         to = i + 1 == p.nodes.size() ? p.begin + p.bytes : p.share_begin(i + 1);
    if (from < to) numa::prefer(static_cast<char*>(p.address()) + (from - p.begin), to - from, system_node(p.nodes[i]));
  }
}

memory_block memory_space::allocate(std::size_t bytes, distribution how, node_id caller_node) {
  page_map p = decide(bytes, how, caller_node);
  carry_out(p);
  const memory_block b = block_table::of_process().add(std::move(p), how, space_, owner_);
  if (on_.nodes.size() > 1)
    regions_.for_each_in(b.at->address(), b.at->bytes, [&](region& r) {
      keep_apart(r, &b);
      settle(r, b);
    });
  return b;
}

/// If first touch or the first writer decides the region's home, makes it share no huge page with others.
void memory_space::keep_apart(const region& r, const memory_block* b) {
  if (b != nullptr && !b->at->nodes.empty()) return;
  if (huge_unasked_ || (b != nullptr && b->at->page_bytes > page_size()))
    edges_.keep_apart(r.address, r.bytes.load(relaxed));
}

/// Called when the region is new, or has become longer.
void memory_space::settle(region& r) noexcept {
  const std::optional<memory_block> b = block_table::of_process().find(r.address);
  keep_apart(r, b ? &*b : nullptr);
  if (!b) return;
  if (r.home.load(relaxed) >= 0 && b->space == space_ && b->at->what == distribution::deferred) {
    r.to_bind.store(true, relaxed);  // the new part goes to the region's home
  } else {
    settle(r, *b);
  }
}

void memory_space::settle(region& r, const memory_block& b) noexcept {
  const bool ours = b.space == space_;
  const bool deferred = ours && b.at->what == distribution::deferred;
  std::int16_t home = region::no_home;
  if (ours && !b.at->nodes.empty()) {
    const node_id one = b.at->node_of(reinterpret_cast<std::uintptr_t>(r.address), r.bytes.load(relaxed));
    home = one ? region::number_of(one) : region::several_homes;
  }
  r.reset(ours && (deferred || !b.at->nodes.empty()) ? b.at : nullptr, deferred, home);
}

void memory_space::forget(const void* begin, std::uint64_t bytes, const memory_block* block) {
  regions_.for_each_in(begin, bytes, [](region& r) {
    r.reset(nullptr, false, region::no_home);
    r.bytes.store(0, relaxed);  // later data there may be shorter
  });
  edges_.forget(begin, bytes);
  if (block != nullptr && block->owner == owner_ && released_) released_(*block);
}

void memory_space::when_released(std::function<void(const memory_block&)> note) {
  block_table::of_process().remove_listener(*this);
  released_ = std::move(note);
  block_table::of_process().add_listener(*this);
}

void memory_space::bind(region& r) const noexcept {
  if (on_.pretended || options_.dry || !places_) return;
  const std::int32_t home = r.home.load(relaxed);
  if (home < 0) return;
  // Only whole pages: data that shares a page with a neighbour is where the first of the two is.
  const std::uint64_t page = page_size();
  const auto at = reinterpret_cast<std::uintptr_t>(r.address);
  const std::uintptr_t from = (at + page - 1) / page * page, to = (at + r.bytes.load(relaxed)) / page * page;
  if (from < to) numa::prefer(at_address(from), to - from, system_node(node_id(home)), true);
}

memory_block allocate_alone(std::size_t bytes, distribution how) {
  const bool local = how.what() == distribution::local;
  if (!local && how.what() != distribution::system && how.what() != distribution::standard)
    throw error("allocate(" + how.text() +
                "): no task runs on this thread; call it inside runtime::run(), or name the runtime: "
                "allocate(runtime, bytes, ...). Without one there are system and local");
  page_map p = map_for(bytes, how.huge(), false);
  const machine here = local ? current_machine() : machine();
  if (local && !here.pretended && here.nodes.size() > 1 && may_place()) {
    const int node = numa::node_here();
    const auto at = std::ranges::find(here.nodes, node, &machine::node::os_index);
    if (at != here.nodes.end() && numa::prefer(p.address(), p.bytes, node) == 0) {
      p.what = distribution::local;
      p.nodes = {at->id};
    }
  }
  return block_table::of_process().add(std::move(p), how, real_space, 0);
}

void release_block(void* memory) {
  if (memory == nullptr) return;
  block_table& all = block_table::of_process();
  const std::optional<memory_block> b = all.remove(memory);
  if (!b) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", memory);
    throw error(std::string("deallocate(") + text +
                "): not the start of memory from kith::allocate, or it was given back before");
  }
  all.tell(memory, b->at->bytes, &*b);
  unmap_pages(memory, b->at->bytes);
}

}  // namespace kith
