# SPDX-License-Identifier: GPL-2.0-only
# limit: 400 s
#
# Probes in other modules (include/fkt/probe.h): a user's module, built against an installed FKT, records with names,
# also when it comes or goes while something is recorded; and what is wrong with a table of codes is refused.

. "$TOP/tests/vm/lib.sh"

sample=$TOP/build/tests/vm/sample/$(uname -r)/fkt_sample.ko
run=/sys/module/fkt_sample/parameters/run

# logged PATTERN: whether the kernel has said so since the last call.
logged() {
	dmesg --read-clear | grep -E -- "$1"
}

# Off: a load, a test, a branch not taken. Behind ftrace's call, up to the return.
if [ "$FKT_SLOW" = 1 ]; then
	objdump -d --no-show-raw-insn --disassemble=sample_probe "$sample" |
		sed -n '/fentry\|call /,/ret\|jmp/p' | tee code
	check 'at most 3 instructions while off' between 1 "$(sed '1d;$d' code | grep -c :)" 3
	check 'the last one is a conditional jump' grep -qE '^ .*\sj[a-z]+ ' <(sed '1d;$d' code | tail -1)
else
	echo 'instructions are not counted: gcc adds its own to watch over memory'
fi

insmod "$sample" || die 'the sample does not load'
refuse 'fkt is not unloaded under it' rmmod fkt 2>/dev/null
check 'which does no harm' [ -e /dev/fkt ]

# What is recorded, and how it looks.
expect 0 fkt_record -k modules,block -o t sh -c "echo 2 >$run"
events t | grep -E '^[0-9]+ [0-9]+ 7' | cut -d' ' -f3- | tee listing
symbol=$(sed -n 's/.* \(sample_probe \[fkt_sample\]\) .*/\1/p' listing | head -1)
pid=$(sed -n 's/.*sample_four  *[a-z]*\[\([0-9]*\)\].*/\1/p' listing | head -1)
tr -s ' ' <listing >got
pass() {
	cat <<-END
	70000 sample_put number=$1 flags=0xf00d
	70002 sample_none
	70003 sample_one small=-3
	70004 sample_three a=200 b=-300 c=-9223372036854775808
	70005 sample_four sh[$pid] at=sample_probe+0x0 [fkt_sample] $symbol big=18446744073709551615
	70006 sample_five a=1 b=2 c=3 d=4 e=5
	70001 sample_put_exit $2
	END
}
{ pass 0 '= 0'; pass 1 '= -11 EAGAIN'; echo '70007 sample_irq irqs=1'; } >wanted
check 'names, types and order' diff wanted got
check 'entry and exit are a pair' grep -qE '^70000 +sample_put +2 +2$' <(fkt_print -q t)

# Layers: what is off leaves nothing.
expect 0 fkt_record -k block -o t sh -c "echo 100 >$run"
check 'only the probes of the layer' [ "$(count t 70006) $(count t 70000)" = '100 0' ]
expect 0 fkt_record -o t sh -c "echo 100 >$run"
check 'none with the mask off' [ "$(count t 70000 70006)" = 0 ]

# In one shared lane, and so many that pages change.
expect 0 fkt_record --lanes 1 -k modules -o t sh -c "echo 3000 >$run"
check 'shared lane' [ "$(count t 70000) $(count t 70001)" = '3000 3000' ]

# A recording's names outlive its module; and codes are not given to another while it runs.
start_recorder -n -o t -k modules
echo 5 >$run
rmmod fkt_sample || fail 'rmmod'
insmod "$sample" || fail 'insmod'
echo 7 >$run
rmmod fkt_sample || fail 'rmmod'
check 'fkt is in use by the recorder alone' [ "$(cat /sys/module/fkt/holders/* 2>/dev/null | wc -l)" = 0 ]
stop_recorder
check 'it ends well' [ "$status" = 0 ]
check 'both lives are named' [ "$(events t | grep -c ' sample_put ')" = 12 ]
check 'nothing without a name' [ "$(events t | grep -c ' code_')" = 0 ]
check 'by different codes' [ "$(events t | grep -E ' sample_put ' | cut -d' ' -f3 | sort -u | wc -l)" = 2 ]

# A module that comes while it is recorded, and goes.
expect 0 fkt_record -k modules -o t sh -c "insmod $sample && echo 3 >$run && rmmod fkt_sample"
check 'named from the tail' [ "$(events t | grep -c ' sample_put ')" = 3 ]
check 'nothing without a name' [ "$(events t | grep -c ' code_')" = 0 ]

# Its codes unregistered while it goes on: no harm.
insmod "$sample"
start_recorder -n -o t -k modules
echo 1 >/sys/module/fkt_sample/parameters/forget
echo 4 >$run
stop_recorder
check 'the recording keeps its names' [ "$(events t | grep -c ' sample_put ')" = 4 ]
logged . >/dev/null
rmmod fkt_sample
check 'twice unregistered: it says so' logged 'are unregistered, and are not registered'

# Names of another's.
insmod "$sample"
cp "$sample" twin.ko
sed -i 's/fkt_sample/fkt_sampla/g' twin.ko
logged . >/dev/null
refuse 'the same names twice' insmod twin.ko 2>err
# Newer kernels keep the error "exists" for themselves.
check 'exists already' grep -qE 'File exists|resource busy' err
check 'it says which' logged 'module fkt_sampla, code 0: another code is called sample_put'
rmmod fkt_sample

# Tables that are wrong.
n=0
while read -r sentence; do
	refuse "bad table $n" insmod "$sample" bad=$n 2>/dev/null
	check "bad table $n: $sentence" logged "fkt: module fkt_sample.*$sentence" >/dev/null
	n=$((n + 1))
done <<'END'
code 0: its name is missing
code 0: its name is missing, is too long or has other characters
code 0: its name is missing
code 0: its name is missing, is too long
code 0: an argument is described as name:type
code 0: an argument has a type that is not among
code 0: an argument has a type that is not among
code 0: a probe has five arguments at most
code 0: an argument has a type that is not among
code 0: there is no such kind
code 0: its key is not that of a layer
code 0: it is an entry, and the next code is not its exit
code 1: it is an exit, and the code before is not its entry
code 0: it is an entry, and the next code is not its exit
code 1: another code is called bad
code 0: another code is called irq
registers 1025 codes: from 1 to 1024 is possible
END

# Come and go often while it is recorded: no code is left behind, none collides.
for _ in {1..6}; do
	insmod "$sample" && echo 1 >$run && rmmod fkt_sample || fail 'again'
done &
expect 0 fkt_record -k modules,gcc -o t sh -c "while [ -d /proc/$! ]; do sleep 0.1; done"
wait
check 'all named' [ "$(events t | grep -c ' code_')" = 0 ]
check 'fkt can go' rmmod fkt
insmod /run/fkt-vm/fkt.ko
