// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --gmon: a profile for gprof. The time in functions is that of samples, or where there are none,
 * the own time of calls; who calls whom, and how often, is told by calls, or where there are none,
 * by the samples' stacks.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/create.h"
#include "gmon.h"
#include "print.h"
#include "sum/paths.h"
#include "trace/fields.h"

/* A trace may be made to name any number of them; further ones share the first. */
#define FUNCTIONS_MAX (1u << 20)
#define OTHERS	      0

/* A second in ticks, where these are not samples; less where functions took more than so many. */
#define RATE	      1000000
#define TICKS_MOST    (UINT16_MAX * 64ull)

/**
 * struct gmon_view - the view
 * @context: what it knows
 * @names: functions
 * @own: of each, own time of its calls, in cycles
 * @samples: of each, samples in it
 * @functions: of how many there are these two
 * @calls: who calls whom: below a function, those that it has called
 * @stacks: the same by the samples' stacks
 * @any_calls, @any_samples: whether there are any
 */
struct gmon_view {
	const struct context *context;
	struct fkt_path_names names;
	uint64_t *own;
	uint64_t *samples;
	uint32_t functions;
	struct fkt_paths calls;
	struct fkt_paths stacks;
	bool any_calls;
	bool any_samples;
};

static const char *out_path;

static void gmon_free(void *view)
{
	struct gmon_view *gmon = view;

	fkt_path_names_free(&gmon->names);
	free(gmon->own);
	free(gmon->samples);
	fkt_paths_free(&gmon->calls);
	fkt_paths_free(&gmon->stacks);
	free(gmon);
}

static int grow(struct gmon_view *gmon, uint32_t number)
{
	uint32_t room = gmon->functions ?: 256;
	uint64_t *own, *samples;

	if (number < gmon->functions)
		return 0;
	while (room <= number)
		room *= 2;
	own = reallocarray(gmon->own, room, sizeof(*own));
	if (own)
		gmon->own = own;
	samples = reallocarray(gmon->samples, room, sizeof(*samples));
	if (samples)
		gmon->samples = samples;
	if (!own || !samples)
		return -ENOMEM;
	memset(own + gmon->functions, 0, (room - gmon->functions) * sizeof(*own));
	memset(samples + gmon->functions, 0, (room - gmon->functions) * sizeof(*samples));
	gmon->functions = room;
	return 0;
}

/* The number of a function; FKT_PATHS_NONE without memory. */
static uint32_t number_of(struct gmon_view *gmon, const char *name)
{
	uint32_t number = OTHERS;

	if (gmon->names.count < FUNCTIONS_MAX)
		number = fkt_path_name(&gmon->names, name);
	return number != FKT_PATHS_NONE && grow(gmon, number) ? FKT_PATHS_NONE : number;
}

static void *gmon_new(const struct context *context)
{
	struct gmon_view *gmon = calloc(1, sizeof(*gmon));

	if (!gmon)
		return NULL;
	gmon->context = context;
	if (!fkt_paths_init(&gmon->calls) && !fkt_paths_init(&gmon->stacks) &&
	    number_of(gmon, "(others)") == OTHERS)
		return gmon;
	gmon_free(gmon);
	return NULL;
}

static int add_arc(struct fkt_paths *arcs, uint32_t from, uint32_t to)
{
	const uint32_t above = fkt_paths_below(arcs, FKT_PATHS_ROOT, from);
	const uint32_t node = above == FKT_PATHS_NONE ? above : fkt_paths_below(arcs, above, to);

	if (node == FKT_PATHS_NONE)
		return -ENOMEM;
	/* Beyond what there is room for, the functions are there, and not who called them. */
	if (node != above)
		arcs->node[node].weight++;
	return 0;
}

/* ---- calls ---- */

static uint32_t row_number(struct gmon_view *gmon, uint32_t row)
{
	char name[FKT_NAME_BYTES];

	fkt_row_name(gmon->context->trace, row, name);
	return number_of(gmon, name);
}

/* Of a call that was not seen whole, only its own time counts, as in the summary. */
static int gmon_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct gmon_view *gmon = view;
	const uint32_t number = passes ? row_number(gmon, call->row) : OTHERS;
	uint32_t caller;

	if (!passes)
		return 0;
	if (number == FKT_PATHS_NONE)
		return -ENOMEM;
	gmon->any_calls = true;
	gmon->own[number] += call->own;
	if (call->partial)
		return 0;
	caller = row_number(gmon, call->caller == FKT_ROW_NONE ? call->outside : call->caller);
	return caller == FKT_PATHS_NONE ? -ENOMEM : add_arc(&gmon->calls, caller, number);
}

/* ---- samples ---- */

/* As rows are called, so that calls and samples have the same names. */
static uint32_t frame_number(struct gmon_view *gmon, const struct fkt_stack *stack, unsigned int i)
{
	char name[FKT_FRAME_BYTES + FKT_MODULE_BYTES + sizeof(" []")], *to;
	const bool user = stack->frame[i] < FKT_FRAME_KERNEL;
	const char *object;

	to = fkt_put_frame_names(gmon->context->trace, name, stack, i, &object);
	*to = '\0';
	if (object && (user ? *name != '(' : !!strcmp(object, "kernel")))
		sprintf(to, user ? " (%.*s)" : " [%.*s]", FKT_MODULE_BYTES, object);
	return number_of(gmon, name);
}

static int gmon_event(void *view, const struct fkt_event *event, bool passes)
{
	struct gmon_view *gmon = view;
	const struct fkt_stack *stack;
	struct fkt_stack room;
	uint32_t number, below = OTHERS;

	if (!passes || !is_sample(event))
		return 0;
	gmon->any_samples = true;
	stack = sample_stack(gmon->context, event, &room);
	for (unsigned int i = 0; i < stack->count; below = number, i++) {
		number = frame_number(gmon, stack, i);
		if (number == FKT_PATHS_NONE)
			return -ENOMEM;
		gmon->samples[number] += !i;
		if (i && add_arc(&gmon->stacks, number, below))
			return -ENOMEM;
	}
	return 0;
}

/* ---- writing ---- */

/* Own time of calls in ticks; how many a second. */
static uint32_t in_ticks(const struct gmon_view *gmon)
{
	const struct fkt_trace *trace = gmon->context->trace;
	uint64_t most = 0, ns;
	uint32_t rate = RATE;

	for (uint32_t i = 0; i < gmon->names.count; i++) {
		ns = fkt_has_clock(trace) ? (uint64_t)fkt_cycles_to_ns(trace, (int64_t)gmon->own[i])
					  : gmon->own[i];
		gmon->own[i] = ns;
		most = ns > most ? ns : most;
	}
	while (rate > 1 && most / (FKT_NS_PER_SECOND / rate) > TICKS_MOST)
		rate /= 10;
	for (uint32_t i = 0; i < gmon->names.count; i++)
		gmon->own[i] =
			(gmon->own[i] + FKT_NS_PER_SECOND / rate / 2) / (FKT_NS_PER_SECOND / rate);
	return rate;
}

static struct gmon_arc *list_arcs(const struct fkt_paths *paths, uint32_t *count)
{
	struct gmon_arc *arc = reallocarray(NULL, paths->count, sizeof(*arc));

	*count = 0;
	for (uint32_t i = 1; arc && i < paths->count; i++)
		if (paths->node[i].above != FKT_PATHS_ROOT)
			arc[(*count)++] = (struct gmon_arc){
				.from = (uint32_t)paths->node[paths->node[i].above].key,
				.to = (uint32_t)paths->node[i].key,
				.count = paths->node[i].weight,
			};
	return arc;
}

static int write_files(const struct gmon *gmon)
{
	FILE *file = fkt_create(out_path);
	char *elf;
	bool done;

	if (!file)
		return 1;
	gmon_write(file, gmon);
	if (!fkt_created(file, out_path))
		return 1;
	if (asprintf(&elf, "%s.elf", out_path) < 0)
		return -ENOMEM;
	file = fkt_create(elf);
	if (file)
		gmon_write_elf(file, gmon);
	done = file && fkt_created(file, elf);
	free(elf);
	return done ? 0 : 1;
}

static int gmon_print(const struct context *context, void *view)
{
	struct gmon_view *gmon = view;
	struct gmon out = { .names = gmon->names.name, .functions = gmon->names.count };
	struct gmon_arc *arc;
	int err;

	if (!gmon->any_calls && !gmon->any_samples) {
		tell(context, "neither calls nor samples that were asked for were seen; there is "
			      "nothing for gprof");
		return 1;
	}
	out.rate = gmon->any_samples ? sample_hz(context) : in_ticks(gmon);
	out.ticks = gmon->any_samples ? gmon->samples : gmon->own;
	arc = list_arcs(gmon->any_calls ? &gmon->calls : &gmon->stacks, &out.arcs);
	if (!arc)
		return -ENOMEM;
	out.arc = arc;
	err = write_files(&out);
	free(arc);
	if (!err)
		tell(context, "the profile is in %s; gprof %s.elf %s shows it", out_path, out_path,
		     out_path);
	return err;
}

static const struct argp_option gmon_options[] = {
	{ .name = "gmon",
	  .arg = "OUT",
	  .doc = "Samples, or own time of calls, and who called whom for gprof: OUT, and OUT.elf "
		 "with the functions' names" },
	{ 0 },
};

static void gmon_parse(struct argp_state *state, struct options *options, unsigned int option,
		       char *arg)
{
	(void)options;
	(void)option;
	if (!*arg || !strcmp(arg, "-"))
		argp_error(state, "--gmon: two files are written, OUT and OUT.elf; what is OUT?");
	out_path = arg;
}

const struct view view_gmon = {
	.name = "gmon",
	.about = "time in functions",
	.option = gmon_options,
	.parse = gmon_parse,
	.new = gmon_new,
	.event = gmon_event,
	.leave = gmon_leave,
	.print = gmon_print,
	.free = gmon_free,
};
