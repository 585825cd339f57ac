# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# The tutorial's chapters: each makes its trouble, and FKT shows what its text says.

. "$TOP/tests/vm/lib.sh"

case $(uname -r) in
*-debug-*)	skip 'what takes long here is the kernel that watches itself, and not what the chapters have made slow' ;;
esac

for chapter in "$TOP"/docs/tutorial/[0-9]*.sh; do
	name=$(basename "$chapter" .sh)
	TMPDIR=$PWD bash "$chapter" >"$name.md" 2>&1
	status=$?
	[ $status = 0 ] || cat "$name.md"
	check "$name" [ $status = 0 ]
	# What scripts/tutorial makes docs/tutorial.md of.
	cp "$name.md" /mnt/share/
done
