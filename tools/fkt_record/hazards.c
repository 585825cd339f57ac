// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions that have no exit, or whose exit must not be caught, or that are not to be traced at
 * all, and why, of all kernels; those of one architecture's are in arch/. The exit is caught by a
 * trampoline that calls the function.
 */
#include <fnmatch.h>
#include <stddef.h>

#include "arch.h"
#include "record.h"

#define NO_RETURN HAZARD_NO_RETURN
#define OWN_WAY	  HAZARD_OWN_WAY

static const struct hazard hazards[] = {
	{ "irq_work_queue", FUNCTION_NEVER, OWN_WAY },
	{ "__irq_work_queue_local", FUNCTION_NEVER, OWN_WAY },
	{ "arch_irq_work_raise", FUNCTION_NEVER, OWN_WAY },

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
	/* Nobody waits for it there, not even who frees what its probes write to. */
	{ "*play_dead*", FUNCTION_NEVER, "the CPU has said that it is gone" },
	{ "tboot_shutdown", FUNCTION_NEVER, "the CPU has said that it is gone" },
	{ "cond_wakeup_cpu0", FUNCTION_NEVER, "the CPU has said that it is gone" },
	{ "arch_cpu_idle_dead", FUNCTION_ENTRY, NO_RETURN },
	{ "cpu_startup_entry", FUNCTION_ENTRY, NO_RETURN },
	{ "kernel_halt", FUNCTION_ENTRY, NO_RETURN },
	{ "kernel_power_off", FUNCTION_ENTRY, NO_RETURN },
	{ "kernel_restart", FUNCTION_ENTRY, NO_RETURN },
	{ "machine_*", FUNCTION_ENTRY, NO_RETURN },
	{ "__*_sys_exit", FUNCTION_ENTRY, NO_RETURN },
	{ "__*_sys_exit_group", FUNCTION_ENTRY, NO_RETURN },
	{ "kernel_init", FUNCTION_ENTRY, NO_RETURN },

	{ "kthread", FUNCTION_ENTRY, NO_RETURN },
	{ "kthreadd", FUNCTION_ENTRY, NO_RETURN },
	{ "smpboot_thread_fn", FUNCTION_ENTRY, NO_RETURN },
	{ NULL, FUNCTION_PAIR, NULL },
};

/* What a probe goes through that takes a stack. */
static const struct hazard stack_hazards[] = {
	{ "stack_trace_save", FUNCTION_NEVER, OWN_WAY },
	{ "stack_trace_consume_entry", FUNCTION_NEVER, OWN_WAY },
	{ "arch_stack_walk", FUNCTION_NEVER, OWN_WAY },
	{ "unwind_*", FUNCTION_NEVER, OWN_WAY },
	{ "__unwind_start", FUNCTION_NEVER, OWN_WAY },
	{ "*orc_find*", FUNCTION_NEVER, OWN_WAY },
	{ "stack_access_ok", FUNCTION_NEVER, OWN_WAY },
	{ "get_stack_info", FUNCTION_NEVER, OWN_WAY },
	{ "*kernel_text_address", FUNCTION_NEVER, OWN_WAY },
	{ "*module_text_address", FUNCTION_NEVER, OWN_WAY },
	{ "__module_address", FUNCTION_NEVER, OWN_WAY },
	{ "mod_find", FUNCTION_NEVER, OWN_WAY },
	{ "is_bpf_text_address", FUNCTION_NEVER, OWN_WAY },
	{ "bpf_ksym_find", FUNCTION_NEVER, OWN_WAY },
	{ "in_gate_area_no_mm", FUNCTION_NEVER, OWN_WAY },
	{ "__is_insn_slot_addr", FUNCTION_NEVER, OWN_WAY },
	{ "__rcu_read_lock", FUNCTION_NEVER, OWN_WAY },
	{ "__rcu_read_unlock", FUNCTION_NEVER, OWN_WAY },
	{ NULL, FUNCTION_PAIR, NULL },
};

/* A thread that dies ends its calls within it, that of this one with them; but it returns. */
static const struct hazard longer_hazards[] = {
	{ "__traceiter_sched_switch", FUNCTION_NEVER,
	  "the calls of a thread that dies are ended in it (--longer-than)" },
	{ NULL, FUNCTION_PAIR, NULL },
};

/* What a probe goes through that reads counters. */
static const struct hazard counter_hazards[] = {
	{ "cpu_clock_event_*", FUNCTION_NEVER, OWN_WAY },
	{ "task_clock_event_*", FUNCTION_NEVER, OWN_WAY },
	{ "local_clock*", FUNCTION_NEVER, OWN_WAY },
	{ "sched_clock*", FUNCTION_NEVER, OWN_WAY },
	{ "*_pmu_read*", FUNCTION_NEVER, OWN_WAY },
	{ "*_pmu_update*", FUNCTION_NEVER, OWN_WAY },
	{ "*_perf_event_update", FUNCTION_NEVER, OWN_WAY },
	{ NULL, FUNCTION_PAIR, NULL },
};

/* Within these the kernel tells of functions of programs, which are around all that it does. */
#define TELLS "the kernel tells in it of functions of programs (-U)"
static const struct hazard program_hazards[] = {
	{ "uprobe_notify_resume", FUNCTION_NEVER, TELLS },
	{ "handle_swbp", FUNCTION_NEVER, TELLS },
	{ "handler_chain", FUNCTION_NEVER, TELLS },
	{ "handle_uretprobe_chain", FUNCTION_NEVER, TELLS },
	{ "*handle_trampoline", FUNCTION_NEVER, TELLS },
	{ "exit_to_user_mode_loop", FUNCTION_NEVER, TELLS },
	{ "exit_to_user_mode_prepare", FUNCTION_NEVER, TELLS },
	{ "irqentry_exit_to_user_mode", FUNCTION_NEVER, TELLS },
	{ "syscall_exit_to_user_mode*", FUNCTION_NEVER, TELLS },
	{ "x64_sys_call", FUNCTION_NEVER, TELLS },
	{ "__*_sys_uretprobe", FUNCTION_NEVER, TELLS },
	{ NULL, FUNCTION_PAIR, NULL },
};

static const struct hazard *find_in(const struct hazard *hazard, const char *name)
{
	for (; hazard->glob; hazard++) {
		if (hazard->glob[0] != name[0] && hazard->glob[0] != '*')
			continue;
		if (!fnmatch(hazard->glob, name, 0))
			return hazard;
	}
	return NULL;
}

enum function_how hazard_find(const char *name, const char **why)
{
	const struct hazard *hazard = find_in(hazards, name) ?: find_in(arch.hazards, name);

	if (!hazard && stacks_any())
		hazard = find_in(stack_hazards, name);
	if (!hazard && longer_any())
		hazard = find_in(longer_hazards, name);
	if (!hazard && counters_any())
		hazard = find_in(counter_hazards, name);
	if (programs_any() && (!hazard || hazard->how != FUNCTION_NEVER))
		hazard = find_in(program_hazards, name) ?: hazard;
	*why = hazard ? hazard->why : NULL;
	return hazard ? hazard->how : FUNCTION_PAIR;
}
