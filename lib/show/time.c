// SPDX-License-Identifier: LGPL-2.1-or-later
/* Moments and durations as text. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "internal.h"
#include "trace/put.h"

char *fkt_put_date(struct fkt_date *date, char *to, int64_t ns)
{
	int64_t second = ns / FKT_NS_PER_SECOND, rest = ns % FKT_NS_PER_SECOND;
	struct tm tm;
	time_t time;

	if (rest < 0) {
		second--;
		rest += FKT_NS_PER_SECOND;
	}
	if (second != date->second || !*date->text) {
		time = (time_t)second;
		if (!localtime_r(&time, &tm) ||
		    !strftime(date->text, sizeof(date->text), "%Y-%m-%d %H:%M:%S", &tm))
			strcpy(date->text, "?");
		date->second = second;
	}
	to = fkt_put_string(to, date->text, sizeof(date->text));
	*to++ = '.';
	for (int64_t unit = FKT_NS_PER_SECOND / 10; unit; unit /= 10)
		*to++ = (char)('0' + rest / unit % 10);
	return to;
}

const char *fkt_moment(struct fkt_moments *moments, uint64_t stamp, char text[FKT_MOMENT_BYTES])
{
	const struct fkt_trace *trace = moments->trace;
	uint64_t positive;
	int64_t ns;

	if (moments->time == FKT_TIME_ABS) {
		*fkt_put_date(&moments->date, text, fkt_wall_ns(trace, stamp)) = '\0';
		return text;
	}
	ns = fkt_cycles_to_ns(trace, (int64_t)(stamp - moments->first));
	positive = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	snprintf(text, FKT_MOMENT_BYTES, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "",
		 positive / FKT_NS_PER_SECOND, positive % FKT_NS_PER_SECOND);
	return text;
}
