#!/bin/bash
# Puts Curio's public proto file, by which its client calls a daemon, into a cache folder outside
# the repository and prints its path. Exit 1 with a sentence when that cannot be done.
#     setup_curio_proto.sh [REPOSITORY]    another copy of Curio's repository than the public one
set -euo pipefail

repository="${1:-https://github.com/filecoin-project/curio}"
commit=e0294b0f948132d41e8f42f59fa949495d5fd3af
path=extern/cuzk/cuzk-proto/proto/cuzk/v1/proving.proto
folder="${CUZK_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/cuzk}/curio-${commit:0:8}"
proto="$folder/proving.proto"

if [ ! -f "$proto" ]; then
  command -v git >/dev/null || { echo "curio: git is not installed" >&2; exit 1; }
  mkdir -p "$folder"
  clone=$(mktemp -d)
  trap 'rm -rf "$clone"' EXIT
  # One file of one commit: neither history nor other files are fetched.
  if ! { git -C "$clone" init -q &&
    git -C "$clone" remote add origin "$repository" &&
    git -C "$clone" config remote.origin.promisor true &&
    git -C "$clone" fetch -q --depth 1 --filter=blob:none origin "$commit" &&
    git -C "$clone" show "$commit:$path" >"$folder/part"; } 2>"$folder/fetch.log"; then
    echo "curio: $path of $repository cannot be fetched ($folder/fetch.log)" >&2
    exit 1
  fi
  mv "$folder/part" "$proto"
fi
echo "$proto"
