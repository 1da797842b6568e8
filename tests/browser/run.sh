#!/bin/sh
# Test a report in the Chromium of this machine; skip it with a reason if there is none.  run.sh REPORT
set -e
test -f "$1" || { echo "there is no report: run make smoke first"; exit 2; }
for name in "$CHROMIUM" chromium chromium-browser google-chrome; do
    found=$(command -v "${name:-none}") && break
done
test -n "$found" || { echo "skipped: there is no Chromium (Debian: apt-get install chromium)"; exit 0; }
command -v npm > /dev/null || { echo "skipped: there is no npm (Debian: apt-get install npm)"; exit 0; }
test -d node_modules || npm install --silent --no-audit --no-fund --no-package-lock || { echo "skipped: npm cannot install playwright-core"; exit 0; }
CHROMIUM="$found" PAGE="$1" node --test page.test.mjs
