#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Rebuilds contrib/echo/model/report/web/chart.umd.min.js and its licences from npm, at the version
# that package.json and package-lock.json there name. To move to another version: change it in
# package.json and run this with --update, which also rewrites the lock file.
set -eu

web=$(cd "$(dirname "$0")/../contrib/echo/model/report/web" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$web/package.json" "$work"
cd "$work"
if [ "${1:-}" = --update ]; then
    # The lock file names no registry: any mirror of npm gives the same files.
    npm install --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved=true
    cp package-lock.json "$web"
else
    cp "$web/package-lock.json" .
    npm ci --ignore-scripts --no-audit --no-fund
fi

# Without the pointer to a source map, which the page does not carry.
sed '/^\/\/# sourceMappingURL=/d' node_modules/chart.js/dist/chart.umd.min.js \
    >"$web/chart.umd.min.js"
{
    echo "chart.umd.min.js holds these two packages from npm."
    for package in chart.js @kurkle/color; do
        version=$(sed -n 's/^ *"version": "\(.*\)",*$/\1/p' "node_modules/$package/package.json")
        printf '\n%s %s\n\n' "$package" "$version"
        cat "node_modules/$package/LICENSE.md"
    done
} >"$web/chart-licenses.txt"
