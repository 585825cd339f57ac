/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The trace file: the one definition that the module writes and libfkt reads (paper, §C.1).
 *
 * All numbers are little-endian. A trace is
 *
 *	file header, head sections	one block of fkt_file_header.data_offset bytes
 *	pages				FKT_PAGE_BYTES each, in the order in which they were closed
 *	tail sections, footer		only when the recording ended in order
 *
 * A file cut anywhere is readable up to its last whole page. docs/format.md says the same in prose.
 */
#ifndef FKT_FORMAT_H
#define FKT_FORMAT_H

#include <linux/types.h>

#define FKT_FILE_MAGIC	  "FKTTRACE" /* 8 bytes, no terminating NUL in the file */
#define FKT_VERSION_MAJOR 1	     /* a reader refuses a major version that it does not know */
#define FKT_VERSION_MINOR 0
#define FKT_BYTE_ORDER	  0x01020304

#define FKT_PAGE_BYTES	  4096
#define FKT_ID_BYTES	  16

/**
 * struct fkt_file_header - the first bytes of a trace
 * @magic: FKT_FILE_MAGIC
 * @version_major: changes when an old reader would go wrong
 * @version_minor: changes when something was added that an old reader may skip
 * @byte_order: FKT_BYTE_ORDER, as a little-endian number
 * @header_bytes: size of this struct in the file; the first section follows
 * @page_bytes: FKT_PAGE_BYTES
 * @page_header_bytes: sizeof(struct fkt_page_header); the first slot of a page follows it
 * @lanes: number of lanes that the recording has; 1 is the paper's one shared buffer, or one CPU
 * @shared: 1 when one lane is shared by all CPUs: a slot's CPU is then that of the last wide slot
 *	    before it in its page, or else of the page's header
 * @reserved: 0
 * @data_offset: where the first page begins, a multiple of FKT_PAGE_BYTES
 * @id: the recording's random number; each of its pages carries it
 */
struct fkt_file_header {
	char magic[8];
	__u16 version_major;
	__u16 version_minor;
	__u32 byte_order;
	__u32 header_bytes;
	__u32 page_bytes;
	__u32 page_header_bytes;
	__u32 lanes;
	__u32 shared;
	__u32 reserved;
	__u64 data_offset;
	__u8 id[FKT_ID_BYTES];
};

#define FKT_SECTION_MAGIC 0x53544b46 /* "FKTS" */

enum fkt_section_type {
	FKT_SECTION_END = 0,	   /* closes the head sections, and the tail sections */
	FKT_SECTION_INFO = 1,	   /* "key=value" strings, each with its NUL */
	FKT_SECTION_CLOCK = 2,	   /* struct fkt_clock_pair[] */
	FKT_SECTION_IRQS = 3,	   /* text lines "IRQ name" */
	FKT_SECTION_SYMBOLS = 4,   /* text, the lines of /proc/kallsyms */
	FKT_SECTION_PROCESSES = 5, /* text lines "tid pid ppid comm" */
	FKT_SECTION_CODES = 6,	   /* text lines "code count kind pair layer name spec" */
	FKT_SECTION_SYSCALLS = 7,  /* text lines "abi number name [argument,…]" */
	FKT_SECTION_LANES = 8,	   /* struct fkt_lane_totals[], in the tail */
	FKT_SECTION_STATE = 9,	   /* text, how things stood when an extracted trace begins */
	FKT_SECTION_MAPS = 10,	   /* text, where programs had their code: see below */
};

/*
 * The lines of FKT_SECTION_STATE are "cpu CPU TID" for who is current on a CPU, "call TID CODE
 * STAMP" for a call that this thread is in, with the code of its entry and when that was, and
 * "interrupt CPU CODE STAMP IMM" for an interrupt or softirq, with the immediate of its entry, or
 * what was called in one; those of one thread or CPU from the outermost one on. docs/format.md has
 * the others.
 */

/*
 * FKT_SECTION_MAPS says what code programs had at which addresses, if stacks of theirs were
 * recorded, in any order:
 *
 *	"map NS PID BEGIN END OFFSET BUILD_ID FILE"	from that moment on: BEGIN to END are from
 *							OFFSET on in this file. Numbers in hex but
 *							the first two; "-" for no build id
 *	"exec NS PID"					what it had is gone
 *	"fork NS PID PARENT"				it has what that process had
 *
 * NS is a moment on CLOCK_BOOTTIME; 0: before the recording. PID is a process, not a thread.
 */

/*
 * In the lines of FKT_SECTION_SYSCALLS abi is "x86_64" or "i386". The keys of FKT_SECTION_INFO are,
 * in the head,
 *
 *	sysname release version machine nodename	uname
 *	cpu_model cpus tsc_khz				the processors, and how many are online
 *	command recorder_pid command_pid		the last one, and command, if there is one
 *	mask layers syscall_args lanes on_full		how it was recorded: 0x1, "system", 0 or 1,
 *							"cpu" or "shared", "drop" or "pause"
 *	filter						who was recorded; not there if all were
 *	longer_than_cycles				calls that took no more were not; likewise
 *	counters					names of the counters that were read,
 *							"page-faults,task-clock"; likewise
 *	start_ns fkt_version				CLOCK_REALTIME, and the release of FKT
 *
 * and in the tail
 *
 *	end_ns start_cycles stop_cycles			CLOCK_REALTIME, and between which stamps
 *	events lost discarded missed pages bytes pauses	totals, as in struct fkt_status
 *	application_events application_lost		of what programs wrote
 *	flush_cpu_ns sync_cpu_ns direct limit_reached error
 *	overwritten complete_from_cycles		events that were, and from when on none was,
 *							where on_full is overwrite
 *	after_end					of an extracted trace: docs/format.md
 *	exit_status					the command's, as the shell counts them;
 *							not there if it had not ended
 *	recovered recovered_pages			1: by fkt_recover; pages of memory alone
 *	recovered_unwritten recovered_unknown		events and pages that were left out
 */

enum fkt_compression {
	FKT_COMPRESS_NONE = 0,
	FKT_COMPRESS_ZSTD = 1,
};

/**
 * struct fkt_section_header - stands before each section; the next one follows its data
 * @magic: FKT_SECTION_MAGIC
 * @type: enum fkt_section_type; a reader skips the types that it does not know
 * @stored_bytes: bytes of data in the file, without the padding to a multiple of 8 that follows
 * @raw_bytes: bytes of data once decompressed
 * @compression: enum fkt_compression
 * @reserved: 0
 */
struct fkt_section_header {
	__u32 magic;
	__u32 type;
	__u64 stored_bytes;
	__u64 raw_bytes;
	__u32 compression;
	__u32 reserved;
};

/**
 * struct fkt_clock_pair - one moment on the three clocks
 * @cycles: the stamp
 * @mono_ns: CLOCK_BOOTTIME, which like the stamps goes on while the machine sleeps
 * @real_ns: CLOCK_REALTIME
 *
 * One pair in the head, one in the tail; cycles to nanoseconds is the line through both.
 * A trace without a tail uses INFO's "tsc_khz".
 */
struct fkt_clock_pair {
	__u64 cycles;
	__u64 mono_ns;
	__u64 real_ns;
};

/**
 * struct fkt_lane_totals - what a lane had recorded when the recording ended
 * @lane: number of the lane
 * @cpu: its CPU, FKT_CPU_ANY for a shared lane
 * @events: events in its written pages
 * @lost: events for which there was no page
 * @pages: pages written
 * @discarded: events that were recorded but could not be written (size limit, error)
 */
struct fkt_lane_totals {
	__u32 lane;
	__u32 cpu;
	__u64 events;
	__u64 lost;
	__u64 pages;
	__u64 discarded;
};

#define FKT_CPU_ANY	 0xffff

#define FKT_FOOTER_MAGIC "FKTFOOT" /* 8 bytes with its NUL */

/**
 * struct fkt_footer - the last bytes of the file (of a block device: of the device)
 * @magic: FKT_FOOTER_MAGIC
 * @tail_offset: where the tail sections begin, which is where the pages end
 * @id: the recording, as in the file header
 */
struct fkt_footer {
	char magic[8];
	__u64 tail_offset;
	__u8 id[FKT_ID_BYTES];
};

#define FKT_PAGE_MAGIC	   0x504b5446 /* "FTKP" */
#define FKT_LANE_INDEX	   0xffff     /* not a lane: the page holds a struct fkt_index */

/* Pages of the lane before this one were overwritten: they have no number, and are in no count. */
#define FKT_PAGE_OVERWROTE 1u
/* The page has not gone out: it is in memory, and no file has it. See struct fkt_note. */
#define FKT_PAGE_HELD	   2u

/**
 * struct fkt_page_header - the first bytes of each page; a page can be decoded alone
 * @magic: FKT_PAGE_MAGIC
 * @lane: the lane, or FKT_LANE_INDEX
 * @cpu: CPU of the first slot; of a lane that is not shared, of every slot, and equal to @lane
 * @seq: number of the page in its lane, from 1; a gap means that pages are missing
 * @first: stamp of the first slot, in full
 * @end: stamp of the moment when the page was closed; no slot in it is later
 * @lost: events lost in this lane before this page was opened, since the recording began
 * @used: bytes used, this header included
 * @events: number of slots
 * @pid: thread that was current on @cpu when the page was opened (0: idle)
 * @flags: FKT_PAGE_…
 * @id: the recording, as in the file header
 */
struct fkt_page_header {
	__u32 magic;
	__u16 lane;
	__u16 cpu;
	__u64 seq;
	__u64 first;
	__u64 end;
	__u64 lost;
	__u32 used;
	__u32 events;
	__u32 pid;
	__u32 flags;
	__u8 id[FKT_ID_BYTES];
};

/**
 * struct fkt_index_entry - what a reader needs to know of a page to decide whether to read it
 * @first: stamp of its first slot
 * @end: stamp of the moment when it was closed
 * @events: number of its slots
 * @lane: its lane, or FKT_LANE_INDEX for a mark (an index without entries)
 * @cpu: CPU of its first slot
 */
struct fkt_index_entry {
	__u64 first;
	__u64 end;
	__u32 events;
	__u16 lane;
	__u16 cpu;
};

#define FKT_INDEX_ENTRIES 166

/**
 * struct fkt_index - what follows the page header of a page whose lane is FKT_LANE_INDEX
 * @complete: every event of any lane with an earlier stamp stands before this page in the file
 * @max_end: the latest @end of all pages before this one; never decreases through the file
 * @events_before: events in all pages before the first one of @entry
 * @reserved: 0
 * @entry: fkt_page_header.events of them, one for each page since the last full index
 *
 * Of the recording's pages, counted from 0, each one with number % (FKT_INDEX_ENTRIES + 1) ==
 * FKT_INDEX_ENTRIES is a full index of the FKT_INDEX_ENTRIES pages before it: a reader finds a
 * moment by bisection and needs no table at the end. An index anywhere else has no entries and is
 * a mark: it tells a reader who follows a stream that all events up to @complete have come. In the
 * header, first, end and lost are 0, and seq counts index pages and marks together, from 1.
 */
struct fkt_index {
	__u64 complete;
	__u64 max_end;
	__u64 events_before;
	__u64 reserved;
	struct fkt_index_entry entry[FKT_INDEX_ENTRIES];
};

/*
 * What fkt_recover looks for in an image of a machine's memory.
 *
 * A page has its header from when its first slot is reserved, with FKT_PAGE_HELD until it goes out.
 * Until then @seq has the low 32 bits of its number in the lane, also where pages before it were
 * overwritten; @used is 0; @events are the low 32 bits of its address divided by FKT_PAGE_BYTES;
 * and @end is of its former use until it is closed, as is what stands behind its slots. How far it
 * is used, and how much of that was written, the lane's ring says: struct fkt_note_entry. How far a
 * page that is open is reserved, the lane does: fkt_note.head_at. All is in the machine's byte
 * order, which is little-endian.
 */
#define FKT_NOTE_MAGIC	    0x4e544b46 /* "FKTN" */

#define FKT_NOTE_OVERWRITES 1u /* the oldest pages are overwritten; seq begins anew when they go */

/**
 * struct fkt_note - the first bytes of the page in which the module keeps a lane
 * @magic: FKT_NOTE_MAGIC
 * @bytes: size of this struct
 * @lane: number of the lane
 * @cpu: its CPU, FKT_CPU_ANY when it is shared
 * @flags: FKT_NOTE_…
 * @lanes: number of lanes that the recording has
 * @tsc_khz: frequency of the stamps
 * @head_at: where in this page there are 8 bytes with the number of the newest page in bits 32…63,
 *	and in bits 0…15 how far it is reserved, or 0xffff when it is closed
 * @tail_at: likewise, 4 bytes: number of the oldest page that is held
 * @lost_at: 8 bytes: events lost since the recording began
 * @overwritten_at: 8 bytes: events that were overwritten
 * @overwritten_end_at: 8 bytes: when the last page that was overwritten was closed
 * @reserved: 0
 * @id: the recording
 */
struct fkt_note {
	__u32 magic;
	__u16 bytes;
	__u16 lane;
	__u16 cpu;
	__u16 flags;
	__u32 lanes;
	__u32 tsc_khz;
	__u16 head_at;
	__u16 tail_at;
	__u16 lost_at;
	__u16 overwritten_at;
	__u16 overwritten_end_at;
	__u16 reserved;
	__u8 id[FKT_ID_BYTES];
};

#define FKT_NOTE_RING_MAGIC 0x424b5446 /* "FTKB" */

/**
 * struct fkt_note_entry - of which there is an array in memory, aligned to pages, for each lane
 * @commit: bytes that were written in bits 0…15, slots in bits 16…31; with the page's header, whose
 *	bytes count, too
 * @used: bytes used when the page is closed, until then 0
 * @magic: FKT_NOTE_RING_MAGIC, also where there is no page
 * @number: the page's number in the lane
 * @base: its address, less @number in bits 32…63
 * @handle: of no concern
 *
 * An entry of this number, whose page is where the page's header says, is the page's.
 */
struct fkt_note_entry {
	__u32 commit;
	__u32 used;
	__u32 magic;
	__u32 number;
	__u64 base;
	__u64 handle;
};

/*
 * A slot is a word of 8 bytes and then as many words as its arguments need:
 *
 *	bits  0…3	words that follow
 *	bit   4		wide: the first of these words is a stamp and a CPU, see below
 *	bits  5…23	code
 *	bits 24…39	immediate: a small value that costs no bytes
 *	bits 40…63	the stamp's low 24 bits
 *
 * A slot's stamp is the previous slot's (for the first, fkt_page_header.first) plus the difference
 * of their low 24 bits taken as a signed number. Where the difference would not fit, and where the
 * CPU changes in a shared lane, the slot is wide: its first word has the stamp's low 48 bits, and
 * in bits 48…63 the CPU.
 */
#define FKT_SLOT_WORDS_MASK  0xfull
#define FKT_SLOT_WORDS_MAX   15
#define FKT_SLOT_WIDE	     (1ull << 4)
#define FKT_SLOT_CODE_SHIFT  5
#define FKT_SLOT_CODE_BITS   19
#define FKT_SLOT_CODES	     (1u << FKT_SLOT_CODE_BITS)
#define FKT_SLOT_IMM_SHIFT   24
#define FKT_SLOT_STAMP_SHIFT 40
#define FKT_SLOT_STAMP_BITS  24
#define FKT_WIDE_STAMP_BITS  48

/* A slot's first word but for the stamp and FKT_SLOT_WIDE; a wide slot has one word more. */
#define FKT_TAG(code, words, imm)                                                                  \
	((__u64)(words) | ((__u64)(code) << FKT_SLOT_CODE_SHIFT) |                                 \
	 ((__u64)(__u16)(imm) << FKT_SLOT_IMM_SHIFT))
/* What the stamp adds to it. */
#define FKT_SLOT_STAMP(stamp)  ((__u64)(stamp) << FKT_SLOT_STAMP_SHIFT)
/*
 * A slot of FKT_CODE_STACK has a stack of the event in the slot behind it, which has the same stamp
 * and is in the same page: the kernel's, the program's (FKT_STACK_USER), or that one behind slots
 * with the kernel's (FKT_STACK_BELOW as well). If it has words, these are
 *
 *	of the kernel's stack, frames, two in a word, the innermost one first: the low 32 bits of a
 *	return address, the first one's of where the event is. The high ones are those of all the
 *	kernel's code: 1 on x86_64
 *
 *	of the program's, bytes of numbers, seven bits of each in a byte, the low ones first, and
 *	the bit 0x80 where more come: the process (of which it is the number of the first thread),
 *	and of each frame, the innermost one first, how far its address is behind that of the one
 *	before (of the first: behind 0), as FKT_STACK_ZIGZAG
 *
 * The immediate has in its low bits how many frames, or bytes, there are in the slot, and
 *
 *	FKT_STACK_MORE	the slot behind it goes on with the same stack
 *	FKT_STACK_ON	it goes on with that of the slot before it
 *	FKT_STACK_CUT	the stack has more frames, which are nowhere
 *	FKT_STACK_FAULT	and it is not known whether it has more, for its memory was not there
 *
 * If it has no words, the immediate's low bits say where in this page, in words from its beginning,
 * the stack's first slot is; 0: nowhere, it could not be had.
 */
#define FKT_STACK_MORE	       0x8000u
#define FKT_STACK_ON	       0x4000u
#define FKT_STACK_CUT	       0x2000u
#define FKT_STACK_USER	       0x1000u
#define FKT_STACK_BELOW	       0x0800u
#define FKT_STACK_FAULT	       0x0400u
#define FKT_STACK_COUNT	       0x03ffu
#define FKT_STACK_PLACE	       FKT_STACK_COUNT
#define FKT_STACK_SLOT_WORDS   (FKT_SLOT_WORDS_MAX - 1) /* the slot may be wide */
#define FKT_STACK_SLOT_FRAMES  (2 * FKT_STACK_SLOT_WORDS)
#define FKT_STACK_SLOTS_MAX    4
#define FKT_STACK_WORDS_MAX    (FKT_STACK_SLOTS_MAX * FKT_STACK_SLOT_WORDS)
#define FKT_STACK_FRAMES_MAX   (FKT_STACK_SLOTS_MAX * FKT_STACK_SLOT_FRAMES)
/* A difference of addresses, so that small ones, whichever their sign, are small numbers. */
#define FKT_STACK_ZIGZAG(diff) ((__u64)(diff) << 1 ^ (__u64)((__s64)(diff) >> 63))
/* Bytes that a number of 64 bits has at most. */
#define FKT_STACK_NUMBER_BYTES 10

/*
 * Slots of FKT_CODE_DATA have memory that a system call is given, before the event of its begin,
 * and memory that it has written, before that of its end. The immediate has which argument it is
 * of, from 0 on, or FKT_DATA_RESULT, and
 *
 *	FKT_DATA_EXIT	it was read when the call ended
 *	FKT_DATA_FAULT	from here on, the memory was not there: nobody waits for it
 *	FKT_DATA_CUT	there is more, which was not asked for
 *	FKT_DATA_MORE	the next such slot of this thread goes on with the same
 *
 * The words are the code of the call's begin (32 bits), an element's number in an array and the
 * number of bytes in this slot (16 bits each), and the bytes. Element FKT_DATA_ARRAY is the number
 * of elements, 32 bits; FKT_DATA_CUT: there are more. An element of a struct iovec begins with its
 * length (64 bits). Of file descriptors, the bytes are their paths, as in /proc/PID/fd; of two,
 * they are element 0 and the paths elements 1 and 2.
 */
#define FKT_DATA_OF	       0x000fu
#define FKT_DATA_RESULT	       0x0006u
#define FKT_DATA_EXIT	       0x0008u
#define FKT_DATA_FAULT	       0x0010u
#define FKT_DATA_CUT	       0x0020u
#define FKT_DATA_MORE	       0x0040u
#define FKT_DATA_ARRAY	       0xffffu
#define FKT_DATA_ELEMENTS_MAX  64u
#define FKT_DATA_HEAD_BYTES    8
/* In a slot; it may be wide. */
#define FKT_DATA_SLOT_BYTES    (8 * (FKT_SLOT_WORDS_MAX - 1) - FKT_DATA_HEAD_BYTES)

/*
 * Where only calls are recorded that take longer than some time (INFO's longer_than_cycles), a slot
 * of FKT_CODE_BEGAN stands in place of such a call's entry, somewhere before its exit in the lane
 * where that is, or without an exit when the call is still open. The immediate is the CPU where it
 * began; the words are the stamp of that, the entry's code and the thread (32 bits each), and the
 * words that the entry would have.
 */
#define FKT_BEGAN_WORDS	       2

/*
 * What programs write themselves comes into the trace a little later: a slot of FKT_CODE_TOLD, in
 * any lane, has the event's CPU as immediate, its stamp, its code and the thread (32 bits each),
 * and its words. Readers of files put the event where its stamp says, on its CPU and in its
 * thread. A program may claim any stamp of the recording, and any CPU.
 */
#define FKT_TOLD_WORDS	       FKT_BEGAN_WORDS

/*
 * Slots of FKT_CODE_COUNTERS have what the counters of INFO's counters were at on their CPU, 64
 * bits each in that order: before events of system calls, functions, interrupts and switches. What
 * was counted since the CPU's slot before it was what was at work there up to the event behind it.
 * The immediate has a bit for each counter that did not count at that moment, the lowest one for
 * the first. Clocks (cpu-clock, task-clock) count nanoseconds.
 */
#define FKT_COUNTERS_MAX       4

/*
 * Entries and exits of the layer user, functions of programs, have as immediate where on the stack
 * their return address is: an exit ends the innermost entry of its thread that has the same one,
 * and the same function. Those that are open inside it, as after longjmp(3), have no exit. They are
 * around all calls of the kernel that the thread makes, also those within which it is found out:
 * the kernel comes to a breakpoint, or by the system call uretprobe, to tell of them.
 */
#define FKT_UPROBE_PLACE(at)   ((__u16)((at) >> 3))

/* The first one of the words that follow in a wide slot. */
#define FKT_WIDE_WORD(stamp, cpu)                                                                  \
	(((__u64)(stamp) & ((1ull << FKT_WIDE_STAMP_BITS) - 1)) |                                  \
	 ((__u64)(cpu) << FKT_WIDE_STAMP_BITS))

#endif
