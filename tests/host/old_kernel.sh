# SPDX-License-Identifier: GPL-2.0-only
#
# For a kernel that is too old the build ends with one sentence. The headers are made up: as much of them as comes before
# the compiler.

set -uo pipefail

failed=0
export MAKEFLAGS=

# headers VERSION PATCHLEVEL
headers() {
	mkdir -p headers/include/generated
	echo "#define UTS_RELEASE \"$1.$2.0-test\"" >headers/include/generated/utsrelease.h
	cat >headers/Makefile <<-END
	export VERSION := $1
	export SRCARCH := x86
	export PATCHLEVEL := $2
	export KERNELVERSION := $1.$2.0
	src := \$(M)
	include \$(M)/Kbuild
	modules: ; @echo would be built
	END
}

# builds VERSION PATCHLEVEL: whether it would; what it says is in "said".
builds() {
	local status

	headers "$1" "$2"
	make -C "$TOP" module KDIR="$PWD/headers" >said 2>&1
	status=$?
	rm -rf "$TOP/build/kmod/$1.$2.0-test"
	sed "s/^/$1.$2: /" said
	return $status
}

expect() {
	if "${@:2}"; then
		echo "ok: $1"
	else
		echo "FAILED: $1"
		failed=1
	fi
}

not() {
	! "$@"
}

for old in '5 10' '5 19' '6 0'; do
	# shellcheck disable=SC2086
	expect "$old is refused" not builds $old
	expect 'in one sentence' grep -q "\*\*\* FKT needs Linux 6.1 or newer; these are the headers of ${old/ /.}.0\.  Stop" said
	expect 'and nothing else but by make' [ "$(grep -cv '^make\|KBUILD' said)" = 1 ]
done
for new in '6 1' '6 12' '7 0' '10 0'; do
	# shellcheck disable=SC2086
	expect "$new is not" builds $new
	expect 'as it says' grep -q 'would be built' said
done
exit $failed
