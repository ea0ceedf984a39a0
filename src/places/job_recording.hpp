// The recording of a job whose places are processes, under KITH_RECORD and a plain launcher, without `kith record` to
// assemble it. Each process writes its own parts, and at the end the process of place 0 makes one file of them.
#pragma once

#include <string>
#include <vector>

namespace kith::distributed {

/// The recording of a place of a job whose recording is `file`.
std::string recording_of_place(const std::string& file, int place);

/// Makes recordings of the parts that the places of this process have written. If that fails, stderr says why and the
/// parts are kept.
void assemble_here(const std::vector<std::string>& files) noexcept;

/// As assemble_here(), for a job of several processes, whose recording is `file`. Called at place 0. Waits some seconds
/// for processes that still write. If a place's parts are missing (they are on another machine, or the place was lost
/// before it knew the job), all parts are kept, and stderr says what to do.
void assemble_job(const std::string& file, int places) noexcept;

/// While it lives, the first SIGTERM ends this process two seconds later, and a second one at once, unless the program
/// handles SIGTERM itself. A launcher sends it to end a job after a loss; in those two seconds the survivors learn of
/// the loss, leave run(), and assemble their recordings. If that takes longer, the parts are kept: `kith repair`.
class end_grace {
 public:
  end_grace();
  ~end_grace();
  end_grace(const end_grace&) = delete;
  end_grace& operator=(const end_grace&) = delete;

 private:
  bool handles_ = false;
};

}  // namespace kith::distributed
