#!/bin/bash
# Puts snarkjs 0.7.6, the other side of the circom tests, into a cache folder outside the repository
# and prints the path of its command. Exit 1 with a sentence when that cannot be done.
set -euo pipefail

version=0.7.6
folder="${CUZK_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/cuzk}/snarkjs-$version"
command_file="$folder/node_modules/snarkjs/build/cli.cjs"

if [ ! -f "$command_file" ]; then
  command -v npm >/dev/null || { echo "snarkjs: npm is not installed" >&2; exit 1; }
  mkdir -p "$folder"
  if ! npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" \
    "snarkjs@$version" >"$folder/install.log" 2>&1; then
    echo "snarkjs: npm could not install snarkjs@$version ($folder/install.log)" >&2
    exit 1
  fi
fi
[ -f "$command_file" ] || { echo "snarkjs: $command_file is missing" >&2; exit 1; }
echo "$command_file"
