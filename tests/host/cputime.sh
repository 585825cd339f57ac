# SPDX-License-Identifier: GPL-2.0-only
#
# cputime.sh KERNEL CPUS: tests/vm/cputime.sh in a guest that can tell the truth. By default the kernel samples, once for
# each tick, whether a process is in user mode: of 250 samples a second, some per cent are off by chance, and with
# emulation, where ticks come late, many more. With nohz_full= it takes the time at each change of mode. And the emulated
# CPUs' counters are taken to be unstable, after which the scheduler's clock is as coarse as a tick, unless told otherwise.

exec "$TOP/scripts/vm" --kernel "$1" --cpus "$2" --timeout 280 --append "tsc=reliable nohz_full=$(($2 - 1))" -- bash -c "
	export TOP=$TOP PATH=$TOP/build/tests/vm:\$PATH
	cd /mnt/disk && exec bash \$TOP/tests/vm/cputime.sh"
