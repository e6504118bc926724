# What others made and Weft builds on, as targets with one name in the native and the WebAssembly build:
#   weft_protobuf_lite   protobuf's lite runtime
#   weft_json            nlohmann-json, headers only (tests)
#   weft_cli11           CLI11, headers only (the command)
# and, where a build has it, weft_protobuf (the whole runtime, for tests). weft_proto_sources() runs protoc.

find_program(WEFT_PROTOC protoc REQUIRED)
add_library(weft_protobuf_lite INTERFACE)
add_library(weft_json INTERFACE)
add_library(weft_cli11 INTERFACE)

if(EMSCRIPTEN)
  set(WEFT_CACHE "$ENV{WEFT_CACHE}")
  if(NOT WEFT_CACHE)
    set(WEFT_CACHE "$ENV{HOME}/.cache/weft")
  endif()
  set(prefix ${WEFT_CACHE}/protobuf-3.21.12-emscripten-${EMSCRIPTEN_VERSION})
  if(NOT EXISTS ${prefix}/lib/libprotobuf-lite.a)
    message(FATAL_ERROR "protobuf-lite for WebAssembly is not in ${prefix}: run tools/setup")
  endif()
  target_include_directories(weft_protobuf_lite SYSTEM INTERFACE ${prefix}/include)
  target_link_libraries(weft_protobuf_lite INTERFACE ${prefix}/lib/libprotobuf-lite.a)
  # Only these folders of the machine's headers may be seen by em++.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
  foreach(folder nlohmann CLI)
    if(NOT EXISTS ${PROJECT_BINARY_DIR}/include/${folder})
      file(CREATE_LINK /usr/include/${folder} ${PROJECT_BINARY_DIR}/include/${folder} SYMBOLIC)
    endif()
  endforeach()
  target_include_directories(weft_json SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/include)
  target_include_directories(weft_cli11 SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/include)
else()
  find_package(Protobuf REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(CLI11 REQUIRED)
  target_link_libraries(weft_protobuf_lite INTERFACE protobuf::libprotobuf-lite)
  target_link_libraries(weft_json INTERFACE nlohmann_json::nlohmann_json)
  target_link_libraries(weft_cli11 INTERFACE CLI11::CLI11)
  add_library(weft_protobuf INTERFACE)
  target_link_libraries(weft_protobuf INTERFACE protobuf::libprotobuf)
endif()

# weft_proto_sources(TARGET FILE.proto): generates FILE.pb.cc and FILE.pb.h, to be included by their path from
# the top folder, and compiles them into TARGET. FILE is in the current source folder.
function(weft_proto_sources target file)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  string(REGEX REPLACE "\\.proto$" "" stem ${file})
  set(generated ${PROJECT_BINARY_DIR}/generated)
  set(outputs ${generated}/${folder}/${stem}.pb.cc ${generated}/${folder}/${stem}.pb.h)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
    COMMAND ${WEFT_PROTOC} --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${generated} ${folder}/${file}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    VERBATIM)
  target_sources(${target} PRIVATE ${outputs})
  set_source_files_properties(${outputs} PROPERTIES COMPILE_OPTIONS -w)
  target_include_directories(${target} SYSTEM PUBLIC ${generated})
endfunction()
