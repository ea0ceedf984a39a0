// Which finishes a place takes part in. docs/finish.md has the protocol, its proof and the bound on its messages.
//
// Plain data: the place calls it under its lock. What is open at a place for a finish: its activities that have not
// ended, the activities that it sent and that were not accounted for, and the results that it waits for. Invariants:
//  F1  A place has a record of a finish exactly while something of it is open there.
//  F2  A record that is not at the finish's home was made by an activity from `parent`, which counts that activity as
//      open until this place is done. So the records of a finish are a tree whose root is its home. Where losses are
//      survived, there may be further trees, whose roots' parents were lost; the home may be in one of them.
//  F3  The first failure that reached a place goes with its `done` to the parent; one of a cancelled activity only if
//      there is no other.
#pragma once

#include "places/message.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace kith::distributed {

class finish_table {
 public:
  explicit finish_table(int here, bool survives_losses = false) noexcept
      : here_(static_cast<std::uint32_t>(here)), survives_losses_(survives_losses) {}

  /// A new finish at home here, with one thing open: its body.
  finish_id open();
  /// Something more is open. REQUIRES: something of it is open here.
  void add(finish_id f);
  /// The same for something that another place will say the end of: an edge of the dependence graph to this place's
  /// record.
  void add_edge(finish_id f);
  /// The most edges that a record has had (n_d of the ADS paper's Theorem 4.6).
  std::uint64_t most_edges() const noexcept { return most_edges_; }
  void reset_most_edges() noexcept { most_edges_ = 0; }
  /// An activity was sent to that place, which will say what has become of it; it has said so. They do something only
  /// where losses are survived.
  void sent(finish_id f, std::uint32_t to);
  void heard(finish_id f, std::uint32_t from);
  /// A place was lost: how many of the activities that were sent there nothing will be heard of, by finish. The caller
  /// removes them.
  std::vector<std::pair<finish_id, std::uint64_t>> lose(std::uint32_t place);
  /// An activity came from `from`. True if it engaged this place: its sender is then the parent.
  bool arrive(finish_id f, std::uint32_t from);

  /// Nothing is open here any more.
  struct ended {
    bool root;
    std::uint32_t parent;  // who must be told, if it is not the root
    std::optional<failure> failed;
  };
  /// Something that was open has ended, perhaps by a failure. REQUIRES: it was open here.
  std::optional<ended> remove(finish_id f, std::optional<failure> why = {});
  std::size_t size() const noexcept { return records_.size(); }

 private:
  struct record {
    std::uint64_t open = 0, edges = 0;
    std::uint32_t parent = 0;
    bool root = false;
    std::optional<failure> failed;
    std::map<std::uint32_t, std::uint64_t> unheard;  // by place
  };
  std::uint32_t here_;
  bool survives_losses_;
  std::uint64_t opened_ = 0, most_edges_ = 0;
  std::map<finish_id, record> records_;
};

}  // namespace kith::distributed
