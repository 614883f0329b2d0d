# Writes a header with the dashboard's files as arrays of bytes.
#
# cmake -DFOLDER=src/service/dashboard -DOUTPUT=... -P cmake/embed_dashboard.cmake

set(text "// Written by cmake/embed_dashboard.cmake from src/service/dashboard.\n#pragma once\n")
string(APPEND text "namespace cuzk::service {\n")
foreach(pair "kIndexHtml:index.html" "kDashboardCss:dashboard.css" "kDashboardJs:dashboard.js"
        "kChartsJs:charts.js")
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 name)
  list(GET pair 1 file)
  file(READ ${FOLDER}/${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND text "inline constexpr unsigned char ${name}[] = {${bytes}};\n")
endforeach()
string(APPEND text "}  // namespace cuzk::service\n")
file(WRITE ${OUTPUT} "${text}")
