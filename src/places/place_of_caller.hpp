// Whose activity runs on this thread.
#pragma once

namespace kith::distributed {

class place;

/// The place whose worker the calling thread is. Throws kith::error, which names `call`, if it runs no activity.
place& place_of_caller(const char* call);

}  // namespace kith::distributed
