/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of fkt.ko share: recording an event, the providers, the session. */
#ifndef FKT_H
#define FKT_H

#include <linux/build_bug.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/security.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <fkt/codes.h>
#include <fkt/ioctl.h>
#include "lane.h"

/* --- Recording an event: what probes call ------------------------------------------------- */

/* The active mask (§1.1), of all CPUs. 0 unless a recording runs; changed by mask.c alone. */
extern u32 fkt_mask;
/* What this CPU's probes ask: of the active mask, what its current task may record. */
DECLARE_PER_CPU(u32, fkt_cpu_mask);
/* The lane that this CPU's probes write into, never NULL while a recording runs. */
DECLARE_PER_CPU(struct fkt_lane *, fkt_lane);
DECLARE_STATIC_KEY_FALSE(fkt_shared_key);

void fkt_event_shared(u64 tag, u32 words, const u64 *args);
void fkt_event_lost(void);

/* One plain load: a probe may see a change of the mask a little late. */
static __always_inline bool fkt_on(u32 key)
{
	return fkt_arch_cpu_has(fkt_cpu_mask, key);
}

/* The same for what is about the recording, and not about who is current: nothing filters it. */
static __always_inline bool fkt_on_for_all(u32 key)
{
	return READ_ONCE(fkt_mask) & key;
}

/* What writes into a lane stays on its CPU. A build for the tests watches over that. */
static __always_inline void fkt_check_not_preemptible(void)
{
#ifdef FKT_TEST
	WARN_ON_ONCE(preemptible());
#endif
}

/**
 * fkt_event_tag - record an event whose first word is made already
 * @tag: FKT_TAG(code, words, imm)
 * @words: number of @args, at most FKT_SLOT_WORDS_MAX - 1
 * @args: its arguments
 *
 * Context: as for fkt_event_n().
 */
static __always_inline void fkt_event_tag(u64 tag, u32 words, const u64 *args)
{
	fkt_check_not_preemptible();
	if (static_branch_unlikely(&fkt_shared_key))
		fkt_event_shared(tag, words, args);
	else
		fkt_lane_record(this_cpu_read(fkt_lane), tag, words, args, false);
}

/**
 * fkt_event_n - record an event
 * @code: its code, see codes.h
 * @imm: its immediate
 * @words: number of @args, a constant, at most FKT_SLOT_WORDS_MAX - 1
 * @args: its arguments
 *
 * Context: any, NMI included; preemption is off (FKT_PROBE_GUARD()). The caller has asked fkt_on()
 * since it is.
 */
static __always_inline void fkt_event_n(u32 code, u16 imm, u32 words, const u64 *args)
{
	fkt_event_tag(FKT_TAG(code, words, imm), words, args);
}

#define FKT_EVENT(code, imm, ...)                                                                  \
	do {                                                                                       \
		const u64 fkt_args[] = { __VA_ARGS__ };                                            \
		fkt_event_n(code, imm, ARRAY_SIZE(fkt_args), fkt_args);                            \
	} while (0)
#define FKT_EVENT0(code, imm) fkt_event_n(code, imm, 0, NULL)

/* Two 32-bit fields of a slot in one word, in the order in which its spec names them. */
static __always_inline u64 fkt_pair(u32 first, u32 second)
{
	return first | (u64)second << 32;
}

/* --- Providers: one file a kind of probe, in probes/ -------------------------------------- */

struct fkt_session;

/**
 * struct fkt_specs - probes for the next recording, of one kind, copied into the kernel's memory
 * @spec: an array of the provider's struct; nothing in it has been checked
 * @count: how many there are, at least one
 * @common: what they have in common, nor has this
 * @common_bytes: its size, 0 where nothing was given
 * @done: set by @add: how many of them it has taken although it fails
 */
struct fkt_specs {
	const void *spec;
	u32 count;
	const void *common;
	u32 common_bytes;
	u32 done;
};

/**
 * struct fkt_provider - a kind of probe
 * @name: for messages
 * @keys: the layers whose probes it has
 * @spec_bytes: size of the struct by which users name a probe, see FKT_ADD_PROBES
 * @common_max: the most bytes that probes may have in common
 * @count_max: the most probes of one recording
 * @lockdown: for what a kernel may be locked down so that nobody names any, or 0
 * @harmless: nothing that is said of a probe reads or writes any memory that it names: who may
 *	record may name them. Others are for CAP_SYS_ADMIN
 * @changes: what is said of a probe may change what programs do: it is for CAP_SYS_ADMIN, whatever
 *	trust_perfmon says
 * @init: once, at module load; may fail with a negative errno value, and is undone by @exit. May
 *	sleep.
 * @exit: at module unload, idle and cleared. May sleep.
 * @begin: a recording begins, nothing is attached yet. The session's lock; may sleep.
 * @add: take probes for the next recording, more than once; NULL where users name none. Checks all
 *	of them. Return: 0, or a negative errno value. The session's lock, idle; may sleep, but
 *	never asks for the user's memory, which may make it wait for as long as the user likes.
 * @hookable: set those of some addresses to 0 that @add need not be given; NULL where nobody asks.
 *	No lock; may sleep. Return: 0, or a negative errno value.
 * @clear: forget what @add was given. The session's lock, not attached; may sleep.
 * @attach: hook in the probes of the layers in @keys, which are some of its own that are not
 *	attached; after a negative errno value @detach follows, at once or, where other layers of it
 *	are attached, when the recording ends. -ERESTARTSYS on a signal: none of these layers is
 *	attached, and they may be asked for again. The session's lock; may sleep.
 * @detach: unhook all that was hooked, also after an attach that failed; when it returns, none of
 *	the probes is called any more, but one may still be running: the session waits for those.
 *	The session's lock; may sleep.
 * @status: say what is known of the running or the last recording, in fields of its own of @status.
 *	The session's lock; may sleep.
 *
 * All but @name may be left out; @attach and @detach only without @keys.
 */
struct fkt_provider {
	const char *name;
	u32 keys;
	u32 spec_bytes;
	u32 common_max;
	u32 count_max;
	enum lockdown_reason lockdown;
	bool harmless;
	bool changes;
	int (*init)(void);
	void (*exit)(void);
	void (*begin)(void);
	int (*add)(struct fkt_specs *specs);
	int (*hookable)(unsigned long *addresses, u32 count);
	void (*clear)(void);
	int (*attach)(const struct fkt_session *s, u32 keys);
	void (*detach)(void);
	void (*status)(struct fkt_status *status);
};

#define X(NAME, name) extern const struct fkt_provider fkt_provider_##name;
FKT_PROVIDERS(X)
#undef X

#define X(NAME, name) +1
enum {
	FKT_PROVIDERS_COUNT = 0 FKT_PROVIDERS(X)
};
#undef X

/**
 * struct fkt_tracepoint - a tracepoint that a provider hooks
 * @name: the kernel's name of it
 * @probe: the function, its first argument is @data
 * @data: see @probe
 * @first: it is called before all others
 * @last: after all others
 * @tp: the tracepoint while hooked
 */
struct fkt_tracepoint {
	const char *name;
	void *probe;
	void *data;
	bool first;
	bool last;
	struct tracepoint *tp;
};

/*
 * @function as the probe of the tracepoint @event, whose header is included: does not compile when
 *	it
 * has not the type that the kernel will call it as. One kernel gives a tracepoint an argument more,
 * another one checks the type at each call.
 */
#define FKT_IS_PROBE(event, function)                                                              \
	__builtin_types_compatible_p(typeof(check_trace_callback_type_##event),                    \
				     void(typeof(function) *))
#define FKT_PROBE_FOR(event, function)                                                             \
	((void *)(function) + BUILD_BUG_ON_ZERO(!FKT_IS_PROBE(event, function)))
/* The same of two functions, of which the one has the type on some kernels, the other on others. */
#define FKT_PROBE_FOR_EITHER(event, one, other)                                                    \
	(__builtin_choose_expr(FKT_IS_PROBE(event, one), (void *)(one), (void *)(other)) +         \
	 BUILD_BUG_ON_ZERO(!FKT_IS_PROBE(event, one) && !FKT_IS_PROBE(event, other)))
#define FKT_POINT(event, function)                                                                 \
	{                                                                                          \
		.name = #event, .probe = FKT_PROBE_FOR(event, function)                            \
	}

int fkt_tracepoints_attach(struct fkt_tracepoint *table, unsigned int count);
void fkt_tracepoints_detach(struct fkt_tracepoint *table, unsigned int count);

/* --- The session: everything that lives as long as one recording -------------------------- */

/**
 * struct fkt_buf - a page of the buffer, wherever it is
 * @page: the page; the session holds one reference as long as the fkt_buf exists
 * @link: in fkt_pool.out while the output has it, in fkt_pool.spare between recordings
 * @extra: allocated because the buffer ran low (§8.1), given back when it no longer does
 *
 * Who owns the page: the lane from fkt_lane_queue() on, the reader from fkt_lane_take() on, and
 * the output from splice_to_pipe() on, which takes a reference of its own. The page comes back when
 * the output has dropped all of its references, wherever it passed them on to.
 */
struct fkt_buf {
	struct page *page;
	struct list_head link;
	bool extra;
};

/**
 * struct fkt_pool - the pages of one lane
 * @lane: the lane
 * @ring: its ring
 * @out: struct fkt_buf, handed to the output, oldest first
 * @out_count: how many
 * @spare: struct fkt_buf, neither in the lane nor out
 * @pages: all of them, extra ones included
 * @extra: the extra ones
 * @initial: how many there are without extra ones
 * @cap: how many there may be
 * @present: probes may run on the lane's CPU; of a shared lane, always
 * @events: in pages handed to the output
 * @pages_out: handed to the output
 * @discarded: events that were recorded and could not be written
 * @held: the lane is read for a snapshot, and does not overwrite meanwhile
 * @lost_before: events that the lane had lost when the trace that goes out, or will, began; with
 *	the session's lock, too
 * @lost_end: and when the snapshot that is being taken was asked for; likewise
 */
struct fkt_pool {
	struct fkt_lane *lane;
	struct fkt_ring_entry *ring;
	struct list_head out;
	u32 out_count;
	struct list_head spare;
	u32 pages;
	u32 extra;
	u32 initial;
	u32 cap;
	bool present;
	u64 events;
	u64 pages_out;
	u64 discarded;
	bool held;
	u64 lost_before;
	u64 lost_end;
};

/* A page on its way to the output: what to take back from the counts if it is not written. */
struct fkt_handed {
	struct fkt_pool *pool; /* NULL for an index page */
	u32 events;
};

#define FKT_PIPE_BUFFERS   16	/* what a pipe holds */
#define FKT_RUN_PAGES	   16	/* consecutive pages that go out together */
#define FKT_KICK_PAGES_MAX 64	/* a lane kicks once for so many pages, or for 1/8 of its own */
#define FKT_HANDED_PAGES   256	/* what one round of the flush thread writes at most */
#define FKT_POLL_MS	   500	/* how long a full page waits for others before it is written */
#define FKT_MARK_MS	   1000 /* how often one who splices hears from us at least */

/**
 * struct fkt_attached - which probes of a provider are hooked in
 * @keys: the layers that were attached
 * @failed: the layers that could not be attached beside those that are
 * @error: why
 */
struct fkt_attached {
	u32 keys;
	u32 failed;
	int error;
};

/**
 * struct fkt_stream - the way out: what is handed to the output, or to whoever splices
 * @reader: held by whoever moves pages: the one reader of lane.h. Taken within the session's lock,
 *	never around it. All that says no other is written with it
 * @reader_wait: woken when pages are ready, or the recording is to stop
 * @kick: brings fkt_lane_kick() from any context to waking @reader_wait (the paper's softirq bit)
 * @kicked: pages are ready; no lock
 * @stop: the recording is to stop; set once, no lock
 * @eof: draining, or taking a snapshot, and nothing is left
 * @id: random number of the trace that goes out, or will
 * @snapshot: a snapshot is being taken; written with the session's lock, too, read by poll(2)
 *	without one
 * @limit_pages: how many pages may go out, index pages and marks included; 0: no limit. Constant
 *	while recording
 * @limit_at: stamp when the size limit ended the recording, 0 before
 * @limit_reached: the size limit has ended the recording; read without a lock
 * @bytes: of all pages handed out; read without a lock
 * @index: index page that is being filled, NULL when there is none
 * @index_seq: index pages and marks handed out
 * @max_end: latest closing stamp of all pages handed out
 * @events: events in all pages handed out
 * @pages_out: pages handed out, all kinds
 * @mark_due: jiffies when partly filled pages are to be closed; read without a lock for a time to
 *	wait
 * @fence_due: without marks, jiffies when CPUs that are silent may next be asked for a fence
 * @wake_work: wakes one who waits in poll(2) when a mark is due
 * @runs: the output is a file, which takes consecutive pages in one piece; constant while recording
 * @run_pool: where the page handed out last came from, NULL when no page may continue it
 * @run_next: what follows it in memory
 * @run_pages: length of the run
 * @handed: pages handed out since the flush thread's call began
 * @handed_count: how many; set to 0 by the flush thread, between its calls
 * @pauses: times that on_full=pause struck; counted by the probe that has turned the mask off,
 *	without a lock
 * @paused_at: when the last one struck; that probe's, before it counts
 * @paused_lane: in which lane; likewise
 * @pauses_told: of @pauses, those that are in the trace
 * @pauses_logged: those that are in the kernel's log
 */
struct fkt_stream {
	struct mutex reader;
	wait_queue_head_t reader_wait;
	struct irq_work kick;
	bool kicked;
	bool stop;
	bool eof;
	u8 id[FKT_ID_BYTES];
	bool snapshot;
	u64 limit_pages;
	u64 limit_at;
	bool limit_reached;
	u64 bytes;
	struct fkt_page_header *index;
	u64 index_seq;
	u64 max_end;
	u64 events;
	u64 pages_out;
	unsigned long mark_due;
	unsigned long fence_due;
	struct delayed_work wake_work;
	bool runs;
	struct fkt_pool *run_pool;
	void *run_next;
	u32 run_pages;
	struct fkt_handed handed[FKT_HANDED_PAGES];
	u32 handed_count;
	atomic_t pauses;
	u64 paused_at;
	u16 paused_lane;
	u32 pauses_told;
	u32 pauses_logged;
};

/**
 * struct fkt_output - the file that the recording goes to, and the threads that write it
 * @file: the file; NULL when the caller splices. The session's lock until fkt_flush_start(), the
 *	flush thread's from there on, as are those that say no other
 * @direct: opened with O_DIRECT; constant while recording
 * @pos: where in @file the recording began; constant while recording
 * @cred: on whose behalf it is written: whoever began the recording
 * @max: RLIMIT_FSIZE of whoever began the recording, where @file has a size; constant while
 *	recording
 * @source: the file that the flush thread splices from
 * @write_error: why @file did not take all
 * @error: errno value with which the output has ended the recording, 0 if none; set by the flush
 *	thread when no page is left, read by anybody, without a lock
 * @flush_task: the flush thread, until someone has waited for its end; the session's lock
 * @flush_cpu_ns: CPU time that it used; it writes, anybody reads
 * @sync_task: the synchronizing thread, NULL where there is none; the session's lock until the
 *	flush thread is there, which ends it
 * @sync_wait: where it waits
 * @sync_wanted: it is asked for; no lock
 * @synced: bytes that were written when the last synchronization began; the synchronizing thread's,
 *	and the flush thread's when that has ended
 * @sync_error: the first error of a synchronization, for a file tells it once; as @synced
 * @sync_cpu_ns: CPU time that it used; it writes, anybody reads
 */
struct fkt_output {
	struct file *file;
	bool direct;
	loff_t pos;
	const struct cred *cred;
	u64 max;
	struct file *source;
	int write_error;
	int error;
	struct task_struct *flush_task;
	u64 flush_cpu_ns;
	struct task_struct *sync_task;
	wait_queue_head_t sync_wait;
	bool sync_wanted;
	u64 synced;
	int sync_error;
	u64 sync_cpu_ns;
};

/**
 * struct fkt_session - the recording
 * @lock: beginning and ending a recording, attaching and detaching, setting up the next one. What
 *	says no other is written and read with it. May sleep; never while memory of a user is asked
 *	for
 * @state: enum fkt_state; written with @lock, and by fkt_session_stop_probes() with the reader's,
 *	too; read without one by who waits for it, and by the reader: fkt_state_now()
 * @generation: number of the recording, counts up at FKT_START; read without a lock
 * @state_wait: woken when @state changes
 * @conf: what FKT_START asked for; constant from ready to idle
 * @pow: pages a lane of the next recording, as a power of two
 * @initmask: mask that the next recording starts with
 * @trydma: take pages below 16 MB for it
 * @probes: of each provider, which of its probes are there
 * @probes_of: the open file that has named probes for the next recording, or for the running one
 * @threads_named: the names of FKT's own threads are in the trace
 * @cpuhp_state: handle of the CPU hotplug callback
 * @fill_error: why a CPU that is there got no pages; the reader's
 * @pools: one a lane, NULL when there are none. Constant from ready to idle; what is in them is the
 *	reader's
 * @pools_count: lanes
 * @pools_shared: whether they were made for the shared lane
 * @pools_pow: @pow that they were made for
 * @pools_dma: @trydma that they were made for
 * @start_cycles: stamp when probes were let loose, 0 before
 * @stop_cycles: stamp when they were stopped, 0 before
 * @skipped: of the events lost, those that had room: see fkt_event_lost(); probes count, without a
 *	lock
 * @skipped_before: how many they were when the trace that goes out, or will, began
 * @skipped_end: and when the snapshot that is being taken was asked for
 * @stream: the way out
 * @output: where to
 */
struct fkt_session {
	struct mutex lock;
	enum fkt_state state;
	u64 generation;
	wait_queue_head_t state_wait;
	struct fkt_start conf;
	u32 pow;
	u32 initmask;
	bool trydma;
	struct fkt_attached probes[FKT_PROVIDERS_COUNT];
	const struct file *probes_of;
	bool threads_named;
	int cpuhp_state;
	int fill_error;
	struct fkt_pool *pools;
	u32 pools_count;
	bool pools_shared;
	u32 pools_pow;
	bool pools_dma;
	u64 start_cycles;
	u64 stop_cycles;
	atomic64_t skipped;
	u64 skipped_before;
	u64 skipped_end;
	struct fkt_stream stream;
	struct fkt_output output;
};

extern struct fkt_session fkt_session;

static inline bool fkt_shared(const struct fkt_session *s)
{
	return s->conf.lanes == FKT_LANES_SHARED;
}

/* Whether the lanes keep the newest events, and nothing goes out before the recording's end. */
static inline bool fkt_overwrites(const struct fkt_session *s)
{
	return s->conf.on_full == FKT_ON_FULL_OVERWRITE;
}

/* The session's state, for one who has not its lock: it may change at any moment. */
static inline enum fkt_state fkt_state_now(const struct fkt_session *s)
{
	return READ_ONCE(s->state);
}

/* Whether a flush thread writes to a file, rather than the recorder splicing by itself. */
static inline bool fkt_has_output(const struct fkt_session *s)
{
	return s->conf.out_fd != FKT_NO_OUTPUT;
}

/*
 * Whether irq_work that is queued here, with preemption off, will run. A CPU that is going has run
 * what there was, and raises no interrupt any more, or has parked the thread that does it on
 * PREEMPT_RT: the work would be pending, and nobody else could queue it, until the CPU comes back.
 */
static inline bool fkt_irq_work_runs(void)
{
	const u32 cpu = raw_smp_processor_id();

	return cpu_active(cpu) || !cpu_dying(cpu);
}

/* session.c */
void fkt_session_init(struct fkt_session *s);
void fkt_session_exit(struct fkt_session *s);
int fkt_session_start(struct fkt_session *s, const struct fkt_start *conf, const struct file *file,
		      u64 *generation);
void fkt_session_forget_probes(struct fkt_session *s, const struct file *file);
int fkt_session_stop(struct fkt_session *s, u64 generation);
void fkt_session_abandon(struct fkt_session *s, u64 generation);
bool fkt_mask_valid(u32 mask);
int fkt_session_set_mask(struct fkt_session *s, u32 set, u32 clear);
void fkt_session_request_stop(struct fkt_session *s);
void fkt_session_stop_probes(struct fkt_session *s);
void fkt_session_say_current(void *unused);
void fkt_session_finish(struct fkt_session *s);

/* mask.c */
u32 fkt_mask_set(u32 mask, bool say);
u32 fkt_mask_off(void);
void fkt_mask_wait_off(void);
void fkt_mask_set_alone(u32 mask);
u32 fkt_mask_may(void);
void fkt_mask_let(u32 may);
void fkt_mask_let_all(u32 may);

/* program.c */
void fkt_program_follow_mask(void);

/* probes/application.c */
void fkt_programs_tell(void);
void fkt_programs_end(bool tell);

/* probes/filter.c */
enum fkt_filter_has {
	FKT_FILTER_HAS_NOT,
	FKT_FILTER_HAS,
	FKT_FILTER_UNKNOWN,
};

bool fkt_filter_has_cpu(u32 cpu);
enum fkt_filter_has fkt_filter_has(struct pid *pid);
int fkt_filter_begin(void);
void fkt_filter_end(void);
bool fkt_filter_looks(void);
void fkt_filter_look(void *unused);

/* provider.c */
int fkt_providers_init(void);
void fkt_providers_exit(void);
void fkt_providers_begin(void);
int fkt_providers_add(struct fkt_session *s, struct fkt_probes *probes, const struct file *file);
int fkt_providers_hookable(const struct fkt_hookable *hookable);
void fkt_providers_clear(struct fkt_session *s);
int fkt_providers_attach(struct fkt_session *s, u32 mask);
void fkt_providers_detach(struct fkt_session *s);
void fkt_providers_status(struct fkt_status *status);

/* probes/module.c */
bool fkt_is_name(const char *name, size_t bytes);
const char *fkt_spec_fault(const char *spec);
int fkt_codes_list(char __user *to, u64 room, u64 *bytes);

/* probes/trigger.c */
bool fkt_trigger_pending(void);
void fkt_trigger_tell(struct fkt_triggered *told);
void fkt_trigger_arm(void);

/* buffer.c */
void fkt_pool_tell(u32 code, const struct fkt_pool *pool, u64 number);
int fkt_buffer_alloc(struct fkt_session *s);
int fkt_buffer_fill(struct fkt_session *s, struct fkt_pool *pool);
void fkt_buffer_settle(struct fkt_session *s);
void fkt_buffer_free(struct fkt_session *s);
bool fkt_pool_is_short(const struct fkt_session *s, const struct fkt_pool *pool);
u32 fkt_kick_pages(const struct fkt_pool *pool);
void fkt_buffer_reclaim(struct fkt_pool *pool);
bool fkt_buffer_service(struct fkt_session *s);

/* flush.c */
extern const struct file_operations fkt_stream_fops;
void fkt_stream_begin(struct fkt_session *s, const u8 *id);
void fkt_stream_reset(struct fkt_session *s);
void fkt_stream_discard(struct fkt_session *s);
bool fkt_stream_pause_untold(const struct fkt_session *s);
bool fkt_stream_tell_pause(struct fkt_session *s);
bool fkt_stream_ready(struct fkt_session *s);
void fkt_stream_limit_near(struct fkt_session *s);
bool fkt_is_readers(const struct fkt_session *s, u64 generation);
ssize_t fkt_splice_read(u64 generation, struct file *in, loff_t *pos, struct pipe_inode_info *pipe,
			size_t len, unsigned int flags);
int fkt_flush_start(struct fkt_session *s);
void fkt_flush_wait(struct fkt_session *s);

/* ended.c */
int fkt_ended_begin(struct fkt_session *s);
void fkt_ended_add(const struct task_struct *p);
int fkt_ended_list(struct fkt_ended __user *to, u32 room, u32 *count);
void fkt_ended_free(void);

/* snapshot.c */
int fkt_snapshot_begin(struct fkt_session *s, u64 generation, struct fkt_snapshot *snapshot);
int fkt_snapshot_end(struct fkt_session *s, u64 generation, bool used);
bool fkt_snapshot_has(const struct fkt_session *s, const struct fkt_pool *pool);
bool fkt_snapshot_is_out(const struct fkt_session *s);
void fkt_snapshot_service(struct fkt_pool *pool);

/* sleep.c */
void fkt_sleep_init(void);
void fkt_sleep_exit(void);

/* sync.c */
int fkt_sync_start(struct fkt_session *s);
void fkt_sync_request(struct fkt_session *s);
int fkt_sync_finish(struct fkt_session *s);

#endif
