// The recording of a job whose places are processes, when `kith record` is not there to put it together: with
// KITH_RECORD under a plain launcher. Each process writes parts of its own, and that of place 0 makes one file of them
// at the end.
#pragma once

#include <string>
#include <vector>

namespace kith::distributed {

/// The recording of a place of a job whose recording is `file`.
std::string recording_of_place(const std::string& file, int place);

/// Makes recordings of the parts that the places of this process have left. Says on stderr what fails; the parts are
/// kept then.
void assemble_here(const std::vector<std::string>& files) noexcept;

/// The same for a job of several processes, at place 0, whose recording is `file`. Waits some seconds for the others,
/// which may still write. If parts of a place are missing (they lie on another machine, or it was lost before it knew
/// the job), all are kept, and stderr says what to do.
void assemble_job(const std::string& file, int places) noexcept;

/// While it lives, the first SIGTERM ends this process two seconds later, and a second one at once, unless the program
/// handles it itself. A launcher that ends a job because a place was lost sends it: meanwhile the survivors learn of
/// the loss, leave run(), and put their recordings together. Nothing is lost if that takes too long: `kith repair`.
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
