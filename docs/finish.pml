/* The protocol of finish.md for Spin: one finish, whose home is place 0, and its messages in any order.

   tests/finish_model_test.py checks it exhaustively, and requires that Spin refuses each of its mutations. The names are
   those of src/places/finish_table.hpp. More can happen here than in the program: a place may refuse any activity, any
   number of times, and a spawner may end before its activity is accepted. Left out: other finishes, which share nothing
   with this one. Activities are interchangeable, so the model counts them; messages as well, and so have no order.

   An error is an assertion that fails, or a state in which nothing can happen and the loop has not ended.
*/
#define PLACES 3
#ifndef TASKS
#define TASKS 4 /* activities, without the body of the finish */
#endif
#define NOBODY PLACES
#define PAIR(a, b) ((a) * PLACES + (b))
#define KINDS (PLACES + 1)

/* What each place knows: open is 0 without a record. */
byte open[PLACES];
byte parent[PLACES];
bit failed[PLACES];

/* What is on the way, as numbers of equal messages, so that they have no order. */
byte offers[PLACES * PLACES * 2];  /* spawn: from, to, whether a result is wanted */
byte refused[PLACES * PLACES * 2]; /* the same offer, on its way back */
byte accepted[PLACES * PLACES];    /* without `engaged`; with it, the answer changes no count */
byte results[PLACES * PLACES];
byte dones[PLACES * PLACES * 2]; /* whether it has a failure */

/* What really happens: for the assertions alone, except running. */
byte running[PLACES * KINDS]; /* activities, by place and by who wants their result (NOBODY: no one) */
byte left = TASKS;            /* that may still be spawned */
byte alive = 1;               /* activities that have not ended, those on the way included */
byte flying;                  /* messages */
bit has_failed;
bit ended;

inline add(here) {
  assert(open[here] > 0); /* F1 */
  open[here]++
}

inline remove(here, why) {
  assert(open[here] > 0); /* F1 */
  failed[here] = failed[here] | why;
  open[here]--;
  if
  :: open[here] == 0 && here == 0 ->
     assert(!ended && alive == 0);        /* never too early, and once */
     assert(failed[here] == has_failed);     /* F3: no failure is lost */
     assert(open[1] == 0 && open[2] == 0); /* F2 */
     ended = 1
  :: open[here] == 0 && here != 0 ->
     dones[PAIR(here, parent[here]) * 2 + failed[here]]++;
     flying++;
     failed[here] = 0;
     parent[here] = 0
  :: else
  fi
}

inline spawn_at(here, to, asked) {
  left--;
  alive++;
  add(here);
  if
  :: asked -> add(here)
  :: else
  fi;
  if
  :: to == here -> running[here * KINDS + (asked -> here : NOBODY)]++
  :: else ->
     offers[PAIR(here, to) * 2 + asked]++;
     flying++
  fi
}

inline end_of_activity(here, result_to, why) {
  running[here * KINDS + result_to]--;
  alive--;
  if
  :: result_to == NOBODY ->
     has_failed = has_failed | why;
     remove(here, why)
  :: result_to == here ->
     remove(here, 0); /* the result */
     remove(here, 0)
  :: else ->
     results[PAIR(here, result_to)]++;
     flying++;
     remove(here, 0)
  fi
}

inline arrive(here, from, asked) {
  offers[PAIR(from, here) * 2 + asked]--;
  flying--;
  if
  :: open[here] == 0 ->
     assert(here != 0); /* F2 */
     parent[here] = from
  :: else ->
     accepted[PAIR(here, from)]++;
     flying++
  fi;
  open[here]++;
  running[here * KINDS + (asked -> from : NOBODY)]++
}

/* An activity at `here` spawns one at `to`. Which activity does not matter. */
#define SPAWNS(here, to, asked) \
  :: d_step { left > 0 && (running[here * KINDS] + running[here * KINDS + 1] + running[here * KINDS + 2] + \
     running[here * KINDS + NOBODY] > 0) -> spawn_at(here, to, asked) }
#define ENDS(here, result_to, why) \
  :: d_step { running[here * KINDS + result_to] > 0 -> end_of_activity(here, result_to, why) }
#define OFFER_COMES(from, to, asked) \
  :: d_step { offers[PAIR(from, to) * 2 + asked] > 0 -> arrive(to, from, asked) } \
  :: d_step { offers[PAIR(from, to) * 2 + asked] > 0 -> \
     offers[PAIR(from, to) * 2 + asked]--; refused[PAIR(to, from) * 2 + asked]++ } \
  :: d_step { refused[PAIR(to, from) * 2 + asked] > 0 -> \
     refused[PAIR(to, from) * 2 + asked]--; offers[PAIR(from, to) * 2 + asked]++ }
#define OTHERS_COME(from, to) \
  :: d_step { accepted[PAIR(from, to)] > 0 -> accepted[PAIR(from, to)]--; flying--; remove(to, 0) } \
  :: d_step { results[PAIR(from, to)] > 0 -> results[PAIR(from, to)]--; flying--; remove(to, 0) } \
  :: d_step { dones[PAIR(from, to) * 2] > 0 -> dones[PAIR(from, to) * 2]--; flying--; remove(to, 0) } \
  :: d_step { dones[PAIR(from, to) * 2 + 1] > 0 -> dones[PAIR(from, to) * 2 + 1]--; flying--; remove(to, 1) }

#define AT(here) \
  SPAWNS(here, here, 0) SPAWNS(here, here, 1) \
  ENDS(here, NOBODY, 0) ENDS(here, NOBODY, 1) ENDS(here, 0, 0) ENDS(here, 1, 0) ENDS(here, 2, 0)
#define BETWEEN(from, to) \
  SPAWNS(from, to, 0) SPAWNS(from, to, 1) \
  OFFER_COMES(from, to, 0) OFFER_COMES(from, to, 1) OTHERS_COME(from, to)

init {
  d_step {
    open[0] = 1;
    running[NOBODY] = 1 /* the body */
  }
  do
  :: d_step { alive == 0 && flying == 0 -> assert(ended) } -> break /* in the end */
  AT(0) AT(1) AT(2)
  BETWEEN(0, 1) BETWEEN(0, 2) BETWEEN(1, 0) BETWEEN(1, 2) BETWEEN(2, 0) BETWEEN(2, 1)
  od
}
