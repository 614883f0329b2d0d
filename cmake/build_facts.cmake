# Writes build_facts.h at each build: the commit, and whether the tree differed from it. The file is
# touched only when its text changes, so it costs a rebuild only after a commit.
#
# cmake -DSOURCE_DIR=... -DOUTPUT=... -DVERSION=... -DBUILD_TYPE=... -DCOMPILER=... -DSANITIZE=...
#       -P cmake/build_facts.cmake

set(commit "unknown")
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE_DIR} rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                  RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${head})
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE_DIR} status --porcelain -uno
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      string(APPEND commit "+changes")
    endif()
  endif()
endif()

set(text "// Written by cmake/build_facts.cmake at each build.
#pragma once
namespace cuzk::apps {
inline constexpr char kVersion[] = \"${VERSION}\";
inline constexpr char kCommit[] = \"${commit}\";
inline constexpr char kBuildType[] = \"${BUILD_TYPE}\";
inline constexpr char kCompiler[] = \"${COMPILER}\";
inline constexpr char kSanitizers[] = \"${SANITIZE}\";
}  // namespace cuzk::apps
")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
