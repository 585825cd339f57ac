# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tutorial's scripts share. Each is a chapter of docs/tutorial.md: it makes some trouble, records it and finds out
# what it was, and prints this as Markdown. It fails when FKT does not show what the text says that it shows.

set -euo pipefail
export LC_ALL=C.UTF-8 COLUMNS=100

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || :; rm -rf "$work"' EXIT
cd "$work"

# tell: prose, from standard input.
tell() {
	cat
	echo
}

# show COMMAND [LINES]: run it by the shell, and print it with the first LINES (default: 30) of what it prints.
show() {
	local command=$1 lines=${2-30}

	bash -c "$command" >shown 2>&1 || { cat shown; echo "'$command' failed"; exit 1; }
	printf '    $ %s\n' "$command"
	awk -v n="$lines" 'NR <= n { print ($0 == "" ? "" : "    " $0) } NR == n + 1 { print "    ..." }' shown
	echo
}

# answer PATTERN: what the last command printed has a line like this extended regular expression.
answer() {
	grep -qE -- "$1" shown || { cat shown; echo "nothing there is like '$1'"; exit 1; }
}

# build NAME [OPTION...]: the chapter's program, from NAME.c.
build() {
	local name=$1

	shift
	gcc -O1 -g -fno-omit-frame-pointer -I"$here/../../include" -o "$name" "$here/$name.c" "$@"
}
