#!/bin/sh
# Puts in place the Debian packages that a step needs: `deploy/setup.sh run` or `deploy/setup.sh test`.
# As root it installs what is missing; otherwise it prints the one line to run. It is silent and quick when nothing is missing.
set -eu

run="gcc libc6-dev pkg-config libopus-dev libspeexdsp-dev libespeak-ng1 espeak-ng-data libpocketsphinx3 pocketsphinx-en-us"
test="chromium sox"

want=$run
[ "${1:-run}" = test ] && want="$run $test"

missing=""
for p in $want; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $p"
done
# A command that is there already, from wherever, needs no package.
command -v python3 >/dev/null 2>&1 || missing="$missing python3"
python3 -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"
if [ "${1:-run}" = test ]; then
  command -v node >/dev/null 2>&1 || missing="$missing nodejs"
  command -v npm >/dev/null 2>&1 || missing="$missing npm"
fi

[ -z "$missing" ] && exit 0
if ! command -v apt-get >/dev/null 2>&1; then
  echo "hovor: this needs the packages$missing (Debian's names); install them and start again" >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "hovor: some packages are missing. Run this, then start again:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
  exit 1
fi
echo "hovor: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $missing >/dev/null
