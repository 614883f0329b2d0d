// Whichever way a scope is left, its streams are waited for before what it uses goes.
#include "cuda/prove/drain.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cuzk::cuda::prove {
namespace {

using Events = std::vector<std::string>;

struct MadeUpStream {
  std::string name;
  Events* events;
  bool synchronize() const {
    events->push_back(name + " is idle");
    return true;
  }
};
struct MadeUpMemory {
  Events* events;
  ~MadeUpMemory() { events->push_back("memory goes"); }
};

enum class Way { kEnd, kError, kException };

// As a proof is laid out: streams that live on, memory of its own, work that may end early.
bool run(Way way, const MadeUpStream& compute, const MadeUpStream& copy, Events& events) {
  const MadeUpMemory memory{&events};
  const Drain drain(compute, copy);
  if (way == Way::kError) return false;
  if (way == Way::kException) throw std::runtime_error("no memory on the host");
  return true;
}

TEST(Drain, AllStreamsAreWaitedForBeforeMemoryGoes) {
  for (const Way way : {Way::kEnd, Way::kError, Way::kException}) {
    Events events;
    const MadeUpStream compute{"compute", &events}, copy{"copy", &events};
    try {
      EXPECT_EQ(run(way, compute, copy, events), way == Way::kEnd);
    } catch (const std::runtime_error&) {
      EXPECT_EQ(way, Way::kException);
    }
    EXPECT_EQ(events, (Events{"compute is idle", "copy is idle", "memory goes"}));
  }
}

}  // namespace
}  // namespace cuzk::cuda::prove
