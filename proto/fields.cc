// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "proto/fields.h"

#include <cstddef>

#include "core/base/check.h"

namespace weft {

namespace {

using enum Kind;

// One field, and one repeated field, of a plain kind.
constexpr Field One(uint32_t number, std::string_view name, Kind kind) { return {number, name, kind}; }
constexpr Field Many(uint32_t number, std::string_view name, Kind kind) { return {number, name, kind, true}; }
constexpr Field Packed(uint32_t number, std::string_view name, Kind kind) {
  return {number, name, kind, true, true};
}
constexpr Field One(uint32_t number, std::string_view name, MessageId message) {
  return {number, name, kMessage, false, false, message};
}
constexpr Field Many(uint32_t number, std::string_view name, MessageId message) {
  return {number, name, kMessage, true, false, message};
}
constexpr Field One(uint32_t number, std::string_view name, EnumId enumeration) {
  return {number, name, kEnum, false, false, MessageId::kNone, enumeration};
}
constexpr Field Many(uint32_t number, std::string_view name, EnumId enumeration) {
  return {number, name, kEnum, true, false, MessageId::kNone, enumeration};
}

using M = MessageId;
using E = EnumId;

constexpr Field kNetDefFields[] = {
    One(net_field::kName, "name", kString),
    Many(net_field::kOp, "op", M::kOperatorDef),
    {.number = net_field::kType, .name = "type", .kind = kString, .old_name = "net_type"},
    One(net_field::kNumWorkers, "num_workers", kInt32),
    One(net_field::kDeviceOption, "device_option", M::kDeviceOption),
    Many(net_field::kArg, "arg", M::kArgument),
    Many(net_field::kExternalInput, "external_input", kString),
    Many(net_field::kExternalOutput, "external_output", kString),
    Many(net_field::kPartitionInfo, "partition_info", M::kPartitionInfo),
};

constexpr Field kOperatorDefFields[] = {
    Many(op_field::kInput, "input", kString),
    Many(op_field::kOutput, "output", kString),
    One(op_field::kName, "name", kString),
    One(op_field::kType, "type", kString),
    Many(op_field::kArg, "arg", M::kArgument),
    One(op_field::kDeviceOption, "device_option", M::kDeviceOption),
    One(op_field::kEngine, "engine", kString),
    Many(op_field::kControlInput, "control_input", kString),
    One(op_field::kIsGradientOp, "is_gradient_op", kBool),
    One(op_field::kDebugInfo, "debug_info", kString),
    One(op_field::kDomain, "domain", kString),
    One(op_field::kOpVersion, "op_version", kInt64),
};

constexpr Field kArgumentFields[] = {
    One(arg_field::kName, "name", kString),
    One(arg_field::kF, "f", kFloat),
    One(arg_field::kI, "i", kInt64),
    One(arg_field::kS, "s", kBytes),
    Many(arg_field::kFloats, "floats", kFloat),
    Many(arg_field::kInts, "ints", kInt64),
    Many(arg_field::kStrings, "strings", kBytes),
    One(arg_field::kN, "n", M::kNetDef),
    Many(arg_field::kNets, "nets", M::kNetDef),
    One(arg_field::kT, "t", M::kTensorProto),
    Many(arg_field::kTensors, "tensors", M::kTensorProto),
    Many(arg_field::kQTensors, "qtensors", M::kQTensorProto),
};

constexpr Field kDeviceOptionFields[] = {
    {.number = device_field::kDeviceType,
     .name = "device_type",
     .kind = kInt32,
     .enumeration = E::kDeviceType},
    {.number = device_field::kDeviceId, .name = "device_id", .kind = kInt32, .old_name = "cuda_gpu_id"},
    One(device_field::kRandomSeed, "random_seed", kUint32),
    One(device_field::kNodeName, "node_name", kString),
    One(device_field::kNumaNodeId, "numa_node_id", kInt32),
    Many(device_field::kExtraInfo, "extra_info", kString),
};

constexpr Field kPlanDefFields[] = {
    One(plan_field::kName, "name", kString),
    Many(plan_field::kNetwork, "network", M::kNetDef),
    Many(plan_field::kExecutionStep, "execution_step", M::kExecutionStep),
};

constexpr Field kExecutionStepFields[] = {
    One(step_field::kName, "name", kString),
    Many(step_field::kSubstep, "substep", M::kExecutionStep),
    Many(step_field::kNetwork, "network", kString),
    One(step_field::kNumIter, "num_iter", kInt64),
    One(step_field::kCriteriaNetwork, "criteria_network", kString),
    One(step_field::kConcurrentSubsteps, "concurrent_substeps", kBool),
    One(step_field::kReportNet, "report_net", kString),
    One(step_field::kReportInterval, "report_interval", kInt32),
    One(step_field::kShouldStopBlob, "should_stop_blob", kString),
    One(step_field::kOnlyOnce, "only_once", kBool),
    One(step_field::kRunEveryMs, "run_every_ms", kInt64),
    One(step_field::kCreateWorkspace, "create_workspace", kBool),
    One(step_field::kNumConcurrentInstances, "num_concurrent_instances", kInt32),
};

constexpr Field kTensorProtoFields[] = {
    Many(1, "dims", kInt64),
    One(2, "data_type", E::kDataType),
    Packed(3, "float_data", kFloat),
    Packed(4, "int32_data", kInt32),
    One(5, "byte_data", kBytes),
    Many(6, "string_data", kBytes),
    One(7, "name", kString),
    One(8, "device_detail", M::kDeviceOption),
    Packed(9, "double_data", kDouble),
    Packed(10, "int64_data", kInt64),
    One(11, "segment", M::kTensorSegment),
    One(12, "storage_type", E::kStorageType),
    One(13, "raw_data", kBytes),
    One(14, "external_data", M::kExternalDataProto),
    One(15, "data_format", E::kSerializationFormat),
};

constexpr Field kTensorSegmentFields[] = {One(1, "begin", kInt64), One(2, "end", kInt64)};

constexpr Field kQTensorProtoFields[] = {
    Many(1, "dims", kInt64),     One(2, "precision", kInt32),       One(3, "scale", kDouble),
    One(4, "bias", kDouble),     One(5, "is_signed", kBool),        Packed(6, "data", kInt32),
    One(7, "name", kString),     One(8, "data_type", E::kDataType), Many(9, "scales", kDouble),
    Many(10, "biases", kDouble), One(11, "axis", kInt32),           One(12, "is_multiparam", kBool),
};

constexpr Field kTensorProtosFields[] = {Many(tensors_field::kProtos, "protos", M::kTensorProto)};

constexpr Field kTensorShapeFields[] = {
    Many(1, "dims", kInt64),        One(2, "data_type", E::kDataType), Many(3, "unknown_dims", kInt32),
    One(4, "unknown_shape", kBool), One(5, "name", kString),
};
constexpr Field kTensorShapesFields[] = {Many(1, "shapes", M::kTensorShape)};

constexpr Field kTensorBoundShapeFields[] = {One(1, "shape", M::kTensorShape),
                                             Many(2, "dim_type", E::kDimType), One(3, "name", kString)};
constexpr Field kTensorBoundShapesFields[] = {Many(1, "shapes", M::kTensorBoundShape),
                                              One(2, "max_batch_size", kInt64),
                                              One(3, "max_feature_len", kInt64)};

constexpr Field kExternalDataProtoFields[] = {
    One(1, "source_type", E::kSourceType),
    One(2, "record_id", kString),
    One(3, "offset", kInt64),
    Many(4, "strides", kInt64),
    One(5, "record_size", kUint64),
};

constexpr Field kBlobProtoFields[] = {
    One(blob_field::kName, "name", kString),
    One(blob_field::kType, "type", kString),
    One(blob_field::kTensor, "tensor", M::kTensorProto),
    One(blob_field::kContent, "content", kBytes),
    One(blob_field::kQTensor, "qtensor", M::kQTensorProto),
    One(6, "content_num_chunks", kInt32),
    One(7, "content_chunk_id", kInt32),
};

constexpr Field kDBReaderProtoFields[] = {One(1, "name", kString), One(2, "source", kString),
                                          One(3, "db_type", kString), One(4, "key", kString)};

constexpr Field kPartitionInfoFields[] = {One(1, "name", kString), Many(2, "device_id", kInt32),
                                          One(3, "extra_info", kString),
                                          Many(4, "backend_options", M::kBackendOptions)};
constexpr Field kBackendOptionsFields[] = {One(1, "backend_name", kString),
                                           Many(2, "option", M::kMapFieldEntry)};
constexpr Field kMapFieldEntryFields[] = {One(1, "key", kString), One(2, "val", kString)};

constexpr Field kMetaNetDefFields[] = {
    Many(meta_field::kBlobs, "blobs", M::kBlobsMap),
    Many(meta_field::kNets, "nets", M::kNetsMap),
    One(meta_field::kModelInfo, "modelInfo", M::kModelInfo),
    Many(meta_field::kPlans, "plans", M::kPlansMap),
    Many(5, "applicationSpecificInfo", M::kStringMap),
    Many(6, "blobsOrder", kString),
    Many(7, "preLoadBlobs", kString),
    One(8, "tensorBoundShapes", M::kTensorBoundShapes),
    Many(9, "requestOnlyEmbeddings", kString),
    One(10, "aotConfig", M::kAOTConfig),
};
constexpr Field kModelInfoFields[] = {One(1, "project", kString), One(2, "modelClass", kString),
                                      One(3, "version", kString), One(4, "predictorType", kString),
                                      One(5, "modelId", kString)};
constexpr Field kBlobsMapFields[] = {One(map_field::kKey, "key", kString),
                                     Many(map_field::kValue, "value", kString)};
constexpr Field kNetsMapFields[] = {One(map_field::kKey, "key", kString),
                                    One(map_field::kValue, "value", M::kNetDef)};
constexpr Field kPlansMapFields[] = {One(map_field::kKey, "key", kString),
                                     One(map_field::kValue, "value", M::kPlanDef)};
constexpr Field kStringMapFields[] = {One(map_field::kKey, "key", kString),
                                      One(map_field::kValue, "value", kString)};
constexpr Field kAOTConfigFields[] = {One(1, "max_batch_size", kInt64), One(2, "max_seq_size", kInt64),
                                      One(3, "in_batch_broadcast", kBool)};

constexpr Field kTwoNumberStatsProtoFields[] = {One(1, "mean", kFloat), One(2, "stddev", kFloat),
                                                One(3, "count", kInt64)};
constexpr Field kBlobProfileFields[] = {One(1, "name", kString),
                                        One(3, "bytes_used", M::kTwoNumberStatsProto)};
constexpr Field kProfDAGProtoFields[] = {
    One(1, "name", kString),
    One(2, "mean", kFloat),
    One(3, "stddev", kFloat),
    One(4, "execution_time", M::kTwoNumberStatsProto),
    Many(5, "output_profile", M::kBlobProfile),
    Many(7, "extra_info", kString),
};
constexpr Field kProfDAGProtosFields[] = {Many(1, "stats", M::kProfDAGProto), One(2, "net_name", kString),
                                          Many(3, "ops_stats", M::kOpProfile)};
constexpr Field kOpProfileFields[] = {One(1, "idx", kString), One(2, "net_name", kString),
                                      One(3, "type", kString), One(4, "exec_time_secs", kFloat)};

constexpr Message Make(std::string_view name, std::span<const Field> fields) {
  Message message{name, fields, {}};
  for (size_t i = 0; i < fields.size(); ++i)
    message.by_number[fields[i].number] = static_cast<uint8_t>(i + 1);
  return message;
}

// In the order of MessageId.
constexpr Message kMessages[] = {
    Make("", {}),
    Make("NetDef", kNetDefFields),
    Make("OperatorDef", kOperatorDefFields),
    Make("Argument", kArgumentFields),
    Make("DeviceOption", kDeviceOptionFields),
    Make("PlanDef", kPlanDefFields),
    Make("ExecutionStep", kExecutionStepFields),
    Make("TensorProto", kTensorProtoFields),
    Make("TensorProto.Segment", kTensorSegmentFields),
    Make("QTensorProto", kQTensorProtoFields),
    Make("TensorProtos", kTensorProtosFields),
    Make("TensorShape", kTensorShapeFields),
    Make("TensorShapes", kTensorShapesFields),
    Make("TensorBoundShape", kTensorBoundShapeFields),
    Make("TensorBoundShapes", kTensorBoundShapesFields),
    Make("ExternalDataProto", kExternalDataProtoFields),
    Make("BlobProto", kBlobProtoFields),
    Make("DBReaderProto", kDBReaderProtoFields),
    Make("PartitionInfo", kPartitionInfoFields),
    Make("BackendOptions", kBackendOptionsFields),
    Make("MapFieldEntry", kMapFieldEntryFields),
    Make("MetaNetDef", kMetaNetDefFields),
    Make("ModelInfo", kModelInfoFields),
    Make("BlobsMap", kBlobsMapFields),
    Make("NetsMap", kNetsMapFields),
    Make("PlansMap", kPlansMapFields),
    Make("StringMap", kStringMapFields),
    Make("AOTConfig", kAOTConfigFields),
    Make("TwoNumberStatsProto", kTwoNumberStatsProtoFields),
    Make("BlobProfile", kBlobProfileFields),
    Make("ProfDAGProto", kProfDAGProtoFields),
    Make("ProfDAGProtos", kProfDAGProtosFields),
    Make("OpProfile", kOpProfileFields),
};
static_assert(std::size(kMessages) == static_cast<size_t>(M::kCount));

constexpr EnumValue kDeviceTypes[] = {
    {"PROTO_CPU", 0},
    {"PROTO_CUDA", 1},
    {"PROTO_MKLDNN", 2},
    {"PROTO_OPENGL", 3},
    {"PROTO_OPENCL", 4},
    {"PROTO_IDEEP", 5},
    {"PROTO_HIP", 6},
    {"PROTO_FPGA", 7},
    {"PROTO_MSNPU", 8},
    {"PROTO_XLA", 9},
    {"PROTO_COMPILE_TIME_MAX_DEVICE_TYPES", 10},
    {"PROTO_ONLY_FOR_TEST", 20901},
};
constexpr EnumValue kDataTypes[] = {
    {"UNDEFINED", 0},
    {"FLOAT", 1},
    {"INT32", 2},
    {"BYTE", 3},
    {"STRING", 4},
    {"BOOL", 5},
    {"UINT8", 6},
    {"INT8", 7},
    {"UINT16", 8},
    {"INT16", 9},
    {"INT64", 10},
    {"FLOAT16", 12},
    {"DOUBLE", 13},
    {"ZERO_COLLISION_HASH", 14},
    {"REBATCHING_BUFFER", 15},
};
constexpr EnumValue kStorageTypes[] = {{"TYPED", 1}, {"RAW", 2}, {"EXTERNAL", 3}, {"NO_CONTENT", 4}};
constexpr EnumValue kSerializationFormats[] = {{"FMT_PROTOBUF", 0}, {"FMT_BFLOAT16", 1}};
constexpr EnumValue kSourceTypes[] = {{"INLINE_CONTAINER", 0}, {"SIMPLE_FILE", 1}};
constexpr EnumValue kDimTypes[] = {
    {"UNKNOWN", 0},
    {"CONSTANT", 1},
    {"BATCH", 2},
    {"BATCH_OF_FEATURE_MAX", 3},
    {"BATCH_OF_FEATURE_MAX_DEFAULT", 4},
    {"FEATURE_MAX", 5},
    {"FEATURE_MAX_DEFAULT", 6},
};

}  // namespace

const Message& GetMessage(MessageId id) { return kMessages[static_cast<size_t>(id)]; }

MessageId FindMessage(std::string_view name) {
  for (size_t i = 1; i < std::size(kMessages); ++i)
    if (kMessages[i].name == name) return static_cast<MessageId>(i);
  return MessageId::kNone;
}

std::span<const EnumValue> GetEnum(EnumId id) {
  switch (id) {
    case EnumId::kDeviceType:
      return kDeviceTypes;
    case EnumId::kDataType:
      return kDataTypes;
    case EnumId::kStorageType:
      return kStorageTypes;
    case EnumId::kSerializationFormat:
      return kSerializationFormats;
    case EnumId::kSourceType:
      return kSourceTypes;
    case EnumId::kDimType:
      return kDimTypes;
    case EnumId::kNone:
    case EnumId::kCount:
      break;
  }
  return {};
}

std::string_view EnumValueName(EnumId id, int32_t number) {
  for (const EnumValue& value : GetEnum(id))
    if (value.number == number) return value.name;
  return {};
}

const Field* FindField(const Message& message, std::string_view name) {
  for (const Field& field : message.fields)
    if (field.name == name || (!field.old_name.empty() && field.old_name == name)) return &field;
  return nullptr;
}

}  // namespace weft
