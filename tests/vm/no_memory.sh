# SPDX-License-Identifier: GPL-2.0-only
# limit: 120 s
#
# A buffer larger than the machine's memory is refused, and nothing is kept of it.

. "$TOP/tests/vm/lib.sh"

available_kb() {
	sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo
}

before=$(available_kb)
expect 1 fkt_record -p 20 -o none true
one_sentence
said 'no memory for 2\^20 pages a lane; a smaller -p will help'
check 'no trace is left' [ ! -e none ]
expect 1 fkt_record --ring 8G -o none true
one_sentence
said 'no memory for that ring, twice; --gap takes it once, a smaller one will help as well'
expect 1 fkt_record --ring 8G --gap -o none true
one_sentence
said 'no memory for that ring$'
check 'no trace is left' [ ! -e none ]
after=$(available_kb)
check 'the memory is free again' [ "$after" -gt $((before - 50000)) ]
expect 0 fkt_record -o t true
check 'the next recording is as any other' [ "$(lost)" = 0 ]
