/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fkt_snapshot asks fkt_record --ring for a snapshot: one struct each way over a socket of
 * whole messages (SOCK_SEQPACKET), the file to write with the first (SCM_RIGHTS). The recorder
 * writes it, for it knows the names that a trace needs.
 */
#ifndef FKT_COMMON_SNAPSHOT_H
#define FKT_COMMON_SNAPSHOT_H

#include <stdint.h>

/* There is one recording at a time. Only root may connect. */
#define SNAPSHOT_SOCKET	 "/run/fkt_snapshot.sock"
#define SNAPSHOT_VERSION 1

/**
 * struct snapshot_request - what is wanted
 * @version: SNAPSHOT_VERSION
 * @reserved: 0
 * @last_ns: only what was recorded this long before; 0: all that there is
 */
struct snapshot_request {
	uint32_t version;
	uint32_t reserved;
	uint64_t last_ns;
};

/**
 * struct snapshot_reply - what became of it
 * @failed: the file is no trace
 * @text: what was written, or why not; ends with a NUL
 */
struct snapshot_reply {
	uint32_t failed;
	char text[252];
};

#endif
