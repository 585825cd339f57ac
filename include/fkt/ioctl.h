/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * /dev/fkt: setting up and steering a recording (paper, §B.4).
 *
 * Opening the device asks for CAP_PERFMON or CAP_SYS_ADMIN. Structs have the same layout for 32-
 * and 64-bit callers and begin with their size: a caller that knows fewer fields than the module
 * gets the defaults for the rest, one that knows more gets E2BIG if it sets any of those.
 *
 * Errors that any call may give: ENOTTY (no such ioctl), EFAULT, EINVAL (a value out of range).
 */
#ifndef FKT_IOCTL_H
#define FKT_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FKT_DEVICE	  "/dev/fkt"
#define FKT_IOCTL_VERSION 9

/* fkt_start.lanes */
#define FKT_LANES_PER_CPU 0
#define FKT_LANES_SHARED  1

/* fkt_start.on_full: what a probe does that finds no page (§8.1) */
enum fkt_on_full {
	FKT_ON_FULL_DROP = 0,  /* the event is counted as lost, and the lane's next page says so */
	FKT_ON_FULL_PAUSE = 1, /* the same, and the active mask goes to 0 until it is set again */
	/*
	 * The lane's oldest page is overwritten. Pages go out when the recording has been stopped,
	 * or by FKT_SNAPSHOT. Not with a limit, nor with a lane that all CPUs share: EINVAL.
	 */
	FKT_ON_FULL_OVERWRITE = 2,
};

/* fkt_start.flags */
#define FKT_START_SYSCALL_ARGS 1u /* record the arguments of system calls */
/*
 * With FKT_ON_FULL_OVERWRITE: as much memory again, for what is recorded while a FKT_SNAPSHOT is
 * taken. Without it, a probe that then finds no page counts a lost event.
 */
#define FKT_START_RESERVE      2u

#define FKT_NO_OUTPUT	       (-1)

#define FKT_POW_MIN	       2
#define FKT_POW_MAX	       20
#define FKT_POW_DEFAULT	       9 /* 512 pages, 2 MB, a lane */

/**
 * struct fkt_start - argument of FKT_START
 * @size: sizeof(struct fkt_start)
 * @out_fd: where the flush thread writes, from its file position on, which is set behind the last
 *	page when the recording has ended; FKT_NO_OUTPUT when the caller splices from /dev/fkt
 *	itself
 * @limit_bytes: stop when the next page would go beyond; 0: no limit
 * @lanes: FKT_LANES_PER_CPU or FKT_LANES_SHARED
 * @on_full: enum fkt_on_full
 * @flags: FKT_START_…
 * @flush_ms: close pages that are not yet full after this time and write a mark behind them, so
 *	that a reader at the other end of a pipe is never further behind; 0: only full pages
 * @id: the recording's random number, for its pages' headers
 */
struct fkt_start {
	__u32 size;
	__s32 out_fd;
	__u64 limit_bytes;
	__u32 lanes;
	__u32 on_full;
	__u32 flags;
	__u32 flush_ms;
	__u8 id[16];
};

enum fkt_state {
	FKT_STATE_IDLE = 0,	 /* no recording */
	FKT_STATE_READY = 1,	 /* set up; hooks are being attached */
	FKT_STATE_RECORDING = 2, /* probes record */
	FKT_STATE_DRAINING = 3,	 /* probes are gone, the last pages are being written */
};

/**
 * struct fkt_lane_status - one lane of fkt_status
 * @lane: its number
 * @cpu: its CPU, 0xffff for a shared lane
 * @pages_free: pages queued for probes to fill
 * @pages_filling: pages that probes write into, or that wait for the flush thread
 * @pages_writing: pages handed to the output that it has not let go of yet
 * @pages_extra: of all these, pages allocated because the buffer ran low (§8.1)
 * @events: events in pages that were handed to the output
 * @lost: events for which there was no page
 * @pages: pages handed to the output
 * @discarded: events that were recorded but could not be written
 * @overwritten: events that were overwritten
 * @complete_from: stamp from which on nothing was overwritten; 0: nothing was at all
 */
struct fkt_lane_status {
	__u32 lane;
	__u32 cpu;
	__u32 pages_free;
	__u32 pages_filling;
	__u32 pages_writing;
	__u32 pages_extra;
	__u64 events;
	__u64 lost;
	__u64 pages;
	__u64 discarded;
	__u64 overwritten;
	__u64 complete_from;
};

/**
 * struct fkt_refused - a function, or an address, that could not be hooked
 * @code: of its entry
 * @error: an errno value: EBUSY, a BPF program or a live patch holds it; EEXIST, it is there twice;
 *	EINVAL, ftrace knows no such function; ENOENT, its module has gone
 */
struct fkt_refused {
	__u32 code;
	__u32 error;
};

#define FKT_REFUSED_FIRST 8

/**
 * struct fkt_status - argument of FKT_STATUS; of the running recording, or else of the last one
 * @size: sizeof(struct fkt_status), given by the caller
 * @state: enum fkt_state
 * @mask: the active mask
 * @error: errno value with which the output failed and ended the recording, 0 if none
 * @events: sum over lanes, as are @lost and @discarded
 * @lost: events for which there was no page, and those of @skipped
 * @discarded: events that were recorded but could not be written
 * @bytes: bytes written, index pages and marks included
 * @pages: pages written, index pages and marks included
 * @flush_cpu_ns: CPU time that the flush thread used
 * @sync_cpu_ns: CPU time that the synchronizing thread used
 * @start_cycles: stamp when probes were let loose, 0 before
 * @stop_cycles: stamp when they were stopped, 0 before
 * @pauses: times that on_full=pause struck
 * @limit_reached: 1 when the size limit ended the recording
 * @direct: 1 when the output took pages by reference, past the page cache
 * @lanes: lanes that the recording has
 * @lanes_room: given by the caller: entries that fit at @lanes_ptr, may be 0
 * @lanes_ptr: given by the caller: address of a struct fkt_lane_status[]
 * @missed: times that an address was passed and the kernel could not call its probe, or look
 *	whether a trigger fires
 * @functions: functions that were hooked
 * @functions_refused: functions, and addresses, that could not be hooked
 * @clock_ahead: what is to be added to the processor's counter of cycles to get a stamp, which goes
 *	on where the machine has slept and the counter was set back
 * @text_reused: counts up when a module's code comes to be where another one's was; not 0
 * @reserved2: 0
 * @refused: the first of those that could not be hooked
 * @skipped: events of functions that were lost though there was a page: little was left of the
 *	stack, another tracer took the call, or too many tasks were inside functions of a graph
 * @untracked: tasks that come of those that a filter names, and for which it had no place: they
 *	were left out
 * @late: samples that were due and did not come: interrupts were off for longer than their period,
 *	or they would have taken more than a quarter of the CPU; but for those of a CPU that is idle
 *	when its timer comes
 * @applications: events that programs wrote
 * @applications_lost: events that programs wrote and that are not in the trace, as far as is known;
 *	of a thread that was refused for too many programs, one
 * @uprobes: places in programs that are traced
 * @uprobes_refused: those that the kernel did not take
 * @uprobe_refused: the first of them; @error is ENOTSUPP (524) or another one for an instruction
 *	that can't be traced, EIO for a file of which the kernel can't read single pages, EINVAL for
 *	a place behind the file's end, or somebody has asked for it with another semaphore
 * @uprobes_missed: returns that the kernel did not catch, as too many calls were within each other;
 *	where it had no memory for one, it does not say so
 * @uncounted: events with counters of which one or more did not count at that moment: the CPU came
 *	later, or had no room for it any more
 */
struct fkt_status {
	__u32 size;
	__u32 state;
	__u32 mask;
	__s32 error;
	__u64 events;
	__u64 lost;
	__u64 discarded;
	__u64 bytes;
	__u64 pages;
	__u64 flush_cpu_ns;
	__u64 sync_cpu_ns;
	__u64 start_cycles;
	__u64 stop_cycles;
	__u32 pauses;
	__u32 limit_reached;
	__u32 direct;
	__u32 lanes;
	__u32 lanes_room;
	__u32 reserved;
	__u64 lanes_ptr;
	__u64 missed;
	__u32 functions;
	__u32 functions_refused;
	__u64 clock_ahead;
	__u32 text_reused;
	__u32 reserved2;
	struct fkt_refused refused[FKT_REFUSED_FIRST];
	__u64 skipped;
	__u64 untracked;
	__u64 late;
	__u64 applications;
	__u64 applications_lost;
	__u32 uprobes;
	__u32 uprobes_refused;
	struct fkt_refused uprobe_refused[FKT_REFUSED_FIRST];
	__u64 uprobes_missed;
	__u64 uncounted;
};

/* fkt_function_spec.flags */
#define FKT_FUNCTION_ENTRY_ONLY 1u /* for one that never returns, or of unknown arguments */
#define FKT_FUNCTION_GRAPH	2u /* record it only where it is called, however deep, by a root */
#define FKT_FUNCTION_ROOT	4u /* with FKT_FUNCTION_GRAPH: a root */
#define FKT_FUNCTION_FLAGS	(FKT_FUNCTION_ENTRY_ONLY | FKT_FUNCTION_GRAPH | FKT_FUNCTION_ROOT)

#define FKT_FUNCTIONS_MAX	131072
#define FKT_FUNCTION_COPY_MAX	8
#define FKT_FUNCTION_ARGS_MAX	6	   /* those that are in registers, at most */
#define FKT_FUNCTION_OPS_MAX	(1u << 17) /* of all functions of a recording */

/**
 * struct fkt_function_spec - a function to trace
 * @address: of the function, or of ftrace's place in it
 * @code: of its entry, from FKT_CODE_DYNAMIC to FKT_CODE_DYNAMIC_END; that of its exit is the next
 *	one
 * @keys: mask of its layers: it is hooked when one of them is first on, and records while one is
 * @args: how many of its first arguments to record, at most FKT_FUNCTION_ARGS_MAX; 0 with @ops
 * @ret_bytes: size of what it returns: 0 (nothing), 1, 2, 4 or 8
 * @flags: FKT_FUNCTION_…
 * @copy_words: how many words of arguments it has on the stack, at most FKT_FUNCTION_COPY_MAX
 * @group: 0 for the kernel's own; those of one module have one number, and are unhooked with it
 * @ops: how many operations it has: what they fetch is recorded in place of the arguments, which
 *	are what FKT_FETCH_REGISTER counts, up to FKT_FUNCTION_ARGS_MAX
 * @reserved: 0
 * @ops_first: the first of them in the struct fkt_fetch[] that functions added together have in
 *	common
 */
struct fkt_function_spec {
	__u64 address;
	__u32 code;
	__u32 keys;
	__u8 args;
	__u8 ret_bytes;
	__u8 flags;
	__u8 copy_words;
	__u32 group;
	__u16 ops;
	__u16 reserved;
	__u32 ops_first;
};

/**
 * struct fkt_functions_common - what functions that are added together have in common; behind it
 * are their operations, struct fkt_fetch[]
 * @graph_depth: how many calls within each other are recorded of FKT_FUNCTION_GRAPH, 0 for all; the
 *	last one that was added counts
 * @text_reused: fkt_status.text_reused from before the addresses were looked up, 0 to do without
 *	it: then it is taken on trust that they are of the functions that they are said to be of
 */
struct fkt_functions_common {
	__u32 graph_depth;
	__u32 text_reused;
};

/**
 * struct fkt_code_lines - argument of FKT_LIST_CODES
 * @size: sizeof(struct fkt_code_lines)
 * @reserved: 0
 * @bytes: how many bytes of text there are; all are at @text_ptr if they are not more than @room
 * @room: given by the caller: bytes that fit at @text_ptr, may be 0
 * @text_ptr: given by the caller: address of the text, which has no NUL
 */
struct fkt_code_lines {
	__u32 size;
	__u32 reserved;
	__u64 bytes;
	__u64 room;
	__u64 text_ptr;
};

#define FKT_TRACEPOINTS_MAX	  16384
#define FKT_TRACEPOINT_NAME_BYTES 64
#define FKT_TRACEPOINT_ARGS_MAX	  5
#define FKT_TRACEPOINT_OPS_MAX	  (1u << 17) /* of all tracepoints of a recording */

/**
 * struct fkt_tracepoint_spec - a tracepoint to trace
 * @name: its name, of the kernel or of a module that is loaded already or comes later
 * @code: from FKT_CODE_DYNAMIC to FKT_CODE_DYNAMIC_END
 * @key: number of its layer's bit in the mask
 * @args: how many of its arguments to record, as they are, each in a word of its own; or, with
 *	@ops, how many FKT_FETCH_REGISTER may name, from 0 on
 * @ops: how many operations it has: what they fetch is recorded in place of the arguments
 * @ops_first: the first of them in the array of all probes' operations
 */
struct fkt_tracepoint_spec {
	char name[FKT_TRACEPOINT_NAME_BYTES];
	__u32 code;
	__u8 key;
	__u8 args;
	__u16 ops;
	__u32 ops_first;
};

/*
 * What a probe does to get what it records: operations on one value, which is 0 at the
 * beginning. Memory that can't be read is a value of 0, or the string "(fault)".
 */
enum fkt_fetch_op {
	/* value = the register number @value of struct pt_regs, or the argument of that number */
	FKT_FETCH_REGISTER = 1,
	FKT_FETCH_STACK = 2,	    /* value = the word number @value of the kernel's stack */
	FKT_FETCH_STACK_ADDR = 3,   /* value = the stack pointer */
	FKT_FETCH_VALUE = 4,	    /* value = @value */
	FKT_FETCH_READ = 5,	    /* value = the @size bytes (1, 2, 4, 8) at value + @value */
	FKT_FETCH_READ_USER = 6,    /* the same, of the program's memory alone */
	FKT_FETCH_WORD = 7,	    /* record value: a word */
	FKT_FETCH_STRING = 8,	    /* record the string at value + @value: @size words */
	FKT_FETCH_STRING_USER = 9,  /* the same, of the program's memory alone */
	FKT_FETCH_LAST_STRING = 10, /* like STRING, but without words that it does not need */
	FKT_FETCH_LAST_STRING_USER = 11,
	FKT_FETCH_COMM = 12, /* record the name of the current thread: 2 words */
	FKT_FETCH_BITS = 13, /* value = @size bits of it, from bit @value on */
	/* record the @size bytes at value + @value, in words; those that can't be read are 0 */
	FKT_FETCH_BYTES = 14,
	FKT_FETCH_BYTES_USER = 15, /* the same, of the program's memory alone */
	/* Of a FKT_KPROBE_RETURN, up to FKT_FETCH_WORDS_MAX different ones: */
	FKT_FETCH_ENTRY_REGISTER = 16, /* like REGISTER, as it was when the function was entered */
	FKT_FETCH_ENTRY_STACK = 17,    /* like STACK, likewise */
};

/**
 * struct fkt_fetch - one operation
 * @op: enum fkt_fetch_op
 * @size: see there, else 0
 * @value: see there, else 0
 */
struct fkt_fetch {
	__u32 op;
	__u32 size;
	__s64 value;
};

#define FKT_KPROBES_MAX	      4096
#define FKT_FETCH_OPS_MAX     128
#define FKT_FETCH_WORDS_MAX   14 /* of all that is recorded */
#define FKT_KPROBE_ACTIVE_MAX 4096

/* fkt_kprobe_spec.flags */
#define FKT_KPROBE_RETURN     1u /* when the function at the address returns */

/**
 * struct fkt_kprobe_spec - an address to trace
 * @address: of an instruction; of a function for FKT_KPROBE_RETURN
 * @code: from FKT_CODE_DYNAMIC to FKT_CODE_DYNAMIC_END
 * @key: number of its layer's bit in the mask
 * @flags: FKT_KPROBE_…
 * @ops: how many operations it has, may be 0
 * @max_active: of FKT_KPROBE_RETURN: how many may be inside the function; 0: the kernel's choice
 * @ops_first: the first of them in the struct fkt_fetch[] that addresses added together have in
 *	common
 */
struct fkt_kprobe_spec {
	__u64 address;
	__u32 code;
	__u8 key;
	__u8 flags;
	__u16 ops;
	__u32 max_active;
	__u32 ops_first;
};

/* What a trigger waits for. */
enum fkt_trigger_kind {
	FKT_TRIGGER_TRACEPOINT = 1, /* the tracepoint @name, conditions on its first arguments */
	FKT_TRIGGER_CALL = 2,	    /* a call of the function at @address; on registers by number */
	FKT_TRIGGER_RETURN = 3,	    /* its return, after more than @cycles; on its result */
	FKT_TRIGGER_RUNNABLE = 4,   /* a thread that was ready for more than @cycles runs */
	FKT_TRIGGER_OFF_CPU = 5,    /* a thread that was off its CPU for more than that runs */
	FKT_TRIGGER_IRQ = 6,	    /* a device interrupt that took more than @cycles */
	FKT_TRIGGER_SOFTIRQ = 7,    /* the same of a softirq */
	FKT_TRIGGER_LOG = 8,	    /* a message of the kernel's log that has @name in it */
	FKT_TRIGGER_KINDS,
};

enum fkt_trigger_op {
	FKT_TRIGGER_EQUAL = 1,
	FKT_TRIGGER_NOT_EQUAL = 2,
	FKT_TRIGGER_LESS = 3,
	FKT_TRIGGER_LESS_EQUAL = 4,
	FKT_TRIGGER_GREATER = 5,
	FKT_TRIGGER_GREATER_EQUAL = 6,
	FKT_TRIGGER_BITS = 7, /* any of these is set */
	FKT_TRIGGER_OPS,
};

/**
 * struct fkt_trigger_condition - what must be so beside
 * @arg: number of the argument or register; 0 for a result
 * @op: enum fkt_trigger_op
 * @bytes: its size: 1, 2, 4 or 8
 * @is_signed: 1 if it is
 * @ops: how many operations give the value, the last one FKT_FETCH_WORD, and the only one that
 *	records; registers are the arguments of a tracepoint, or the result. 0: it is the argument
 *	as it is
 * @ops_first: the first of them in the struct fkt_fetch[] that triggers added together have in
 *	common; 0 without any
 * @value: what it is held against
 */
struct fkt_trigger_condition {
	__u8 arg;
	__u8 op;
	__u8 bytes;
	__u8 is_signed;
	__u16 ops;
	__u16 ops_first;
	__s64 value;
};

#define FKT_TRIGGERS_MAX	   32
#define FKT_TRIGGER_NONE	   0xffffffffu
#define FKT_TRIGGER_CONDITIONS_MAX 4
#define FKT_TRIGGER_FETCH_MAX	   4096 /* operations, of all of them */
#define FKT_TRIGGER_NAME_BYTES	   64
/* So many may be inside a function that FKT_TRIGGER_RETURN waits for; others are not looked at. */
#define FKT_TRIGGER_ACTIVE	   1024

/**
 * struct fkt_trigger_spec - something that is waited for
 * @name: of a tracepoint; a part of a message; else empty
 * @address: of a function
 * @cycles: what it must take more than
 * @kind: enum fkt_trigger_kind
 * @conditions: how many of @condition there are; all of them must be met
 * @condition: see there
 * @comm: name of the thread whom it must be about; empty: of any
 * @reserved: 0
 */
struct fkt_trigger_spec {
	char name[FKT_TRIGGER_NAME_BYTES];
	__u64 address;
	__u64 cycles;
	__u32 kind;
	__u32 conditions;
	struct fkt_trigger_condition condition[FKT_TRIGGER_CONDITIONS_MAX];
	char comm[16];
	__u64 reserved;
};

#define FKT_STACKS_MAX	  4096

/* fkt_stack_spec.of */
#define FKT_STACKS_KERNEL 1u
#define FKT_STACKS_USER	  2u /* that of the program which is current, by frame pointers */

/**
 * struct fkt_stack_spec - codes whose events are recorded with stacks
 * @code: the first one: FKT_CODE_SWITCH, _WAKEUP, _WAKEUP_NEW, _SAMPLE, of the entry of a system
 *	call, or of a function's entry, a tracepoint or an address. Those of others have no stack
 * @count: how many there are
 * @of: FKT_STACKS_KERNEL, FKT_STACKS_USER or both: whose
 * @reserved: 0
 */
struct fkt_stack_spec {
	__u32 code;
	__u32 count;
	__u32 of;
	__u32 reserved;
};

#define FKT_DATA_SPECS_MAX 8192
#define FKT_DATA_LIMIT_MAX 4096

/**
 * struct fkt_data_spec - memory that a system call is given, to be recorded: FKT_CODE_DATA
 * @code: of the call's entry
 * @arg: which argument points to it, from 0 on; or FKT_DATA_RESULT, for FKT_DATA_FD
 * @read: enum fkt_data_read of calls.h: what is there, and when
 * @limit: how many bytes of each string or buffer, up to FKT_DATA_LIMIT_MAX; of FKT_DATA_IN,
 *	_OUT and _INOUT how many there are, at least 1
 *
 * Of an argument there is one, and system calls have to be recorded with their arguments.
 */
struct fkt_data_spec {
	__u32 code;
	__u8 arg;
	__u8 read;
	__u16 limit;
};

/**
 * struct fkt_data_common - where things are in the kernel's struct mount, in bytes
 * @mnt: its struct vfsmount
 * @parent: the address of the mount that it is in
 * @mountpoint: that of the directory's entry where it is
 * @reserved: 0
 *
 * Without it, and where the kernel is locked down, there are no paths of files.
 */
struct fkt_data_common {
	__u32 mnt;
	__u32 parent;
	__u32 mountpoint;
	__u32 reserved;
};

/**
 * struct fkt_longer_spec - which calls are recorded: those that take long enough
 * @cycles: calls of system calls and functions that take no more leave nothing; at least 1
 *
 * Those that take longer have an event FKT_CODE_BEGAN before that of their end. Not together with
 * FKT_PROVIDER_DATA, nor with FKT_PROVIDER_STACK for system calls: FKT_START gives EINVAL.
 * Functions have no stacks then.
 */
struct fkt_longer_spec {
	__u64 cycles;
};

#define FKT_PROFILE_HZ_MAX  20000
#define FKT_OVERFLOW_NS_MIN (1000000000u / FKT_PROFILE_HZ_MAX)

/**
 * struct fkt_profile_spec - samples: FKT_CODE_SAMPLE, of all CPUs that are not idle
 * @hz: how many a second on each CPU, from 1 to FKT_PROFILE_HZ_MAX
 * @reserved: 0
 *
 * They have the stacks that FKT_PROVIDER_STACK names for them: of the kernel's code, where that is
 * what was interrupted, and of the program.
 */
struct fkt_profile_spec {
	__u32 hz;
	__u32 reserved;
};

/**
 * struct fkt_counter_spec - a counter: FKT_CODE_COUNTERS before system calls, functions, interrupts
 *	and switches, and behind them
 * @type: PERF_TYPE_SOFTWARE or PERF_TYPE_HARDWARE, of linux/perf_event.h
 * @reserved: 0
 * @config: which one of these: PERF_COUNT_SW_… or PERF_COUNT_HW_…
 *
 * At most FKT_COUNTERS_MAX (format.h), in the order in which the event has them. ENOENT: this
 * machine has no such counter; ENOSPC: the CPU's are taken.
 */
struct fkt_counter_spec {
	__u32 type;
	__u32 reserved;
	__u64 config;
};

/**
 * struct fkt_overflow_spec - samples as those of fkt_profile_spec, by a counter; not together with
 *	that
 * @type: as in struct fkt_counter_spec
 * @hz: how many a second, from 1 to FKT_PROFILE_HZ_MAX: the kernel adapts the period; or 0
 * @config: as in struct fkt_counter_spec
 * @period: how much is counted from one to the next, up to S64_MAX, of a clock FKT_OVERFLOW_NS_MIN
 *	at least; 0 with @hz
 *
 * Where the processor counts, they come by NMI, and have no stack of the program then but the
 * instruction. ENOENT and ENOSPC as for counters; EINVAL where there is one already.
 */
struct fkt_overflow_spec {
	__u32 type;
	__u32 hz;
	__u64 config;
	__u64 period;
};

#define FKT_UPROBES_MAX	   16384
#define FKT_UPROBE_OPS_MAX (1u << 17) /* of all of them */

/* fkt_uprobe_spec.flags; at least one of the first two */
#define FKT_UPROBE_ENTRY   1u /* when a program comes to the instruction */
#define FKT_UPROBE_RETURN  2u /* when the function that begins there returns */
#define FKT_UPROBE_FLAGS   (FKT_UPROBE_ENTRY | FKT_UPROBE_RETURN)

/**
 * struct fkt_uprobe_spec - a place in a program or library to trace, in all processes that have it
 * @offset: of an instruction, in the file
 * @semaphore: where in the file 16 bits are that programs ask whether anybody traces; 0: nowhere
 * @fd: the file, a regular one, open for reading: it may be closed when it was added
 * @code: from FKT_CODE_DYNAMIC to FKT_CODE_DYNAMIC_END; with both flags that of the entry, and the
 *	next one is that of the return
 * @key: number of its layer's bit in the mask
 * @flags: FKT_UPROBE_…
 * @ops: how many operations FKT_UPROBE_ENTRY has, may be 0
 * @ops_first: the first of them in the struct fkt_fetch[] that those added together have in common
 * @return_ops: how many FKT_UPROBE_RETURN has
 * @reserved: 0
 * @return_ops_first: likewise
 *
 * Operations are on the program's registers and memory alone: of _READ, _STRING, _LAST_STRING and
 * _BYTES there are those whose name ends in _USER, and none of _STACK, _STACK_ADDR and _ENTRY_….
 *
 * With both flags the immediate of entry and return is FKT_UPROBE_PLACE of where on the stack the
 * return address is: that is the same in both, and another one in a call within it.
 */
struct fkt_uprobe_spec {
	__u64 offset;
	__u64 semaphore;
	__s32 fd;
	__u32 code;
	__u8 key;
	__u8 flags;
	__u16 ops;
	__u32 ops_first;
	__u16 return_ops;
	__u16 reserved;
	__u32 return_ops_first;
};

/**
 * struct fkt_triggered - argument of FKT_TRIGGERED
 * @size: sizeof(struct fkt_triggered)
 * @number: which trigger fired, in the order in which they were added, from 0; FKT_TRIGGER_NONE
 *	when none has since they were armed: then all but @ignored is 0
 * @tid: the thread that it is about
 * @cpu: where
 * @stamp: when
 * @value: how many cycles it took, or the value of its first condition
 * @ignored: how often one was met while they were not armed, since the recording began
 * @comm: what @tid was called then
 */
struct fkt_triggered {
	__u32 size;
	__u32 number;
	__u32 tid;
	__u32 cpu;
	__u64 stamp;
	__u64 value;
	__u64 ignored;
	char comm[16];
};

/* What a task must be, to be recorded. */
enum fkt_filter_kind {
	FKT_FILTER_PID = 1,  /* a thread of the process @value, of those that there are or come */
	FKT_FILTER_TID = 2,  /* the thread @value */
	FKT_FILTER_COMM = 3, /* called @comm */
	FKT_FILTER_UID = 4,  /* of the user @value, its real one */
	FKT_FILTER_CGROUP =
		5,	    /* in the cgroup whose directory is open as @value, or in one in it */
	FKT_FILTER_CPU = 6, /* on the CPU @value */
};

#define FKT_FILTERS_MAX	    4096

/* fkt_filter_spec.flags */
#define FKT_FILTER_CHILDREN 1u /* of _PID and _TID: also the tasks that come of it */

/**
 * struct fkt_filter_spec - whom to record; else nothing but the process events is
 * @kind: enum fkt_filter_kind
 * @flags: FKT_FILTER_…
 * @value: see there, else 0
 * @comm: see there, with zeros behind; else empty
 * @reserved: 0
 *
 * Those of one kind are alternatives, and _PID and _TID are one kind. A task must meet one of each
 * kind that there is.
 */
struct fkt_filter_spec {
	__u32 kind;
	__u32 flags;
	__u64 value;
	char comm[16];
	__u64 reserved;
};

/*
 * The module's kinds of probe: X(NAME, name), one file kmod/probes/name.c each, in the order in
 * which they are attached. The number of a row is the kind's, as fkt_probes.kind has it.
 */
#define FKT_PROVIDERS(X)                                                                           \
	X(PROCESS, process)                                                                        \
	X(SYSCALL, syscall)                                                                        \
	X(IRQ, irq)                                                                                \
	X(TRAP, trap)                                                                              \
	X(FUNCTION, function)                                                                      \
	X(TRACEPOINT, tracepoint)                                                                  \
	X(KPROBE, kprobe)                                                                          \
	X(MODULE, module)                                                                          \
	X(VECTOR, vector)                                                                          \
	X(TRIGGER, trigger)                                                                        \
	X(STACK, stack)                                                                            \
	X(FILTER, filter)                                                                          \
	X(DATA, data)                                                                              \
	X(LONGER, longer)                                                                          \
	X(PROFILE, profile)                                                                        \
	X(APPLICATION, application)                                                                \
	X(UPROBE, uprobe)                                                                          \
	X(LATE, late)                                                                              \
	X(COUNTERS, counters)                                                                      \
	X(OVERFLOW, overflow)                                                                      \
	/* a new one comes last */

enum fkt_provider_kind {
#define X(NAME, name) FKT_PROVIDER_##NAME,
	FKT_PROVIDERS(X)
#undef X
};

/**
 * struct fkt_probes - argument of FKT_ADD_PROBES
 * @size: sizeof(struct fkt_probes)
 * @kind: enum fkt_provider_kind, one of those below
 * @count: how many probes there are at @specs_ptr
 * @spec_bytes: size of the struct that describes one of them
 * @specs_ptr: address of an array of these structs
 * @common_ptr: address of what they have in common
 * @common_bytes: its size; 0: nothing, or the defaults
 * @done: set by the call: how many the module took. All, or none when it fails; but of
 *	FKT_PROVIDER_KPROBE, _TRIGGER and _FILTER those before the one that it refused, which has
 *	this number
 *
 *	kind			a spec				what they have in common
 *	FKT_PROVIDER_FUNCTION	struct fkt_function_spec	struct fkt_functions_common,
 *								struct fkt_fetch[]
 *	FKT_PROVIDER_TRACEPOINT	struct fkt_tracepoint_spec	struct fkt_fetch[]
 *	FKT_PROVIDER_KPROBE	struct fkt_kprobe_spec		struct fkt_fetch[]
 *	FKT_PROVIDER_TRIGGER	struct fkt_trigger_spec		struct fkt_fetch[]
 *	FKT_PROVIDER_STACK	struct fkt_stack_spec		nothing
 *	FKT_PROVIDER_FILTER	struct fkt_filter_spec		nothing
 *	FKT_PROVIDER_DATA	struct fkt_data_spec		struct fkt_data_common
 *	FKT_PROVIDER_LONGER	struct fkt_longer_spec, one	nothing
 *	FKT_PROVIDER_PROFILE	struct fkt_profile_spec, one	nothing
 *	FKT_PROVIDER_UPROBE	struct fkt_uprobe_spec		struct fkt_fetch[]
 *	FKT_PROVIDER_COUNTERS	struct fkt_counter_spec		nothing
 *	FKT_PROVIDER_OVERFLOW	struct fkt_overflow_spec, one	nothing
 */
struct fkt_probes {
	__u32 size;
	__u32 kind;
	__u32 count;
	__u32 spec_bytes;
	__u64 specs_ptr;
	__u64 common_ptr;
	__u32 common_bytes;
	__u32 done;
};

#define FKT_HOOKABLE_MAX 4096

/**
 * struct fkt_hookable - argument of FKT_HOOKABLE
 * @size: sizeof(struct fkt_hookable)
 * @kind: FKT_PROVIDER_FUNCTION
 * @count: how many addresses there are, at most FKT_HOOKABLE_MAX
 * @reserved: 0
 * @addresses_ptr: address of an array of them, 64 bits each; those that can't be hooked are set to
 *	0
 */
struct fkt_hookable {
	__u32 size;
	__u32 kind;
	__u32 count;
	__u32 reserved;
	__u64 addresses_ptr;
};

/**
 * struct fkt_snapshot - argument of FKT_SNAPSHOT
 * @size: sizeof(struct fkt_snapshot)
 * @reserved: 0
 * @id: the snapshot's random number, for its pages' headers
 * @from_cycles: pages that were closed before this stamp are not wanted, and are overwritten; 0:
 *	all are wanted
 * @stop_cycles: set by the call: up to this stamp the snapshot has all events
 */
struct fkt_snapshot {
	__u32 size;
	__u32 reserved;
	__u8 id[16];
	__u64 from_cycles;
	__u64 stop_cycles;
};

/**
 * struct fkt_ended - a thread that has ended
 * @tid: its number
 * @pid: that of its process
 * @ppid: that of the process's parent
 * @reserved: 0
 * @comm: its name, with zeros behind
 */
struct fkt_ended {
	__u32 tid;
	__u32 pid;
	__u32 ppid;
	__u32 reserved;
	char comm[16];
};

#define FKT_ENDED_MAX 16384

/**
 * struct fkt_ended_list - argument of FKT_LIST_ENDED
 * @size: sizeof(struct fkt_ended_list)
 * @room: given by the caller: how many fit at @ended_ptr
 * @count: set by the call: how many are there, the last one first; at most FKT_ENDED_MAX
 * @reserved: 0
 * @ended_ptr: given by the caller: address of a struct fkt_ended[]
 */
struct fkt_ended_list {
	__u32 size;
	__u32 room;
	__u32 count;
	__u32 reserved;
	__u64 ended_ptr;
};

#define FKT_IOC		    0xfc

/* The version of this interface, FKT_IOCTL_VERSION. */
#define FKT_VERSION	    _IOR(FKT_IOC, 0, __u32)
/* Pages a lane for the next recording, 2 to the power of it. EBUSY while one runs. */
#define FKT_SETINITPOWPAGES _IOW(FKT_IOC, 1, __u32)
/* Mask that the next recording starts with. EBUSY while one runs. */
#define FKT_SETINITMASK	    _IOW(FKT_IOC, 2, __u32)
/* 1: take pages below 16 MB if there are. EBUSY while a recording runs. */
#define FKT_SETTRYDMA	    _IOW(FKT_IOC, 3, __u32)
/* Give back the pages kept from the last recording. EBUSY while one runs. */
#define FKT_FREEBUFFER	    _IO(FKT_IOC, 4)
/* Wait until a recording has begun, for as long as it takes; EINTR on a signal. */
#define FKT_WAITREADY	    _IO(FKT_IOC, 5)
/*
 * Set bits of the active mask; ENODEV when no recording runs, EINVAL for a bit without a layer,
 * EAGAIN while the recording is paused and there is no page in which that could be said.
 */
#define FKT_ENABLE	    _IOW(FKT_IOC, 6, __u32)
/* Clear bits of the active mask; errors as above. */
#define FKT_DISABLE	    _IOW(FKT_IOC, 7, __u32)
/* Replace the active mask; errors as above. */
#define FKT_SETMASK	    _IOW(FKT_IOC, 8, __u32)
/*
 * Begin a recording that ends with FKT_STOP or when this file is closed. EBUSY while one runs,
 * EBADF for an out_fd that is not open for writing, EINVAL for one that can't be spliced to
 * (O_APPEND), ENOMEM. Returns once probes record.
 */
#define FKT_START	    _IOW(FKT_IOC, 9, struct fkt_start)
/*
 * Stop the probes, and wait until all pages are written and, for a file, synchronized. 0 also when
 * the recording had ended by itself (limit, error); EPERM when another open file began it, ENODEV
 * when this one never began any, EINTR on a signal (stopping goes on). poll() gives POLLHUP once a
 * recording that this file began has ended.
 */
#define FKT_STOP	    _IO(FKT_IOC, 10)
#define FKT_STATUS	    _IOWR(FKT_IOC, 11, struct fkt_status)
/*
 * Probes to have in the next recording, of one kind, more with each call; forgotten when that ends,
 * and when this file is closed. Asks for CAP_SYS_ADMIN, but of _STACK, _FILTER and _LONGER; where
 * the module's parameter trust_perfmon is set, of none. What the arguments of a function are is
 * taken on trust, and one that has more of them on the stack than copy_words says would find others
 * there. EBUSY while a recording runs or another open file has added some, EINVAL for a kind that
 * nobody can name probes of, for a size, a count or anything in a spec that is out of range, E2BIG
 * for a spec that says more than the module understands.
 *
 * Functions: EPERM also on a kernel that is locked down for integrity, unless all are
 * FKT_FUNCTION_ENTRY_ONLY; those with operations need what addresses need of one. An entry has none
 * of what they fetch where little is left of the stack, and where it is called by the fetching of
 * another one. EINVAL also for a group of no module for an address in one, ESTALE when
 * so many modules have come since the addresses were looked up that nobody knows whose they are.
 * When its layer is attached, an address that ftrace can't hook, that is there twice, whose module
 * has gone since it was looked up, whether another one came there or not, or that somebody else
 * holds (a BPF program's direct trampoline, a live patch) is left out
 * (fkt_status.functions_refused); FKT_START and FKT_ENABLE give EOPNOTSUPP while
 * kernel.ftrace_enabled is 0, so that ftrace would call nobody; and EINTR on a signal: FKT_START
 * may then be called again, for what was named is not forgotten.
 *
 * Tracepoints: one that does not exist, or does not as yet, is no error. EOPNOTSUPP on a kernel
 * that checks the type of what it calls (CONFIG_CFI): FKT does not know it. Those with operations
 * need what addresses need of a kernel that is locked down.
 *
 * Triggers: as for tracepoints and addresses; FKT_START gives ENOENT where there is no such
 * tracepoint, and EINVAL for a recording without FKT_ON_FULL_OVERWRITE.
 *
 * Places in programs: asks for CAP_SYS_ADMIN in any case, for an instruction that does not begin
 * there is another one then. EBADF for a file that is not open for reading, EINVAL also for one
 * that is not a regular one; what the kernel refuses when they are attached is left out
 * (fkt_status.uprobes_refused). EOPNOTSUPP where the kernel has no uprobes. EPERM as for addresses.
 *
 * Filters: ESRCH where there is no such process or thread, EBADF for what is not a directory of the
 * cgroup hierarchy (version 2), ENOSPC for more than 16 names, users or cgroups.
 *
 * Addresses: EINVAL also for one that must not be probed, EILSEQ for one within an instruction,
 * EDEADLK for one in FKT itself, ERANGE for one in the last function of a module, where the kernel
 * would read what is behind the module; EPERM for all on a kernel that is locked down for
 * confidentiality, where the device cannot be opened either. ENOENT for code that has gone; what
 * goes before its layer is attached is left out, as a function is.
 */
#define FKT_ADD_PROBES	    _IOWR(FKT_IOC, 12, struct fkt_probes)
/*
 * Of a recording with FKT_ON_FULL_OVERWRITE, which this file began: what the lanes hold may be
 * spliced from here on, up to an end of file, while the recording goes on. FKT_STATUS is of what
 * was spliced, until FKT_SNAPSHOT_END; then it begins anew, but for missed, late and pauses. What
 * is not spliced by then stays where it is. ENODEV when this file's recording is not running,
 * EINVAL when it overwrites nothing or has an output, EBUSY when a snapshot is being taken, EINTR
 * on a signal.
 */
#define FKT_SNAPSHOT	    _IOWR(FKT_IOC, 13, struct fkt_snapshot)
/*
 * Overwrite again. 1: the next trace begins where this one ended; 0: what was spliced has not come
 * to where it was to go, and counts as overwritten. ENODEV when no snapshot is being taken, EINTR.
 */
#define FKT_SNAPSHOT_END    _IOW(FKT_IOC, 14, __u32)
/*
 * What has fired of the triggers of the recording, which this file began. poll() gives POLLPRI when
 * one has. Then none is armed until FKT_TRIGGER_ARM. ENODEV when this file's recording is not
 * running.
 */
#define FKT_TRIGGERED	    _IOWR(FKT_IOC, 15, struct fkt_triggered)
/* The next trigger that is met fires. ENODEV, EINTR. */
#define FKT_TRIGGER_ARM	    _IO(FKT_IOC, 16)
/*
 * The codes that other modules have registered (probe.h), as lines of FKT_SECTION_CODES: of modules
 * that are loaded, and of those that have gone since the last recording began.
 */
#define FKT_LIST_CODES	    _IOWR(FKT_IOC, 20, struct fkt_code_lines)
/*
 * The threads that have ended while the last recording with FKT_ON_FULL_OVERWRITE ran, or runs: of
 * what is overwritten, nobody else knows how they were called.
 */
#define FKT_LIST_ENDED	    _IOWR(FKT_IOC, 21, struct fkt_ended_list)
/*
 * Which of some addresses are of functions that can be named in FKT_ADD_PROBES, whoever holds them:
 * tracefs lists them all, and takes a second for it. EPERM as for functions there; ENODEV when
 * ftrace has stopped for good, EINVAL for another kind, EINTR on a signal.
 */
#define FKT_HOOKABLE	    _IOW(FKT_IOC, 22, struct fkt_hookable)

#endif
