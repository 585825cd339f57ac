# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# 256 MB recorded with O_DIRECT: the page cache does not grow with them.

. "$TOP/tests/vm/lib.sh"

cached_kb() {
	sed -n 's/^Cached: *\([0-9]*\) kB/\1/p' /proc/meminfo
}

# The programs and the tables in /proc are in the cache before we look.
expect 0 fkt_record --args -o warm calls -6 1000
before=$(cached_kb)
expect 0 fkt_record -s 256M --args -o t calls -6 -t "$(nproc)" $((6000000 / $(nproc)))
after=$(cached_kb)
echo "Cached: $before kB before, $after kB after"
said 't: the size limit was reached'
check '256 MB were recorded' [ "$(perl -ne 'print $1 if /, (\d+) pages/' .err)" = 65536 ]
check 'the page cache is as it was, within 16 MB' between $((before - 16384)) "$after" $((before + 16384))
