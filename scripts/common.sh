# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
# shellcheck disable=SC2034  # the names are for the scripts that source this
# shellcheck disable=SC2016  # apt expands its own format strings
# Names that the scripts share. Source it after `set -euo pipefail`.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/versions.env
. "$root/scripts/versions.env"
llvm_major=${LLVM_VERSION%%.*}
cache=${XETILE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/xetile}

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
warn() { printf '%s: warning: %s\n' "$(basename "$0")" "$*" >&2; }
die() {
  printf '%s: error: %s\n' "$(basename "$0")" "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

# The Debian archive that this machine's apt already uses; other suites of it are reached by the same address.
debian_archive() {
  local uri
  uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null | sed -n 1p)
  # Without downloaded package lists apt knows no labels.
  [ -n "$uri" ] || uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n '/security/d; /debian\/*$/p' | sed -n 1p)
  printf '%s' "$uri"
}

debian_keyring() {
  local key
  for key in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
    [ -e "$key" ] && printf '%s' "$key" && return
  done
}

# private_apt DIR LINE: sets the array `apt_options` to use the one source LINE and to keep lists, cache and status in
# DIR, so that the system's own apt configuration is neither read nor changed and no root is needed.
private_apt() {
  local dir=$1 line=$2
  mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
  : > "$dir/status"
  printf '%s\n' "$line" > "$dir/source.list"
  apt_options=(-q -o "Dir::Etc::SourceList=$dir/source.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$dir/lists" -o "Dir::State::status=$dir/status" -o "Dir::Cache=$dir/cache"
    -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Acquire::Retries=3)
}

# unpack_debian DIR SUITE PACKAGE...: downloads packages of another suite of the Debian archive with all that they depend
# on, libc included (the empty status file of private_apt sees to that), and unpacks them, not installed, into
# DIR/out/root. Fails where that does; what apt said is in DIR/log.
unpack_debian() {
  local dir=$1 suite=$2 archive deb
  shift 2
  archive=$(debian_archive)
  [ -n "$archive" ] || die "apt's configuration names no Debian archive"
  private_apt "$dir/apt" "deb [signed-by=$(debian_keyring)] $archive $suite main"
  { apt-get "${apt_options[@]}" update &&
    apt-get "${apt_options[@]}" install -y --no-install-recommends --download-only "$@"; } > "$dir/log" 2>&1 || return 1
  mkdir -p "$dir/out/root"
  for deb in "$dir"/apt/cache/archives/*.deb; do dpkg -x "$deb" "$dir/out/root" || return 1; done
}
