# How a room becomes a library and a test binary. Files are found by glob and the globs are
# re-checked at each build, so no test can fall out of the build unseen.

if(CUZK_BUILD_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  find_package(ZLIB REQUIRED)  # test data of others is kept packed
  include(GoogleTest)
endif()

# Tests that read data find it here; what is only beside the repository is named when it is absent.
set(CUZK_TEST_DEFINITIONS
    CUZK_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    CUZK_SHARED_DATA="${PROJECT_SOURCE_DIR}/../shared/data"
    CUZK_SHARED_FACTS="${PROJECT_SOURCE_DIR}/../shared/facts")

# Tests that take minutes under a sanitizer or measure time: labelled release_only.
set(CUZK_RELEASE_ONLY "*FilecoinFlow*:*ConformanceTiming*:*UpstreamBytesRelease*:*MsmTime*")

# cuzk_compile_together(TARGET): with CUZK_UNITY the target's files are compiled eight at a time, so
# that what they include and instantiate is compiled once for all of them. From nothing that saves
# a sixth of the processor time in Release and a third under TSan; under ASan what rooms of many
# templates win (half: filecoin, r1cs, formats) the targets of CUZK_APART_UNDER_ASAN would lose.
# After a change to one file it takes longer, and tools that read compile_commands.json do not see
# single files, so it is for scripts that build everything. Names in unnamed namespaces of one room
# must then differ; files named here (most are tests that call the curve or the field they look at
# by the same short name) and files with options of their own stay alone.
string(JOIN "|" CUZK_COMPILED_ALONE
  "/field/[a-z0-9_]+_test"
  "/groth16/(foreign|proof_bytes|query_sum|fit)_test"
  "/cuda/(device_pool|prove/table_plan|prove/proof_plan)_test"
  "/engine/(journal_damage|journal_kill|engine_kill|worker_stall)_test"
  "/service/(awaited_jobs|config|config_tokens|grpc_fault|grpc_jobs|metrics)_test"
  "/service/(client|config_duration|grpc_proving|http_socket|http_status)\\.cpp"
  "/service/(log_format|metrics|supervisor)\\.cpp")
set(CUZK_APART_UNDER_ASAN engine_test cuzk_service service_test cuda_test)
function(cuzk_compile_together target)
  if(CUZK_SANITIZE MATCHES "address" AND target IN_LIST CUZK_APART_UNDER_ASAN)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "${CUZK_COMPILED_ALONE}")
  if(sources)
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CUZK_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# cuzk_test_binary(NAME SOURCES... ) with the given libraries: one ctest entry per test case.
function(cuzk_test_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(NOT CUZK_BUILD_TESTS OR NOT ARG_SOURCES)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  cuzk_compile_together(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE ${CUZK_TEST_DEFINITIONS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} ZLIB::ZLIB
                        GTest::gtest GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} TEST_FILTER "-${CUZK_RELEASE_ONLY}" TEST_LIST ${name}_any
                       DISCOVERY_TIMEOUT 120 PROPERTIES LABELS ${name} TIMEOUT 1500)
  # PROPERTIES cannot carry a list of labels, so the second one is set when ctest reads the tests.
  gtest_discover_tests(${name} TEST_FILTER "${CUZK_RELEASE_ONLY}" TEST_LIST ${name}_release_only
                       DISCOVERY_TIMEOUT 120 PROPERTIES LABELS ${name} TIMEOUT 1500)
  set(labels ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
  file(WRITE ${labels} "foreach(test IN LISTS ${name}_release_only)
  set_tests_properties(\${test} PROPERTIES LABELS \"${name};release_only\")
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
endfunction()

# Files named *_ifma.cpp are built for AVX-512 IFMA where the target is x86-64 and are empty
# elsewhere; their code runs only after base::cpu_level() allowed it. GCC 12 warns of uninitialised
# values inside its own intrinsics headers, so that warning is off there.
function(cuzk_vector_flags)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    return()
  endif()
  set(vector ${ARGN})
  list(FILTER vector INCLUDE REGEX "_ifma\\.cpp$")
  if(vector)
    set(flags -mbmi2 -mavx512f -mavx512vl -mavx512dq -mavx512ifma -Wno-uninitialized
        -Wno-maybe-uninitialized)
    set_source_files_properties(${vector} PROPERTIES COMPILE_OPTIONS "${flags}")
  endif()
endfunction()

# Rooms whose speed is measured: compiled file by file always, since what a compiler inlines depends
# on how much else it sees.
set(CUZK_HOT_ROOMS field curve poly msm hash r1cs groth16 filecoin)

# cuzk_room(NAME [USES rooms...] [LINK libraries...])
function(cuzk_room room)
  cmake_parse_arguments(ARG "" "" "USES;LINK" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cpp$")
  set(uses ${ARG_USES})
  list(TRANSFORM uses PREPEND cuzk_)
  cuzk_vector_flags(${sources})
  if(sources)
    add_library(cuzk_${room} STATIC ${sources})
    if(NOT room IN_LIST CUZK_HOT_ROOMS)
      cuzk_compile_together(cuzk_${room})
    endif()
    target_include_directories(cuzk_${room} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(cuzk_${room} PUBLIC ${uses} ${ARG_LINK})
  else()
    add_library(cuzk_${room} INTERFACE)
    target_include_directories(cuzk_${room} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(cuzk_${room} INTERFACE ${uses} ${ARG_LINK})
  endif()
  cuzk_test_binary(${room}_test SOURCES ${tests} LINK cuzk_${room} nlohmann_json::nlohmann_json)
endfunction()

# The kinds of jobs, which the command, the daemon and tests of the engine share.
function(cuzk_job_kinds)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/apps/jobs/*.cpp
       ${PROJECT_SOURCE_DIR}/src/apps/bench/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  add_library(cuzk_jobs STATIC ${sources})
  cuzk_compile_together(cuzk_jobs)
  target_include_directories(cuzk_jobs PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(cuzk_jobs PUBLIC cuzk_engine cuzk_filecoin cuzk_formats
                        nlohmann_json::nlohmann_json)
  cuzk_test_binary(jobs_test SOURCES ${tests} LINK cuzk_jobs)
endfunction()

# The command line program: everything but main.cpp is a library, so that tests reach it.
function(cuzk_command)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/apps/cuzk/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  set(facts ${PROJECT_BINARY_DIR}/generated/apps/cuzk/build_facts.h)
  add_custom_target(cuzk_build_facts BYPRODUCTS ${facts}
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${facts}
            -DVERSION=${PROJECT_VERSION} -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
            "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
            -DSANITIZE=${CUZK_SANITIZE} -P ${PROJECT_SOURCE_DIR}/cmake/build_facts.cmake)
  add_library(cuzk_apps STATIC ${sources})
  cuzk_compile_together(cuzk_apps)
  add_dependencies(cuzk_apps cuzk_build_facts)
  target_include_directories(cuzk_apps PUBLIC ${PROJECT_SOURCE_DIR}/src
                             PRIVATE ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(cuzk_apps PUBLIC cuzk_jobs cuzk_service cuzk_cuda CLI11::CLI11
                        nlohmann_json::nlohmann_json)
  add_executable(cuzk ${PROJECT_SOURCE_DIR}/src/apps/cuzk/main.cpp)
  target_link_libraries(cuzk PRIVATE cuzk_apps)
  cuzk_test_binary(apps_test SOURCES ${tests} LINK cuzk_apps)
endfunction()

# What spans rooms: one binary per folder of tests/.
function(cuzk_spanning_tests)
  file(GLOB folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*)
  foreach(folder ${folders})
    get_filename_component(name ${folder} NAME)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    cuzk_test_binary(tests_${name} SOURCES ${sources} LINK cuzk_apps)
    if(TARGET tests_${name} AND TARGET cuzk)
      add_dependencies(tests_${name} cuzk)
      target_compile_definitions(tests_${name} PRIVATE CUZK_COMMAND="$<TARGET_FILE:cuzk>")
    endif()
  endforeach()
endfunction()

# Programs that show how the library is embedded; built and run with the tests.
function(cuzk_examples)
  if(NOT CUZK_BUILD_TESTS)
    return()
  endif()
  add_executable(example_prove_circom ${PROJECT_SOURCE_DIR}/examples/prove_circom.cpp)
  target_link_libraries(example_prove_circom PRIVATE cuzk_formats)
  set(case ${PROJECT_SOURCE_DIR}/tests/data/circom/mul1000-bn128)
  add_test(NAME example.prove_circom
           COMMAND example_prove_circom ${case}/circuit_final.zkey ${case}/witness.wtns)
  set_tests_properties(example.prove_circom PROPERTIES PASS_REGULAR_EXPRESSION "\"pi_a\"")
endfunction()

# One executable per fuzz/*_fuzz.cpp. fuzz/driver.cpp runs it, with any compiler, over seeds with
# seeded mutations, and that smoke run is a test. With CUZK_LIBFUZZER (clang) libFuzzer runs it.
function(cuzk_fuzz_target name source)
  add_executable(${name} ${source})
  add_dependencies(fuzz_targets ${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE ${CUZK_TEST_DEFINITIONS})
  target_link_libraries(${name} PRIVATE cuzk_filecoin cuzk_formats)
  if(name MATCHES "^(config|http)_")
    target_link_libraries(${name} PRIVATE cuzk_service)
  endif()
  if(name MATCHES "^job_input_")  # alone: the rest of the job kinds takes long to build
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/apps/jobs/job_input.cpp)
    target_link_libraries(${name} PRIVATE nlohmann_json::nlohmann_json)
  endif()
  if(CUZK_LIBFUZZER)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(${name} PRIVATE cuzk_fuzz_driver)
  endif()
endfunction()

function(cuzk_fuzz_targets)
  add_custom_target(fuzz_targets)  # all of them
  option(CUZK_LIBFUZZER "Link the fuzz targets with libFuzzer (clang only)" OFF)
  if(NOT CUZK_LIBFUZZER)
    add_library(cuzk_fuzz_driver OBJECT ${PROJECT_SOURCE_DIR}/fuzz/driver.cpp
                                        ${PROJECT_SOURCE_DIR}/fuzz/mutate.cpp)
    target_include_directories(cuzk_fuzz_driver PRIVATE ${PROJECT_SOURCE_DIR}/src
                                                        ${PROJECT_SOURCE_DIR})
    target_compile_definitions(cuzk_fuzz_driver PRIVATE ${CUZK_TEST_DEFINITIONS})
    target_link_libraries(cuzk_fuzz_driver PRIVATE cuzk_field)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cpp)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    cuzk_fuzz_target(${name} ${source})
    if(CUZK_BUILD_TESTS AND NOT CUZK_LIBFUZZER)
      add_test(NAME fuzz_smoke.${name} COMMAND ${name} --smoke)
      set_tests_properties(fuzz_smoke.${name} PROPERTIES LABELS fuzz TIMEOUT 300)
    endif()
  endforeach()
  if(CUZK_BUILD_TESTS AND NOT CUZK_LIBFUZZER)
    cuzk_fuzz_target(fuzz_canary ${PROJECT_SOURCE_DIR}/fuzz/canary.cpp)
    add_test(NAME fuzz_smoke.canary_is_found COMMAND fuzz_canary --smoke)
    set_tests_properties(fuzz_smoke.canary_is_found PROPERTIES LABELS fuzz TIMEOUT 300
                         PASS_REGULAR_EXPRESSION "finding in run [0-9]+ of seed")
  endif()
endfunction()

# One executable per bench/<room>/*_bench.cpp.
function(cuzk_benchmarks)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*_bench.cpp)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE cuzk_filecoin cuzk_formats cuzk_engine
                          benchmark::benchmark
                          benchmark::benchmark_main)
  endforeach()
endfunction()
