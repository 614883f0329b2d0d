#!/bin/bash
# Installs what cuzk needs on Debian 12: `build` for the command alone, `test` for the suite too.
# As root or with sudo; asks nothing; leaves a machine that has everything untouched.
#
#     tools/setup_debian.sh [build|test]
set -euo pipefail

build_packages=(
  ca-certificates ccache cmake g++ git libcli11-dev libcpp-httplib-dev libfmt-dev libgrpc++-dev
  libprotobuf-dev libsimdjson-dev libsqlite3-dev libssl-dev libtbb-dev libtomlplusplus-dev
  ninja-build nlohmann-json3-dev prometheus-cpp-dev protobuf-compiler protobuf-compiler-grpc
)
test_packages=(
  clang-14 clang-format-14 curl libbenchmark-dev libgmock-dev libgtest-dev python3
  python3-prometheus-client zlib1g-dev
)

die() {
  echo "setup: $*" >&2
  exit 1
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "installing packages needs root: run this as root or install sudo"
  fi
}

main() {
  local wanted=("${build_packages[@]}") missing=() package
  case "${1:-test}" in
    build) ;;
    test) wanted+=("${test_packages[@]}") ;;
    *) die "unknown set of packages: $1 (build or test)" ;;
  esac
  command -v apt-get >/dev/null ||
    die "this script knows Debian only; the lists at its head name the packages"
  for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  # snarkjs needs node; where somebody installed another node than Debian's, that one serves.
  if [ "${1:-test}" = test ] && ! command -v npm >/dev/null; then
    missing+=(nodejs npm)
  fi
  if [ ${#missing[@]} = 0 ]; then
    return
  fi
  echo "setup: installing ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 install \
    --no-install-recommends "${missing[@]}" >/dev/null
}

main "$@"
