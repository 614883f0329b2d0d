#!/bin/bash
# Puts what the tests of the dashboard need in place: Debian's Chromium, and playwright-core in a
# cache folder outside the repository, whose node_modules it prints. Exit 1 with a sentence when
# that cannot be done.
set -euo pipefail

version=1.61.1  # the last for the Node.js of Debian 12, which is 18
cache="${CUZK_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/cuzk}"
folder="$cache/playwright-core-$version"
modules="$folder/node_modules"

if ! command -v chromium >/dev/null; then
  if [ "$(id -u)" = 0 ]; then
    as_root=()
  elif command -v sudo >/dev/null; then
    as_root=(sudo)
  else
    echo "browser: installing chromium needs root" >&2
    exit 1
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 install \
    --no-install-recommends chromium fonts-dejavu-core >/dev/null 2>&1 ||
    { echo "browser: apt-get could not install chromium" >&2; exit 1; }
fi

if [ ! -d "$modules/playwright-core" ]; then
  command -v npm >/dev/null || { echo "browser: npm is not installed" >&2; exit 1; }
  mkdir -p "$folder"
  if ! npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" \
    "playwright-core@$version" >"$folder/install.log" 2>&1; then
    echo "browser: npm could not install playwright-core@$version ($folder/install.log)" >&2
    exit 1
  fi
fi
echo "$modules"
