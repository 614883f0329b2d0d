#!/bin/bash
# Puts @grpc/grpc-js and @grpc/proto-loader, the independent client of the daemon's tests, into a
# cache folder outside the repository and prints the folder of the modules. Exit 1 with a sentence
# when that cannot be done.
set -euo pipefail

client=1.14.7
loader=0.8.1
folder="${CUZK_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/cuzk}/grpcjs-$client-$loader"
modules="$folder/node_modules"

if [ ! -f "$modules/@grpc/grpc-js/package.json" ]; then
  command -v npm >/dev/null || { echo "grpc-js: npm is not installed" >&2; exit 1; }
  mkdir -p "$folder"
  if ! npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" \
    "@grpc/grpc-js@$client" "@grpc/proto-loader@$loader" >"$folder/install.log" 2>&1; then
    echo "grpc-js: npm could not install @grpc/grpc-js@$client ($folder/install.log)" >&2
    exit 1
  fi
fi
[ -f "$modules/@grpc/proto-loader/package.json" ] ||
  { echo "grpc-js: $modules is incomplete" >&2; exit 1; }
echo "$modules"
