#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a slot costs on this machine's own CPUs. tests/bench/run says what is printed and how.

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
exec "$top/build/tests/bench/lane_bench"
