#!/usr/bin/env bash
# Installs those of the named Debian packages that are missing; does nothing, quickly, when all are there.
set -euo pipefail

missing=()
for package in "$@"; do
  # `dpkg-query` also knows removed packages, hence the look at the state.
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

command -v apt-get >/dev/null || { echo "missing Debian packages, and no apt-get here to install them: ${missing[*]}" >&2; exit 1; }
as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "missing Debian packages; run as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi

echo "==> Debian packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A package's daemon must not start here: tests and the demo start their own, on free ports.
run() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 "$@" >"$log" 2>&1 || { tail -n 30 "$log" >&2; exit 1; }; }
# Another installation may be under way (a second checkout, the system's own upgrades): its lock is waited for.
run apt-get -o DPkg::Lock::Timeout=600 update -qq
run apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "${missing[@]}"
