/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may use /dev/fkt, and what is said to those who may not. */
#ifndef FKT_COMMON_PERMISSION_H
#define FKT_COMMON_PERMISSION_H

/**
 * permission_keep() - let go of the capabilities that this program's file has, unless its user may
 *	open the device
 *
 * Before anything else is done: anybody may run the file, but tracing is for the device's group.
 */
void permission_keep(void);

/**
 * permission_denied() - why the device could not be opened, and what helps
 * @error: EACCES or EPERM
 *
 * Return: a sentence, valid until the next call.
 */
const char *permission_denied(int error);

/**
 * permission_warn() - say that probes are refused to those who have CAP_PERFMON alone
 * @what: which ones
 */
void permission_warn(const char *what);

#endif
