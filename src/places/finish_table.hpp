// Which finishes a place takes part in. docs/finish.md has the protocol, its proof and the bound on its messages.
//
// Plain data: the place calls it under its lock. Open at a place for a finish are: its activities that have not ended,
// the activities that it sent and that are not accounted for, and the results that it waits for. Invariants:
//  F1  A place has a record of a finish exactly while something of it is open there.
//  F2  A record that is not at the finish's home was made by an activity from `parent`, which counts that activity as
//      open until this place is done. So the records of a finish are a tree whose root is its home. Where losses are
//      survived, there may be further trees, whose roots' parents were lost; the home may be in one of them.
//  F3  The first failure that reached a place goes to the parent with the place's `done`. The failure of a cancelled
//      activity goes only if there is no other.
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

  /// A new finish whose home is this place, with one thing open: its body.
  finish_id open();
  /// Counts one more open thing. REQUIRES: something of the finish is open here.
  void add(finish_id f);
  /// As add(), for something whose end another place will report: an edge of the dependence graph to this place's
  /// record.
  void add_edge(finish_id f);
  /// The most edges that a record has had (n_d of the ADS paper's Theorem 4.6).
  std::uint64_t most_edges() const noexcept { return most_edges_; }
  void reset_most_edges() noexcept { most_edges_ = 0; }
  /// sent(): an activity was offered to `to`. answered(): `from` has accounted for one such activity. Both do nothing
  /// unless losses are survived.
  void sent(finish_id f, std::uint32_t to);
  void answered(finish_id f, std::uint32_t from);
  /// A place was lost: for each finish, the number of activities that were sent there and that it has not accounted
  /// for. The caller calls remove() for each.
  std::vector<std::pair<finish_id, std::uint64_t>> lose(std::uint32_t place);
  /// An activity came from `from`. True if it engaged this place: the sender is then the parent.
  bool arrive(finish_id f, std::uint32_t from);

  /// What remove() returns when nothing of the finish is open here.
  struct ended {
    bool root;
    std::uint32_t parent;  // gets this place's `done`, unless this is the root
    std::optional<failure> failed;
  };
  /// Something that was open has ended; `why`: by this failure. REQUIRES: it was open here.
  std::optional<ended> remove(finish_id f, std::optional<failure> why = {});
  std::size_t size() const noexcept { return records_.size(); }

 private:
  struct record {
    std::uint64_t open = 0, edges = 0;
    std::uint32_t parent = 0;
    bool root = false;
    std::optional<failure> failed;
    std::map<std::uint32_t, std::uint64_t> unanswered;  // activities sent and not accounted for, by place
  };
  std::uint32_t here_;
  bool survives_losses_;
  std::uint64_t opened_ = 0, most_edges_ = 0;
  std::map<finish_id, record> records_;
};

}  // namespace kith::distributed
