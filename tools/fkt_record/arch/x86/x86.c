// SPDX-License-Identifier: GPL-2.0-or-later
/* x86-64, see arch.h. */
#include <elf.h>
#include <x86intrin.h>

#include <fkt/codes.h>
#include <fkt/x86/syscalls.h>

#include "../../arch.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Their numbers are the places in the kernel's struct pt_regs. */
enum {
	R8 = 9,
	R9 = 8,
	AX = 10,
	CX = 11,
	DX = 12,
	SI = 13,
	DI = 14,
	SP = 19,
};

static const char *const registers[] = {
	"r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10",	"r9", "r8", "ax",
	"cx",  "dx",  "si",  "di",  NULL, "ip", "cs",  "flags", "sp", "ss",
};

static const unsigned int arguments[] = { DI, SI, DX, CX, R8, R9 };

static const struct hazard hazards[] = {
	{ "x2apic_send_IPI_self", FUNCTION_NEVER, HAZARD_OWN_WAY },
	{ "default_send_IPI_self", FUNCTION_NEVER, HAZARD_OWN_WAY },
	{ "__default_send_IPI_shortcut", FUNCTION_NEVER, HAZARD_OWN_WAY },
	{ "stop_this_cpu", FUNCTION_ENTRY, HAZARD_NO_RETURN },
	{ "native_machine_*", FUNCTION_ENTRY, HAZARD_NO_RETURN },
	{ NULL, FUNCTION_PAIR, NULL },
};

static uint64_t cycles(void)
{
	uint64_t now;

	_mm_lfence();
	now = __rdtsc();
	_mm_lfence();
	return now;
}

static const struct arch_syscall syscalls[] = {
#define X(nr, name, nargs, args) { FKT_CODE_SYSCALL_ENTRY + (nr), false, name },
	FKT_SYSCALLS(X)
#undef X
#define X(nr, name, nargs, args) { FKT_CODE_COMPAT_ENTRY + (nr), true, name },
		FKT_SYSCALLS_I386(X)
#undef X
			{ 0, false, NULL }
};

static void add_syscalls(struct sections *head)
{
#define X(nr, name, nargs, args) "x86_64 " #nr " " name " " args "\n"
	sections_printf(head, "%s", FKT_SYSCALLS(X));
#undef X
#define X(nr, name, nargs, args) "i386 " #nr " " name " " args "\n"
	sections_printf(head, "%s", FKT_SYSCALLS_I386(X));
#undef X
}

const struct arch arch = {
	.registers = registers,
	.registers_count = ARRAY_SIZE(registers),
	.result = AX,
	.argument = arguments,
	.argument_count = ARRAY_SIZE(arguments),
	.stack = SP,
	.elf_machine = EM_X86_64,
	.landing_bytes = 4, /* ENDBR */
	.hazards = hazards,
	.cycles = cycles,
	.syscalls = syscalls,
	.add_syscalls = add_syscalls,
};
