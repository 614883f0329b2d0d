# The house rules as tests: layers, sizes and words, format, headers that compile alone, locks as
# clang sees them, tests that pages name, constants as their script derives them; and the tests of
# the scripts that check them.

function(cuzk_style_tests)
  if(NOT CUZK_BUILD_TESTS)
    return()
  endif()
  find_package(Python3 COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    message(STATUS "no Python 3: the style tests are left out")
    return()
  endif()
  foreach(check layers tidy format headers docs thread_safety)
    set(arguments)
    if(check STREQUAL "headers")
      set(arguments --compiler ${CMAKE_CXX_COMPILER})
    endif()
    add_test(NAME style.${check}
             COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_${check}.py
                     ${arguments} ${PROJECT_SOURCE_DIR})
    set_tests_properties(style.${check} PROPERTIES LABELS style SKIP_RETURN_CODE 77 TIMEOUT 600)
  endforeach()
  # Minutes on one core: begun first, so that nothing waits for it alone.
  set_tests_properties(style.headers PROPERTIES COST 1000)
  add_test(NAME style.derived_constants
           COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/derive_constants.py --check)
  set_tests_properties(style.derived_constants PROPERTIES LABELS style)
  file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*_test.py)
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    add_test(NAME tools.${name} COMMAND ${Python3_EXECUTABLE} ${script})
    set_tests_properties(tools.${name} PROPERTIES LABELS style ENVIRONMENT
                         PYTHONDONTWRITEBYTECODE=1)
  endforeach()
endfunction()
