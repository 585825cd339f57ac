// SPDX-License-Identifier: GPL-2.0-or-later
/* Who may use /dev/fkt: see permission.h. */
#include <err.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fkt/ioctl.h>

#include "permission.h"

void permission_keep(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { 0 };

	/* access() asks for the user who has called, and regards no capability of the file. */
	if (getauxval(AT_SECURE) && access(FKT_DEVICE, R_OK | W_OK) &&
	    syscall(SYS_capset, &header, none))
		err(EXIT_FAILURE, "capset");
}

/* Whether the user has become a member since this session began, which lacks the group. */
static bool is_member(const struct group *group)
{
	const struct passwd *user = getpwuid(getuid());

	for (char **name = group->gr_mem; user && *name; name++)
		if (!strcmp(*name, user->pw_name))
			return true;
	return false;
}

const char *permission_denied(int error)
{
	static char text[256];
	const struct group *group = NULL;
	struct stat st;

	if (error == EACCES && !stat(FKT_DEVICE, &st) && st.st_gid && st.st_mode & S_IWGRP)
		group = getgrgid(st.st_gid);
	if (!group && error == EPERM)
		return "not allowed; only root may trace (sudo?), or a program with CAP_PERFMON";
	if (!group)
		return "not allowed; only root may trace (sudo?)";
	if (is_member(group)) {
		snprintf(text, sizeof(text),
			 "not allowed; you are a member of the group %s, but this session began "
			 "before that: log in again, or 'newgrp %s'",
			 group->gr_name, group->gr_name);
		return text;
	}
	snprintf(text, sizeof(text),
		 "not allowed; root may trace (sudo?), and members of the group %s: "
		 "'sudo adduser NAME %s', and log in again",
		 group->gr_name, group->gr_name);
	return text;
}

void permission_warn(const char *what)
{
	warnx(FKT_DEVICE ": %s for root alone (sudo?), unless root has set "
			 "/sys/module/fkt/parameters/trust_perfmon",
	      what);
}
