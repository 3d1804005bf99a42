#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Opens a page in a headless browser and looks at what its scripts made of it.
# page-test.sh PAGE.html EXPECTED-TEXT... : exits 77 (skipped) where there is no Chromium.
set -u

page=$1
shift
browser=
for name in chromium chromium-browser google-chrome; do
    browser=${browser:-$(command -v $name || true)}
done
if [ -z "$browser" ]; then
    echo "skipped: no chromium here"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Time inside the page is virtual, so a busy machine gives the same page.
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$work/profile" --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --disable-default-apps --metrics-recording-only \
    --window-size=1400,1000 --virtual-time-budget=10000 --enable-logging=stderr \
    --dump-dom "file://$page" >"$work/dom.html" 2>"$work/log"

failures=0
check() { # check WHAT COMMAND...
    local what=$1
    shift
    if ! "$@"; then
        echo "$page: $what"
        failures=$((failures + 1))
    fi
}
has() { grep -qF -- "$1" "$work/dom.html"; }
hasNot() { ! grep -qF -- "$1" "$work/dom.html"; }

check "its scripts ran to the end" has 'data-ready="true"'
check "no error was thrown, no policy violated" has 'data-errors="0"'
if grep -F CONSOLE "$work/log"; then
    check "nothing is written to the console" false
fi
# The page of a run shows its step time, in milliseconds for the runs of these tests.
summary=$(dirname "$page")/summary.json
if [ -e "$summary" ]; then
    step=$(awk -F'[:,]' '/"step_time_us"/ { printf "%#.4g ms", $2 / 1000; exit }' "$summary")
    set -- "$step" "$@"
fi
for text in "$@"; do
    case $text in
    !*) check "it does not hold: ${text#!}" hasNot "${text#!}" ;;
    *) check "it holds: $text" has "$text" ;;
    esac
done

# Every chart that is shown says how many marks it drew.
charts=$(grep -oE '<canvas[^>]*>' "$work/dom.html")
drawn=$(grep -oE 'data-marks="[0-9]+"' <<<"$charts" | grep -cv '"0"')
echo "$page: $drawn charts drawn: $(grep -oE 'data-marks="[0-9]+"' <<<"$charts" | tr '\n' ' ')"
check "charts are drawn" [ "$drawn" -ge "${ECHO_MIN_CHARTS:-5}" ]
exit $((failures > 0))
