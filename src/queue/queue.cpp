// Instantiates, for both worlds, the blocks that need no rule or type of a policy, so that an error shows here.
#include "queue/leveled_deque.hpp"
#include "queue/native/inbox.hpp"
#include "queue/native/world.hpp"
#include "queue/own_deque.hpp"
#include "queue/sequential/world.hpp"
#include "queue/shared_queue.hpp"

namespace kith {

template class leveled_deque<native::world>;
template class leveled_deque<sequential::world>;
template class own_deque<native::world>;
template class own_deque<sequential::world>;
template class shared_queue<native::world>;
template class shared_queue<sequential::world>;

}  // namespace kith
