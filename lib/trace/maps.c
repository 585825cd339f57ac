// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Addresses of programs to places in files, by the lines of FKT_SECTION_MAPS, and from there to
 * functions, by the files, which are read when the first address in them is looked up.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "elf.h"
#include "maps.h"

/* Files that have numbers in frames. */
#define OBJECTS_MAX   (1u << 21)
/* How far back it is looked, and from parent to parent: a trace may be made to take long. */
#define LOOK_BACK_MAX 16384
#define PARENTS_MAX   64

enum map_kind {
	MAP_MAP,
	MAP_EXEC,
	MAP_FORK,
	MAP_MISSING,
};

/**
 * struct map - a line
 * @ns: see there
 * @order: of the lines
 * @pid: see there
 * @kind: enum map_kind
 * @begin, @end, @offset: of MAP_MAP
 * @object: of MAP_MAP: the file; of MAP_FORK: the parent
 */
struct map {
	uint64_t ns;
	uint32_t order;
	uint32_t pid;
	enum map_kind kind;
	uint32_t object;
	uint64_t begin;
	uint64_t end;
	uint64_t offset;
};

/**
 * struct missing - a time in which programs may have got code that nobody told of
 * @from: its begin
 * @to: the latest end of this one, and of those that are sorted before it
 */
struct missing {
	uint64_t from;
	uint64_t to;
};

/**
 * struct object - a file
 * @path: its name
 * @build_id: in hex
 * @read: it has been looked at
 * @elf: its functions; NULL where these can't be had
 */
struct object {
	const char *path;
	const char *build_id;
	bool read;
	struct fkt_elf *elf;
};

/* What the functions of all files may take: a trace may name one file in a million ways. */
#define ELFS_BYTES (1ull << 30)

/**
 * struct fkt_maps - all lines
 * @map: by process and time
 * @maps: how many
 * @object: by number
 * @objects: how many
 * @missing: by their begin
 * @missings: how many
 * @elf_bytes: what the objects' functions take
 */
struct fkt_maps {
	struct map *map;
	size_t maps;
	struct object *object;
	size_t objects;
	struct missing *missing;
	size_t missings;
	uint64_t elf_bytes;
};

/* ---- the section ---- */

static int compare_maps(const void *a, const void *b)
{
	const struct map *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* What a line that begins with this word says. Return: whether it is right. */
static bool parse_line(char *line, struct map *map, struct object *object)
{
	const char *word = fkt_next_word(&line);

	if (!word || !fkt_parse_u64(fkt_next_word(&line), &map->ns))
		return false;
	if (!strcmp(word, "missing")) {
		map->kind = MAP_MISSING;
		return fkt_parse_u64(fkt_next_word(&line), &map->end) && map->ns <= map->end;
	}
	if (!fkt_parse_u32(fkt_next_word(&line), &map->pid))
		return false;
	if (!strcmp(word, "exec")) {
		map->kind = MAP_EXEC;
		return true;
	}
	if (!strcmp(word, "fork")) {
		map->kind = MAP_FORK;
		return fkt_parse_u32(fkt_next_word(&line), &map->object);
	}
	map->kind = MAP_MAP;
	if (strcmp(word, "map") || !fkt_parse_u64(fkt_next_word(&line), &map->begin) ||
	    !fkt_parse_u64(fkt_next_word(&line), &map->end) ||
	    !fkt_parse_u64(fkt_next_word(&line), &map->offset))
		return false;
	object->build_id = fkt_next_word(&line);
	object->path = line;
	return object->build_id && *line && map->begin < map->end;
}

/**
 * struct numbers - the objects by their contents
 * @place: numbers and 1
 * @places: twice as many as there can be objects
 * @seed: so that no trace can be made to fill one place
 */
struct numbers {
	uint32_t *place;
	size_t places;
	uint64_t seed;
};

static uint32_t *find_object(const struct numbers *numbers, const struct fkt_maps *maps,
			     const struct object *object)
{
	uint64_t hash = numbers->seed;
	const struct object *other;
	uint32_t *place;

	for (const char *c = object->path; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 0x100000001b3ull;
	for (const char *c = object->build_id; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 0x100000001b3ull;
	for (hash ^= hash >> 29;; hash++) {
		place = &numbers->place[hash & (numbers->places - 1)];
		if (!*place)
			return place;
		other = &maps->object[*place - 1];
		if (!strcmp(other->path, object->path) &&
		    !strcmp(other->build_id, object->build_id))
			return place;
	}
}

/* A map's file. Return: whether it has a number. */
static bool number_object(struct fkt_maps *maps, const struct numbers *numbers,
			  const struct object *object, uint32_t *number)
{
	uint32_t *place = find_object(numbers, maps, object);

	if (!*place) {
		if (maps->objects == OBJECTS_MAX)
			return false;
		maps->object[maps->objects++] = *object;
		*place = (uint32_t)maps->objects;
	}
	*number = *place - 1;
	return true;
}

static int compare_missing(const void *a, const void *b)
{
	const struct missing *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void sort_missing(struct fkt_maps *maps)
{
	if (!maps->missings)
		return;
	qsort(maps->missing, maps->missings, sizeof(*maps->missing), compare_missing);
	for (size_t i = 1; i < maps->missings; i++)
		if (maps->missing[i].to < maps->missing[i - 1].to)
			maps->missing[i].to = maps->missing[i - 1].to;
}

/* Return: false without memory. */
static bool add_missing(struct fkt_maps *maps, const struct map *line)
{
	struct missing *larger;

	/* Twice as much, whenever that is full. */
	if (!(maps->missings & (maps->missings - 1))) {
		larger = reallocarray(maps->missing, maps->missings ? 2 * maps->missings : 1,
				      sizeof(*larger));
		if (!larger)
			return false;
		maps->missing = larger;
	}
	maps->missing[maps->missings++] = (struct missing){ line->ns, line->end };
	return true;
}

static size_t count_lines(const char *text)
{
	size_t lines = 1;

	for (; text && (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

/* NULL without memory. */
static struct fkt_maps *read_maps(struct fkt_trace *trace)
{
	struct fkt_maps *maps = calloc(1, sizeof(*maps));
	const size_t lines = count_lines(trace->map_lines.text);
	struct numbers numbers = { .places = 1 };
	char *text = trace->map_lines.text, *line;
	struct object object = { 0 };
	struct map map = { 0 };

	while (numbers.places < 2 * lines)
		numbers.places *= 2;
	if (getrandom(&numbers.seed, sizeof(numbers.seed), 0) < 0)
		numbers.seed = (uintptr_t)maps;
	numbers.place = calloc(numbers.places, sizeof(*numbers.place));
	if (!maps || !numbers.place)
		goto fail;
	maps->map = malloc(lines * sizeof(*maps->map));
	maps->object = malloc(lines * sizeof(*maps->object));
	if (!maps->map || !maps->object)
		goto fail;
	while ((line = fkt_next_line(&text))) {
		map.order = (uint32_t)maps->maps;
		if (!parse_line(line, &map, &object))
			continue;
		if (map.kind == MAP_MISSING) {
			if (!add_missing(maps, &map))
				goto fail;
			continue;
		}
		if (map.kind == MAP_MAP && !number_object(maps, &numbers, &object, &map.object))
			continue;
		maps->map[maps->maps++] = map;
	}
	free(numbers.place);
	sort_missing(maps);
	qsort(maps->map, maps->maps, sizeof(*maps->map), compare_maps);
	return maps;

fail:
	free(numbers.place);
	if (maps) {
		free(maps->map);
		free(maps->object);
		free(maps->missing);
	}
	free(maps);
	return NULL;
}

/* Once, whoever comes first; NULL: there are none. */
static struct fkt_maps *maps_of(struct fkt_trace *trace)
{
	/* Partner: the release below. */
	if (!__atomic_load_n(&trace->maps_read, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&trace->lock);
		if (!trace->maps_read && trace->map_lines.text)
			trace->maps = read_maps(trace);
		/* Partner: the acquire above. */
		__atomic_store_n(&trace->maps_read, true, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&trace->lock);
	}
	return trace->maps;
}

void fkt_free_maps(struct fkt_trace *trace)
{
	struct fkt_maps *maps = trace->maps;

	free(trace->map_lines.text);
	if (!maps)
		return;
	for (size_t i = 0; i < maps->objects; i++)
		fkt_elf_free(maps->object[i].elf);
	free(maps->object);
	free(maps->map);
	free(maps->missing);
	free(maps);
}

/* ---- addresses ---- */

/* A process's last line up to a moment, and those before it; @maps where there are none. */
static size_t last_of(const struct fkt_maps *maps, uint32_t pid, uint64_t ns)
{
	const struct map last = { .pid = pid, .ns = ns, .order = UINT32_MAX };
	size_t low = 0, high = maps->maps, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_maps(&maps->map[middle], &last) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether something may have changed from one moment to another that nobody told of. */
static bool is_unsure(const struct fkt_maps *maps, uint64_t from_ns, uint64_t to_ns)
{
	size_t low = 0, high = maps->missings, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (maps->missing[middle].from < to_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && maps->missing[low - 1].to > from_ns;
}

/**
 * struct wanted - the frames of which nothing is known yet, by address
 * @address: of each
 * @where: which one of the stack it is
 * @count: how many
 */
struct wanted {
	uint64_t address[FKT_STACK_FRAMES_BOTH];
	unsigned int where[FKT_STACK_FRAMES_BOTH];
	unsigned int count;
};

/* The first one that is not before an address. */
static unsigned int first_from(const struct wanted *wanted, uint64_t address)
{
	unsigned int low = 0, high = wanted->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (wanted->address[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void want(struct wanted *wanted, uint64_t address, unsigned int where)
{
	const unsigned int at = first_from(wanted, address), behind = wanted->count - at;

	memmove(wanted->address + at + 1, wanted->address + at, behind * sizeof(address));
	memmove(wanted->where + at + 1, wanted->where + at, behind * sizeof(where));
	wanted->address[at] = address;
	wanted->where[at] = where;
	wanted->count++;
}

/* What a line says of those that are wanted, which are not any more. */
static void take_map(const struct fkt_maps *maps, const struct map *map, uint64_t until_ns,
		     struct wanted *wanted, uint64_t *frame)
{
	const unsigned int first = first_from(wanted, map->begin);
	unsigned int end = first, behind;
	uint64_t offset;
	bool unsure;

	if (first == wanted->count || wanted->address[first] >= map->end)
		return;
	unsure = is_unsure(maps, map->ns, until_ns);
	for (; end < wanted->count && wanted->address[end] < map->end; end++) {
		offset = wanted->address[end] - map->begin + map->offset;
		if (!unsure && offset <= FKT_FRAME_FILE_OFFSET)
			frame[wanted->where[end]] = FKT_FRAME_FILE |
						    (uint64_t)map->object << FKT_FRAME_FILE_SHIFT |
						    offset;
	}
	behind = wanted->count - end;
	memmove(wanted->address + first, wanted->address + end,
		behind * sizeof(wanted->address[0]));
	memmove(wanted->where + first, wanted->where + end, behind * sizeof(wanted->where[0]));
	wanted->count = first + behind;
}

/*
 * Frames of a process at a moment: where they are in files that it had then, or its parent when
 * that made it. The lines are looked through once, and not once for each frame. What is in none is
 * left in @wanted.
 */
static void place_frames(const struct fkt_maps *maps, uint32_t pid, uint64_t ns, uint64_t *frame,
			 unsigned int count, struct wanted *wanted)
{
	unsigned int parents = 0, looked_at = 0;
	size_t i = last_of(maps, pid, ns);

	wanted->count = 0;
	for (unsigned int k = 0; k < count; k++)
		if (frame[k] < FKT_FRAME_NOWHERE)
			want(wanted, frame[k], k);
	while (wanted->count && i-- && maps->map[i].pid == pid && looked_at++ < LOOK_BACK_MAX) {
		const struct map *map = &maps->map[i];

		if (map->kind == MAP_EXEC)
			break;
		if (map->kind == MAP_MAP)
			take_map(maps, map, ns, wanted, frame);
		if (map->kind == MAP_FORK) {
			if (parents++ == PARENTS_MAX)
				break;
			pid = map->object;
			i = last_of(maps, pid, map->ns);
		}
	}
}

/* A stamp on the clock of the lines; without a clock, all of them are before it. */
static uint64_t moment_of(const struct fkt_trace *trace, uint64_t stamp)
{
	const struct fkt_clock_pair *pair = &trace->clock[0];

	if (!trace->has_rate || !fkt_clocks(trace))
		return UINT64_MAX;
	return pair->mono_ns + (uint64_t)fkt_cycles_to_ns(trace, (int64_t)(stamp - pair->cycles));
}

uint64_t fkt_frame_place(struct fkt_trace *trace, const struct fkt_stack *stack, uint64_t frame)
{
	const struct fkt_maps *maps;
	struct wanted wanted;

	if (frame < FKT_FRAME_NOWHERE && (maps = maps_of(trace)))
		place_frames(maps, stack->pid, moment_of(trace, stack->stamp), &frame, 1, &wanted);
	return frame < FKT_FRAME_FILE ? frame & ~FKT_FRAME_NOWHERE : frame;
}

void fkt_stack_place(struct fkt_trace *trace, struct fkt_stack *stack)
{
	const unsigned int kernel = fkt_stack_kernel(stack);
	const struct fkt_maps *maps;
	struct wanted wanted;

	if (kernel == stack->count || !(maps = maps_of(trace)))
		return;
	place_frames(maps, stack->pid, moment_of(trace, stack->stamp), stack->frame + kernel,
		     stack->count - kernel, &wanted);
	for (unsigned int i = 0; i < wanted.count; i++)
		stack->frame[kernel + wanted.where[i]] |= FKT_FRAME_NOWHERE;
}

const struct fkt_stack *fkt_stack_placed(struct fkt_trace *trace, const struct fkt_stack *stack,
					 struct fkt_stack *placed)
{
	*placed = *stack;
	fkt_stack_place(trace, placed);
	return placed;
}

/* ---- places ---- */

static struct object *object_of(const struct fkt_trace *trace, uint64_t place)
{
	return &trace->maps->object[(place & ~FKT_FRAME_FILE) >> FKT_FRAME_FILE_SHIFT];
}

const char *fkt_frame_file(const struct fkt_trace *trace, uint64_t place)
{
	const char *path = object_of(trace, place)->path, *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* With the trace's lock. */
static struct fkt_elf *read_functions(struct fkt_maps *maps, const struct object *object)
{
	struct fkt_elf *elf =
		maps->elf_bytes < ELFS_BYTES ? fkt_elf_new(object->path, object->build_id) : NULL;

	if (elf)
		maps->elf_bytes += fkt_elf_bytes(elf);
	return elf;
}

bool fkt_frame_function(struct fkt_trace *trace, uint64_t place, unsigned int back,
			const char **name, uint64_t *into)
{
	const uint64_t offset = place & FKT_FRAME_FILE_OFFSET;
	struct object *object = object_of(trace, place);

	/* Partner: the release below. */
	if (!__atomic_load_n(&object->read, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&trace->lock);
		if (!object->read)
			object->elf = read_functions(trace->maps, object);
		/* Partner: the acquire above. */
		__atomic_store_n(&object->read, true, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&trace->lock);
	}
	return object->elf && offset >= back &&
	       fkt_elf_function(object->elf, offset - back, name, into);
}
