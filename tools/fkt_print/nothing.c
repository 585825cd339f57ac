// SPDX-License-Identifier: GPL-2.0-or-later
/* What is said in place of a table in which there would be nothing. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "print.h"

#define SENTENCE_BYTES 512

void tell(const struct context *context, const char *format, ...)
{
	char text[SENTENCE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (fkt_format_for_people(context->out->format)) {
		*text = (char)toupper((unsigned char)*text);
		fkt_table_end(context->out);
		strncat(text, ".\n", sizeof(text) - strlen(text) - 1);
		fkt_print_wrapped(context->out, text, 0);
		return;
	}
	fflush(context->out->file);
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name,
		selection_path(&context->options->selected), text);
}

void tell_nothing(const struct context *context, const char *what, bool wait)
{
	const struct options *options = context->options;
	uint64_t longest = filter_longest(context->filter, wait);
	char least[FKT_DURATION_BYTES], most[FKT_DURATION_BYTES];
	bool part = options->selected.from >= 0 || options->selected.to >= 0;

	fkt_table_line(context->out, "%s", "");
	if (options->selected.longer >= 0 && longest)
		tell(context, "no %s took %s or longer; the longest took %s", what,
		     fkt_duration(context->trace,
				  fkt_ns_to_cycles(context->trace,
						   (uint64_t)options->selected.longer),
				  least),
		     fkt_duration(context->trace, longest, most));
	else if (filter_is_open(context->filter))
		tell(context, "no %s was seen", what);
	else
		tell(context, "no %s that was asked for was seen%s%s", what,
		     part ? " in the time that was asked for" : "",
		     !wait && filter_names_no_call(context->filter)
			     ? "; what --code names are no calls"
			     : "");
}
