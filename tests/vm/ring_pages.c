// SPDX-License-Identifier: GPL-2.0-only
/* ring_pages: how many pages of memory the running recording has, wherever they are just now. */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include <fkt/ioctl.h>

#define LANES_MAX 256

int main(void)
{
	static struct fkt_lane_status lane[LANES_MAX];
	struct fkt_status status = {
		.size = sizeof(status),
		.lanes_room = LANES_MAX,
		.lanes_ptr = (uintptr_t)lane,
	};
	int device = open(FKT_DEVICE, O_RDONLY);
	uint64_t pages = 0;

	if (device < 0 || ioctl(device, FKT_STATUS, &status))
		err(1, FKT_DEVICE);
	for (uint32_t i = 0; i < status.lanes && i < LANES_MAX; i++)
		pages += lane[i].pages_free + lane[i].pages_filling + lane[i].pages_writing;
	printf("%" PRIu64 "\n", pages);
	return 0;
}
