# SPDX-License-Identifier: GPL-2.0-only
# limit: 1000 s
#
# Everybody at once on the same functions, in random order, with tasks asleep inside (all_tracers.pl). For ALL_TRACERS_S seconds
# (default: 30), from the random seed ALL_TRACERS_SEED. By hand:
#
#	scripts/vm --kernel 6.1 --timeout 900 --share DIR -- env ALL_TRACERS_S=600 tests/vm/guest all_tracers

. "$TOP/tests/vm/lib.sh"

tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs tracefs $tracing

for feature in kprobe_events function_graph hist; do
	grep -q "\<$feature\>" $tracing/README $tracing/available_tracers || skip "this kernel has no $feature"
done
seconds=${ALL_TRACERS_S-30}
seed=${ALL_TRACERS_SEED-$RANDOM}
check "no reader and no tracer notices another one (ALL_TRACERS_SEED=$seed)" \
	perl "$TOP/tests/vm/all_tracers.pl" "$seconds" "$seed" /run/fkt-vm/fkt.ko \
	"$TOP/build/tests/vm/livepatch/$(uname -r)/fkt_livepatch.ko"
