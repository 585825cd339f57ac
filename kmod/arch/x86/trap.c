// SPDX-License-Identifier: GPL-2.0-only
/* Page faults and the other exceptions (paper, §B.5, layer System). */
#include <linux/kdebug.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>
#include <asm/trapnr.h>
#include "compat.h"
#include FKT_TRACE_EXCEPTIONS
#include "fkt.h"

static void fkt_page_fault_user(void *data, unsigned long address, struct pt_regs *regs,
				unsigned long error)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		FKT_EVENT(FKT_CODE_PAGE_FAULT_USER, error, address, regs->ip);
}

static void fkt_page_fault_kernel(void *data, unsigned long address, struct pt_regs *regs,
				  unsigned long error)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		FKT_EVENT(FKT_CODE_PAGE_FAULT_KERNEL, error, address, regs->ip);
}

static struct fkt_tracepoint fkt_trap_points[] = {
	FKT_POINT(page_fault_user, fkt_page_fault_user),
	FKT_POINT(page_fault_kernel, fkt_page_fault_kernel),
};

/*
 * The other exceptions have no tracepoint, and their entry code may not be hooked; but each asks
 * the chain that debuggers listen to. They come here once, before they are handled.
 */
static int fkt_die(struct notifier_block *nb, unsigned long event, void *data)
{
	struct die_args *args = data;
	unsigned long error = args->err;
	int trap = args->trapnr;

	switch (event) {
	case DIE_TRAP:
	case DIE_INT3:
	case DIE_GPF:
		break;
	case DIE_DEBUG:
		/* Comes without its number, and with a pointer to what the DR6 register said. */
		trap = X86_TRAP_DB;
		error = *(unsigned long *)args->err;
		break;
	default:
		return NOTIFY_DONE;
	}
	preempt_disable_notrace();
	if (fkt_on(FKT_KEY_SYSTEM) && args->regs)
		FKT_EVENT(FKT_CODE_EXCEPTION, trap, error, args->regs->ip);
	preempt_enable_notrace();
	return NOTIFY_DONE;
}

static struct notifier_block fkt_die_block = {
	.notifier_call = fkt_die,
	.priority = INT_MAX,
};

static int fkt_trap_attach(const struct fkt_session *s, u32 keys)
{
	int ret = register_die_notifier(&fkt_die_block);

	return ret ?: fkt_tracepoints_attach(fkt_trap_points, ARRAY_SIZE(fkt_trap_points));
}

static void fkt_trap_detach(void)
{
	fkt_tracepoints_detach(fkt_trap_points, ARRAY_SIZE(fkt_trap_points));
	unregister_die_notifier(&fkt_die_block);
}

const struct fkt_provider fkt_provider_trap = {
	.name = "exception",
	.keys = FKT_KEY_SYSTEM,
	.attach = fkt_trap_attach,
	.detach = fkt_trap_detach,
};
