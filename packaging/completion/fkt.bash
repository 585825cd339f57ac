# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# bash's completion of FKT's tools: options are those that --help has; what they name is asked of the running kernel, as
# far as the user may see it. Needs the package bash-completion.

# _fkt_names KIND: all names that there are.
_fkt_names() {
	local tracing=/sys/kernel/tracing

	case $1 in
	masks)
		echo all
		_fkt_names layers ;;
	layers)
		# It names them where it does not know one.
		fkt_setmask '?' 2>&1 | grep -oE '[a-z]+ \(0x' | awk '{ print $1 }' ;;
	functions)
		awk '{ print $1 }' $tracing/available_filter_functions || awk '$2 ~ /^[tT]$/ { print $3 }' /proc/kallsyms ;;
	events)
		cat $tracing/available_events ;;
	counters)
		# Those that are named where one is not known.
		fkt_record --counters '?' 2>&1 | sed -n 's/.*it can be//p' | tr ',' '\n' ;;
	pids)
		command ps -e -o pid= | tr -d ' ' ;;
	names)
		command ps -e -o comm= ;;
	sets)
		sed -n 's/^[[:blank:]]*\[\(@[^]]*\)\].*/\1/p' ~/.config/fkt/config /etc/fkt/fkt.conf /usr/share/fkt/sets.conf ;;
	commands)
		fkt --help | awk '/^  [a-z]+ +[a-z]/ { print $1 }' ;;
	esac 2>/dev/null
}

# _fkt_options TOOL
_fkt_options() {
	"$@" --help 2>/dev/null | grep -oE -- '^ {2,6}(-., )*--[a-z-]+=?' | grep -oE -- '--[a-z-]+=?'
}

# _fkt_list KIND: $cur is a list with commas, of which the last name is completed.
_fkt_list() {
	local before=

	[[ $cur != *,* ]] || before=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(_fkt_names "$1")" -- "${cur##*,}")
}

# _fkt_value OPTION: what it takes; returns 1 where that is not known.
_fkt_value() {
	case $1 in
	-k|--mask|--layer)			_fkt_list layers ;;
	-F|--function|--graph|--list-functions)	_fkt_list functions ;;
	-e|--event)				_fkt_list events ;;
	--counters)				_fkt_list counters ;;
	--pid|--tid)				_fkt_list pids ;;
	--comm|--process)			_fkt_list names ;;
	-o|-f|--output|-M|--module|-S|--system-map|--cut)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		compopt -o filenames ;;
	*)	return 1 ;;
	esac
	# A : is a word of its own for bash.
	__ltrim_colon_completions "$cur"
}

_fkt() {
	local cur prev words cword split tool at takes

	_init_completion -n =: || return
	tool=$1
	at=1
	if [ "${tool##*/}" = fkt ]; then
		if [ "$cword" = 1 ]; then
			mapfile -t COMPREPLY < <(compgen -W "$(_fkt_names commands) --help --version" -- "$cur")
			return
		fi
		tool=fkt_${words[1]}
		at=2
	fi
	if [[ $cur = --*=* ]]; then
		prev=${cur%%=*}
		cur=${cur#*=}
		_fkt_value "$prev"
		return
	fi
	if [[ $prev = -? ]] && _fkt_value "$prev"; then
		return
	fi
	case $tool:$cur in
	fkt_doctor:-*)
		mapfile -t COMPREPLY < <(compgen -W "$(_fkt_options fkt doctor)" -- "$cur") ;;
	fkt_doctor:*)
		;;
	*fkt_record:@*)
		mapfile -t COMPREPLY < <(compgen -W "$(_fkt_names sets)" -- "$cur") ;;
	*:-*)
		mapfile -t COMPREPLY < <(compgen -W "$(_fkt_options "$tool")" -- "$cur")
		[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace ;;
	*fkt_enable:*|*fkt_disable:*|*fkt_setmask:*)
		_fkt_list masks ;;
	*fkt_record:*)
		# The command, and what it takes.
		takes=$("$tool" --help 2>/dev/null | grep -oE -- '^ {2,6}(-., )+--[a-z-]+=')
		while [ $at -lt "$cword" ] && [[ ${words[at]} = [-@]* ]]; do
			# A short option may have its value behind it.
			[[ ${words[at]} != -? || $takes != *" ${words[at]}, "* ]] || at=$((at + 1))
			at=$((at + 1))
		done
		[ $at -gt "$cword" ] || _command_offset "$at" ;;
	*)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		compopt -o filenames ;;
	esac
} &&
	complete -F _fkt fkt fkt_record fkt_print fkt_enable fkt_disable fkt_setmask fkt_snapshot fkt_recover fkt_extract \
		fkt_export fkt_selection fkt_bufstats fkt_query fkt_diff fkt_kgmon fkt_view fkt_top
