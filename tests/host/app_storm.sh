# SPDX-License-Identifier: GPL-2.0-only
#
# app_storm.sh KERNEL CPUS: ten million events of a program of four threads, with signal handlers, forks and kills, and its system
# calls: made = read + lost, in order, each event between the calls that surround it. It is looked at here: an emulated CPU would take
# half an hour.

set -uo pipefail

kernel=$1
cpus=$2
each=2500000

die() {
	echo "FAILED: $*"
	cat vm.err
	exit 1
}

mkdir share
cat >share/guest.sh <<END
# A signal may interrupt what writes to the share, and stdio then drops it.
fkt_record -k system,application --args -p 14 -o /mnt/share/trace app_events storm $each >/tmp/said 2>/mnt/share/err
status=\$?
cp /tmp/said /mnt/share/
exit \$status
END
"$TOP/scripts/vm" --kernel "$kernel" --cpus "$cpus" --timeout 1500 --memory 2G --share share -- \
	env "PATH=$TOP/build/tests/vm:$TOP/build/bin:/usr/sbin:/usr/bin:/sbin:/bin" bash /mnt/share/guest.sh 2>vm.err || die 'the guest fails'
cat share/err
lost=$(strings -n 4 share/trace | sed -n 's/^application_lost=//p' | tail -1)
own=$(perl -ne 'print $1 if /: \d+ events, \d+ pages .*, (\d+) lost/' share/err)
[ -n "$own" ] || die "$(cat share/err)"
"$TOP/build/bin/fkt_print" --no-summary --time cycles share/trace |
	perl "$TOP/tests/vm/storm.pl" share/said $each "${lost:-0}" "$own" || die 'not what was made'
[ "${lost:-0}" -lt $((each / 5)) ] || die "$lost events were lost"
