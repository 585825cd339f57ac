// SPDX-License-Identifier: GPL-2.0-or-later
/* How wide lines may be. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "width.h"

#define LEAST_WIDTH 40

unsigned int output_width(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size;

	if (!width && isatty(STDOUT_FILENO))
		width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? USUAL_WIDTH
										: size.ws_col;
	if (!width || width > INT16_MAX)
		return 0;
	return width < LEAST_WIDTH ? LEAST_WIDTH : (unsigned int)width;
}
