# SPDX-License-Identifier: GPL-2.0-only
# limit: 300 s
#
# A module built with -finstrument-functions (§7): each of its functions is in the trace, by name and properly nested,
# whether kallsyms knows it or only its file; and a file that is not the module's is found out.

. "$TOP/tests/vm/lib.sh"

module=$TOP/build/tests/vm/sample/$(uname -r)/fkt_instrumented.ko
run=/sys/module/fkt_instrumented/parameters/run

# nesting FILE: the functions, indented by how deep they are; "!" where an exit is not the last entry's.
nesting() {
	events "$1" | perl -ne '
		next unless /^\d+ \d+ (1300|1301) \S+ +(\S+)/;
		print "  " x @stack, "$2\n" if $1 eq "1300";
		push @stack, $2 if $1 eq "1300";
		(pop(@stack) // "") eq $2 or print "! $2\n" if $1 eq "1301";
		END { print "! @stack\n" if @stack }'
}

cat >wanted <<'END'
instr_run
  instr_top
    instr_leaf
    instr_recurse
      instr_recurse
        instr_recurse
          instr_leaf
    instr_leaf
  instr_in_irq
    instr_leaf
END

check 'the kernel itself has no such functions' [ "$(grep -c ' __cyg_profile_func_' /proc/kallsyms)" = 2 ]
insmod "$module" || die 'the module does not load'
refuse 'fkt is not unloaded under it' rmmod fkt 2>/dev/null

# All in one task: the irq_work interrupts instr_run() where that has queued it.
expect 0 fkt_record -k gcc -o t sh -c "echo 1 >$run"
nesting t | tee got
check 'names and nesting' diff wanted got
events t | grep -E 'instr_(top|leaf)'
check 'each says which module' [ "$(events t | grep -cE '^[0-9]+ [0-9]+ 130[01] .* instr_[a-z_]+ \[fkt_instrumented\]')" = 20 ]
check 'and from where it was called' \
	[ "$(events t | grep -cE ' instr_leaf \[fkt_instrumented\] caller=instr_(top|recurse|in_irq)\+0x')" = 4 ]
check 'as many exits as entries' [ "$(count t 1300) $(count t 1301)" = '10 10' ]
fkt_print --by function --format csv t | cut -d, -f1,2 | sort >got
check 'calls by name' diff <(printf '%s\n' function,count instr_in_irq,1 instr_leaf,4 instr_recurse,3 instr_run,1 instr_top,1) got
fkt_print --calls=instr_top --format csv t | cut -d, -f1,2,6 | sort >got
check 'what a function calls' diff <(printf '%s\n' function,name,count 'instr_top,instr_top ONLY,1' instr_top,instr_leaf,2 \
	instr_top,instr_recurse,1 instr_top,instr_top,1 | sort) got
fkt_print --graph t | sed -nE 's/.* \| ( *)(instr_[a-z_]+)\(caller=[^)]*\)(;| \{)$/\1\2/p' >got
check 'calls under their callers' diff wanted got
expect 0 fkt_record -o t sh -c "echo 100 >$run"
check 'nothing while the layer is off' [ "$(count t 1300 1301)" = 0 ]

# On all CPUs at once, in one lane and in many.
for lanes in cpu 1; do
	expect 0 fkt_record --lanes $lanes -k gcc -o t sh -c "for i in 1 2 3 4; do echo 100 >$run & done; wait"
	check "lanes=$lanes: all entries and exits" [ "$(count t 1300) $(count t 1301)" = '2812 2812' ]
done

# The mask on in the middle of calls, and off: no harm, and the module may go while it is recorded.
start_recorder -n -o t -k gcc
(while echo 100 >$run; do :; done) 2>/dev/null &
loop=$!
background+=($loop)
for _ in {1..4}; do
	fkt_setmask 0
	fkt_setmask gcc
done
kill $loop
wait $loop 2>/dev/null
rmmod fkt_instrumented || fail 'rmmod while recording'
stop_recorder
check 'it ends well' [ "$status" = 0 ]
check 'and is readable' fkt_print -q t >/dev/null

# It comes while something is recorded: its names are in the tail, that of its init function from its file.
expect 0 fkt_record -k gcc -o t sh -c "insmod $module; echo 1 >$run"
nesting t >got
check 'names from the tail' diff wanted <(sed 1,2d got)
expect 0 rmmod fkt_instrumented
expect 0 fkt_record -k gcc -M "$module" -o t sh -c "insmod $module; echo 1 >$run"
said 'functions added that /proc/kallsyms lacks'
nesting t >got
check 'and from the file' diff <(printf '%s\n' instr_begin '  instr_leaf'; cat wanted) <(sed 's/init_module/instr_begin/' got)
expect 0 rmmod fkt_instrumented

# What kallsyms lacks.
cp "$module" .
strip -x fkt_instrumented.ko
insmod fkt_instrumented.ko || die 'the stripped module does not load'
check 'kallsyms lacks instr_top' [ "$(grep -c ' instr_top' /proc/kallsyms)" = 0 ]
expect 0 fkt_record -k gcc -o t sh -c "echo 1 >$run"
check 'without its file' [ "$(nesting t | grep -c 'instr_top$')" = 0 ]
expect 0 fkt_record -k gcc -M "$module" -o t sh -c "echo 1 >$run"
said "fkt_instrumented.ko: [0-9]+ functions added that /proc/kallsyms lacks"
check 'names from its file' diff wanted <(nesting t)

# Where modprobe would find it, without -M.
mkdir -p "/lib/modules/$(uname -r)/extra"
cp "$module" "/lib/modules/$(uname -r)/extra/"
cp "/lib/modules/$(uname -r)/modules.dep" dep
echo 'extra/fkt_instrumented.ko: extra/fkt.ko' >>"/lib/modules/$(uname -r)/modules.dep"
expect 0 fkt_record -k gcc -o t sh -c "echo 1 >$run"
check 'names from the installed file' diff wanted <(nesting t)
cp dep "/lib/modules/$(uname -r)/modules.dep"

# Files that are not the module's.
expect 1 fkt_record -M no/such.ko -o t true
said '^fkt_record: no/such.ko: No such file'
one_sentence
echo nonsense >fkt_instrumented.ko
expect 0 fkt_record -M fkt_instrumented.ko -o t true
said '^fkt_record: fkt_instrumented.ko: no object file'
cp "$(dirname "$module")/fkt_sample.ko" fkt_instrumented.ko
expect 0 fkt_record -M fkt_instrumented.ko -o t true
said 'fkt_instrumented.ko: not used; the loaded module fkt_instrumented is of another build'
objcopy --remove-section=.note.gnu.build-id --redefine-sym sample_probe0=instr_leaf fkt_instrumented.ko
expect 0 fkt_record -M fkt_instrumented.ko -o t true
said 'fkt_instrumented.ko: 1 of [0-9]+ functions are elsewhere in the loaded module fkt_instrumented'
cp "$module" absent.ko
expect 0 fkt_record -M absent.ko -o t true
said 'absent.ko: no module absent was loaded'
rmmod fkt_instrumented
expect 0 fkt_record -M "$module" -o t true
said 'no module fkt_instrumented was loaded'
