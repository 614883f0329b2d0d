# The CUDA room. Its host parts and tests run everywhere; its device code is built with
# -DCUZK_CUDA=ON, for the architectures of CMAKE_CUDA_ARCHITECTURES, and needs no GPU to build. The
# runtime is linked statically, so the command starts on machines without a driver.
# tools/cuda_suite.sh builds and runs the device suite of the kernels without CMake.

if(CUZK_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real 90-real 120-real 90-virtual)
  endif()
  if(CUZK_CCACHE)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CUZK_CCACHE})
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc has C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  find_package(CUDAToolkit REQUIRED)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cpp
       ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
  list(FILTER sources EXCLUDE REGEX "(_(test|bench)|/no_cuda)\\.cpp$")
  add_library(cuzk_cuda STATIC ${sources})
  # 20012 and 20050: notes on defaulted comparisons and on static kernels.
  target_compile_options(cuzk_cuda PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-diag-suppress=20012,20050>")
  target_link_libraries(cuzk_cuda PUBLIC cuzk_groth16 CUDA::cudart_static)
else()
  set(host_sources device/device_name.cpp device/fault.cpp device/host_pages.cpp no_cuda.cpp
                   prove/host_image.cpp prove/key_shelf.cpp prove/proof_part.cpp
                   prove/proof_plan.cpp prove/query_pieces.cpp prove/shared_pass.cpp
                   prove/staging.cpp prove/streamed_bytes.cpp prove/table_plan.cpp)
  list(TRANSFORM host_sources PREPEND ${PROJECT_SOURCE_DIR}/src/cuda/)
  add_library(cuzk_cuda STATIC ${host_sources})
  target_link_libraries(cuzk_cuda PUBLIC cuzk_groth16)
endif()

file(GLOB_RECURSE cuzk_cuda_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*_test.cpp)
cuzk_test_binary(cuda_test SOURCES ${cuzk_cuda_tests} LINK cuzk_cuda)

# All device code through the compiler where nvcc is, in any build; elsewhere reported as skipped.
if(CUZK_BUILD_TESTS AND NOT CUZK_SANITIZE)
  add_test(NAME cuda.device_code_compiles
           COMMAND ${CMAKE_COMMAND} -E env BUILD=${CMAKE_CURRENT_BINARY_DIR}/device_code JOBS=1
                   sh ${PROJECT_SOURCE_DIR}/tools/cuda_compile.sh ci)
  set_tests_properties(cuda.device_code_compiles PROPERTIES SKIP_RETURN_CODE 77 LABELS cuda_test
                       TIMEOUT 900 COST 500)
endif()

if(CUZK_CUDA)
  file(GLOB suite CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/cuda/*_suite.cpp
       ${PROJECT_SOURCE_DIR}/bench/cuda/suite_main.cpp)
  add_executable(cuda_suite ${suite})
  target_include_directories(cuda_suite PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(cuda_suite PRIVATE cuzk_cuda)

  # Whole proofs on a device beside the CPU's, with real files.
  file(GLOB proofs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/cuda_prove/*.cpp
       ${PROJECT_SOURCE_DIR}/bench/cuda_prove/*.cu)
  add_executable(cuda_prove_suite ${proofs})
  target_include_directories(cuda_prove_suite PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(cuda_prove_suite PRIVATE cuzk_filecoin cuzk_formats cuzk_cuda)

  # On a machine with a card: kernels and proofs beside the CPU's, one after the other.
  if(CUZK_BUILD_TESTS)
    add_test(NAME cuda.kernels_on_the_device COMMAND cuda_suite check quick)
    add_test(NAME cuda.proofs_on_the_device COMMAND cuda_prove_suite quick check)
    set_tests_properties(cuda.kernels_on_the_device cuda.proofs_on_the_device PROPERTIES
                         LABELS cuda_test RESOURCE_LOCK device TIMEOUT 900
                         SKIP_REGULAR_EXPRESSION "no device:")
  endif()
endif()
