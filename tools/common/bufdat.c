// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "bufdat.h"

#define LINE_BYTES 256

static const char *const words[] = {
#define X(NAME, word) word,
	BUFDAT_WHATS(X)
#undef X
};

bool bufdat_event(struct bufdat *bufdat, const struct fkt_trace *trace,
		  const struct fkt_event *event, uint64_t first)
{
	const uint64_t cycles = event->stamp > first ? event->stamp - first : 0;

	*bufdat = (struct bufdat){ .ns = (uint64_t)fkt_cycles_to_ns(trace, (int64_t)cycles) };
	switch (event->code) {
	case FKT_CODE_SUBMIT:
		bufdat->what = BUFDAT_SUBMIT;
		break;
	case FKT_CODE_RELEASE_PAGE:
		bufdat->what = BUFDAT_RELEASE;
		break;
	case FKT_CODE_EXTRA:
		bufdat->what = BUFDAT_EXTRA;
		break;
	case FKT_CODE_SYNC_ENTRY:
		bufdat->what = BUFDAT_SYNC;
		bufdat->number = event->imm;
		bufdat->free = event->words ? fkt_arg64(event, 0) : 0;
		return true;
	case FKT_CODE_SYNC_EXIT:
		bufdat->what = BUFDAT_SYNCED;
		bufdat->number = event->words ? (int64_t)fkt_arg64(event, 0) : (int16_t)event->imm;
		return true;
	default:
		return false;
	}
	if (event->words < 2)
		return false;
	bufdat->lane = event->imm;
	bufdat->number = (int64_t)fkt_arg64(event, 0);
	bufdat->free = fkt_arg32(event, 8);
	bufdat->of = fkt_arg32(event, 12);
	return true;
}

void bufdat_write(const struct bufdat *bufdat, FILE *file)
{
	fprintf(file, "%" PRIu64 " %s %" PRIu32 " %" PRId64 " %" PRIu64 " %" PRIu32 "\n",
		bufdat->ns, words[bufdat->what], bufdat->lane, bufdat->number, bufdat->free,
		bufdat->of);
}

int bufdat_read(struct bufdat *bufdat, FILE *file)
{
	char line[LINE_BYTES], word[16];
	int end = 0;

	if (!fgets(line, sizeof(line), file))
		return ferror(file) ? -EIO : 0;
	if (sscanf(line, "%" SCNu64 " %15s %" SCNu32 " %" SCNd64 " %" SCNu64 " %" SCNu32 "%n",
		   &bufdat->ns, word, &bufdat->lane, &bufdat->number, &bufdat->free, &bufdat->of,
		   &end) != 6 ||
	    line[end] != '\n' || bufdat->lane > UINT16_MAX || bufdat->ns > INT64_MAX)
		return -EBADMSG;
	for (bufdat->what = 0; bufdat->what < BUFDAT_COUNT; bufdat->what++)
		if (!strcmp(word, words[bufdat->what]))
			return 1;
	return -EBADMSG;
}
