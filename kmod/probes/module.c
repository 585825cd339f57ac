// SPDX-License-Identifier: GPL-2.0-only
/* Probes in other modules (paper, §1.1): what FKT_PROBE… calls, and the names of their codes. */
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <fkt/probe.h>
#include "fkt.h"
#include "program.h"

EXPORT_PER_CPU_SYMBOL_GPL(fkt_cpu_mask);

/*
 * The probe has found its layer on, possibly with preemption on: whether anything is still recorded
 * is to be asked again, where it is now. A filter leaves the layer process to tasks that it leaves
 * out, which the probe's own layer is as a rule not.
 */
static __always_inline bool fkt_probe_on(void)
{
	return likely(fkt_on(~(u32)FKT_KEY_PROCESS)) ||
	       (fkt_on(FKT_KEY_PROCESS) && fkt_mask_may() != FKT_KEY_PROCESS);
}

/* A code that nobody registered must not spill into its neighbours in the slot. */
#define FKT_DEFINE_PROBE(n, params, ...)                                                           \
	void fkt_probe##n params                                                                   \
	{                                                                                          \
		const u64 args[] = { 0, ##__VA_ARGS__ };                                           \
                                                                                                   \
		preempt_disable_notrace();                                                         \
		if (fkt_probe_on())                                                                \
			fkt_event_n(code &(FKT_SLOT_CODES - 1), 0, n, args + 1);                   \
		preempt_enable_notrace();                                                          \
	}                                                                                          \
	EXPORT_SYMBOL_GPL(fkt_probe##n);                                                           \
	NOKPROBE_SYMBOL(fkt_probe##n)

FKT_DEFINE_PROBE(0, (u32 code));
FKT_DEFINE_PROBE(1, (u32 code, u64 a), a);
FKT_DEFINE_PROBE(2, (u32 code, u64 a, u64 b), a, b);
FKT_DEFINE_PROBE(3, (u32 code, u64 a, u64 b, u64 c), a, b, c);
FKT_DEFINE_PROBE(4, (u32 code, u64 a, u64 b, u64 c, u64 d), a, b, c, d);
FKT_DEFINE_PROBE(5, (u32 code, u64 a, u64 b, u64 c, u64 d, u64 e), a, b, c, d, e);

/* --- Names ---------------------------------------------------------------------------------- */

/* A registered code, copied: the module that it is of may go before the recording does. */
struct fkt_registered_code {
	char name[FKT_CODE_NAME_MAX + 1];
	char spec[FKT_CODE_SPEC_MAX + 1];
	enum fkt_kind kind;
	u32 key;
};

/**
 * struct fkt_registered - the codes that a module has registered together
 * @link: in fkt_registered, by @base
 * @base: the first one
 * @count: how many
 * @live: not unregistered. When it has been, the running recording may still hold such events: the
 *	codes are not given to anybody else before the next one begins
 * @code: what they mean
 */
struct fkt_registered {
	struct list_head link;
	u32 base;
	u32 count;
	bool live;
	struct fkt_registered_code code[];
};

#define FKT_CODE_LINE_MAX (FKT_CODE_NAME_MAX + FKT_CODE_SPEC_MAX + 80)

static LIST_HEAD(fkt_registered);
static DEFINE_MUTEX(fkt_registered_lock);

/*
 * Where to look first: codes that were in use lately, maybe in a trace that is not finished, rest.
 */
static u32 fkt_registered_next = FKT_CODE_MODULES;

static const char *const fkt_kind_names[] = {
#define X(NAME, name) [FKT_KIND_##NAME] = name,
	FKT_KINDS(X)
#undef X
};

static const char *const fkt_own_names[] = {
#define X(NAME, code, count, KIND, pair, LAYER, name, spec) name,
	FKT_CODES(X)
#undef X
};

static const char *fkt_layer_name(u32 key)
{
	switch (key) {
#define X(NAME, bit, name, about)                                                                  \
	case 1u << (bit):                                                                          \
		return name;
		FKT_LAYERS(X)
#undef X
	}
	return NULL;
}

static bool fkt_is_word_type(const char *type, size_t bytes)
{
	static const char *const types[] = {
#define X(name) #name,
		FKT_WORD_TYPES(X)
#undef X
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (strlen(types[i]) == bytes && !memcmp(types[i], type, bytes))
			return true;
	return false;
}

/**
 * fkt_is_name - whether these can be the name of a code
 * @name: characters
 * @bytes: how many
 */
bool fkt_is_name(const char *name, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		if (!isascii(name[i]) || (!isalnum(name[i]) && !strchr("_.:-", name[i])))
			return false;
	return bytes;
}

/**
 * fkt_spec_fault - what is wrong with a code's arguments
 * @spec: as struct fkt_probe_code has it
 *
 * Return: a sentence, or NULL.
 */
const char *fkt_spec_fault(const char *spec)
{
	u32 fields = 0;

	if (strlen(spec) > FKT_CODE_SPEC_MAX)
		return "its arguments' description is too long";
	for (spec += strspn(spec, " "); *spec; spec += strspn(spec, " ")) {
		size_t bytes = strcspn(spec, " ");
		const char *colon = memchr(spec, ':', bytes);

		if (!colon || !fkt_is_name(spec, colon - spec))
			return "an argument is described as name:type";
		if (!fkt_is_word_type(colon + 1, spec + bytes - (colon + 1)))
			return "an argument has a type that is not among FKT_WORD_TYPES";
		if (++fields > FKT_PROBE_ARGS_MAX)
			return "a probe has five arguments at most";
		spec += bytes;
	}
	return NULL;
}

static bool fkt_is_entry(enum fkt_kind kind)
{
	return kind == FKT_KIND_ENTRY || kind == FKT_KIND_CPU_ENTRY;
}

static bool fkt_is_exit(enum fkt_kind kind)
{
	return kind == FKT_KIND_EXIT || kind == FKT_KIND_CPU_EXIT;
}

/* What is wrong with codes[i], or NULL. */
static const char *fkt_code_fault(const struct fkt_probe_code *codes, u32 count, u32 i)
{
	const struct fkt_probe_code *code = &codes[i];

	if (!code->name || strlen(code->name) > FKT_CODE_NAME_MAX ||
	    !fkt_is_name(code->name, strlen(code->name)))
		return "its name is missing, is too long or has other characters than letters, digits, _ . : -";
	if ((u32)code->kind >= ARRAY_SIZE(fkt_kind_names))
		return "there is no such kind";
	if (fkt_is_entry(code->kind) && (i + 1 == count || codes[i + 1].kind != code->kind + 1))
		return "it is an entry, and the next code is not its exit";
	if (fkt_is_exit(code->kind) && (!i || codes[i - 1].kind != code->kind - 1))
		return "it is an exit, and the code before is not its entry";
	if (code->key && !fkt_layer_name(code->key))
		return "its key is not that of a layer";
	return fkt_spec_fault(code->spec ?: "");
}

static bool fkt_name_taken(const struct fkt_probe_code *codes, u32 i)
{
	const char *name = codes[i].name;
	struct fkt_registered *reg;
	u32 k;

	for (k = 0; k < i; k++)
		if (!strcmp(codes[k].name, name))
			return true;
	for (k = 0; k < ARRAY_SIZE(fkt_own_names); k++)
		if (!strcmp(fkt_own_names[k], name))
			return true;
	list_for_each_entry(reg, &fkt_registered, link)
		for (k = 0; reg->live && k < reg->count; k++)
			if (!strcmp(reg->code[k].name, name))
				return true;
	return false;
}

/* A line of FKT_SECTION_CODES. Returns its length. */
static u32 fkt_code_line(const struct fkt_registered *reg, u32 i, char line[FKT_CODE_LINE_MAX])
{
	const struct fkt_registered_code *code = &reg->code[i];
	u32 pair = 0;

	if (fkt_is_entry(code->kind))
		pair = reg->base + i + 1;
	else if (fkt_is_exit(code->kind))
		pair = reg->base + i - 1;
	return scnprintf(line, FKT_CODE_LINE_MAX, "0x%05x 1 %s 0x%05x %s %s #words %s\n",
			 reg->base + i, fkt_kind_names[code->kind], pair, fkt_layer_name(code->key),
			 code->name, code->spec);
}

/* Find room for reg->count codes from @base on, and enter @reg there. */
static bool fkt_enter(struct fkt_registered *reg, u32 base)
{
	struct list_head *before = &fkt_registered;
	struct fkt_registered *other;

	list_for_each_entry(other, &fkt_registered, link) {
		if (other->base + other->count > base) {
			if (other->base >= base + reg->count)
				break;
			base = other->base + other->count;
		}
		before = &other->link;
	}
	if (base + reg->count > FKT_CODE_MODULES_END)
		return false;
	reg->base = base;
	list_add(&reg->link, before);
	fkt_registered_next = base + reg->count;
	return true;
}

static void fkt_forget_retired(void)
{
	struct fkt_registered *reg, *next;

	list_for_each_entry_safe(reg, next, &fkt_registered, link) {
		if (reg->live)
			continue;
		list_del(&reg->link);
		kvfree(reg);
	}
}

/**
 * fkt_register_module_codes - see fkt_register_codes()
 * @owner: the module, for messages
 * @codes: as there
 * @count: as there
 */
int fkt_register_module_codes(const struct module *owner, const struct fkt_probe_code *codes,
			      u32 count)
{
	const char *name = owner ? owner->name : "?";
	struct fkt_registered *reg;
	const char *fault;
	int ret = -EEXIST;
	u32 i;

	if (!count || count > FKT_REGISTER_MAX) {
		pr_warn("fkt: module %s registers %u codes: from 1 to %u is possible\n", name,
			count, FKT_REGISTER_MAX);
		return -EINVAL;
	}
	for (i = 0; i < count; i++) {
		fault = fkt_code_fault(codes, count, i);
		if (fault) {
			pr_warn("fkt: module %s, code %u: %s\n", name, i, fault);
			return -EINVAL;
		}
	}
	reg = kvzalloc(struct_size(reg, code, count), GFP_KERNEL);
	if (!reg)
		return -ENOMEM;
	reg->count = count;
	reg->live = true;
	for (i = 0; i < count; i++) {
		strscpy(reg->code[i].name, codes[i].name, sizeof(reg->code[i].name));
		strscpy(reg->code[i].spec, codes[i].spec ?: "", sizeof(reg->code[i].spec));
		reg->code[i].kind = codes[i].kind;
		reg->code[i].key = codes[i].key ?: FKT_KEY_MODULES;
	}

	mutex_lock(&fkt_registered_lock);
	for (i = 0; i < count; i++) {
		if (fkt_name_taken(codes, i)) {
			pr_warn("fkt: module %s, code %u: another code is called %s\n", name, i,
				codes[i].name);
			goto out_unlock;
		}
	}
	ret = -ENOSPC;
	if (!fkt_enter(reg, fkt_registered_next) && !fkt_enter(reg, FKT_CODE_MODULES)) {
		/* Those of modules that are gone: nobody needs them while nothing is recorded. */
		if (READ_ONCE(fkt_session.state) == FKT_STATE_IDLE)
			fkt_forget_retired();
		if (!fkt_enter(reg, FKT_CODE_MODULES)) {
			pr_warn("fkt: module %s: no %u codes are left\n", name, count);
			goto out_unlock;
		}
	}
	ret = reg->base;
	reg = NULL;
out_unlock:
	mutex_unlock(&fkt_registered_lock);
	kvfree(reg);
	return ret;
}
EXPORT_SYMBOL_GPL(fkt_register_module_codes);

/**
 * fkt_unregister_codes - give back what fkt_register_codes() has returned
 * @base: that; a negative value does nothing
 *
 * A recording that runs keeps the names. The caller has no probe left that may record them.
 *
 * Context: process; may sleep.
 */
void fkt_unregister_codes(int base)
{
	struct fkt_registered *reg;

	if (base < 0)
		return;
	mutex_lock(&fkt_registered_lock);
	list_for_each_entry(reg, &fkt_registered, link) {
		if (reg->base != base || !reg->live)
			continue;
		reg->live = false;
		goto out_unlock;
	}
	pr_warn("fkt: codes from %#x on are unregistered, and are not registered\n", base);
out_unlock:
	mutex_unlock(&fkt_registered_lock);
}
EXPORT_SYMBOL_GPL(fkt_unregister_codes);

/*
 * Copy as many whole lines as there is room for to @to. Return: how many bytes there are in all;
 * @copied receives how many were copied.
 */
static u64 fkt_codes_copy(char *to, size_t room, size_t *copied)
{
	const struct fkt_registered *reg;
	char line[FKT_CODE_LINE_MAX];
	u64 bytes = 0;
	u32 i, length;

	*copied = 0;
	mutex_lock(&fkt_registered_lock);
	list_for_each_entry(reg, &fkt_registered, link) {
		for (i = 0; i < reg->count; i++) {
			length = fkt_code_line(reg, i, line);
			if (bytes + length <= room) {
				memcpy(to + bytes, line, length);
				*copied = bytes + length;
			}
			bytes += length;
		}
	}
	mutex_unlock(&fkt_registered_lock);
	for (i = 0; i < 2 * FKT_PROGRAM_NAMES; i++) {
		length = fkt_program_code_line(i / 2, i % 2, line, sizeof(line));
		if (length && bytes + length <= room) {
			memcpy(to + bytes, line, length);
			*copied = bytes + length;
		}
		bytes += length;
	}
	return bytes;
}

/**
 * fkt_codes_list - copy the lines of all codes that modules and programs have, see FKT_LIST_CODES
 * @to: user memory
 * @room: its size
 * @bytes: receives how many bytes there are; when they are more than @room, some were not copied
 *
 * Context: process; may sleep, for as long as the user's memory wants.
 * Return: 0, -EFAULT or -ENOMEM.
 */
int fkt_codes_list(char __user *to, u64 room, u64 *bytes)
{
	size_t copied, size = 0;
	char *text = NULL;
	int ret = 0;

	/* More may be registered while there is no lock. */
	while ((*bytes = fkt_codes_copy(text, size, &copied)) > size && size < room) {
		size = min(*bytes, room);
		kvfree(text);
		text = kvmalloc(size, GFP_KERNEL_ACCOUNT);
		if (!text)
			return -ENOMEM;
	}
	if (copied && copy_to_user(to, text, copied))
		ret = -EFAULT;
	kvfree(text);
	return ret;
}

/* A recording begins: it has no events of modules that are gone. */
static void fkt_module_begin(void)
{
	mutex_lock(&fkt_registered_lock);
	fkt_forget_retired();
	mutex_unlock(&fkt_registered_lock);
}

/*
 * Its probes are called by the modules that they are in, and hooked in nowhere. At its exit, all of
 * these modules are gone.
 */
const struct fkt_provider fkt_provider_module = {
	.name = "module",
	.begin = fkt_module_begin,
	.exit = fkt_forget_retired,
};
