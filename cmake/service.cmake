# The room `service`: code of the protocol made from its .proto files, and the servers.

find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)

set(protocol_folder ${PROJECT_BINARY_DIR}/generated)
set(protocol_sources)
foreach(name proving jobs status_details)
  set(proto src/service/proto/${name}.proto)
  set(base ${protocol_folder}/service/proto/${name})
  set(made ${base}.pb.cc ${base}.pb.h)
  set(with_calls)
  if(NOT name STREQUAL "status_details")
    list(APPEND made ${base}.grpc.pb.cc ${base}.grpc.pb.h)
    set(with_calls --grpc_out=${protocol_folder}
                   --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>)
  endif()
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${protocol_folder}
    COMMAND protobuf::protoc -I ${PROJECT_SOURCE_DIR}/src --cpp_out=${protocol_folder} ${with_calls}
            ${PROJECT_SOURCE_DIR}/${proto}
    DEPENDS ${PROJECT_SOURCE_DIR}/${proto} VERBATIM
    COMMENT "Protocol ${name}")
  list(FILTER made INCLUDE REGEX "\\.cc$")
  list(APPEND protocol_sources ${made})
endforeach()
add_library(cuzk_protocol STATIC ${protocol_sources})
target_include_directories(cuzk_protocol SYSTEM PUBLIC ${protocol_folder})
# Made code is not ours to lint, and speed of its own is in the library.
target_compile_options(cuzk_protocol PRIVATE -w -O1)
target_link_libraries(cuzk_protocol PUBLIC gRPC::grpc++ protobuf::libprotobuf)

cuzk_room(service USES engine LINK cuzk_protocol gRPC::grpc++_reflection ${CUZK_SERVICE_LIBRARIES})
