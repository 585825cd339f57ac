/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that write events: program.c has their memory, probes/application.c reads it. */
#ifndef FKT_PROGRAM_H
#define FKT_PROGRAM_H

#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/uidgid.h>
#include <fkt/codes.h>
#include <fkt/user.h>

/*
 * Names that there are at a time, of all programs, of a user's, and of one; and threads of one that
 * have a number.
 */
#define FKT_PROGRAM_NAMES	((FKT_CODE_PROGRAMS_END - FKT_CODE_PROGRAMS) / 2)
#define FKT_PROGRAM_NAMES_USER	512
#define FKT_PROGRAM_NAMES_MAX	256
#define FKT_PROGRAM_THREADS_MIN 16
#define FKT_PROGRAM_THREADS_MAX 4096
#define FKT_PROGRAM_LANE_PAGES	(FKT_USER_LANE_WORDS * sizeof(u64) / PAGE_SIZE)

/**
 * struct fkt_program_lane - what the kernel itself knows of a program's lane
 * @tail: words that were taken, which is where the next event is
 * @taken: events that were taken, or given up
 * @lost: of the program's count of those it had no room for, what has been told
 * @lost_at: when
 * @missing: events that were given up, and not told yet
 * @stuck: the event at @tail is not done
 * @stuck_since: jiffies when that was found
 * @ended_until: where the last event is that a thread of @ended in struct fkt_program can have
 *	written
 */
struct fkt_program_lane {
	u32 tail;
	u32 taken;
	u64 lost;
	u64 lost_at;
	u64 missing;
	bool stuck;
	unsigned long stuck_since;
	u32 ended_until;
};

/**
 * struct fkt_program - an open /dev/fkt_user, which is a process that writes events, or may
 * @link: in the list of those that write, from the first thread that joins on; fkt_programs_lock
 * @joining: held by a thread that joins, and by nobody else: memory is asked for with it. Outside
 *	of the other locks
 * @lock: all that says no other; inside of fkt_programs_lock. No memory is asked for with it, and
 *	none of the program's is touched that may have to be read from somewhere
 * @id: the number of this open file; constant
 * @uid: whose it is; constant
 * @process: which one has opened it; constant
 * @head: the page of struct fkt_user_lanes; constant
 * @lanes: how many it has; constant
 * @writes: it is in the list; written with fkt_programs_lock, too
 * @pages: the lanes' words, NULL before a thread has joined; set once, by a release
 * @threads: who has joined, NULL for a number that is free; the number of the first one is 1.
 *	Written with @joining, too
 * @threads_room: how many fit; likewise
 * @ended: numbers of threads that had ended when all lanes' @ended_until was read
 * @ended_any: there are such
 * @asked: numbers of threads of which the filter of this recording has said something; 0 is the
 *	process
 * @chosen: and those of them that it has
 * @names: the names that it has asked for
 * @lane: its lanes
 *
 * The pages are the kernel's, and mapped by the program: it can write into them whatever it likes,
 * at any moment. What is read there is copied, and checked then.
 */
struct fkt_program {
	struct list_head link;
	struct mutex joining;
	struct mutex lock;
	u32 id;
	kuid_t uid;
	struct pid *process;
	struct page *head;
	u32 lanes;
	bool writes;
	struct page **pages;
	struct pid **threads;
	u32 threads_room;
	DECLARE_BITMAP(ended, FKT_PROGRAM_THREADS_MAX);
	bool ended_any;
	DECLARE_BITMAP(asked, FKT_PROGRAM_THREADS_MAX + 1);
	DECLARE_BITMAP(chosen, FKT_PROGRAM_THREADS_MAX + 1);
	DECLARE_BITMAP(names, FKT_PROGRAM_NAMES);
	struct fkt_program_lane lane[FKT_USER_LANES_MAX];
};

static inline struct fkt_user_lanes *fkt_program_head(const struct fkt_program *p)
{
	return page_address(p->head);
}

/* program.c */
extern struct list_head fkt_programs;
extern struct mutex fkt_programs_lock;
int fkt_program_init(void);
void fkt_program_exit(void);
void fkt_program_names_forget(bool all);
void fkt_program_name_told(u32 code);
u32 fkt_program_code_line(u32 name, bool end, char *line, u32 room);

/* probes/application.c */
void fkt_program_ask_filter(struct fkt_program *p, u32 thread);
void fkt_program_comes(struct fkt_program *p);
void fkt_program_refused(void);
void fkt_program_flush(struct fkt_program *p);
void fkt_program_free_numbers(struct fkt_program *p);
void fkt_program_goes(struct fkt_program *p);

#endif
