// The borders of long work, where it may be stopped or set aside for a while.
//
// Work is made of pieces of some milliseconds. Threads that are about to begin one ask wanted(),
// which costs a load; when somebody wants the work to pause they leave the rest of the pieces, and
// the thread that runs the work calls pass() outside of parallel loops. Other work may run inside
// pass(). Then what was left is taken up, or dropped when pass() says no.
#pragma once

namespace cuzk::base {

// Belongs to whoever schedules the work, and outlives it. Work gets a pointer that may be null:
// then nothing is asked and nobody can stop it.
class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  // Whether pass() has something to do. Called by any thread.
  virtual bool wanted() const noexcept = 0;
  // Whether to go on; once false, false for ever. Called by the thread that runs the work.
  virtual bool pass() = 0;
};

}  // namespace cuzk::base
