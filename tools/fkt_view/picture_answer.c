// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A picture as the page is sent it: the length of a JSON text in four bytes, that text, which is
 * padded to a multiple of four, and the cells.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "model.h"

#define SKIP_BYTES 4

/* ---- names: those that cells have ---- */

struct used {
	uint8_t *bit;
	uint32_t names;
};

static void use_name(struct used *used, uint32_t number)
{
	if (number && number <= used->names)
		used->bit[number / 8] |= (uint8_t)(1u << number % 8);
}

static int put_names(const struct picture *picture, struct answer *answer)
{
	const struct cell *cell = (const struct cell *)picture->cells.data;
	const size_t cells = picture->cells.bytes / sizeof(*cell);
	struct used used = { .names = names_count(picture->view->names) };
	char name[FKT_NAME_BYTES];
	const char *comma = "";

	used.bit = calloc(used.names / 8 + 1, 1);
	if (!used.bit)
		return -ENOMEM;
	for (size_t i = 0; i < cells; i++, cell++) {
		if (track_is_counter(cell->track))
			continue;
		use_name(&used, cell->inner);
		use_name(&used, cell->last_inner);
		if (cell->track & TRACK_CPU)
			continue;
		use_name(&used, cell->top);
		use_name(&used, cell->last);
	}
	for (uint32_t i = 1; i <= used.names; i++) {
		if (!(used.bit[i / 8] & 1u << i % 8))
			continue;
		names_get(picture->view->names, i, name);
		answer_text(answer, "%s\"%" PRIu32 "\":", comma, i);
		answer_string(answer, name);
		comma = ",";
	}
	free(used.bit);
	return 0;
}

/* ---- rows ---- */

static int64_t number_of(uint32_t number, uint32_t unknown)
{
	return number == unknown ? INT64_C(-1) : (int64_t)number;
}

static void put_losses(const struct picture *picture, struct answer *answer)
{
	const struct loss *loss = (const struct loss *)picture->losses.data;
	const size_t count = picture->losses.bytes / sizeof(*loss);

	for (size_t i = 0; i < count; i++, loss++)
		answer_text(answer,
			    "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%d,%" PRIu32 "]",
			    i ? "," : "", number_of(loss->cpu, FKT_CPU_ANY),
			    view_ns(picture->view, loss->from), view_ns(picture->view, loss->to),
			    loss->count, loss->pages, loss->tid);
}

static void put_wakes(const struct picture *picture, struct answer *answer)
{
	const struct wake *wake = (const struct wake *)picture->wakes.data;
	const size_t count = picture->wakes.bytes / sizeof(*wake);

	for (size_t i = 0; i < count; i++, wake++)
		answer_text(answer, "%s[%" PRId64 ",%u,%" PRId64 ",%" PRIu32 "]", i ? "," : "",
			    view_ns(picture->view, wake->stamp), wake->cpu,
			    number_of(wake->by, FKT_PID_UNKNOWN), wake->tid);
}

static void put_marks(const struct picture *picture, struct answer *answer)
{
	const struct mark *mark = (const struct mark *)picture->marks.data;
	const size_t count = picture->marks.bytes / sizeof(*mark);

	for (size_t i = 0; i < count; i++, mark++) {
		answer_text(answer, "%s[%" PRId64 ",%u,", i ? "," : "",
			    view_ns(picture->view, mark->stamp), mark->cpu);
		answer_string(answer, mark->text);
		answer_bytes(answer, "]", 1);
	}
}

static void put_samples(const struct picture *picture, struct answer *answer)
{
	const struct sample *sample = (const struct sample *)picture->samples.data;
	const size_t count = picture->samples.bytes / sizeof(*sample);

	for (size_t i = 0; i < count; i++, sample++) {
		answer_text(answer, "%s[%" PRId64 ",%u,%" PRIu32 ",%d,", i ? "," : "",
			    view_ns(picture->view, sample->stamp), sample->cpu, sample->tid,
			    sample->user);
		answer_string(answer, picture->texts.data + sample->function);
		answer_bytes(answer, "]", 1);
	}
}

static int write_picture(const struct picture *picture, struct answer *answer)
{
	const struct level_part *part = &picture->part;
	struct view *view = picture->view;
	const uint32_t none = 0;
	uint32_t bytes;

	answer_bytes(answer, &none, sizeof(none));
	answer_text(answer,
		    "{\"from_ns\":%" PRId64 ",\"bin_ns\":%.6f,\"exact\":%s,\"made_ns\":%" PRId64
		    ",\"sampled_ns\":%" PRId64
		    ",\"all_losses\":%u,\"all_wakes\":%u,\"all_marks\":%u",
		    view_ns(view, part->from),
		    (double)fkt_cycles_to_ns(view->trace, (int64_t)(part->bin_cycles << 10)) / 1024,
		    picture->exact ? "true" : "false", view_ns(view, part->made),
		    view_ns(view, part->made > picture->to ? part->made : picture->to),
		    picture->loss_count, picture->wake_count, picture->mark_count);
	answer_text(answer, ",\"losses\":[");
	put_losses(picture, answer);
	answer_text(answer, "],\"wakes\":[");
	put_wakes(picture, answer);
	answer_text(answer, "],\"marks\":[");
	put_marks(picture, answer);
	answer_text(answer, "],\"samples\":[");
	put_samples(picture, answer);
	answer_text(answer, "],\"names\":{");
	if (put_names(picture, answer))
		return -ENOMEM;
	answer_text(answer, "}}");
	while (answer->bytes % SKIP_BYTES)
		answer_bytes(answer, " ", 1);
	bytes = (uint32_t)(answer->bytes - sizeof(bytes));
	if (answer->data)
		memcpy(answer->data, &bytes, sizeof(bytes));
	answer_bytes(answer, picture->cells.data, picture->cells.bytes);
	return answer_error(answer);
}

int answer_picture(struct view *view, const struct request *request, struct answer *answer)
{
	struct picture picture;
	int err = picture_make(&picture, view, request);

	if (!err)
		err = write_picture(&picture, answer);
	picture_free(&picture);
	return err;
}
