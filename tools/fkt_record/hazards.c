// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions whose exit can't be caught, or that are not to be traced at all, and why.
 *
 * The exit is caught by a trampoline that calls the function. One that never returns leaves the
 * trampoline's frame behind, and the module stays in use for ever; so does, as long as it sleeps, a
 * kernel thread that waits for work inside.
 */
#include <ctype.h>
#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

#define NO_RETURN "it does not return"
#define MAY_EXIT  "the task may end inside"
#define OWN_WAY	  "FKT itself calls it for each page that is full"
#define SLEEPS	  "kernel threads wait for work inside"

static const struct hazard {
	const char *glob;
	enum function_how how;
	const char *why;
} hazards[] = {
	{ "irq_work_queue", FUNCTION_NEVER, OWN_WAY },
	{ "__irq_work_queue_local", FUNCTION_NEVER, OWN_WAY },
	{ "arch_irq_work_raise", FUNCTION_NEVER, OWN_WAY },
	{ "x2apic_send_IPI_self", FUNCTION_NEVER, OWN_WAY },
	{ "default_send_IPI_self", FUNCTION_NEVER, OWN_WAY },
	{ "__default_send_IPI_shortcut", FUNCTION_NEVER, OWN_WAY },

	{ "__switch_to", FUNCTION_ENTRY, "another task comes out of it" },

	{ "do_exit", FUNCTION_ENTRY, NO_RETURN },
	{ "do_group_exit", FUNCTION_ENTRY, NO_RETURN },
	{ "do_task_dead", FUNCTION_ENTRY, NO_RETURN },
	{ "make_task_dead", FUNCTION_ENTRY, NO_RETURN },
	{ "kthread_exit", FUNCTION_ENTRY, NO_RETURN },
	{ "kthread_complete_and_exit", FUNCTION_ENTRY, NO_RETURN },
	{ "__module_put_and_kthread_exit", FUNCTION_ENTRY, NO_RETURN },
	{ "*panic", FUNCTION_ENTRY, NO_RETURN },
	{ "__stack_chk_fail", FUNCTION_ENTRY, NO_RETURN },
	{ "*play_dead*", FUNCTION_ENTRY, NO_RETURN },
	{ "arch_cpu_idle_dead", FUNCTION_ENTRY, NO_RETURN },
	{ "stop_this_cpu", FUNCTION_ENTRY, NO_RETURN },
	{ "cpu_startup_entry", FUNCTION_ENTRY, NO_RETURN },
	{ "kernel_halt", FUNCTION_ENTRY, NO_RETURN },
	{ "kernel_power_off", FUNCTION_ENTRY, NO_RETURN },
	{ "kernel_restart", FUNCTION_ENTRY, NO_RETURN },
	{ "machine_*", FUNCTION_ENTRY, NO_RETURN },
	{ "native_machine_*", FUNCTION_ENTRY, NO_RETURN },
	{ "__*_sys_exit", FUNCTION_ENTRY, NO_RETURN },
	{ "__*_sys_exit_group", FUNCTION_ENTRY, NO_RETURN },
	{ "__*_sys_reboot", FUNCTION_ENTRY, MAY_EXIT },
	{ "*_sys_call", FUNCTION_ENTRY, MAY_EXIT },
	{ "do_idle", FUNCTION_ENTRY, "a processor that is turned off stays inside" },
	{ "get_signal", FUNCTION_ENTRY, MAY_EXIT },
	{ "arch_do_signal_or_restart", FUNCTION_ENTRY, MAY_EXIT },
	{ "exit_to_user_mode_loop", FUNCTION_ENTRY, MAY_EXIT },
	{ "exit_to_user_mode_prepare", FUNCTION_ENTRY, MAY_EXIT },
	{ "syscall_trace_enter*", FUNCTION_ENTRY, MAY_EXIT },
	{ "__secure_computing", FUNCTION_ENTRY, MAY_EXIT },
	{ "__seccomp_filter*", FUNCTION_ENTRY, MAY_EXIT },
	{ "call_usermodehelper_exec_async", FUNCTION_ENTRY, MAY_EXIT },
	{ "io_wq_worker", FUNCTION_ENTRY, MAY_EXIT },
	{ "io_sq_thread", FUNCTION_ENTRY, MAY_EXIT },
	{ "vhost_task_fn", FUNCTION_ENTRY, MAY_EXIT },
	{ "kernel_init", FUNCTION_ENTRY, NO_RETURN },

	{ "kthread", FUNCTION_ENTRY, NO_RETURN },
	{ "kthreadd", FUNCTION_ENTRY, NO_RETURN },
	{ "worker_thread", FUNCTION_ENTRY, SLEEPS },
	{ "rescuer_thread", FUNCTION_ENTRY, SLEEPS },
	{ "kthread_worker_fn", FUNCTION_ENTRY, SLEEPS },
	{ "smpboot_thread_fn", FUNCTION_ENTRY, SLEEPS },
	{ "*kthread_parkme", FUNCTION_ENTRY, SLEEPS },
	{ "schedule", FUNCTION_ENTRY, SLEEPS },
	{ "schedule_preempt_disabled", FUNCTION_ENTRY, SLEEPS },
	{ "schedule_timeout", FUNCTION_ENTRY, SLEEPS },
	{ "irq_thread", FUNCTION_ENTRY, SLEEPS },
	{ "irq_wait_for_interrupt*", FUNCTION_ENTRY, SLEEPS },
	{ "kswapd*", FUNCTION_ENTRY, SLEEPS },
	{ "ksm_scan_thread", FUNCTION_ENTRY, SLEEPS },
	{ "khugepaged*", FUNCTION_ENTRY, SLEEPS },
	{ "rcu_tasks_one_gp", FUNCTION_ENTRY, SLEEPS },
	{ "rcu_gp_fqs_loop", FUNCTION_ENTRY, SLEEPS },
};

/* Functions in which a kernel thread sleeps at this moment, by name. */
static char **sleepers;
static size_t sleepers_count;

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_sleeper(const char *name, size_t length)
{
	char **grown = reallocarray(sleepers, sleepers_count + 1, sizeof(*sleepers));

	if (!grown)
		return;
	sleepers = grown;
	sleepers[sleepers_count] = strndup(name, length);
	if (sleepers[sleepers_count])
		sleepers_count++;
}

/* Kernel threads have no memory of their own: nothing in /proc/PID/maps, and no file behind exe. */
static bool is_kernel_thread(const char *pid)
{
	char path[64];
	FILE *file;
	int first;

	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	first = getc(file);
	fclose(file);
	return first == EOF;
}

/* Lines "[<0>] worker_thread+0x13e/0x3a0 [module]". */
static void add_stack(const char *pid)
{
	char line[512], path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/stack", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *name = strstr(line, "] ");

		if (name)
			add_sleeper(name + 2, strcspn(name + 2, "+ \n"));
	}
	if (file)
		fclose(file);
}

static void find_sleepers(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) && is_kernel_thread(entry->d_name))
			add_stack(entry->d_name);
	if (proc)
		closedir(proc);
	if (sleepers_count)
		qsort(sleepers, sleepers_count, sizeof(*sleepers), compare_strings);
}

enum function_how hazard_find(const char *name, const char **why)
{
	static bool found;

	if (!found)
		find_sleepers();
	found = true;
	for (size_t i = 0; i < sizeof(hazards) / sizeof(hazards[0]); i++) {
		const struct hazard *hazard = &hazards[i];

		if (hazard->glob[0] != name[0] && hazard->glob[0] != '*')
			continue;
		if (!fnmatch(hazard->glob, name, 0)) {
			*why = hazard->why;
			return hazard->how;
		}
	}
	if (sleepers_count &&
	    bsearch(&name, sleepers, sleepers_count, sizeof(*sleepers), compare_strings)) {
		*why = SLEEPS;
		return FUNCTION_ENTRY;
	}
	*why = NULL;
	return FUNCTION_PAIR;
}
