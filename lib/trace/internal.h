/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a trace says of itself, before any event is read; all other rooms use it.
 *
 *	trace.c		the header, and the sections at its head and at its tail
 *	clock.c		cycles to nanoseconds
 *	names.c		what numbers mean: codes, system calls, IRQs, errors
 *	counters.c	which counters were read with the events
 *	symbols.c	addresses to names
 *	maps.c		addresses of programs to names, by the files they have mapped; and elf.c,
 *			the functions of such a file
 *	process.c	threads and their names, over time
 *	fields.c	what an event holds (fields.h), and put.h, pieces of a line
 */
#ifndef FKT_TRACE_INTERNAL_H
#define FKT_TRACE_INTERNAL_H

#include <pthread.h>
#include <string.h>

#include <fkt/trace.h>

#define likely(x)	      __builtin_expect(!!(x), 1)
#define unlikely(x)	      __builtin_expect(!!(x), 0)

/* A section that is larger, stored or decompressed, is a lie: kallsyms has some 10 MB. */
#define FKT_SECTION_BYTES_MAX (64u << 20)

/* More events than this were not lost in a lane at once, nor in all, when nothing confirms it. */
#define FKT_LOST_EVENTS	      (1ull << 36)

/**
 * struct fkt_input - the file, read in sequence or, when it is seekable, anywhere
 * @fd: its descriptor
 * @opened: which is to be closed; that of standard input is not
 * @seekable: whether it is a file or block device
 * @size: its size, when seekable
 * @pos: bytes read in sequence
 * @buf: what was read ahead of a stream
 * @buf_pos: read so far of @buf
 * @buf_end: filled of @buf
 * @error: errno value of the first failed read, 0 when none failed
 */
struct fkt_input {
	int fd;
	bool opened;
	bool seekable;
	uint64_t size;
	uint64_t pos;
	char *buf;
	size_t buf_pos;
	size_t buf_end;
	int error;
};

/* Bytes got, fewer than asked for only at the end of the file or after an error. */
size_t fkt_input_read(struct fkt_input *input, void *buf, size_t bytes);
size_t fkt_input_read_at(struct fkt_input *input, void *buf, size_t bytes, uint64_t offset);
/* Whether a read in sequence would have to wait for a stream's writer. */
bool fkt_input_would_block(const struct fkt_input *input);

/* A piece of the file as it is stored, kept to be decompressed when somebody asks. */
struct fkt_stored {
	void *data;
	size_t bytes;
	uint64_t raw_bytes;
	uint32_t compression;
};

struct fkt_symbol_entry {
	uint64_t address;
	uint32_t name;	 /* offsets into symbol_text */
	uint32_t module; /* 0: none */
};

struct fkt_irq {
	uint32_t number;
	char *name;
};

struct fkt_syscall_entry {
	uint32_t nr;
	bool compat;
	struct fkt_syscall call;
};

/* The "key=value" strings of a section, each with its NUL: they stay where they are. */
struct fkt_info_piece {
	struct fkt_info_piece *before;
	size_t bytes;
	char *lines; /* the same, with newlines and tabs */
	char text[];
};

/* Text of all sections of one type, one after the other, each line with its newline. */
struct fkt_lines {
	char *text;
	size_t bytes;
};

/* fkt_info() with the newlines and tabs that a value has. */
struct fkt_trace;
const char *fkt_info_lines(const struct fkt_trace *trace, const char *key);

/* Whether a layer was to be recorded from the beginning on, as the trace says. */
bool fkt_has_layer(const struct fkt_trace *trace, const char *layer);
/* The layers that are on when a trace begins, by enum fkt_key; all where that is not told. */
uint32_t fkt_begins_with(const struct fkt_trace *trace);

/* A section as it stands in the file, its header included. */
struct fkt_place {
	uint32_t type;
	bool in_tail;
	uint64_t offset;
	uint64_t bytes;
};

/*
 * Who is current on a CPU when an extracted trace begins; @blind: events are missing before it;
 * @seen: there were events, and so it is known in which interrupts it is.
 */
struct fkt_current {
	uint16_t cpu;
	bool blind;
	bool seen;
	uint8_t verdict; /* enum fkt_verdict */
	uint32_t tid;
};

/*
 * Whether a thread that nobody made, as far as is known, is one of FKT's own, which are the
 * kernel's: they were made after PROCESSES was written, and before anything was recorded.
 */
static inline bool fkt_is_own_thread(const char *comm, size_t bytes)
{
	const size_t room = sizeof("fkt_flush");

	return bytes >= room &&
	       (!memcmp(comm, "fkt_flush", room) || !memcmp(comm, "fkt_sync", sizeof("fkt_sync")));
}

/*
 * Whether a switch is none: from a thread to itself. FKT tells so who is current where nobody has
 * said it, perhaps in an interrupt.
 */
static inline bool fkt_is_no_switch(const struct fkt_event *event)
{
	return event->code == FKT_CODE_SWITCH && event->words >= 1 &&
	       fkt_arg32(event, 0) == fkt_arg32(event, 4);
}

/* Whether all CPUs have stopped recording. */
static inline bool fkt_is_stop(const struct fkt_event *event)
{
	return event->words >= 1 && (event->code == FKT_CODE_PAUSE ||
				     (event->code == FKT_CODE_SETMASK && !fkt_arg32(event, 0)));
}

/* Whether events of a code are recorded of threads that a recording leaves out, too. */
static inline bool fkt_is_everyones(const struct fkt_code_row *row)
{
	return !strcmp(row->layer, "process") || !strcmp(row->layer, "fkt");
}

/* Whether a thread's name is the one that is wanted, or like it: with * or ?, that is a pattern. */
bool fkt_is_called(const char *comm, const char *wanted);

/*
 * Whether codes of a row are of programs, which do what they do around all calls of the kernel:
 * their functions, and spans that they tell of.
 */
static inline bool fkt_is_user(const struct fkt_code_row *row)
{
	return !strcmp(row->layer, "user") || !strcmp(row->layer, "application");
}

/*
 * The layers of a code's row, by enum fkt_key: its events are recorded while any of them is on. 0
 * where one is not known here.
 */
uint32_t fkt_code_keys(const struct fkt_code_row *row);

/* Nanoseconds a cycle: whole + part / 2^64. */
struct fkt_rate {
	uint64_t whole;
	uint64_t part;
};

/*
 * Threads may share a trace, each with a reader. What these find out for the trace, after
 * fkt_open(), they write with @lock: the end sections of a stream, or of a file whose footer does
 * not say where they are, the symbols, which functions there are, and which calls were told of
 * late. What others may read meanwhile without it is published: @complete, @info, @clocks,
 * @n_totals, @symbols_read, @maps_read, @functions.
 */
struct fkt_trace {
	pthread_mutex_t lock;
	struct fkt_input input;
	fkt_warn_fn *warn;
	void *warn_arg;

	struct fkt_file_header header;
	bool complete;		/* the tail sections have been read */
	uint64_t pages;		/* whole pages of a seekable file, index pages included */
	bool pages_known;	/* @pages comes from the tail, not from the file's size */
	bool streaming;		/* a stream has its one reader */
	unsigned int end_tries; /* places where readers took what they met for the end sections */
	uint64_t end_tried;	/* behind the last one; of @complete, where they are */

	uint64_t sections_bytes;     /* of all sections, decompressed */
	struct fkt_info_piece *info; /* the latest section's */
	size_t info_bytes;
	struct fkt_clock_pair clock[2]; /* the first and the last one, as many as @clocks */
	unsigned int clocks;
	bool has_rate;
	struct fkt_rate rate;	   /* of CLOCK_BOOTTIME */
	struct fkt_rate wall_rate; /* of CLOCK_REALTIME */
	struct fkt_lane_totals *totals;
	size_t n_totals;

	struct fkt_place *places; /* all sections of a seekable file */
	size_t n_places;

	struct fkt_lines state_lines;
	uint32_t mask; /* the active one when an extracted trace begins, 0: not told */
	struct fkt_current *current;
	size_t n_current;
	struct fkt_open_call *open_calls;
	size_t n_open_calls;
	struct fkt_open_wait *open_waits;
	size_t n_open_waits;
	struct fkt_open_base *open_bases;
	size_t n_open_bases;

	struct fkt_lines processes;
	struct fkt_lines code_lines;
	struct fkt_code_row *codes; /* sorted by first; strings point into code_lines */
	size_t n_codes;
	struct fkt_lines syscall_lines;
	struct fkt_syscall_entry *syscalls; /* sorted by compat, nr; strings as above */
	size_t n_syscalls;
	struct fkt_lines irq_lines;
	struct fkt_irq *irqs; /* sorted by number; strings as above */
	size_t n_irqs;

	bool names_indexed;
	const struct fkt_arch *arch;  /* the traced machine's */
	struct fkt_stored symbols[2]; /* of the head, and of the tail */
	unsigned int n_stored_symbols;
	bool symbols_read;
	char *symbol_text;
	struct fkt_symbol_entry *symbol;
	size_t n_symbols;

	struct fkt_lines map_lines;
	bool maps_read;
	struct fkt_maps *maps; /* NULL: none is known */

	struct fkt_begans *begans;	 /* NULL: nobody has asked yet */
	struct fkt_functions *functions; /* that have rows of their own; NULL: none yet */
};

/* The CPU of all that is in a lane, FKT_CPU_ANY when it is shared. */
static inline uint16_t fkt_cpu_of_lane(const struct fkt_trace *trace, uint32_t lane)
{
	return trace->header.shared ? FKT_CPU_ANY : (uint16_t)lane;
}

void fkt_warn(const struct fkt_trace *trace, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Read sections up to FKT_SECTION_END or to @limit; head is the first one's header when it was
 * read already. True when the end was found.
 */
bool fkt_read_sections(struct fkt_trace *trace, uint64_t limit,
		       const struct fkt_section_header *head);

/*
 * The end sections, which a reader of a file without a footer has met at @offset: read once,
 * whoever comes first. Return: whether they are there, and whole.
 */
bool fkt_read_end(struct fkt_trace *trace, uint64_t offset);
/* The same of a stream, whose next section's header is @head. */
void fkt_read_stream_end(struct fkt_trace *trace, const struct fkt_section_header *head);

/* The raw bytes of a section and a NUL behind them, to be freed; NULL when it can't be had. */
char *fkt_decompress(const struct fkt_stored *stored, size_t *bytes);

/* names.c: take over what the sections said; called when sections have been read */
int fkt_index_names(struct fkt_trace *trace);
void fkt_free_names(struct fkt_trace *trace);

/* names.c: what a flight recorder's trigger was called, or NULL */
const char *fkt_trigger_name(const struct fkt_trace *trace, uint32_t number);

/* names.c: the system call that a code is the entry or exit of, or NULL */
const struct fkt_syscall *fkt_code_syscall(const struct fkt_trace *trace, uint32_t code);

/*
 * Whether it is the system call by which the kernel has programs tell it that a function returns:
 * that one is around the exit of the function, and no call of the program's.
 */
static inline bool fkt_is_uretprobe(const struct fkt_trace *trace, uint32_t code)
{
	const struct fkt_syscall *call = code < FKT_CODE_IRQ_ENTRY ? fkt_code_syscall(trace, code)
								   : NULL;

	return call && !strcmp(call->name, "uretprobe");
}

/*
 * Whether it was recorded on PREEMPT_RT. There no softirq runs in an interrupt: a thread runs it,
 * with which it is preempted and sleeps, and goes on on another CPU; so it is a call of that one.
 */
static inline bool fkt_is_preempt_rt(const struct fkt_trace *trace)
{
	const char *version = fkt_info(trace, "version");

	return version && strstr(version, "PREEMPT_RT");
}

/* How many of the clock's pairs are there; the others are not to be looked at. */
static inline unsigned int fkt_clocks(const struct fkt_trace *trace)
{
	/* Partner: the release in take_clock(). */
	return __atomic_load_n(&trace->clocks, __ATOMIC_ACQUIRE);
}

/* clock.c: called when the head, and the tail of a file, have been read */
void fkt_set_clock(struct fkt_trace *trace);
/*
 * Whether both pairs are known, and agree with the frequency that the kernel gave, if it did. To be
 * asked before either is looked at.
 */
bool fkt_clocks_agree(const struct fkt_trace *trace);

/* process.c: a number that is another one when threads have other names; as long as they live */
const uint32_t *fkt_process_changes(const struct fkt_processes *processes);

/* counters.c: what a counter's column is called, to people and to programs: "task_clock_ns" */
#define FKT_COUNTER_BYTES (FKT_NAME_BYTES + sizeof(" ns"))
void fkt_counter_title(const struct fkt_trace *trace, unsigned int number,
		       char title[FKT_COUNTER_BYTES]);
void fkt_counter_key(const struct fkt_trace *trace, unsigned int number,
		     char key[FKT_COUNTER_BYTES]);

/* symbols.c */
void fkt_free_symbols(struct fkt_trace *trace);

/* maps.c */
void fkt_free_maps(struct fkt_trace *trace);

/*
 * The next line of a text: cut off from it by a NUL in place of its newline, and sanitized. NULL
 * at the end. The text has a NUL at its end.
 */
char *fkt_next_line(char **text);
/* The next word of a line, cut off likewise; NULL at the end. The rest stands at *line. */
char *fkt_next_word(char **line);
/* A number in C's notation; false when the word is none or too large. */
bool fkt_parse_u64(const char *word, uint64_t *value);
bool fkt_parse_u32(const char *word, uint32_t *value);

/* In place of the offset of a function's address. */
#define FKT_NO_FUNCTION UINT8_MAX

/*
 * fields.c: where a code's field of type "func" stands in the words, in bytes; or FKT_NO_FUNCTION
 */
uint8_t fkt_function_field(const struct fkt_trace *trace, uint32_t code);

/*
 * What other rooms keep in a trace: read/state.c takes it from the sections, as fkt_index_names().
 */
int fkt_index_state(struct fkt_trace *trace);
/* And read/began.c's and sum/rows.c's, freed with it. */
void fkt_free_begans(struct fkt_trace *trace);
void fkt_free_functions(struct fkt_trace *trace);

#endif
