/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a trace is wanted: the options that several tools have, --process, --range and their
 * like. filter.h lets through what they say, known.h says what of it the trace does not have.
 */
#ifndef FKT_COMMON_SELECTION_H
#define FKT_COMMON_SELECTION_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include <fkt/trace.h>

#define CHOICES_MAX 32

/**
 * struct chosen_one - one of what an option names
 * @unwanted: it is left out, by "!"
 * @is_pid: a process or a thread, by @pid, else by @name
 * @pid: see there
 * @name: as the user wrote it: a pattern, a list of CPUs, a process
 */
struct chosen_one {
	bool unwanted;
	bool is_pid;
	uint32_t pid;
	const char *name;
};

/**
 * struct choice - all that an option names, given several times: any of them, and none with "!"
 * @one: each
 * @count: how many
 */
struct choice {
	struct chosen_one one[CHOICES_MAX];
	unsigned int count;
};

/**
 * struct selection - which trace, and what of it
 * @path: the trace
 * @overwritten: it begins where nothing was overwritten on any CPU, though some have more: @from
 * @at_trigger: @from is told by what triggered the snapshot, and @trigger_ns
 * @to_trigger: so is @to, and @trigger_to_ns
 * @near_trigger: so @from is without being asked for
 * @trigger_ns, @trigger_to_ns: so long after the trigger; before it, where it is negative
 * @triggered: when the snapshot was triggered, as @from; < 0 when it was not
 * @lives: only while one of these processes lives, and none of those
 * @process: only these processes
 * @cpu: these CPUs alone, lists such as "0,2-3"
 * @code: events with names or codes like these alone
 * @layer: events of these layers alone
 * @function: events in calls of what these match alone
 * @from, @to: between these times alone, in nanoseconds since the beginning; < 0 for none
 * @longer: calls that took longer alone, in nanoseconds; < 0 for all
 */
struct selection {
	const char *path;
	bool overwritten;
	bool at_trigger;
	bool to_trigger;
	bool near_trigger;
	int64_t trigger_ns;
	int64_t trigger_to_ns;
	int64_t triggered;
	struct choice lives;
	struct choice process;
	struct choice cpu;
	struct choice code;
	struct choice layer;
	struct choice function;
	int64_t from;
	int64_t to;
	int64_t longer;
};

/* Nothing was asked for yet: all of fkt_record's usual file. */
#define SELECTION_NONE                                                                             \
	{                                                                                          \
		.path = "trace_file", .from = -1, .triggered = -1, .to = -1, .longer = -1          \
	}

/* The keys of the options, which no others of a tool have. */
enum {
	SELECT_PROCESS = 0x10000,
	SELECT_WHILE,
	SELECT_CPU,
	SELECT_CODE,
	SELECT_LAYER,
	SELECT_FUNCTION,
	SELECT_FROM,
	SELECT_TO,
	SELECT_RANGE,
	SELECT_LONGER,
	SELECT_END,
};

#define SELECT_COUNT (SELECT_END - SELECT_PROCESS)
/* Their group in --help. */
#define SELECT_GROUP 2

/* The options, for the table of a tool's own. */
extern const struct argp_option selection_options[SELECT_COUNT];

/**
 * selection_parse() - take one of the options
 * @state: the parser; the program is ended when the argument is wrong
 * @selection: set
 * @key: the option's
 * @arg: its argument
 *
 * Return: whether it is one of these options.
 */
bool selection_parse(struct argp_state *state, struct selection *selection, int key, char *arg);

/* End the program when the options, all parsed, do not go together. */
void selection_check(struct argp_state *state, const struct selection *selection);

/**
 * selection_choose_process() - take a list of processes
 * @state: the parser
 * @choice: what they are added to
 * @option: how the user calls the option
 * @arg: the list
 */
void selection_choose_process(struct argp_state *state, struct choice *choice, const char *option,
			      char *arg);

/* What messages call the trace. */
const char *selection_path(const struct selection *selection);

/*
 * The stamp from which on no CPU's events were overwritten, where some CPUs have events of before;
 * 0: they have not.
 */
uint64_t selection_complete_from(struct fkt_trace *trace);

/* Say on stderr what is wrong with the trace. */
void selection_complain(const struct selection *selection, const char *sentence);

/**
 * selection_find() - the moments that the trace itself tells: its trigger, where it is complete
 * @selection: from is set where the user did not say anything else
 * @trace: the trace
 *
 * Return: false after a complaint that there is no such moment.
 */
bool selection_find(struct selection *selection, struct fkt_trace *trace);

#endif
