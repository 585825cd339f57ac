/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Events of programs, on the kernel's own line of time. This file is all there is: no library.
 *
 *	#include <fkt/user.h>
 *
 *	FKT_USER_EVENT(request, "request", "bytes:u64 from:x64");
 *
 *	void serve(struct client *client)
 *	{
 *		FKT_SPAN("serve");
 *
 *		fkt_event2(request, client->bytes, client);
 *		fkt_counter("clients", clients);
 *		fkt_mark("it begins");
 *	}
 *
 * "fkt_record -k system,application COMMAND" records them; fkt_print shows them with these names,
 * which are written into the trace. While nobody records, each is a load and a branch; where
 * /dev/fkt_user is not there, or may not be opened, when the program begins, they are never more,
 * and nothing is said.
 *
 * Before glibc 2.34, and with other libraries of C, pthread_atfork(3) may be in libpthread: such a
 * program is linked with -pthread.
 *
 * An event is a reading of the clock, an exchange and its stores into memory that the program
 * shares with the kernel. It may be in any thread, in signal handlers, and after fork(2). Arguments
 * are integers or pointers, recorded in 64 bits each. docs/applications.md has the rest.
 */
#ifndef FKT_USER_H
#define FKT_USER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* ---- what the kernel module and programs share ---- */

#define FKT_USER_DEVICE	    "/dev/fkt_user"
#define FKT_USER_VERSION    1
#define FKT_USER_IOC	    0xfb

#define FKT_USER_PAGE	    4096
#define FKT_USER_LANES_MIN  4
#define FKT_USER_LANES_MAX  8
#define FKT_USER_LANE_WORDS 8192u
#define FKT_USER_NAME_BYTES 40
#define FKT_USER_SPEC_BYTES 160
#define FKT_USER_ARGS_MAX   6

/* The code of fkt_mark(), the same one in all programs. */
#define FKT_USER_CODE_MARK  0x1208

/**
 * struct fkt_user_control - the first page of the device, which all programs read
 * @version: FKT_USER_VERSION of the module
 * @on: not 0 while events of programs are recorded
 */
struct fkt_user_control {
	__u32 version;
	__u32 on;
};

/**
 * struct fkt_user_lane - where the events of a program are that happen on some of the CPUs
 * @head: words that were reserved in bits 0…31, events in bits 32…63; both only grow
 * @lost: events for which there was no room
 * @tail: words that the kernel has taken; it writes it, and does not read it
 */
struct fkt_user_lane {
	__u64 head;
	__u64 lost;
	__u64 unused[6];
	__u64 tail;
	__u64 unused2[7];
};

/**
 * struct fkt_user_lanes - a program's own part of the device, from its second page on
 * @generation: the program's: another number after each fork; not 0
 * @fd: the program's: the open device
 * @mask: lanes, less one; a power of two
 * @id: what FKT_USER_ID answers
 * @lane: the lanes; their words follow from FKT_USER_PAGE on, FKT_USER_LANE_WORDS each
 *
 * Nothing of all this is believed by the kernel.
 */
struct fkt_user_lanes {
	__u32 generation;
	__s32 fd;
	__u32 mask;
	__u32 id;
	__u32 unused[28];
	struct fkt_user_lane lane[FKT_USER_LANES_MAX];
};

#define FKT_USER_LANES_BYTES(lanes) (FKT_USER_PAGE + (lanes)*FKT_USER_LANE_WORDS * 8ul)

/*
 * An event is two words and its arguments: its tag, which is written once more, with
 * FKT_USER_DONE, when all the others are there; and the processor's counter of cycles. The tag has
 *
 *	bits  0…3	arguments
 *	bit   4		FKT_USER_DONE
 *	bits  5…15	how many times the lane has been filled before, and one: FKT_USER_LAP()
 *	bits 16…34	code
 *	bits 35…50	thread: what FKT_USER_JOIN has answered
 *	bits 51…63	CPU
 */
#define FKT_USER_HEAD_WORDS	    2
#define FKT_USER_DONE		    (1ull << 4)
#define FKT_USER_ARGS(tag)	    ((__u32)(tag)&0xf)
#define FKT_USER_LAP(word)	    (((__u32)(word) / FKT_USER_LANE_WORDS + 1) & 0x7ff)
#define FKT_USER_TAG_LAP(tag)	    ((__u32)((tag) >> 5) & 0x7ff)
#define FKT_USER_TAG_CODE(tag)	    ((__u32)((tag) >> 16) & 0x7ffff)
#define FKT_USER_TAG_THREAD(tag)    ((__u32)((tag) >> 35) & 0xffff)
#define FKT_USER_TAG_CPU(tag)	    ((__u32)((tag) >> 51))
#define FKT_USER_TAG(args, word, code, thread, cpu)                                                \
	((__u64)(args) | (__u64)FKT_USER_LAP(word) << 5 | (__u64)(code) << 16 |                    \
	 (__u64)(thread) << 35 | (__u64)(cpu) << 51)

/* Threads that have no number of their own are shown as the first one of their process. */
#define FKT_USER_THREAD_NONE 0

/**
 * struct fkt_user_join - argument of FKT_USER_JOIN
 * @version: FKT_USER_VERSION, given by the program
 * @thread: set to the number of the thread that asks
 */
struct fkt_user_join {
	__u32 version;
	__u32 thread;
};

enum fkt_user_kind {
	FKT_USER_POINT = 0,
	FKT_USER_SPAN = 1, /* two codes: the one behind it is that of its end */
};

/**
 * struct fkt_user_name - argument of FKT_USER_NAME
 * @kind: enum fkt_user_kind
 * @code: set to the code that events of this name have
 * @name: letters, digits and _ . : -, with a NUL
 * @spec: the arguments, as in struct fkt_probe_code of probe.h, with a NUL
 */
struct fkt_user_name {
	__u32 kind;
	__u32 code;
	char name[FKT_USER_NAME_BYTES];
	char spec[FKT_USER_SPEC_BYTES];
};

/*
 * A thread begins to record. There is memory behind all lanes when it has returned 0. EMFILE: too
 * many programs of this user record already. The thread's events are lost then: the recording
 * counts one for each thread that was refused, for nobody knows how many they are.
 */
#define FKT_USER_JOIN  _IOWR(FKT_USER_IOC, 1, struct fkt_user_join)
/* Asks for the code of a name. */
#define FKT_USER_NAME  _IOWR(FKT_USER_IOC, 2, struct fkt_user_name)
/* Has the kernel take what the lanes hold. Returns what FKT_USER_ID does. */
#define FKT_USER_FLUSH _IO(FKT_USER_IOC, 3)
/* Returns the number of this open file, which no other one has, and is not negative. */
#define FKT_USER_ID    _IO(FKT_USER_IOC, 4)

#ifndef __KERNEL__

/* ---- what programs use ---- */

/**
 * struct fkt_user_event - an event that a program can record, of FKT_USER_EVENT() and its like
 * @name: as struct fkt_user_name has it
 * @spec: likewise
 * @kind: likewise
 * @known: the code in bits 0…31, 0 if it is refused, and of which generation
 */
struct fkt_user_event {
	const char *name;
	const char *spec;
	__u32 kind;
	__u64 known;
};

/**
 * FKT_USER_EVENT - name an event, once in a program's source
 * @id: what fkt_event0() and its like know it by
 * @name: how it is shown, 39 characters at most; what is none of letters, digits and _ . : - is
 *	shown as _
 * @spec: its arguments, at most five: "name:type", with a space between them; u64, s64, x64, u32
 *	and all others of FKT_WORD_TYPES in codes.h
 */
#define FKT_USER_EVENT(id, name, spec)                                                             \
	static struct fkt_user_event id = { name, spec, FKT_USER_POINT, 0 }

#if defined(__x86_64__) && defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_ANONYMOUS
#error "fkt/user.h asks for _GNU_SOURCE, or for -std=gnu11 or its like"
#endif

/* One for all files of a program, or of a shared library. */
#define FKT_USER_ONCE __attribute__((weak, visibility("hidden")))

/**
 * struct fkt_user_thread - what a thread knows
 * @generation: since when; another one: nothing
 * @number: what FKT_USER_JOIN has answered, or FKT_USER_REFUSED
 */
struct fkt_user_thread {
	__u32 generation;
	__u32 number;
};

#define FKT_USER_REFUSED 0xffffffffu

/**
 * struct fkt_user_process - what a process knows, and a child after fork(2) does not
 * @lanes: its lanes, NULL before the first event
 */
struct fkt_user_process {
	struct fkt_user_lanes *lanes;
};

FKT_USER_ONCE struct fkt_user_control fkt_user_nobody = { 0, 0 };
FKT_USER_ONCE const struct fkt_user_control *fkt_user_control = &fkt_user_nobody;
FKT_USER_ONCE struct fkt_user_process *fkt_user_process = 0;
FKT_USER_ONCE __u32 fkt_user_generations = 0;
/* The lanes' file in bits 0…31, and its number; 0: none. A child has its parent's. */
FKT_USER_ONCE __u64 fkt_user_file = 0;
FKT_USER_ONCE __thread struct fkt_user_thread fkt_user_thread
	__attribute__((tls_model("initial-exec"))) = { FKT_USER_REFUSED, 0 };

/* Whether anybody records. */
static inline int fkt_user_on(void)
{
	return __builtin_expect(__atomic_load_n(&fkt_user_control->on, __ATOMIC_RELAXED), 0);
}

/* Whether this is still that file: a program may have closed it (closefrom(3), daemon(3)). */
static inline int fkt_user_is(int fd, __u32 id)
{
	return ioctl(fd, FKT_USER_ID) == (int)id;
}

/* Remember another file, and close the one before, which is the parent's. */
static inline void fkt_user_set_file(__u64 file)
{
	const __u64 before = __atomic_exchange_n(&fkt_user_file, file, __ATOMIC_ACQ_REL);

	if (before && fkt_user_is((int)(__u32)before, (__u32)(before >> 32)))
		close((int)(__u32)before);
}

/* In the child of a fork(2), so that its parent's lanes end with its parent. */
static __attribute__((unused)) void fkt_user_forked(void)
{
	const int errno_before = errno;

	fkt_user_set_file(0);
	errno = errno_before;
}

/**
 * fkt_user_open - find the device, if the program has not found it when it began
 *
 * It is called before main(). A program that was there before the module may call it again.
 */
static inline void fkt_user_open(void)
{
	struct fkt_user_join join = { FKT_USER_VERSION, 0 };
	const int errno_before = errno;
	void *process, *control;
	int fd;

	if (fkt_user_control != &fkt_user_nobody)
		return;
	fd = open(FKT_USER_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		goto out;
	control = mmap(0, FKT_USER_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (control == MAP_FAILED)
		goto out_close;
	if (((struct fkt_user_control *)control)->version != FKT_USER_VERSION) {
		/* It is refused, so that a recording that goes on says so. */
		(void)ioctl(fd, FKT_USER_JOIN, &join);
		goto out_unmap;
	}
	process =
		mmap(0, FKT_USER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (process == MAP_FAILED)
		goto out_unmap;
	/* A child of fork() has lanes of its own. */
	if (madvise(process, FKT_USER_PAGE, MADV_WIPEONFORK)) {
		munmap(process, FKT_USER_PAGE);
		goto out_unmap;
	}
	(void)pthread_atfork(0, 0, fkt_user_forked);
	fkt_user_process = (struct fkt_user_process *)process;
	__atomic_store_n(&fkt_user_control, (struct fkt_user_control *)control, __ATOMIC_RELEASE);
	goto out_close;
out_unmap:
	munmap(control, FKT_USER_PAGE);
out_close:
	close(fd);
out:
	errno = errno_before;
}

static __attribute__((constructor, used)) void fkt_user_begin(void)
{
	fkt_user_open();
}

/*
 * Lanes for this process, in the place of others, whose file is gone, or of none. The others stay
 * mapped: a thread may be writing into them, and the kernel takes that. A signal handler that
 * interrupts this may come first. Returns NULL when there are none to be had.
 */
static inline struct fkt_user_lanes *fkt_user_lanes_new(struct fkt_user_lanes *other)
{
	struct fkt_user_lanes *lanes;
	int fd, low;
	long bytes;
	void *at;

	fd = open(FKT_USER_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && fd <= STDERR_FILENO) {
		low = fd;
		fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(low);
	}
	if (fd < 0)
		return 0;
	bytes = FKT_USER_LANES_BYTES(FKT_USER_LANES_MAX);
	at = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, FKT_USER_PAGE);
	if (at == MAP_FAILED) {
		close(fd);
		return 0;
	}
	lanes = (struct fkt_user_lanes *)at;
	lanes->fd = fd;
	lanes->generation = __atomic_add_fetch(&fkt_user_generations, 1, __ATOMIC_RELAXED);
	if (__atomic_compare_exchange_n(&fkt_user_process->lanes, &other, lanes, 0,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		fkt_user_set_file((__u64)lanes->id << 32 | (__u32)fd);
		return lanes;
	}
	munmap(at, bytes);
	close(fd);
	return other;
}

/* Names are one word in a trace. */
static inline void fkt_user_copy_name(char to[FKT_USER_NAME_BYTES], const char *name)
{
	__u32 bytes = 0;

	for (; name[bytes] && bytes < FKT_USER_NAME_BYTES - 1; bytes++) {
		const char c = name[bytes];
		const int is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				    (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':' ||
				    c == '-';

		to[bytes] = (char)(is_word ? c : '_');
	}
	to[bytes] = 0;
}

/* What an event needs for which this thread, or this process, has not been asked yet. */
static __attribute__((noinline, unused)) struct fkt_user_lanes *
fkt_user_prepare(struct fkt_user_event *event)
{
	struct fkt_user_lanes *lanes = __atomic_load_n(&fkt_user_process->lanes, __ATOMIC_ACQUIRE);
	struct fkt_user_thread *thread = &fkt_user_thread;
	struct fkt_user_join join = { FKT_USER_VERSION, 0 };
	const int errno_before = errno;
	struct fkt_user_lanes *fresh;
	struct fkt_user_name name;
	int fd = -1;

	if (lanes && fkt_user_is(lanes->fd, lanes->id)) {
		fd = lanes->fd;
	} else {
		fresh = fkt_user_lanes_new(lanes);
		/* Without a file, those that there are count what is lost. */
		if (fresh) {
			lanes = fresh;
			fd = lanes->fd;
		}
	}
	if (!lanes)
		goto out;
	if (thread->generation != lanes->generation) {
		thread->number = ioctl(fd, FKT_USER_JOIN, &join) ? FKT_USER_REFUSED : join.thread;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		thread->generation = lanes->generation;
	}
	if (event && __atomic_load_n(&event->known, __ATOMIC_RELAXED) >> 32 != lanes->generation) {
		memset(&name, 0, sizeof(name));
		name.kind = event->kind;
		fkt_user_copy_name(name.name, event->name);
		strncpy(name.spec, event->spec, sizeof(name.spec) - 1);
		if (ioctl(fd, FKT_USER_NAME, &name))
			name.code = 0;
		__atomic_store_n(&event->known, (__u64)lanes->generation << 32 | name.code,
				 __ATOMIC_RELAXED);
	}
out:
	errno = errno_before;
	return lanes;
}

/* The kernel is asked to take what there is. */
static __attribute__((noinline, unused)) void fkt_user_flush(struct fkt_user_lanes *lanes)
{
	const int errno_before = errno;

	if (ioctl(lanes->fd, FKT_USER_FLUSH) != (int)lanes->id)
		(void)fkt_user_lanes_new(lanes);
	errno = errno_before;
}

/*
 * Write an event: reserve by an exchange, fill, and say that it is done. Where a thread was put off
 * in the midst of that, its lane can't be emptied until it goes on: those behind it, who fill that
 * lane, turn to the others.
 */
static inline __attribute__((always_inline)) void
fkt_user_write(struct fkt_user_lanes *lanes, __u32 code, __u32 number, __u32 args, const __u64 *arg)
{
	const __u32 words = FKT_USER_HEAD_WORDS + args, mask = FKT_USER_LANE_WORDS - 1;
	__u32 aux, cpu, which, at, used, full = 0;
	__u64 now, head, next, tag, *word;
	struct fkt_user_lane *lane;

	now = __builtin_ia32_rdtscp(&aux); /* the kernel has put the CPU's number there */
	cpu = aux & 0xfff;
again:
	which = (cpu + full) & lanes->mask;
	lane = &lanes->lane[which];
	head = __atomic_load_n(&lane->head, __ATOMIC_RELAXED);
	do {
		at = (__u32)head;
		/* Partner of the acquire: the kernel's release, when it has emptied these words. */
		used = at + words - (__u32)__atomic_load_n(&lane->tail, __ATOMIC_ACQUIRE);
		if (__builtin_expect(used > FKT_USER_LANE_WORDS, 0)) {
			if (full++ < lanes->mask)
				goto again;
			__atomic_fetch_add(&lane->lost, 1, __ATOMIC_RELAXED);
			return;
		}
		next = ((head >> 32) + 1) << 32 | (__u32)(at + words);
	} while (__builtin_expect(!__atomic_compare_exchange_n(&lane->head, &head, next, 1,
							       __ATOMIC_RELAXED, __ATOMIC_RELAXED),
				  0));

	word = (__u64 *)(void *)((char *)lanes + FKT_USER_PAGE) + which * FKT_USER_LANE_WORDS;
	tag = FKT_USER_TAG(args, at, code, number, cpu);
	/* So that the kernel knows how long it is, should it never be done. */
	__atomic_store_n(&word[at & mask], tag, __ATOMIC_RELAXED);
	word[(at + 1) & mask] = now;
	for (__u32 i = 0; i < args; i++)
		word[(at + 2 + i) & mask] = arg[i];
	__atomic_store_n(&word[at & mask], tag | FKT_USER_DONE, __ATOMIC_RELEASE);
	/* A lane that is more than half full is emptied, once for each quarter. */
	if (__builtin_expect(used > FKT_USER_LANE_WORDS / 2 &&
				     (at ^ (at + words)) & FKT_USER_LANE_WORDS / 4,
			     0))
		fkt_user_flush(lanes);
}

/* Record an event, or that of a span's end, where somebody records. */
static inline __attribute__((always_inline)) void
fkt_user_record(struct fkt_user_event *event, __u32 end, __u32 args, const __u64 *arg)
{
	struct fkt_user_lanes *lanes = __atomic_load_n(&fkt_user_process->lanes, __ATOMIC_ACQUIRE);
	__u64 known = __atomic_load_n(&event->known, __ATOMIC_RELAXED);

	if (__builtin_expect(!lanes || known >> 32 != lanes->generation ||
				     fkt_user_thread.generation != lanes->generation,
			     0)) {
		lanes = fkt_user_prepare(event);
		known = __atomic_load_n(&event->known, __ATOMIC_RELAXED);
	}
	if (!lanes)
		return;
	if ((__u32)known && fkt_user_thread.number != FKT_USER_REFUSED)
		fkt_user_write(lanes, (__u32)known + end, fkt_user_thread.number, args, arg);
	else /* There was no room for the thread, or for the name. */
		__atomic_fetch_add(&lanes->lane[0].lost, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline, unused)) void fkt_user_mark(const char *text)
{
	struct fkt_user_lanes *lanes = __atomic_load_n(&fkt_user_process->lanes, __ATOMIC_ACQUIRE);
	__u64 words[FKT_USER_ARGS_MAX] = { 0 };
	__u32 bytes = 0;

	if (!lanes || fkt_user_thread.generation != lanes->generation)
		lanes = fkt_user_prepare(0);
	if (!lanes)
		return;
	if (fkt_user_thread.number == FKT_USER_REFUSED) {
		__atomic_fetch_add(&lanes->lane[0].lost, 1, __ATOMIC_RELAXED);
		return;
	}
	while (bytes < sizeof(words) && text[bytes]) {
		((char *)words)[bytes] = text[bytes];
		bytes++;
	}
	fkt_user_write(lanes, FKT_USER_CODE_MARK, fkt_user_thread.number, (bytes + 7) / 8, words);
}

/* A span that goes on, for FKT_SPAN(): NULL when its begin was not recorded. */
static inline void fkt_user_span_end(struct fkt_user_event **event)
{
	if (*event && fkt_user_on())
		fkt_user_record(*event, 1, 0, 0);
}

static inline struct fkt_user_event *fkt_user_span_begin(struct fkt_user_event *event)
{
	if (!fkt_user_on())
		return 0;
	fkt_user_record(event, 0, 0, 0);
	return event;
}

#define FKT_USER_RECORD(id, ...)                                                                   \
	do {                                                                                       \
		if (fkt_user_on()) {                                                               \
			const __u64 fkt_args[] = { __VA_ARGS__ };                                  \
                                                                                                   \
			fkt_user_record(&(id), 0, sizeof(fkt_args) / sizeof(fkt_args[0]),          \
					fkt_args);                                                 \
		}                                                                                  \
	} while (0)

#define FKT_USER_EVENT0(id)                                                                        \
	do {                                                                                       \
		if (fkt_user_on())                                                                 \
			fkt_user_record(&(id), 0, 0, 0);                                           \
	} while (0)

#define FKT_USER_MARK(text)                                                                        \
	do {                                                                                       \
		if (fkt_user_on())                                                                 \
			fkt_user_mark(text);                                                       \
	} while (0)

#define FKT_USER_JOINED(a, line)   a##line
#define FKT_USER_VARIABLE(a, line) FKT_USER_JOINED(a, line)
#define FKT_USER_SPAN_OF(name)                                                                     \
	static struct fkt_user_event FKT_USER_VARIABLE(fkt_span_,                                  \
						       __LINE__) = { name, "", FKT_USER_SPAN, 0 }; \
	struct fkt_user_event *FKT_USER_VARIABLE(fkt_open_, __LINE__)                              \
		__attribute__((cleanup(fkt_user_span_end), unused)) =                              \
			fkt_user_span_begin(&FKT_USER_VARIABLE(fkt_span_, __LINE__))

#else /* machines on which nobody records */

static inline void fkt_user_open(void)
{
}

#define FKT_USER_RECORD(id, ...) ((void)(id).name)
#define FKT_USER_EVENT0(id)	 ((void)(id).name)
#define FKT_USER_MARK(text)	 ((void)(text))
#define FKT_USER_SPAN_OF(name)	 ((void)(name))

#endif

/**
 * fkt_event0 … fkt_event5 - record an event with so many arguments
 * @id: of FKT_USER_EVENT()
 *
 * The arguments are evaluated only while somebody records.
 */
#define fkt_event0(id)		FKT_USER_EVENT0(id)
#define fkt_event1(id, a)	FKT_USER_RECORD(id, (__u64)(a))
#define fkt_event2(id, a, b)	FKT_USER_RECORD(id, (__u64)(a), (__u64)(b))
#define fkt_event3(id, a, b, c) FKT_USER_RECORD(id, (__u64)(a), (__u64)(b), (__u64)(c))
#define fkt_event4(id, a, b, c, d)                                                                 \
	FKT_USER_RECORD(id, (__u64)(a), (__u64)(b), (__u64)(c), (__u64)(d))
#define fkt_event5(id, a, b, c, d, e)                                                              \
	FKT_USER_RECORD(id, (__u64)(a), (__u64)(b), (__u64)(c), (__u64)(d), (__u64)(e))

/**
 * fkt_counter - record the value of something
 * @name: a string literal, as that of FKT_USER_EVENT()
 * @value: a number
 */
#define fkt_counter(name, value)                                                                   \
	do {                                                                                       \
		FKT_USER_EVENT(fkt_counted, name, "value:s64");                                    \
		fkt_event1(fkt_counted, value);                                                    \
	} while (0)

/**
 * fkt_mark - record a text, of which the first 48 bytes are there
 * @text: a string
 */
#define fkt_mark(text) FKT_USER_MARK(text)

/**
 * FKT_SPAN - what goes on from here to the end of the block that it stands in
 * @name: a string literal, as that of FKT_USER_EVENT()
 *
 * It is a call of the program's: system calls that are made in it are in it, as are other spans.
 */
#define FKT_SPAN(name) FKT_USER_SPAN_OF(name)

#endif
#endif
