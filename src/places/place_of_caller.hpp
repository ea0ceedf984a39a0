// The place and the activity to which the running task belongs.
#pragma once

namespace kith::distributed {

class place;
struct activity_record;

struct caller {
  place* at;
  activity_record* running;
};

/// The running activity, and the place whose worker runs it. Throws kith::error, which names `call`, outside of
/// activities.
caller caller_of(const char* call);

}  // namespace kith::distributed
