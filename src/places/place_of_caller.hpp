// Whose activity runs on this thread.
#pragma once

namespace kith::distributed {

class place;
struct activity_record;

struct caller {
  place* at;
  activity_record* running;
};

/// The running activity, and the place whose worker runs it. Throws kith::error, which names `call`, if there is none.
caller caller_of(const char* call);

}  // namespace kith::distributed
