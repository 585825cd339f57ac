// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for docs/tutorial.md: it takes orders, in steps, each of which is a span of the trace.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "fkt/user.h"

static void look_up(void)
{
	FKT_SPAN("look up");
	usleep(1000);
}

static void write_down(int order)
{
	FKT_SPAN("write down");
	int fd = open("orders", O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (fd < 0)
		return;
	if (write(fd, &order, sizeof(order)) > 0 && order % 10 == 0)
		fsync(fd);
	close(fd);
}

int main(void)
{
	for (int order = 1; order <= 50; order++) {
		FKT_SPAN("order");
		fkt_counter("orders", order);
		look_up();
		write_down(order);
	}
	return 0;
}
