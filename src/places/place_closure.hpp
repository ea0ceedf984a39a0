// The closure of an activity's task.
#pragma once

#include "places/place.hpp"

#include <memory>
#include <utility>

namespace kith::distributed {

/// If it is destroyed without having run, its task was cancelled, and the destructor reports the cancellation.
class place::closure {
 public:
  closure(place& at, std::unique_ptr<activity_record> a) noexcept : at_(&at), activity_(std::move(a)) {}
  closure(closure&&) noexcept = default;
  closure& operator=(closure&&) = delete;
  ~closure() {
    if (activity_ == nullptr) return;
    at_->leave_buffer(*activity_);
    failure why{static_cast<std::uint32_t>(activity_->at), "the activity was cancelled before it started"};
    why.cancelled = true;
    activity_->thrown = exception_of(why);
    activity_->failed = std::move(why);
    at_->conclude(*activity_);
  }
  void operator()() noexcept { at_->run(std::move(activity_)); }

 private:
  place* at_;
  std::unique_ptr<activity_record> activity_;
};

}  // namespace kith::distributed
