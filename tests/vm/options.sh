# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# Options of fkt_record: what is wrong is one sentence and status 2, and what is right does what it says.

. "$TOP/tests/vm/lib.sh"

for bad in 1 21 0 -1 x 9x '' 99999999999; do
	expect 2 fkt_record -p "$bad" -o none true
	said 'POW is a number from 2 to 20'
done
for bad in nonsense system,nonsense "$(free_key)" 0x7fffffff 12x '' , 0x100000001 -1; do
	expect 2 fkt_record -k "$bad" -o none true
	said "layer|number"
	check "no name is cut off" not grep -qE "\(0?x?[0-9a-f]*$" .err
done
expect 2 fkt_record --lanes 2 -o none true
said '--lanes is cpu or 1'
expect 2 fkt_record --on-full explode -o none true
said '--on-full is drop, pause or overwrite'
expect 2 fkt_record --no-such-option true
check 'no trace is left' [ ! -e none ]
expect 1 fkt_record -S /no/such/map -o none true
one_sentence
check 'no trace is left' [ ! -e none ]
expect 0 fkt_record --help
expect 0 fkt_record --version
for tool in fkt_enable fkt_disable fkt_setmask; do
	expect 0 $tool --version
	check "it is called $tool" [ "${out%% (FKT)*}" = $tool ]
done

# The smallest buffer and a large one.
expect 0 fkt_record -p 2 -o t calls 1000
check 'the smallest buffer holds the calls, or says what it lost' \
	[ $(($(count t 006e 046e) + $(lost))) -ge 2000 ]
expect 0 fkt_record -p 13 -o t calls 1000
check 'a large buffer' [ "$(count t 006e)" = 1000 ]

# Masks, by number and by name.
for mask in system 1 0x1 0x80000001 system,process; do
	expect 0 fkt_record -k "$mask" -o t calls 500
	check "mask $mask: the calls" [ "$(count t 006e)" = 500 ]
	check "mask $mask: switches" [ "$(count t 1100)" -gt 0 ]
done
for mask in process 0x80000000; do
	expect 0 fkt_record -k "$mask" -o t calls 500
	check "mask $mask: no calls" [ "$(count t 006e 046e 1080)" = 0 ]
	check "mask $mask: switches" [ "$(count t 1100)" -gt 0 ]
done
expect 0 fkt_record -k 0 -o t calls 500
check "mask 0: nothing" [ "$(events t | wc -l)" = 0 ]

# Arguments of system calls: as many as each call has.
expect 0 fkt_record --args -o t workload
events t >events
check 'no arguments for getppid' grep -qE '^[0-9]+ [0-9]+ 006e sys_getppid$' events
check 'one for close' grep -qE '^[0-9]+ [0-9]+ 0003 sys_close +fd=-1$' events
check 'two for munmap' grep -qE '^[0-9]+ [0-9]+ 000b sys_munmap +addr=0x[0-9a-f]+ len=0x10000$' events
check 'three for read' grep -qE '^[0-9]+ [0-9]+ 0000 sys_read +fd=[0-9]+ buf=0x[0-9a-f]+ count=512$' events
check 'four for openat' grep -qE '^[0-9]+ [0-9]+ 0101 sys_openat +dfd=-100 filename=0x[0-9a-f]+ flags=0 mode=0$' events
check 'six for mmap' grep -qE '^[0-9]+ [0-9]+ 0009 sys_mmap +addr=0 len=0x10000 prot=3 flags=34 fd=-1 off=0$' events
grep -E ' sys_(munmap|read|mmap) ' events | head -5
expect 0 fkt_record -o t workload
check 'none unless asked for' not grep -qE ' sys_openat +dfd' <(events t)

the_rest_takes_long

# One lane: one total order, the CPU of each event, and the same events.
expect 0 fkt_record --lanes 1 -o t calls -t "$(nproc)" 5000
check 'all calls in one lane' [ "$(count t 006e)" = $((5000 * $(nproc))) ]
events t | awk '$3 == "006e" { print $1 }' | sort | uniq -c | awk '{ print $1, $2 }' >cpus
cat cpus
check 'from each CPU its own' [ "$(grep -c '^5000 ' cpus)" = "$(nproc)" ]
check 'idle in the end' idle
