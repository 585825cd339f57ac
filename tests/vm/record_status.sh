# SPDX-License-Identifier: GPL-2.0-only
#
# fkt_record's exit status is the command's, as a shell counts it; a command that can't be run leaves no trace behind.

. "$TOP/tests/vm/lib.sh"

expect 0 fkt_record -o t true
expect 3 fkt_record -o t sh -c 'exit 3'
check 'the trace is there' [ -s t ]
check 'fkt_print reads it' fkt_print -q t >/dev/null
expect $((128 + 11)) fkt_record -o t sh -c 'kill -SEGV $$'
check 'the trace is there' fkt_print -q t >/dev/null
expect $((128 + 9)) fkt_record -o t sh -c 'kill -KILL $$'

expect 127 fkt_record -o none no-such-command
one_sentence
said 'no-such-command: command not found'
check 'no trace is left' [ ! -e none ]
expect 127 fkt_record -o none ./no-such-file
one_sentence
check 'no trace is left' [ ! -e none ]
echo hello >plain
expect 126 fkt_record -o none ./plain
one_sentence
said 'Permission denied'
check 'no trace is left' [ ! -e none ]
expect 126 fkt_record -o none /etc
one_sentence
check 'no trace is left' [ ! -e none ]

# Found and executable, and yet the kernel does not take it: known only when the recording runs.
printf "#!%s\n" "$PWD/plain" >script
chmod +x script
expect 126 fkt_record -o none ./script
one_sentence
check 'no trace is left' [ ! -e none ]
echo "#!/no/such/interpreter" >script
expect 127 fkt_record -o none ./script
one_sentence
check 'no trace is left' [ ! -e none ]

# A file that was there before is not a trace of a command that never was.
echo precious >old
expect 127 fkt_record -o old no-such-command
check 'a file of before is untouched' [ "$(cat old)" = precious ]

expect 2 fkt_record -o t
said 'which command'
expect 2 fkt_record -n true
said '-n runs no command'
check 'idle in the end' idle
