/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Probe codes, layers and key masks, with their names: the one table.
 *
 * fkt_record writes the whole table into each trace (FKT_SECTION_CODES), so that any later or
 * earlier fkt_print names and decodes the codes that the recording module knew.
 */
#ifndef FKT_CODES_H
#define FKT_CODES_H

/*
 * Layers (paper, §B.5): X(NAME, bit, "name", "what it traces")
 *
 * A layer's key mask is 1 << bit. A probe records when its key mask and the active mask meet.
 */
#define FKT_LAYERS(X)                                                                              \
	X(SYSTEM, 0, "system", "system calls, exceptions, page faults, interrupts, softirqs")      \
	X(NETDRV, 1, "netdrv", "network drivers: transmit, receive, poll")                         \
	X(NETWORK, 2, "network", "IP: in, out, route, fragments, drops")                           \
	X(TRANSPORT, 3, "transport", "TCP and UDP: send, receive, acknowledge, retransmit")        \
	X(SOCKET, 4, "socket", "sockets: bind, connect, accept, send, receive, poll")              \
	X(BLOCK, 5, "block", "block and SCSI: requests queued, issued, merged, completed")         \
	X(FILES, 6, "files", "file systems: read, write, fsync, open, lookup, page cache")         \
	X(APPLICATION, 7, "application", "events that programs write (fkt/user.h)")                \
	X(FUNCTIONS, 8, "functions", "the functions that -F names")                                \
	X(TRACEPOINTS, 9, "tracepoints", "the tracepoints that -e names")                          \
	X(ADDRESSES, 10, "addresses", "the addresses that -P names")                               \
	X(MODULES, 11, "modules", "probes in other modules")                                       \
	X(PROFILE, 12, "profile", "samples: what CPUs are at, so many times a second")             \
	X(USER, 13, "user", "the functions of programs that -U names")                             \
	X(GCC, 29, "gcc", "modules built with -finstrument-functions")                             \
	X(FKT, 30, "fkt", "the recording's own pages: submitted, released, extra, synchronized")   \
	X(PROCESS, 31, "process", "switch, wake-up, fork, exec, exit: on whenever anything is")

enum fkt_key {
#define X(NAME, bit, name, about) FKT_KEY_##NAME = (int)(1u << (bit)),
	FKT_LAYERS(X)
#undef X
};

/*
 * Kinds of code. ENTRY and EXIT nest: an exit ends the entry that its pair column names, on the
 * same thread (system calls, functions) or on the same CPU (interrupts, softirqs: CPU_ENTRY,
 * CPU_EXIT). On PREEMPT_RT a softirq is the thread's that runs it, though its kind is the same.
 */
#define FKT_KINDS(X)                                                                               \
	X(POINT, "point")                                                                          \
	X(ENTRY, "entry")                                                                          \
	X(EXIT, "exit")                                                                            \
	X(CPU_ENTRY, "cpu_entry")                                                                  \
	X(CPU_EXIT, "cpu_exit")

enum fkt_kind {
#define X(NAME, name) FKT_KIND_##NAME,
	FKT_KINDS(X)
#undef X
};

/*
 * Codes: X(NAME, code, count, KIND, pair, LAYER, "name", "spec")
 *
 * A row stands for the codes code … code + count - 1; what is added to the first one (the row's
 * index) is a number of its own: a system call, a vector. pair is the first code of the matching
 * entry or exit row, 0 where there is none. A spec is a list of fields, "name:type", separated by
 * spaces, in the order in which they stand in the slot's words, each of its natural size and
 * aligned to it as in a C struct; a field "@name:type" is the slot's immediate, signed where the
 * type is.
 *
 *	index types		sysnr compat vector
 *	s8… s64, u8… u64	decimal numbers		x32, x64	hexadecimal numbers
 *	pid			32 bits, shown with the process's name
 *	irq softirq trap	shown with their names, 16 bits
 *	state			the letters of a task's state (R S D T t X Z P I), 16 bits
 *	sym			64 bits, an address shown as symbol+offset
 *	func			64 bits, the address of a function, shown as its name. Entries and
 *				exits with such a field nest function by function: an exit ends the
 *				entry that has the same address here, not any entry of the paired
 *				code
 *	comm			16 bytes, a process name padded with NULs
 *	str			all the words that remain, a string padded with NULs
 *	string stringN		the same with its name and in quotes, from the next word on;
 *				N bytes, a multiple of 8
 *	char			8 bits, a character
 *	TYPE[N]			an array: N of s8… s64, u8… u64, x8… x64, sym, char, dev,
 *				enum32{…} or enum64{…}
 *	args			all the words that remain, arguments of the row's system call
 *	arg			64 bits, decimal when small, else hexadecimal
 *	ret			a result: the immediate, signed, when no word follows, else 64 bits;
 *				-1 … -4095 are shown as errno names
 *	rets8… rets32, retu8… retu32	the same of which only the lowest bits count
 *	void			no result, said so
 *	enum8… enum64		of an enum: "enum32{NAME=NUMBER,…}", shown as the name
 *	cycles			64 bits, a number of cycles or a stamp
 *	trigger			16 bits, the text of that trigger
 *	code			32 bits, a code, shown as its name
 *
 * In FKT's own rows a "#type" gives the type of the index. A row whose spec begins with "#words"
 * has each field at the beginning of a word of its own: codes of other modules, see probe.h.
 */
#define FKT_CODES(X)                                                                               \
	/* system calls; the last code is that of all numbers that are not less: its argument */   \
	X(SYSCALL_ENTRY, 0x0000, 1024, ENTRY, 0x0400, SYSTEM, "sys", "#sysnr args:args")           \
	X(SYSCALL_EXIT, 0x0400, 1024, EXIT, 0x0000, SYSTEM, "sys_exit", "#sysnr ret:ret")          \
	/* 32-bit system calls (int 0x80 and its like) on a 64-bit kernel */                       \
	X(COMPAT_ENTRY, 0x0800, 1024, ENTRY, 0x0c00, SYSTEM, "ia32_sys", "#compat args:args")      \
	X(COMPAT_EXIT, 0x0c00, 1024, EXIT, 0x0800, SYSTEM, "ia32_sys_exit", "#compat ret:ret")     \
	X(IRQ_ENTRY, 0x1000, 1, CPU_ENTRY, 0x1001, SYSTEM, "irq", "@irq:irq")                      \
	X(IRQ_EXIT, 0x1001, 1, CPU_EXIT, 0x1000, SYSTEM, "irq_exit", "@irq:irq")                   \
	X(SOFTIRQ_ENTRY, 0x1002, 1, CPU_ENTRY, 0x1003, SYSTEM, "softirq", "@vec:softirq")          \
	X(SOFTIRQ_EXIT, 0x1003, 1, CPU_EXIT, 0x1002, SYSTEM, "softirq_exit", "@vec:softirq")       \
	X(SOFTIRQ_RAISE, 0x1004, 1, POINT, 0, SYSTEM, "softirq_raise", "@vec:softirq")             \
	X(PAGE_FAULT_USER, 0x1005, 1, POINT, 0, SYSTEM, "page_fault_user",                         \
	  "@error:u16 address:x64 ip:x64")                                                         \
	X(PAGE_FAULT_KERNEL, 0x1006, 1, POINT, 0, SYSTEM, "page_fault_kernel",                     \
	  "@error:u16 address:x64 ip:sym")                                                         \
	X(EXCEPTION, 0x1007, 1, POINT, 0, SYSTEM, "exception", "@trap:trap error:s64 ip:x64")      \
	/* a timer's interrupt: how late it has come, and what the hypervisor took meanwhile */    \
	X(LATE, 0x1008, 1, POINT, 0, SYSTEM, "late", "by_ns:u64 stolen_ns:u64")                    \
	/* an architecture's interrupt vectors, in the order of its FKT_VECTORS */                 \
	X(VECTOR_ENTRY, 0x1080, 64, CPU_ENTRY, 0x10c0, SYSTEM, "vector", "#vector")                \
	X(VECTOR_EXIT, 0x10c0, 64, CPU_EXIT, 0x1080, SYSTEM, "vector_exit", "#vector")             \
	/* process events (§6) */                                                                 \
	X(SWITCH, 0x1100, 1, POINT, 0, PROCESS, "switch_to", "@state:state prev:pid next:pid")     \
	X(WAKEUP, 0x1101, 1, POINT, 0, PROCESS, "wakeup", "pid:pid prio:s32 @target_cpu:u16")      \
	X(WAKEUP_NEW, 0x1102, 1, POINT, 0, PROCESS, "wakeup_new",                                  \
	  "pid:pid prio:s32 @target_cpu:u16")                                                      \
	X(FORK, 0x1103, 1, POINT, 0, PROCESS, "fork",                                              \
	  "child:pid tgid:u32 parent:pid parent_tgid:u32")                                         \
	X(EXEC, 0x1104, 1, POINT, 0, PROCESS, "exec", "pid:pid old_pid:u32 comm:comm")             \
	X(EXIT, 0x1105, 1, POINT, 0, PROCESS, "exit", "pid:pid code:x32")                          \
	X(RELEASE, 0x1106, 1, POINT, 0, PROCESS, "release", "pid:pid tgid:u32")                    \
	X(RENAME, 0x1107, 1, POINT, 0, PROCESS, "rename", "pid:pid tgid:u32 comm:comm")            \
	/* the recording itself */                                                                 \
	X(PAUSE, 0x1200, 1, POINT, 0, PROCESS, "fkt_pause", "@lane:u16 at:cycles")                 \
	X(SETMASK, 0x1201, 1, POINT, 0, PROCESS, "fkt_setmask", "mask:x32 pid:pid")                \
	X(TRIGGER, 0x1202, 1, POINT, 0, PROCESS, "fkt_trigger", "@what:trigger pid:pid value:s64") \
	/* a stack of the event behind it, see FKT_STACK_… in format.h */                        \
	X(STACK, 0x1203, 1, POINT, 0, PROCESS, "stack", "@how:x16")                                \
	X(FILTER, 0x1204, 1, POINT, 0, PROCESS, "fkt_filter", "@recorded:u16 pid:pid")             \
	/* memory of the system call that begins or ends behind it: FKT_DATA_… in format.h */    \
	X(DATA, 0x1205, 1, POINT, 0, SYSTEM, "data",                                               \
	  "@of:x16 call:x32 index:u16 bytes:u16 data:str")                                         \
	/* when a call began that took longer than is asked for: FKT_BEGAN_… in format.h */      \
	X(BEGAN, 0x1206, 1, POINT, 0, PROCESS, "began",                                            \
	  "@cpu:u16 at:cycles call:code pid:pid "                                                  \
	  "arg0:arg arg1:arg arg2:arg arg3:arg arg4:arg arg5:arg")                                 \
	/* what programs write (user.h), told later than its stamp: FKT_TOLD_… in format.h */    \
	X(TOLD, 0x1207, 1, POINT, 0, APPLICATION, "application",                                   \
	  "@cpu:u16 at:cycles what:code pid:pid "                                                  \
	  "arg0:arg arg1:arg arg2:arg arg3:arg arg4:arg arg5:arg")                                 \
	X(MARK, 0x1208, 1, POINT, 0, APPLICATION, "mark", "text:str")                              \
	X(APPLICATION_LOST, 0x1209, 1, POINT, 0, APPLICATION, "application_lost",                  \
	  "process:pid events:u64")                                                                \
	/* counters of its CPU, before the event behind it: FKT_COUNTERS_MAX in format.h */        \
	X(COUNTERS, 0x120a, 1, POINT, 0, PROCESS, "counters",                                      \
	  "@missing:x16 counter0:u64 counter1:u64 counter2:u64 counter3:u64")                      \
	/* its pages (§8.1, figure 10): those of a lane that are free then, and all it has */     \
	X(SUBMIT, 0x1210, 1, POINT, 0, FKT, "fkt_submit", "@lane:u16 page:u64 free:u32 of:u32")    \
	X(RELEASE_PAGE, 0x1211, 1, POINT, 0, FKT, "fkt_release",                                   \
	  "@lane:u16 page:u64 free:u32 of:u32")                                                    \
	X(EXTRA, 0x1212, 1, POINT, 0, FKT, "fkt_extra", "@lane:u16 pages:s64 free:u32 of:u32")     \
	X(SYNC_ENTRY, 0x1213, 1, ENTRY, 0x1214, FKT, "fkt_sync", "@forced:u16 bytes:u64")          \
	X(SYNC_EXIT, 0x1214, 1, EXIT, 0x1213, FKT, "fkt_sync_exit", "ret:ret")                     \
	/* modules built with -finstrument-functions (§7) */                                      \
	X(GCC_ENTRY, 0x1300, 1, ENTRY, 0x1301, GCC, "gcc", "function:func caller:sym")             \
	X(GCC_EXIT, 0x1301, 1, EXIT, 0x1300, GCC, "gcc_exit", "function:func")                     \
	/* what a CPU's timer has interrupted; late: samples that were due, and did not come */    \
	X(SAMPLE, 0x1400, 1, POINT, 0, PROFILE, "sample", "@user:u16 pid:pid late:u32 ip:sym")

/* The types that fit into a word: those that a probe in another module may use (probe.h). */
/* clang-format off */
#define FKT_WORD_TYPES(X)                                                                          \
	X(s8) X(s16) X(s32) X(s64) X(u8) X(u16) X(u32) X(u64) X(x8) X(x16) X(x32) X(x64)           \
	X(pid) X(irq) X(softirq) X(trap) X(state) X(sym) X(func) X(ret) X(cycles)
/* clang-format on */

/* Codes that fkt_record gives out for a recording: to functions, tracepoints and addresses. */
#define FKT_CODE_DYNAMIC      0x10000
#define FKT_CODE_DYNAMIC_END  0x6f800
/* Codes that the module gives out, two a name, to programs (user.h). */
#define FKT_CODE_PROGRAMS     0x6f800
#define FKT_CODE_PROGRAMS_END 0x70000
/* Codes that the module gives out, to other modules that register theirs (probe.h). */
#define FKT_CODE_MODULES      0x70000
#define FKT_CODE_MODULES_END  0x80000

enum fkt_code {
#define X(NAME, code, count, KIND, pair, LAYER, name, spec) FKT_CODE_##NAME = (code),
	FKT_CODES(X)
#undef X
};

/* Softirqs: X(number, name), as in /proc/softirqs */
#define FKT_SOFTIRQS(X)                                                                            \
	X(0, HI)                                                                                   \
	X(1, TIMER)                                                                                \
	X(2, NET_TX)                                                                               \
	X(3, NET_RX)                                                                               \
	X(4, BLOCK)                                                                                \
	X(5, IRQ_POLL)                                                                             \
	X(6, TASKLET)                                                                              \
	X(7, SCHED)                                                                                \
	X(8, HRTIMER)                                                                              \
	X(9, RCU)

#endif
