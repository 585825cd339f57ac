# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# limit: 200 s
#
# -U with the names of arguments and the fields that they lead to, as a program's debug information (DWARF) has them: their
# values, also of results, behind numbers with a point and structures, of a structure that is only declared; and where nobody
# knows them.

. "$TOP/tests/vm/lib.sh"

grep -q libdw < <(ldd "$(command -v fkt_record)") || skip 'fkt_record was built without libdw'
program=$TOP/build/tests/vm/user_fields

listed() {
	fkt_print --no-summary "$1" | grep -o ' user_fields:.*' | tee listed
}

expect 0 fkt_record -o t -U "$program:use_shape shape->label:string shape->name shape->at.y shape->layer shape->kind shape->area n \
	text:string last on_stack shape->hidden->found second=shape->sizes:s16[2]" -U "$program:next_shape \$retval->name" user_fields
check 'nothing is lost' [ "$(lost)" = 0 ]
listed t
check 'of the first one' grep -qE 'use_shape +label="first" name="circle" y=4 layer=100 kind=[^ ]*CIRCLE[^ ]* area=12 n=-1 text="a text" last=200 on_stack=1000 found=77 second=\{1,-2\}' listed
check 'of the second one' grep -qE 'use_shape +label="second" name="square" y=0 layer=0 kind=[^ ]*SQUARE[^ ]* area=0 n=-1 .* found=' listed
check 'what a result leads to' grep -qE 'next_shape +name="square"' listed

expect 0 fkt_record -o t -U "p:$program:use_shape \$arg*" user_fields
listed t
check 'all that can be had' [ "$(grep -cE 'use_shape +shape=0x[0-9a-f]+ n=-1 text=0x[0-9a-f]+ last=200 on_stack=1000 *$' listed)" = 2 ]

# What debuggers have is in a file of its own.
cp "$program" plain
id=$(readelf -n plain | sed -n 's/.*Build ID: //p')
debug=/usr/lib/debug/.build-id/${id:0:2}
mkdir -p "$debug"
objcopy --only-keep-debug plain "$debug/${id:2}.debug"
strip -g plain
expect 0 fkt_record -o t -U "$PWD/plain:use_shape shape->label:string" ./plain
check 'debug information of its own' [ "$(fkt_print --no-summary t | grep -cE 'plain:use_shape +label="(first|second)"')" = 2 ]
rm "$debug/${id:2}.debug"

wrong() {
	expect "$1" fkt_record -o none -U "$2" true
	said "$3"
	one_sentence
	check 'no trace is left' [ ! -e none ]
}
wrong 1 "$program:use_shape shap->label" 'has no argument shap; is shape meant'
wrong 1 "$program:use_shape shape->lable" 'has no field lable; is label meant'
wrong 1 "$program:use_shape shape.label" 'shape is a struct shape \*: write ->label'
wrong 1 "$program:use_shape scale" 'a number with a point'
wrong 1 "$program:use_shape by.x" 'is not in memory'
wrong 2 "$program:use_shape shape->at" 'write which field of it'
wrong 2 "$program:use_shape n:string" 'and no string'
wrong 1 "$PWD/plain:use_shape shape->label" 'no debug information'
