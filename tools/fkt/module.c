// SPDX-License-Identifier: GPL-2.0-or-later
/* fkt doctor's checks of the module, and of what keeps a kernel from taking it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fkt/ioctl.h>
#include <fkt/version.h>

#include "common/permission.h"
#include "common/recorder.h"
#include "doctor.h"

#define LOCKDOWN_FILE  "/sys/kernel/security/lockdown"
/* It is there wherever securityfs is; that file is not, where a kernel can't be locked down. */
#define SECURITY_LSMS  "/sys/kernel/security/lsm"
#define SIGNED_MODULE  "~Module signature appended~\n"
/* Name, GUID; behind four bytes of attributes: 1 where it is on. */
#define SECURE_BOOT    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define HEADERS_REMEDY "sudo apt install linux-headers-$(uname -r)"
#define BUILD_REMEDY   "sudo apt install fkt-dkms, or in FKT's sources: make && sudo make install"
#define DKMS_SOURCES   "/var/lib/dkms/fkt"
#define FAILED_REMEDY                                                                              \
	"sudo dkms autoinstall, and where that fails see " DKMS_SOURCES "/*/build/make.log"
#define DKMS_KEY "/var/lib/dkms/mok.pub"
#define ENROL_REMEDY                                                                               \
	"have the kernel take DKMS's key: sudo mokutil --import " DKMS_KEY ", restart, and "       \
	"confirm it there"
#define KEY_REMEDY                                                                                 \
	"sudo apt install openssl, by which DKMS makes one, then sudo apt install --reinstall "    \
	"fkt-dkms, and ask again"

/* The file of the module that is installed, from modules.dep. Return: whether there is one. */
static bool find_module(char *path, size_t bytes)
{
	char *line = NULL, *name;
	struct utsname uts;
	bool found = false;
	size_t room = 0;
	FILE *file;

	uname(&uts);
	snprintf(path, bytes, "/lib/modules/%s/modules.dep", uts.release);
	file = fopen(path, "re");
	while (file && !found && getline(&line, &room, file) > 0) {
		line[strcspn(line, ":\n")] = '\0';
		name = strrchr(line, '/');
		found = name && !strncmp(name, "/fkt.ko", strlen("/fkt.ko"));
		if (found)
			snprintf(path, bytes, "/lib/modules/%s/%s", uts.release, line);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static bool have_headers(void)
{
	struct utsname uts;
	char path[256];

	uname(&uts);
	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", uts.release);
	return !access(path, R_OK);
}

/* What gets the module for the running kernel, of which there is none. */
static const char *build_remedy(void)
{
	if (access(DKMS_SOURCES, F_OK))
		return BUILD_REMEDY;
	return have_headers() ? FAILED_REMEDY : HEADERS_REMEDY ", by which DKMS builds it";
}

void check_headers(struct finding *finding)
{
	struct utsname uts;
	char module[512];

	uname(&uts);
	if (have_headers())
		finding_set(finding, VERDICT_GOOD, NULL, "of the running kernel are there");
	else if (!access("/sys/module/fkt", F_OK) || find_module(module, sizeof(module)))
		finding_set(
			finding, VERDICT_GOOD, NULL,
			"of the running kernel are missing, and not needed: the module is there");
	else
		finding_set(finding, VERDICT_PROBLEM, HEADERS_REMEDY,
			    "of %s are missing, with which the module is built", uts.release);
}

/* What helps where another release is loaded than the tools are of. */
static const char *replace_remedy(const char *loaded)
{
	FILE *modinfo = popen(
		"PATH=/usr/sbin:/sbin:/usr/bin:/bin modinfo -F version fkt 2>/dev/null", "re");
	char installed[64] = "";

	if (modinfo && !fgets(installed, sizeof(installed), modinfo))
		installed[0] = '\0';
	if (modinfo)
		pclose(modinfo);
	installed[strcspn(installed, "\n")] = '\0';
	if (!installed[0])
		return build_remedy();
	if (!strcmp(installed, loaded))
		return "install both, the tools and the module, from one release";
	return "sudo modprobe -r fkt && sudo modprobe fkt, or restart";
}

/* Whether the module that is loaded understands this release; only who may open it knows. */
static void check_interface(struct finding *finding, const char *release)
{
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
	uint32_t version = FKT_IOCTL_VERSION;

	if (fd >= 0 && ioctl(fd, FKT_VERSION, &version))
		version = 0;
	if (fd >= 0)
		close(fd);
	if (version != FKT_IOCTL_VERSION)
		finding_set(
			finding, VERDICT_PROBLEM, replace_remedy(release),
			"release %s is loaded, which does not understand these tools, " FKT_RELEASE,
			release);
	else if (strcmp(release, FKT_RELEASE))
		finding_set(finding, VERDICT_NOTE, replace_remedy(release),
			    "release %s is loaded; these tools are " FKT_RELEASE, release);
	else
		finding_set(finding, VERDICT_GOOD, NULL, "release %s is loaded", release);
}

void check_module(struct finding *finding)
{
	char release[64], path[512];

	if (!access("/sys/module/fkt", F_OK)) {
		read_line("/sys/module/fkt/version", release, sizeof(release));
		check_interface(finding, release);
	} else if (find_module(path, sizeof(path))) {
		finding_set(finding, VERDICT_PROBLEM, "sudo modprobe fkt", "is not loaded: %s",
			    path);
	} else {
		finding_set(finding, VERDICT_PROBLEM, build_remedy(),
			    "is not installed for this kernel");
	}
}

/* Whether a file ends as signed modules do; compressed ones, whose end says nothing, may. */
static bool may_be_signed(const char *path)
{
	char end[sizeof(SIGNED_MODULE)] = "";
	FILE *file = fopen(path, "re");
	bool signed_ = true;

	if (!file)
		return true;
	if (!strcmp(path + strlen(path) - strlen(".ko"), ".ko"))
		signed_ = !fseek(file, -(long)strlen(SIGNED_MODULE), SEEK_END) &&
			  fread(end, 1, strlen(SIGNED_MODULE), file) == strlen(SIGNED_MODULE) &&
			  !strcmp(end, SIGNED_MODULE);
	fclose(file);
	return signed_;
}

static bool secure_boot(void)
{
	unsigned char bytes[5] = { 0 };
	FILE *file = fopen(SECURE_BOOT, "re");

	if (!file)
		return false;
	if (fread(bytes, 1, sizeof(bytes), file) != sizeof(bytes))
		bytes[4] = 0;
	fclose(file);
	return bytes[4] == 1;
}

void check_signature(struct finding *finding)
{
	const char *boot = secure_boot() ? "Secure Boot is on" : "Secure Boot is off";
	char enforced[8], lockdown[80], path[512];
	bool wanted;

	read_line("/sys/module/module/parameters/sig_enforce", enforced, sizeof(enforced));
	read_line(LOCKDOWN_FILE, lockdown, sizeof(lockdown));
	wanted = enforced[0] == 'Y' || (lockdown[0] && !strstr(lockdown, "[none]"));
	if (!wanted)
		finding_set(finding, VERDICT_GOOD, NULL, "is not asked for (%s)", boot);
	else if (!access("/sys/module/fkt", F_OK))
		finding_set(finding, VERDICT_GOOD, NULL,
			    "is asked for, and the module was taken (%s)", boot);
	else if (access(DKMS_KEY, F_OK))
		finding_set(finding, VERDICT_PROBLEM, KEY_REMEDY,
			    "is asked for, and DKMS has no key to sign the module by (%s)", boot);
	else if (find_module(path, sizeof(path)) && !may_be_signed(path))
		finding_set(finding, VERDICT_PROBLEM, ENROL_REMEDY,
			    "is asked for, and the module has none (%s)", boot);
	else
		finding_set(
			finding, VERDICT_PROBLEM, ENROL_REMEDY,
			"is asked for: modprobe says 'Key was rejected' where the kernel does not "
			"know whose it is (%s)",
			boot);
}

void check_lockdown(struct finding *finding)
{
	char line[80];

	read_line(LOCKDOWN_FILE, line, sizeof(line));
	if (strstr(line, "[confidentiality]"))
		finding_set(finding, VERDICT_PROBLEM,
			    "start the kernel without lockdown=confidentiality",
			    "the kernel is locked down for confidentiality: nothing may be traced");
	else if (strstr(line, "[integrity]"))
		finding_set(finding, VERDICT_NOTE, NULL,
			    "the kernel is locked down for integrity: functions (-F) have an entry "
			    "and no exit");
	else if (!line[0] && access(SECURITY_LSMS, F_OK))
		finding_set(finding, VERDICT_NOTE,
			    "sudo mount -t securityfs none /sys/kernel/security",
			    "it is not known whether the kernel is locked down: securityfs is not "
			    "mounted");
	else
		finding_set(finding, VERDICT_GOOD, NULL, "the kernel is not locked down");
}

/* What keeps fkt_record, beside this program, from having the capabilities of its file; or NULL. */
static const char *no_capability(const char **remedy)
{
	char path[PATH_MAX + sizeof("_record")];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	struct statvfs fs;

	strcpy(path + (length > 0 ? length : 0), "_record");
	*remedy = "sudo apt install --reinstall fkt, or record as root";
	if (getxattr(path, "security.capability", NULL, 0) <= 0)
		return "fkt_record's file has no capabilities";
	*remedy = NULL;
	if (!statvfs(path, &fs) && fs.f_flag & ST_NOSUID)
		return "fkt_record is on a file system that is mounted nosuid";
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return "this session may have no capability of a file (no_new_privs)";
	return NULL;
}

void check_permissions(struct finding *finding)
{
	const char *why, *remedy;
	char trusted[8];
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 && access(FKT_DEVICE, F_OK)) {
		finding_set(finding, VERDICT_PROBLEM, NULL,
			    "there is no " FKT_DEVICE " without the module");
		return;
	}
	if (fd >= 0)
		close(fd);
	/* This program has no capability of its own, and fkt_record has. */
	if (fd < 0 && access(FKT_DEVICE, R_OK | W_OK)) {
		finding_set(finding, VERDICT_PROBLEM, NULL, "%s", permission_denied(EACCES));
		return;
	}
	why = geteuid() ? no_capability(&remedy) : NULL;
	if (why && fd < 0) {
		finding_set(finding, VERDICT_PROBLEM, remedy, "%s: root alone may record", why);
		return;
	}
	read_line("/sys/module/fkt/parameters/trust_perfmon", trusted, sizeof(trusted));
	if (!geteuid())
		finding_set(finding, VERDICT_GOOD, NULL, "you are root, and may record all");
	else if (trusted[0] == 'Y')
		finding_set(finding, VERDICT_GOOD, NULL, "you may record all (trust_perfmon)");
	else
		finding_set(finding, VERDICT_GOOD, NULL,
			    "you may record; functions, tracepoints, addresses and memory (-F, -e, "
			    "-P, --strings) are for root");
}

void check_recording(struct finding *finding)
{
	char users[16], unit[RECORDER_UNIT_BYTES], remedy[RECORDER_UNIT_BYTES + 32] = "";
	pid_t other;

	read_line("/sys/module/fkt/refcnt", users, sizeof(users));
	if (!users[0] || !strcmp(users, "0")) {
		finding_set(finding, VERDICT_GOOD, NULL, "nobody records at the moment");
		return;
	}
	other = recorder_find(unit);
	if (*unit)
		snprintf(remedy, sizeof(remedy), "sudo systemctl stop %s", unit);
	if (other)
		finding_set(finding, VERDICT_NOTE, remedy,
			    "there is one at a time, and process %d is at it%s%s", other,
			    *unit ? ", of " : "", unit);
	else
		finding_set(finding, VERDICT_NOTE, NULL,
			    "there is one at a time, and somebody uses the module");
}
