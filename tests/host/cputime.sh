# SPDX-License-Identifier: GPL-2.0-only
#
# cputime.sh KERNEL CPUS: tests/vm/cputime.sh in a guest that can tell the truth. By default the kernel samples, once for
# each tick, whether a process is in user mode: of 250 samples a second, some per cent are off by chance, and with
# emulation, where ticks come late, many more. With nohz_full= it takes the time at each change of mode. And emulated CPUs
# take turns, so that one is stopped between the scheduler's reading of its clock and the event of the switch, some
# instructions later, for as long as the host likes: their time is to be that of their instructions.

cpus=$2
append=nohz_full=$(($2 - 1))
# 6.1 does not bring up a second CPU whose time is that of its instructions. With one there is no nohz_full.
case $1 in
6.1|6.1-*|debug-*)	cpus=1; append= ;;
esac
exec "$TOP/scripts/vm" --kernel "$1" --cpus "$cpus" --timeout 280 --steady --append "$append" -- bash -c "
	export TOP=$TOP PATH=$TOP/build/tests/vm:\$PATH
	cd /mnt/disk && exec bash \$TOP/tests/vm/cputime.sh"
