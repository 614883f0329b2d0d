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
                           prometheus-cpp::core)
