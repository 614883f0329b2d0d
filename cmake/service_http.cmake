# Libraries of the service beside those of gRPC: HTTP, metrics, configuration.

find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)
find_package(tomlplusplus CONFIG REQUIRED)
find_library(CUZK_HTTPLIB cpp-httplib REQUIRED)
add_library(cuzk_httplib INTERFACE)
# What Debian's library was built with; the layout of its classes depends on it.
target_compile_definitions(cuzk_httplib INTERFACE CPPHTTPLIB_OPENSSL_SUPPORT
                                                  CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)
target_link_libraries(cuzk_httplib INTERFACE ${CUZK_HTTPLIB} OpenSSL::SSL OpenSSL::Crypto)

set(CUZK_SERVICE_LIBRARIES nlohmann_json::nlohmann_json tomlplusplus::tomlplusplus cuzk_httplib
                           prometheus-cpp::core cuzk_dashboard)

# The dashboard's files become part of the program.
set(dashboard_folder ${PROJECT_SOURCE_DIR}/src/service/dashboard)
set(dashboard_header ${PROJECT_BINARY_DIR}/generated/service/dashboard_files.h)
file(GLOB dashboard_files CONFIGURE_DEPENDS ${dashboard_folder}/*)
add_custom_command(OUTPUT ${dashboard_header}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${dashboard_folder} -DOUTPUT=${dashboard_header}
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_dashboard.cmake
  DEPENDS ${dashboard_files} ${PROJECT_SOURCE_DIR}/cmake/embed_dashboard.cmake VERBATIM
  COMMENT "Dashboard")
add_custom_target(cuzk_dashboard_files DEPENDS ${dashboard_header})
add_library(cuzk_dashboard INTERFACE)
add_dependencies(cuzk_dashboard cuzk_dashboard_files)
target_include_directories(cuzk_dashboard INTERFACE ${PROJECT_BINARY_DIR}/generated)
