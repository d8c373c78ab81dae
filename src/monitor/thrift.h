#pragma once

namespace evenkeel::monitor {

// An agent runs on every node of a cluster: what it holds, it holds a thousand times.

// Before the first thread: all of them share one heap, and what is freed at its end goes back at once.
void keep_to_one_heap();

// What starting, reading options and shaking hands needed and sampling does not: freed memory, and pages of
// the program and its libraries, which are the files' own and come back by themselves when they are needed
// again.
void give_back_what_starting_took();

}  // namespace evenkeel::monitor
