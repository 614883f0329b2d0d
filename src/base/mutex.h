// A mutex whose rules clang checks: which data it guards and which functions need it held.
//
// libstdc++'s mutexes carry no annotations, so clang's -Wthread-safety sees nothing of them. These
// are the same mutexes with the annotations; other compilers see plain classes.
#pragma once

#include <mutex>

#if defined(__clang__)
#define CUZK_THREAD_ANNOTATION(annotation) __attribute__((annotation))
#else
#define CUZK_THREAD_ANNOTATION(annotation)
#endif

// On data: read and written only while `mutex` is held. On pointers: what they point at.
#define CUZK_GUARDED_BY(mutex) CUZK_THREAD_ANNOTATION(guarded_by(mutex))
#define CUZK_PT_GUARDED_BY(mutex) CUZK_THREAD_ANNOTATION(pt_guarded_by(mutex))
// On functions: the caller holds it; the caller does not hold it.
#define CUZK_REQUIRES(...) CUZK_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define CUZK_EXCLUDES(...) CUZK_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace cuzk::base {

class CUZK_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() CUZK_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() CUZK_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  bool try_lock() CUZK_THREAD_ANNOTATION(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

// Holds a mutex for a scope. It can be waited on with std::condition_variable_any through the
// Mutex itself, which is a BasicLockable.
class CUZK_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) CUZK_THREAD_ANNOTATION(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() CUZK_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace cuzk::base
