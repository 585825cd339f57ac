/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of fkt_record share. */
#ifndef FKT_RECORD_H
#define FKT_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <fkt/format.h>
#include <fkt/ioctl.h>

#include "codes.h"
#include "kinds.h"
#include "sections.h"

#define EXIT_USAGE	    2
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND	    127
#define EXIT_SIGNAL	    128 /* and the signal's number, as in the shell */

/**
 * struct options - the command line
 * @output: name of the output, "-" for standard output
 * @mask: key mask to begin with
 * @limit_bytes: of pages, 0: no limit
 * @system_map: name of a System.map, or NULL
 * @module_files: files of modules, to complete kallsyms from
 * @module_files_count: how many
 * @pow: 2 to the power of this pages a lane
 * @lanes: FKT_LANES_…
 * @on_full: enum fkt_on_full
 * @ring_bytes: memory for all lanes that keep the newest events alone; 0: as @pow says
 * @gap: none more for what is recorded while a snapshot is written
 * @args: record the arguments of system calls and functions
 * @probe_keys: layers that are on because their probes are named
 * @list: only list what can be traced, by this function; NULL to record. Return: 0, or -1 with a
 *	message
 * @verbose: list it with all that is known of it
 * @no_command: record until a signal comes
 * @command: what to run, NULL with @no_command
 */
struct options {
	const char *output;
	uint32_t mask;
	uint64_t limit_bytes;
	const char *system_map;
	const char **module_files;
	size_t module_files_count;
	uint32_t pow;
	uint32_t lanes;
	uint32_t on_full;
	uint64_t ring_bytes;
	bool gap;
	bool args;
	uint32_t probe_keys;
	int (*list)(const struct options *options);
	bool verbose;
	bool no_command;
	char **command;
};

/**
 * struct child - the command
 * @pid: 0 when there is none
 * @go: closing it lets the child execute the command
 * @failed: where it then says why it could not
 * @ended: its status is known
 * @ignores_ends: it begins with SIGCHLD ignored, as its user has it
 * @status: exit status as the shell counts them, once it has ended
 */
struct child {
	pid_t pid;
	int go;
	int failed;
	bool ended;
	bool ignores_ends;
	int status;
};

enum output_kind {
	OUTPUT_FILE,
	OUTPUT_BLOCK,
	OUTPUT_STREAM, /* pipe, socket, character device */
};

/**
 * struct output - where the trace goes
 * @name: for messages
 * @fd: open for writing
 * @kind: what it is
 * @ours: a regular file that was named on the command line, to be cut as is needed
 * @created: it did not exist before
 * @begun: it is no longer what it was
 * @start: file position at which the trace begins
 * @head_bytes: what was written before the pages
 * @room_bytes: a block device's size
 */
struct output {
	const char *name;
	int fd;
	enum output_kind kind;
	bool ours;
	bool created;
	bool begun;
	off_t start;
	uint64_t head_bytes;
	uint64_t room_bytes;
};

/**
 * struct recording - everything that belongs to one run
 * @options: the command line
 * @device: /dev/fkt, open
 * @output: where the trace goes
 * @child: the command
 * @id: the recording's random number
 * @codes: given out to this recording's probes
 * @module_codes: lines of the codes that modules had registered when the head was made
 * @loaded: the modules that were loaded then
 * @loaded_count: how many
 * @head: what stands before the pages
 * @processes: the threads when it began, as lines of FKT_SECTION_PROCESSES
 * @lanes: how many it has
 * @begin: moment on the clocks that the head tells
 * @tsc_khz: frequency of the stamp counter
 * @snapshot: a signal has asked for one
 * @ended: no more snapshots can be had
 * @trigger: what the snapshot is taken for; NULL where nothing has triggered it
 * @fired: when that was, and in whom; stamp 0 for the command's end
 * @status: the last that FKT_STATUS said
 * @lane_status: the same for each of its lanes, after the end
 */
struct recording {
	struct options options;
	int device;
	struct output output;
	struct child child;
	uint8_t id[FKT_ID_BYTES];
	struct codes codes;
	struct sections module_codes;
	struct loaded *loaded;
	size_t loaded_count;
	struct sections head;
	struct sections processes;
	uint32_t lanes;
	struct fkt_clock_pair begin;
	uint64_t tsc_khz;
	bool snapshot;
	bool ended;
	const char *trigger;
	struct fkt_triggered fired;
	struct fkt_status status;
	struct fkt_lane_status *lane_status;
};

/* options.c */

/** options_parse - read the command line; does not return when it is wrong */
void options_parse(struct options *options, int argc, char **argv);

/** options_add_word - append a word to a list that NULL ends; an empty list may be NULL */
void options_add_word(char ***list, char *word);

/* clock.c */

/** clock_pair - read the three clocks at one moment */
struct fkt_clock_pair clock_pair(void);

/** clock_ahead - what a reading of the counter lacks to be a stamp, see fkt_status.clock_ahead */
uint64_t clock_ahead(int device);

/**
 * clock_khz - frequency of the stamp counter
 * @since: an earlier moment; if it is too near, waits until it is far enough
 */
uint64_t clock_khz(const struct fkt_clock_pair *since);

/* Times are below this, so that those in cycles fit 64 bits. */
#define CLOCK_NS_MAX 1000000000000000000ull

/** clock_parse_ns - "10ms"; the unit must be there. Return: whether it is a time */
bool clock_parse_ns(const char *text, uint64_t *ns);

/* lockdown.c */

/*
 * * lockdown - for what the kernel is locked down; NULL when it is not, or does not say so. Keeps
 * errno
 */
const char *lockdown(void);

/** signatures_wanted() - whether the kernel takes signed modules alone */
bool signatures_wanted(void);

/* addresses.c */

/** address_refused - why the kernel takes no probe there: FKT_ADD_PROBES' error of an address */
const char *address_refused(int error, bool returns);

/* child.c */

/**
 * child_find - find the command's file, as the shell would
 * @command: its name
 * @path: where to put the file's name
 *
 * Return: 0, EXIT_NOT_FOUND or EXIT_NOT_EXECUTABLE, with a message.
 */
int child_find(const char *command, char **path);

/**
 * child_fork - make the process that will become the command; it waits for child_release()
 * @child: filled in
 * @path: the command's file
 * @command: the command and its arguments
 * @stdout_fd: becomes the command's standard output, unless it is negative
 * @signals: that the command has blocked
 *
 * When the caller dies before it releases the child, the child exits.
 *
 * Return: 0, or -1 with a message.
 */
int child_fork(struct child *child, const char *path, char **command, int stdout_fd,
	       const sigset_t *signals);

/**
 * child_release - let the child execute the command
 *
 * Return: 0, EXIT_NOT_FOUND or EXIT_NOT_EXECUTABLE, with a message; the child is then gone.
 */
int child_release(struct child *child, const char *command);

/** child_reap - take the child's status if it has ended, wait for it if @wait */
void child_reap(struct child *child, bool wait);

/** child_abandon - get rid of a child that was never released */
void child_abandon(struct child *child);

/* output.c */

/**
 * output_open - open the output and find out what it is; nothing that it holds is touched yet
 *
 * Return: 0, or -1 with a message.
 */
int output_open(struct output *output, const char *name);

/** output_take - as output_open(), for a regular file that is open already; not closed by output */
void output_take(struct output *output, int fd, const char *name);

/**
 * output_begin - write the head, and get ready for pages
 *
 * Return: 0, or -1 with a message.
 */
int output_begin(struct output *output, const void *head, size_t bytes);

/** output_page_room - how many bytes of pages may stand between head and tail; 0: any number */
uint64_t output_page_room(const struct output *output, size_t tail_bytes);

/**
 * output_splice - write pages that come from a file by splice(2), up to its end
 *
 * Return: 0, or an errno value, with a message.
 */
int output_splice(struct output *output, int from);

/**
 * output_end - write the tail behind the pages, and the footer
 * @id: the recording
 * @page_bytes: of pages that the module wrote
 * @tail: the tail sections
 * @bytes: of them
 *
 * Return: 0, or -1 with a message; the file is then left without a tail.
 */
int output_end(struct output *output, const uint8_t *id, uint64_t page_bytes, const void *tail,
	       size_t bytes);

/** output_discard - leave nothing that could be taken for a trace */
void output_discard(struct output *output);

/* head.c, tail.c: see sections.h */

/** head_proc_is_machines - whether threads have the same numbers in /proc as in the trace */
bool head_proc_is_machines(void);

/** head_begin - file header and what the machine is; sets head, processes, lanes, begin, tsc_khz */
void head_begin(struct recording *recording);

/**
 * head_end - the rest of the head, padded to whole pages
 * @late: the recording has ended, and the trace is its last part: threads are called what they are
 *	called now
 */
void head_end(struct recording *recording, bool late);

/** tail_build - tail sections; the recording has ended */
void tail_build(struct sections *tail, const struct recording *recording);

/** tail_room - bytes that the tail may come to need */
size_t tail_room(const struct recording *recording);

/* symbols.c */

/** symbols_running - the functions of the kernel and its modules, as lines of /proc/kallsyms */
const struct sections *symbols_running(void);

/**
 * symbols_add - append the kernel's and its modules' functions, as lines of /proc/kallsyms
 * @system_map: a System.map to check them against and to complete them from, or NULL
 */
void symbols_add(struct sections *head, const char *system_map);

/** symbols_add_data - append the variables of the kernel and its modules, likewise */
void symbols_add_data(struct sections *head);

/* modules.c */

/** modules_add_codes - append the lines of the codes that modules have registered */
void modules_add_codes(struct sections *head, struct recording *recording);

/**
 * modules_add_symbols - append functions of modules that kallsyms lacks
 * @begin: where the lines of /proc/kallsyms begin in @head
 */
void modules_add_symbols(struct sections *head, size_t begin, struct recording *recording);

/*
 * * modules_add_late - sections about modules that came while the recording ran, if there were any
 */
void modules_add_late(struct sections *tail, const struct recording *recording);

/* select.c */

struct functions;
struct function;

/**
 * select_patterns - put the functions that match into the layer FUNCTIONS
 * @patterns: globs; those after a ! leave functions out again; NULL ends them
 * @never: whether one that stands for nothing but functions that are never traced is no mistake
 *
 * Return: 0, or -1 with a message when one names no function.
 */
int select_patterns(const struct functions *functions, char **patterns, bool never);

/**
 * select_layer - put a layer's functions into it
 * @missing: where to append those that this kernel does not have
 */
void select_layer(const struct functions *functions, uint32_t key, struct sections *missing);

/** select_entry_spec - the fields of a function's entry, as in codes.h; @named: names of enums */
void select_entry_spec(const struct function *function, bool named, char *spec, size_t bytes);

/* list.c */

/** list_functions - print the functions that match; 0, or -1 with a message when none does */
int list_functions(char **patterns, bool verbose);

/** list_layers - print the layers, and what each hooks on this kernel; 0 */
int list_layers(const struct options *options);

/* ring.c */

/**
 * ring_begin - write a head that is good for as long as there is no other: the pages may be found
 *	in the memory of a machine that has died
 *
 * Return: 0, or -1 with a message.
 */
int ring_begin(struct recording *recording);

/**
 * ring_write - head and pages of what the lanes hold; the recording has ended
 *
 * Return: 0 or an errno value.
 */
int ring_write(struct recording *recording);

/**
 * ring_snapshot - write a snapshot into a file that is called like the output, with a number
 *
 * Return: 0, or an errno value with a message.
 */
int ring_snapshot(struct recording *recording);

/** ring_listen - where fkt_snapshot finds us; -1, with a message, when it won't */
int ring_listen(void);

/** ring_close - the end of that; @fd may be -1 */
void ring_close(int fd);

/** ring_answer - somebody has connected: write the snapshot that is asked for */
void ring_answer(struct recording *recording, int fd);

/* triggers.c */

/** triggers_any - whether there are any, so that the end is written where they say so alone */
bool triggers_any(void);

/** triggers_armed - whether poll() is to be asked for POLLPRI */
bool triggers_armed(void);

/** triggers_wait_ms - for how long poll() may wait at most; negative: for ever */
int triggers_wait_ms(void);

/** triggers_go_on - do what is due; @fired: poll() has given POLLPRI */
void triggers_go_on(struct recording *recording, bool fired);

/** triggers_end - the command has ended, or the recording is to end */
void triggers_end(struct recording *recording);

/** triggers_failed - whether a snapshot could not be written */
bool triggers_failed(void);

/** triggers_add_texts - append what they are, as entries of FKT_SECTION_INFO */
void triggers_add_texts(struct sections *head);

/* stacks.c */

/** stacks_any - whether any event is recorded with a stack */
bool stacks_any(void);

/** stacks_user - whether any is with that of a program */
bool stacks_user(void);

/* maps.c: all of these do nothing where no stacks of programs are recorded */

/**
 * maps_begin - find out what code programs have, and listen to what they get from now on
 * @newest: what is long ago will be of no use
 */
void maps_begin(bool newest);

/** maps_fd - what is ready for reading when maps_take() is to be called; -1: nothing ever is */
int maps_fd(void);

/** maps_take - take what was heard */
void maps_take(void);

/** maps_add_head - append the section that says what there is now */
void maps_add_head(struct sections *head);

/** maps_add_tail - append the section with what came since then; of the newest events, with all */
void maps_add_tail(struct sections *tail, const struct recording *recording);

/** maps_room - bytes that this may take on a device */
size_t maps_room(void);

/* strings.c */

/** strings_any - whether the memory of system calls is recorded */
bool strings_any(void);

/* longer.c */

/** longer_any - whether only calls are recorded that take longer than some time */
bool longer_any(void);

/** longer_cycles - than how many cycles; 0: none, or it is not known yet */
uint64_t longer_cycles(void);

/* profile.c */

/** profile_any - whether there are samples */
bool profile_any(void);

/** profile_add_info - what the head says of them */
void profile_add_info(struct sections *head);

/* counters.c */

/**
 * struct counter - a counter that there is, on some machines
 * @name: as perf calls it
 * @type: PERF_TYPE_…
 * @config: which one of these
 */
struct counter {
	const char *name;
	uint32_t type;
	uint32_t config;
};

/** counter_find - the counter of a name, or NULL */
const struct counter *counter_find(const char *name);
/** counter_is_clock - whether it counts nanoseconds */
bool counter_is_clock(const struct counter *counter);
struct argp_state;
/** counter_find_or_fail - the same, or a usage error that tells what there is */
const struct counter *counter_find_or_fail(struct argp_state *state, const char *option,
					   const char *name);
/**
 * counter_tell - say why the module has refused a counter, by errno
 * @option: for which it was
 * @counter: the counter
 * @left_out: the recording can do without one that this machine has not
 *
 * Return: whether it is to be left out.
 */
bool counter_tell(const char *option, const struct counter *counter, bool left_out);

/** counters_any - whether there are any */
bool counters_any(void);

/** counters_add_info - append their names, as an entry of FKT_SECTION_INFO; if there are any */
void counters_add_info(struct sections *head);

/** counters_add_code - append the line of the event that they are in, by their names; likewise */
bool counters_add_code(struct sections *codes);

/* programs.c */

/** programs_any - whether functions of programs are traced */
bool programs_any(void);

/* filters.c */

/** filters_add_text - append who was asked for, as an entry of FKT_SECTION_INFO; if anybody was */
void filters_add_text(struct sections *head);

/* progress.c */

/** status_get - ask the module how the recording is; sets status, and lane_status if it is there */
void status_get(struct recording *recording);

/** progress_show - update the line of progress */
void progress_show(const struct recording *recording);

/** progress_erase - take it away again */
void progress_erase(void);

/** summary_show - say what was recorded */
void summary_show(const struct recording *recording);

#endif
