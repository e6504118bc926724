// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Counters, atomic values and mutexes for one thread: what nets need of them to run anywhere. Backends with
// threads replace these rows.
#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/kernels/util.h"
#include "core/run/interpreter.h"

namespace weft {

namespace kernels {
namespace {

struct Mutex {
  static constexpr std::string_view kBlobType = "std::unique_ptr<std::mutex>";
};
struct Counter {
  static constexpr std::string_view kBlobType = "std::unique_ptr<caffe2::Counter<int64_t>>";
  int64_t count = 0;
};
struct AtomicBool {
  static constexpr std::string_view kBlobType = "std::unique_ptr<std::atomic<bool>>";
  bool value = false;
};

template <typename T>
Result<T*> Find(KernelContext& c, size_t input) {
  T* object = c.MutableInBlob(input).GetMutable<T>();
  if (!object)
    return c.Fail(c.InName(input), " holds ", c.InBlob(input).type_name(), ", expected ", T::kBlobType);
  return object;
}
template <typename T>
Result<void> WriteScalar(KernelContext& c, size_t output, T value) {
  WEFT_TRY(T * out, c.Out<T>(output, {}));
  *out = value;
  return {};
}

Result<void> CreateMutex(KernelContext& c) {
  c.OutBlob(0).Set(Mutex());
  return {};
}

Result<void> CreateCounter(KernelContext& c) {
  const int64_t start = c.ArgI("init_count", 0);
  WEFT_ENSURE(c, start >= 0, "negative init_count is not permitted.");
  c.OutBlob(0).Set(Counter{start});
  return {};
}
Result<void> ResetCounter(KernelContext& c) {
  WEFT_TRY(Counter * counter, Find<Counter>(c, 0));
  const int64_t before = counter->count;
  counter->count = c.ArgI("init_count", 0);
  return c.has_output(0) ? WriteScalar<int64_t>(c, 0, before) : Result<void>();
}
Result<void> CountDown(KernelContext& c) {
  WEFT_TRY(Counter * counter, Find<Counter>(c, 0));
  return WriteScalar<bool>(c, 0, counter->count-- <= 0);
}
Result<void> CheckCounterDone(KernelContext& c) {
  WEFT_TRY(Counter * counter, Find<Counter>(c, 0));
  return WriteScalar<bool>(c, 0, counter->count <= 0);
}
Result<void> CountUp(KernelContext& c) {
  WEFT_TRY(Counter * counter, Find<Counter>(c, 0));
  return WriteScalar<int64_t>(c, 0, counter->count++);
}
Result<void> RetrieveCount(KernelContext& c) {
  WEFT_TRY(Counter * counter, Find<Counter>(c, 0));
  return WriteScalar<int64_t>(c, 0, counter->count);
}

Result<void> CreateAtomicBool(KernelContext& c) {
  c.OutBlob(0).Set(AtomicBool());
  return {};
}
Result<void> ConditionalSetAtomicBool(KernelContext& c) {
  WEFT_TRY(AtomicBool * atomic, Find<AtomicBool>(c, 0));
  const Tensor* condition = c.InBlob(1).Get<Tensor>();
  WEFT_ENSURE(c, condition && condition->type() == DataType::kBool && condition->numel() == 1,
              "the condition must be one bool");
  if (condition->data<bool>()[0]) atomic->value = true;
  return {};
}
Result<void> CheckAtomicBool(KernelContext& c) {
  WEFT_TRY(AtomicBool * atomic, Find<AtomicBool>(c, 0));
  return WriteScalar<bool>(c, 0, atomic->value);
}

// Inputs mutex, value, addend; outputs the sum, the value before.
template <typename T>
Result<void> AtomicFetchAdd(KernelContext& c) {
  const Tensor* value = c.InBlob(1).Get<Tensor>();
  const Tensor* addend = c.InBlob(2).Get<Tensor>();
  for (const Tensor* t : {value, addend})
    WEFT_ENSURE(c, t && t->type() == DataTypeOf<T> && t->numel() == 1, "expected one ",
                DataTypeName(DataTypeOf<T>));
  const T before = value->data<T>()[0], add = addend->data<T>()[0];
  WEFT_TRY(T * sum, c.Out<T>(0, Dims(value->dims())));
  *sum = static_cast<T>(static_cast<uint64_t>(before) + static_cast<uint64_t>(add));
  WEFT_TRY(T * fetched, c.Out<T>(1, {}));
  *fetched = before;
  return {};
}

// Nets that call Python open and plan; there is no Python here to call.
Result<void> RefusePython(KernelContext& c) {
  const std::string token = c.ArgS("token", "");
  return Error{ErrorCode::kUnsupported,
               StrCat(OpText(c.net(), c.op()), ": calls a Python function, which Weft does not run",
                      token.empty() ? " (it names no token)" : StrCat("; its token is ", token))};
}

constexpr KernelRow kRows[] = {
    {"CreateMutex", CreateMutex, "B"},
    {"CreateCounter", CreateCounter, "B"},
    {"ResetCounter", ResetCounter, "B"},
    {"CountDown", CountDown, "B"},
    {"CheckCounterDone", CheckCounterDone, "B"},
    {"CountUp", CountUp, "B"},
    {"RetrieveCount", RetrieveCount, "B"},
    {"CreateAtomicBool", CreateAtomicBool, "B"},
    {"ConditionalSetAtomicBool", ConditionalSetAtomicBool, "B"},
    {"CheckAtomicBool", CheckAtomicBool, "B"},
    {"AtomicFetchAdd", AtomicFetchAdd<int32_t>, "B", kInPlace},
    {"AtomicFetchAdd64", AtomicFetchAdd<int64_t>, "B", kInPlace},
    {"Python", RefusePython, "?"},
    {"PythonGradient", RefusePython, "?"},
    {"PythonDLPack", RefusePython, "?"},
    {"PythonDLPackGradient", RefusePython, "?"},
};

}  // namespace
}  // namespace kernels

KernelFamily HostKernels() { return kernels::kRows; }

}  // namespace weft
