# SPDX-License-Identifier: GPL-2.0-only
#
# A few of the kernel's own selftests, and of stress-ng's stressors, come to the same results while everything is recorded.
#
#	witness.sh KERNEL CPUS
#
# All of them: make check-witness.

exec "$TOP/tests/witness/run" --quick --kernel "$1"
