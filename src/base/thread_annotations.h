// Locks that a compiler can check: clang's -Wthread-safety proves that a guarded member is touched
// only under its mutex. Other compilers see plain locks.
//
// The standard library's mutex carries no annotations, so guarded members use `Mutex` and
// `MutexLock`. Wait with std::condition_variable_any on the Mutex itself.
#pragma once

#include <mutex>

#if defined(__clang__)
#define CUZK_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define CUZK_THREAD_ATTRIBUTE(x)
#endif

#define CUZK_CAPABILITY(name) CUZK_THREAD_ATTRIBUTE(capability(name))
#define CUZK_SCOPED_CAPABILITY CUZK_THREAD_ATTRIBUTE(scoped_lockable)
// On a member: read and written only while `mutex` is held.
#define CUZK_GUARDED_BY(mutex) CUZK_THREAD_ATTRIBUTE(guarded_by(mutex))
// On a function: the caller holds the mutex; the caller does not hold it.
#define CUZK_REQUIRES(...) CUZK_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define CUZK_EXCLUDES(...) CUZK_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define CUZK_ACQUIRE(...) CUZK_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define CUZK_RELEASE(...) CUZK_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))

namespace cuzk::base {

// A std::mutex that clang can follow. BasicLockable.
class CUZK_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() CUZK_ACQUIRE() { mutex_.lock(); }
  void unlock() CUZK_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds a Mutex for a scope.
class CUZK_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) CUZK_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() CUZK_RELEASE() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace cuzk::base
