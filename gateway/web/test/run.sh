#!/bin/sh
# The page's tests, in this order: types, the client without a browser, the page in Chromium against a stand-in, then the page and the
# stock client in Chromium against the built binary (bin/hovor, or HOVOR_BIN, or a running one at HOVOR_URL), then every stock client
# against every upstream, whose table stands in signaling/protocol.md.
# Needs Node 18.19 or newer, npm, and Chromium (or HOVOR_CHROMIUM). One file after the other: two browsers at once disturb the clocks.
set -eu
cd "$(dirname "$0")/.."

if [ ! -f node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  npm ci --no-audit --no-fund --loglevel=error
fi
npx --no-install tsc --noEmit

major=$(node -p 'process.versions.node.split(".")[0]')
for suite in ${*:-unit page call stock matrix}; do
  if [ "$suite" = matrix ] && [ "$major" -lt 20 ]; then
    # The published clients' own dependencies are not installed by npm below Node 20, so they cannot be loaded.
    echo "matrix: skipped: the published clients need Node 20 or newer outside a browser, this is $(node --version)"
    continue
  fi
  node --test "test/$suite.test.mjs"
done
