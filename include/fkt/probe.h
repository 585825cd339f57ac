/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Probes in kernel modules of your own (paper, §1.1).
 *
 *	#include <fkt/probe.h>
 *
 *	enum { PUT, PUT_EXIT, REFILL };
 *
 *	static const struct fkt_probe_code codes[] = {
 *		[PUT] = { "ring_put", "ring:x64 bytes:u32", FKT_KIND_ENTRY },
 *		[PUT_EXIT] = { "ring_put_exit", "ret:ret", FKT_KIND_EXIT },
 *		[REFILL] = { "ring_refill", "pages:s32" },
 *	};
 *	static int base;
 *
 *	int ring_put(struct ring *ring, const void *data, u32 bytes)
 *	{
 *		int ret;
 *
 *		FKT_PROBE2(FKT_KEY_MODULES, base + PUT, ring, bytes);
 *		…
 *		FKT_PROBE1(FKT_KEY_MODULES, base + PUT_EXIT, ret);
 *		return ret;
 *	}
 *
 * and in the module's init and exit functions
 *
 *	base = fkt_register_codes(codes, ARRAY_SIZE(codes));
 *	if (base < 0)
 *		return base;
 *
 *	fkt_unregister_codes(base);
 *
 * "fkt_record -k modules COMMAND" then records them, and fkt_print shows them with these names, on
 * whatever machine: they are written into the trace. Probes of any layer's mask are possible, so
 * that those of a driver can be recorded together with what they belong to (FKT_KEY_NETDRV, say).
 *
 * Building such a module needs the symbols of fkt.ko besides this header. make install puts them
 * into lib/fkt/RELEASE/Module.symvers, for make's KBUILD_EXTRA_SYMBOLS. While the module is loaded,
 * fkt.ko cannot be unloaded.
 *
 * To trace each function of a module without any probe in it, see docs/modules.md.
 */
#ifndef FKT_PROBE_H
#define FKT_PROBE_H

#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <fkt/codes.h>

/**
 * struct fkt_probe_code - what a probe's code means
 * @name: shown in the listing; letters, digits and _ . : -, no other live code's
 * @spec: the arguments: "name:type" for each in turn, with a space between them; the types are
 *	those of FKT_WORD_TYPES in codes.h. NULL or "" when there are none
 * @kind: FKT_KIND_POINT, or FKT_KIND_ENTRY (on a CPU: FKT_KIND_CPU_ENTRY) for what is ended by the
 *	next code of the table, which is then the FKT_KIND_EXIT (FKT_KIND_CPU_EXIT)
 * @key: the layer that it belongs to, 0 for FKT_KEY_MODULES; goes into the trace. What decides
 *	whether a probe records is the mask at the probe
 */
struct fkt_probe_code {
	const char *name;
	const char *spec;
	enum fkt_kind kind;
	u32 key;
};

/* More than this many codes are not registered at a time. */
#define FKT_REGISTER_MAX   1024
#define FKT_CODE_NAME_MAX  47
#define FKT_CODE_SPEC_MAX  159
#define FKT_PROBE_ARGS_MAX 5

struct module;

int fkt_register_module_codes(const struct module *owner, const struct fkt_probe_code *codes,
			      u32 count);
void fkt_unregister_codes(int base);

/**
 * fkt_register_codes - name the codes that this module's probes will record
 * @codes: what each means; copied
 * @count: their number, at most FKT_REGISTER_MAX
 *
 * Context: process; may sleep.
 * Return: the code of @codes[0]; that of @codes[i] is by i larger. Or a negative errno value:
 * -EINVAL for a table that is wrong, -EEXIST for a name that another code has, both with a sentence
 * in the kernel's log, -ENOSPC when no codes are left, -ENOMEM.
 */
#define fkt_register_codes(codes, count) fkt_register_module_codes(THIS_MODULE, codes, count)

/* What this CPU records of its current task: 0 unless a recording runs. */
DECLARE_PER_CPU(u32, fkt_cpu_mask);

void fkt_probe0(u32 code);
void fkt_probe1(u32 code, u64 a);
void fkt_probe2(u32 code, u64 a, u64 b);
void fkt_probe3(u32 code, u64 a, u64 b, u64 c);
void fkt_probe4(u32 code, u64 a, u64 b, u64 c, u64 d);
void fkt_probe5(u32 code, u64 a, u64 b, u64 c, u64 d, u64 e);

/**
 * FKT_PROBE0 … FKT_PROBE5 - record an event with so many arguments
 * @mask: record when this meets the active mask: FKT_KEY_MODULES, or any other layer's
 * @code: the event's code, from what fkt_register_codes() returned
 *
 * While off: a load, a test and a branch that is not taken; code and arguments are not evaluated.
 * Arguments are integers or pointers. Each is recorded in 64 bits, sign-extended if it is signed.
 *
 * Context: any, NMI included.
 */
#define FKT_PROBE0(mask, code)	     FKT_PROBE_IF(mask, fkt_probe0(code))
#define FKT_PROBE1(mask, code, a)    FKT_PROBE_IF(mask, fkt_probe1(code, (u64)(a)))
#define FKT_PROBE2(mask, code, a, b) FKT_PROBE_IF(mask, fkt_probe2(code, (u64)(a), (u64)(b)))
#define FKT_PROBE3(mask, code, a, b, c)                                                            \
	FKT_PROBE_IF(mask, fkt_probe3(code, (u64)(a), (u64)(b), (u64)(c)))
#define FKT_PROBE4(mask, code, a, b, c, d)                                                         \
	FKT_PROBE_IF(mask, fkt_probe4(code, (u64)(a), (u64)(b), (u64)(c), (u64)(d)))
#define FKT_PROBE5(mask, code, a, b, c, d, e)                                                      \
	FKT_PROBE_IF(mask, fkt_probe5(code, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e)))

#define FKT_PROBE_IF(mask, record)                                                                 \
	do {                                                                                       \
		if (unlikely(this_cpu_read(fkt_cpu_mask) & (u32)(mask)))                           \
			record;                                                                    \
	} while (0)

#endif
