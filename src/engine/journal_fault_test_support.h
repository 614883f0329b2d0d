// A SQLite file layer that fails on purpose: it loses power at a chosen write, or its disk is full.
//
// Power loss follows the disk's contract: what was synced stays; of the writes since, an arbitrary
// part has reached the disk, and the last one may be torn. The layer remembers what each write
// since the last sync replaced, and cut_power() takes a random part of them back.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "base/bytes.h"
#include "base/check.h"

namespace cuzk::engine::testing_support {

class FaultLayer {
 public:
  static constexpr const char* kName = "cuzk-fault-layer";

  // One layer at a time: SQLite knows it by name.
  FaultLayer() {
    real_ = sqlite3_vfs_find(nullptr);
    vfs_ = *real_;
    vfs_.zName = kName;
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.pAppData = this;
    vfs_.xOpen = open;
    vfs_.xDelete = remove;
    CUZK_ASSERT(sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK);
  }
  FaultLayer(const FaultLayer&) = delete;
  FaultLayer& operator=(const FaultLayer&) = delete;
  ~FaultLayer() { sqlite3_vfs_unregister(&vfs_); }

  // From the `count`-th write on, counted from 1, nothing reaches the files; 0: never.
  void die_at_write(std::uint64_t count) {
    die_at_ = count;
    write_count_ = 0;
    is_dead_ = false;
    unsynced_.clear();
  }
  // Once something was synced, nothing more reaches the files, until revive(). Unlike the above,
  // both may be called while other threads use the files.
  void die_after_sync() { dies_after_sync_ = true; }
  void revive() { dies_after_sync_ = is_dead_ = false; }
  std::uint64_t write_count() const { return write_count_; }
  bool is_dead() const { return is_dead_; }

  // The disk: bytes of all files of `folder` together; 0: endless.
  void limit(std::filesystem::path folder, std::uint64_t bytes) {
    folder_ = std::move(folder);
    capacity_ = bytes;
  }

  // Once all files are closed: takes back a random part of what was written and not synced.
  void cut_power(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (auto& [path, writes] : unsynced_) {
      for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
        put(path, write->offset, write->old_bytes);
        std::filesystem::resize_file(path, write->old_size);
      }
      for (const Write& write : writes) {
        if (random() % 2 == 0) continue;
        const bool is_torn = random() % 8 == 0;
        const std::size_t size =
            is_torn ? random() % (write.new_bytes.size() + 1) : write.new_bytes.size();
        put(path, write.offset, {write.new_bytes.data(), size});
      }
    }
    unsynced_.clear();
  }

 private:
  struct Write {
    std::uint64_t offset, old_size;
    base::Bytes old_bytes, new_bytes;
  };
  struct File {
    sqlite3_file base;
    FaultLayer* layer;
    sqlite3_io_methods methods;
    std::string* path;
    sqlite3_file* real;
  };
  static File* of(sqlite3_file* file) { return reinterpret_cast<File*>(file); }

  static void put(const std::string& path, std::uint64_t offset, base::ByteSpan bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* out, int flags,
                  int* out_flags) {
    auto* layer = static_cast<FaultLayer*>(vfs->pAppData);
    File* file = of(out);
    *file = {};
    if (layer->is_dead_) return SQLITE_CANTOPEN;
    file->real = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(out) + sizeof(File));
    const int code = layer->real_->xOpen(layer->real_, name, file->real, flags, out_flags);
    if (code != SQLITE_OK) return code;
    file->layer = layer;
    file->path = new std::string(name == nullptr ? "" : name);
    file->methods = *file->real->pMethods;
    sqlite3_io_methods& methods = file->methods;
    methods.iVersion = 1;  // no memory mapping, no shared memory: exclusive locking needs neither
    methods.xClose = close;
    methods.xRead = [](sqlite3_file* f, void* data, int size, sqlite3_int64 offset) {
      return of(f)->real->pMethods->xRead(of(f)->real, data, size, offset);
    };
    methods.xWrite = write;
    methods.xTruncate = truncate;
    methods.xSync = sync;
    methods.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
      return of(f)->real->pMethods->xFileSize(of(f)->real, size);
    };
    methods.xLock = [](sqlite3_file* f, int lock) {
      return of(f)->real->pMethods->xLock(of(f)->real, lock);
    };
    methods.xUnlock = [](sqlite3_file* f, int lock) {
      return of(f)->real->pMethods->xUnlock(of(f)->real, lock);
    };
    methods.xCheckReservedLock = [](sqlite3_file* f, int* lock) {
      return of(f)->real->pMethods->xCheckReservedLock(of(f)->real, lock);
    };
    methods.xFileControl = [](sqlite3_file* f, int operation, void* argument) {
      return of(f)->real->pMethods->xFileControl(of(f)->real, operation, argument);
    };
    methods.xSectorSize = [](sqlite3_file*) { return 4096; };
    methods.xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; };
    file->base.pMethods = &file->methods;
    return SQLITE_OK;
  }

  static int close(sqlite3_file* f) {
    delete of(f)->path;
    return of(f)->real->pMethods->xClose(of(f)->real);
  }

  static int write(sqlite3_file* f, const void* data, int size, sqlite3_int64 offset) {
    File* file = of(f);
    FaultLayer& layer = *file->layer;
    if (layer.is_dead_) return SQLITE_IOERR_WRITE;
    sqlite3_int64 old_size = 0;
    file->real->pMethods->xFileSize(file->real, &old_size);
    if (layer.capacity_ != 0 && offset + size > old_size &&
        layer.used_bytes() + static_cast<std::uint64_t>(offset + size - old_size) >
            layer.capacity_) {
      return SQLITE_FULL;
    }
    if (layer.die_at_ != 0) {
      const auto* bytes = static_cast<const std::uint8_t*>(data);
      Write write{static_cast<std::uint64_t>(offset),
                  static_cast<std::uint64_t>(old_size),
                  {},
                  base::Bytes(bytes, bytes + size)};
      const sqlite3_int64 there = std::min<sqlite3_int64>(size, old_size - offset);
      if (there > 0) {
        write.old_bytes.resize(static_cast<std::size_t>(there));
        file->real->pMethods->xRead(file->real, write.old_bytes.data(), static_cast<int>(there),
                                    offset);
      }
      layer.unsynced_[*file->path].push_back(std::move(write));
    }
    const int code = file->real->pMethods->xWrite(file->real, data, size, offset);
    if (++layer.write_count_ == layer.die_at_) {
      layer.is_dead_ = true;
      return SQLITE_IOERR_WRITE;
    }
    return code;
  }

  static int truncate(sqlite3_file* f, sqlite3_int64 size) {
    File* file = of(f);
    if (file->layer->is_dead_) return SQLITE_IOERR_TRUNCATE;
    file->layer->unsynced_.erase(*file->path);
    return file->real->pMethods->xTruncate(file->real, size);
  }

  static int sync(sqlite3_file* f, int) {
    File* file = of(f);
    if (file->layer->is_dead_) return SQLITE_IOERR_FSYNC;
    file->layer->unsynced_.erase(*file->path);
    if (file->layer->dies_after_sync_.exchange(false)) file->layer->is_dead_ = true;
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    auto* layer = static_cast<FaultLayer*>(vfs->pAppData);
    if (layer->is_dead_) return SQLITE_IOERR_DELETE;
    layer->unsynced_.erase(name);
    return layer->real_->xDelete(layer->real_, name, sync_folder);
  }

  std::uint64_t used_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      bytes += entry.file_size();
    }
    return bytes;
  }

  sqlite3_vfs* real_ = nullptr;
  sqlite3_vfs vfs_{};
  std::uint64_t die_at_ = 0, write_count_ = 0, capacity_ = 0;
  std::atomic<bool> is_dead_{false}, dies_after_sync_{false};
  std::filesystem::path folder_;
  std::map<std::string, std::vector<Write>> unsynced_;  // by path
};

}  // namespace cuzk::engine::testing_support
