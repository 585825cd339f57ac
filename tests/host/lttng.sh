# SPDX-License-Identifier: GPL-2.0-only
#
# lttng.sh KERNEL CPUS: a program is traced by LTTng-UST, and by FKT at the same time. babeltrace2 puts both in the order of
# time, of FKT's trace itself, by the plugin, and of the CTF that fkt_export makes of it: each call of the program stands
# between the two events that it has told LTTng of.

set -uo pipefail

count=20
failed=0

fail() {
	echo "FAILED: $*"
	failed=1
}

mkdir -p both
# shellcheck disable=SC2016
"$TOP/scripts/vm" --kernel "$1" --cpus "$2" --share "$PWD/both" --timeout 120 -- bash -c '
	# The program begins without LTTng when its daemon has not answered for 3 s, as on a debug kernel.
	export HOME=/tmp LTTNG_HOME=/tmp LTTNG_UST_REGISTER_TIMEOUT=60000
	cd /mnt/disk &&
	lttng-sessiond --daemonize --no-kernel &&
	lttng -q create both -o /mnt/disk/ust &&
	lttng -q enable-event -u "lttng_ust_tracef:*" && lttng -q add-context -u -t vtid && lttng -q start &&
	fkt_record -o trace '"$TOP/build/tests/vm/ust_calls $count"' &&
	lttng -q destroy && cp -r trace ust /mnt/share' || { fail 'nothing was recorded'; exit 1; }

# merged NAME INPUT: in the order of time; what the thread does that says "before 0"
merged() {
	babeltrace2 --plugin-path "$TOP/build/lib/babeltrace2" --clock-date --clock-gmt --no-delta "$2" both/ust >"$1" 2>errors ||
		fail "$1: $(tail -1 errors)"
	sort -C <(grep -o '^\[[^]]*\]' "$1") || fail "$1 is not in the order of time"
	perl -ne '
		BEGIN { $count = shift @ARGV; @want = map { ("before $_", "entry", "exit", "after $_") } 0 .. $count - 1 }
		if (/msg = "(before|after) (\d+)"/) {
			$what = "$1 $2";
			($tid) = /vtid = (\d+)/ if $what eq "before 0";
		} elsif (/ syscall_(entry|exit)_getppid: .* tid = (\d+),/ && defined $tid && $2 == $tid) {
			$what = $1;
		} else {
			next;
		}
		$expected = shift @want // "nothing more";
		print("$what where $expected is to be: $_"), exit 1 if $what ne $expected;
		END { print "the rest is missing: @want\n" if @want }' "$count" "$1" >said
	[ ! -s said ] || fail "$1: $(cat said)"
}

merged plugin both/trace
"$TOP/build/bin/fkt_export" --to ctf -o both/ctf both/trace || fail 'fkt_export'
merged export both/ctf
# Nothing is lost by merging, and both ways have the same.
[ "$(grep -c 'tracef:event' plugin)" = $((2 * count)) ] || fail "$(grep -c 'tracef:event' plugin) events of LTTng's"
events() {
	grep -v 'tracef:event\|lttng_statedump_' "$1" | sed 's/^\[[^]]*\] //' | sort
}
diff <(events plugin) <(events export) >said || fail "the plugin and fkt_export have not the same events: $(head -4 said)"
[ "$(events export | wc -l)" = "$("$TOP/build/bin/fkt_print" --no-summary --format csv both/trace | tail -n +2 | wc -l)" ] ||
	fail 'they have not as many events as fkt_print'
exit $failed
