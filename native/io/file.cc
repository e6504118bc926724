// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/base/str.h"

namespace weft {

namespace {

constexpr size_t kMapFrom = size_t{1} << 16;  // smaller files are read: a page fault costs more than a copy
constexpr size_t kMostPerCall = size_t{1} << 30;  // Linux moves at most 2 GB per call

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }
  int get() const { return fd_; }
  int Close() {
    const int fd = fd_;
    fd_ = -1;
    return fd > 2 ? ::close(fd) : 0;
  }

 private:
  int fd_;
};

Error SystemError(std::string_view what, const std::string& path, int code) {
  const ErrorCode kind = code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return Error{kind, StrCat("cannot ", what, " ", FileLabel(path), ": ", std::strerror(code))};
}

Result<Bytes> ReadStream(int fd, const std::string& path, size_t expected) {
  std::string bytes;
  bytes.resize(std::max<size_t>(expected + 1, 1 << 16));
  size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(size + size / 2);
    const ssize_t got = ::read(fd, bytes.data() + size, std::min(bytes.size() - size, kMostPerCall));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read", path, errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
    if (size > kMostStreamBytes)
      return Error{ErrorCode::kLimit,
                   StrCat(FileLabel(path), " gives more than ", FormatBytes(kMostStreamBytes),
                          ", the most that is read from a stream")};
  }
  bytes.resize(size);
  return Bytes(std::move(bytes));
}

Result<void> WriteAll(int fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), std::min(bytes.size(), kMostPerCall));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return SystemError("write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

// Where the name leads when it is a symbolic link to a file; the name itself otherwise.
std::string Resolve(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (!real) return path;
  std::string resolved(real);
  std::free(real);
  return resolved;
}

Result<void> WriteDirectly(const std::string& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return SystemError("write", path, errno);
  WEFT_TRY_VOID(WriteAll(file.get(), path, bytes));
  if (file.Close() != 0) return SystemError("write", path, errno);
  return {};
}

}  // namespace

std::string FileLabel(const std::string& path) { return path == "-" ? "<stdin>" : path; }

Result<Bytes> ReadFile(const std::string& path) {
  if (path == "-") {
    static std::atomic<bool> taken = false;  // there is one standard input
    if (taken.exchange(true))
      return Error{ErrorCode::kIo, "<stdin> can be read once only, and was already: expected another file"};
    return ReadStream(STDIN_FILENO, path, 0);
  }
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return SystemError("open", path, errno);
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return SystemError("open", path, errno);
  if (S_ISDIR(info.st_mode)) return SystemError("read", path, EISDIR);
  const size_t size = static_cast<size_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || size < kMapFrom) return ReadStream(file.get(), path, size);

  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return ReadStream(file.get(), path, size);
  std::shared_ptr<const void> owner(data, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return Bytes(std::move(owner), {static_cast<const char*>(data), size});
}

Result<void> WriteFile(const std::string& path, std::string_view bytes) {
  FileSet one;
  WEFT_TRY_VOID(one.Add(path, bytes));
  return one.Commit();
}

FileSet::~FileSet() {
  for (const Pending& file : pending_) ::unlink(file.temporary.c_str());
}

Result<void> FileSet::Add(const std::string& path, std::string_view bytes) {
  if (path == "-") {
    const Result<void> written = WriteAll(STDOUT_FILENO, path, bytes);
    if (!written) return Error{ErrorCode::kIo, "cannot write to standard output"};
    return {};
  }
  struct stat info;
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return SystemError("write", path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) return WriteDirectly(path, bytes);
  const std::string target = exists ? Resolve(path) : path;
  if (exists && ::access(target.c_str(), W_OK) != 0) return SystemError("write", path, errno);
  for (const Pending& other : pending_)
    if (other.target == target)
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("two files are to be written to ", path, ": expected names that differ")};

  std::string temporary = StrCat(target, ".XXXXXX");
  Descriptor file(::mkstemp(temporary.data()));
  if (file.get() < 0) return SystemError("write", path, errno);
  pending_.push_back({path, target, temporary});
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? info.st_mode & 07777 : 0666 & ~mask;
  if (::fchmod(file.get(), mode) != 0) return SystemError("write", path, errno);
  WEFT_TRY_VOID(WriteAll(file.get(), path, bytes));
  if (file.Close() != 0) return SystemError("write", path, errno);
  return {};
}

Result<void> FileSet::Commit() {
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (::rename(pending_[i].temporary.c_str(), pending_[i].target.c_str()) == 0) continue;
    Error error = SystemError("write", pending_[i].path, errno);
    for (size_t k = 0; k < i; ++k)
      StrAppend(error.message, k == 0 ? "; written already: " : ", ", pending_[k].path);
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(i));
    return error;
  }
  pending_.clear();
  return {};
}

}  // namespace weft
