// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The one field table of Caffe2's messages: number, name, kind, repeated, packed, old spellings. The binary
// codec takes its numbers from here, the validator, the text reader and the text printer walk it. Constant
// data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weft {

enum class MessageId : uint8_t {
  kNone,
  kNetDef,
  kOperatorDef,
  kArgument,
  kDeviceOption,
  kPlanDef,
  kExecutionStep,
  kTensorProto,
  kTensorSegment,
  kQTensorProto,
  kTensorProtos,
  kTensorShape,
  kTensorShapes,
  kTensorBoundShape,
  kTensorBoundShapes,
  kExternalDataProto,
  kBlobProto,
  kDBReaderProto,
  kPartitionInfo,
  kBackendOptions,
  kMapFieldEntry,
  kMetaNetDef,
  kModelInfo,
  kBlobsMap,
  kNetsMap,
  kPlansMap,
  kStringMap,
  kAOTConfig,
  kTwoNumberStatsProto,
  kBlobProfile,
  kProfDAGProto,
  kProfDAGProtos,
  kOpProfile,
  kCount,
};

enum class EnumId : uint8_t {
  kNone,
  kDeviceType,  // of int32 fields: written as a number, read as either
  kDataType,
  kStorageType,
  kSerializationFormat,
  kSourceType,
  kDimType,
  kCount,
};

enum class Kind : uint8_t {
  kString,
  kBytes,
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kBool,
  kFloat,
  kDouble,
  kEnum,
  kMessage,
};

struct Field {
  uint32_t number;
  std::string_view name;
  Kind kind;
  bool repeated = false;
  bool packed = false;                   // how it is written; both forms are read
  MessageId message = MessageId::kNone;  // of kMessage
  EnumId enumeration = EnumId::kNone;    // of kEnum, and of int32 fields that were enums once
  std::string_view old_name = {};        // an earlier spelling, read as this field
};

struct Message {
  std::string_view name;
  std::span<const Field> fields;      // by number
  std::array<uint8_t, 16> by_number;  // index + 1 into `fields`; all our numbers are below 16
};

struct EnumValue {
  std::string_view name;
  int32_t number;
};

const Message& GetMessage(MessageId id);
/// The message called `name` ("NetDef"); kNone when there is none.
MessageId FindMessage(std::string_view name);
std::span<const EnumValue> GetEnum(EnumId id);
/// The name of an enum value; "" when it has none.
std::string_view EnumValueName(EnumId id, int32_t number);

inline const Field* FindField(const Message& message, uint32_t number) {
  if (number >= message.by_number.size()) return nullptr;
  const uint8_t index = message.by_number[number];
  return index == 0 ? nullptr : &message.fields[index - 1];
}
/// By name or old name; null when there is none.
const Field* FindField(const Message& message, std::string_view name);

// The numbers of the messages that the codec reads into the IR.
namespace net_field {
enum : uint32_t {
  kName = 1,
  kOp = 2,
  kType = 3,
  kNumWorkers = 4,
  kDeviceOption = 5,
  kArg = 6,
  kExternalInput = 7,
  kExternalOutput = 8,
  kPartitionInfo = 9,
};
}
namespace op_field {
enum : uint32_t {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kType = 4,
  kArg = 5,
  kDeviceOption = 6,
  kEngine = 7,
  kControlInput = 8,
  kIsGradientOp = 9,
  kDebugInfo = 10,
  kDomain = 11,
  kOpVersion = 12,
};
}
namespace arg_field {
enum : uint32_t {
  kName = 1,
  kF = 2,
  kI = 3,
  kS = 4,
  kFloats = 5,
  kInts = 6,
  kStrings = 7,
  kN = 8,
  kNets = 9,
  kT = 10,
  kTensors = 11,
  kQTensors = 12,
};
}
namespace device_field {
enum : uint32_t {
  kDeviceType = 1,
  kDeviceId = 2,
  kRandomSeed = 3,
  kNodeName = 4,
  kNumaNodeId = 5,
  kExtraInfo = 6,
};
}
namespace plan_field {
enum : uint32_t { kName = 1, kNetwork = 2, kExecutionStep = 3 };
}
namespace step_field {
enum : uint32_t {
  kName = 1,
  kSubstep = 2,
  kNetwork = 3,
  kNumIter = 4,
  kCriteriaNetwork = 5,
  kConcurrentSubsteps = 6,
  kReportNet = 7,
  kReportInterval = 8,
  kShouldStopBlob = 9,
  kOnlyOnce = 10,
  kRunEveryMs = 11,
  kCreateWorkspace = 12,
  kNumConcurrentInstances = 13,
};
}
namespace meta_field {
enum : uint32_t { kBlobs = 1, kNets = 2, kModelInfo = 3, kPlans = 4 };
}
namespace map_field {  // BlobsMap, NetsMap, PlansMap, StringMap
enum : uint32_t { kKey = 1, kValue = 2 };
}
namespace blob_field {
enum : uint32_t { kName = 1, kType = 2, kTensor = 3, kContent = 4, kQTensor = 5 };
}
namespace tensors_field {
enum : uint32_t { kProtos = 1 };
}

}  // namespace weft
