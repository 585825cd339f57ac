/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory that system calls are given: data.c. */
#ifndef FKT_PROBES_DATA_H
#define FKT_PROBES_DATA_H

#include <linux/types.h>
#include <fkt/ioctl.h>

/* As many arguments as a system call has. */
#define FKT_DATA_ARGS 6

bool fkt_data_wanted(void);
bool fkt_data_copy(void *to, u64 from, u32 bytes);
void fkt_data_enter(u32 code, bool compat, const unsigned long arg[FKT_DATA_ARGS]);
void fkt_data_exit(u32 code, bool compat, const unsigned long arg[FKT_DATA_ARGS], long ret);

/* path.c: the paths of files. */
bool fkt_path_wanted(void);
const char *fkt_path_of(s32 fd, u32 *bytes);
int fkt_path_begin(const struct fkt_data_common *mount);
void fkt_path_end(void);

#endif
