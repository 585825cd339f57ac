// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kinds of probe, which are files in probes/ and arch/NAME/, as one: everything that happens to
 * each of them in the life of a recording. Nothing here knows which kinds there are.
 */
#include <linux/capability.h>
#include <linux/moduleparam.h>
#include <linux/nospec.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "fkt.h"

/* A kind that has no file on this architecture: no probes, and users name none. */
#define X(KIND, kind) const struct fkt_provider __weak fkt_provider_##kind = { .name = #kind };
FKT_PROVIDERS(X)
#undef X

static const struct fkt_provider *const fkt_providers[] = {
#define X(NAME, name) [FKT_PROVIDER_##NAME] = &fkt_provider_##name,
	FKT_PROVIDERS(X)
#undef X
};
static_assert(ARRAY_SIZE(fkt_providers) == FKT_PROVIDERS_COUNT);

/* --- Probes that users name ----------------------------------------------------------------- */

/* The kind that a program asks for, or NULL. */
static const struct fkt_provider *fkt_provider_of(u32 kind)
{
	const struct fkt_provider *provider;

	if (kind >= FKT_PROVIDERS_COUNT)
		return NULL;
	provider = fkt_providers[array_index_nospec(kind, FKT_PROVIDERS_COUNT)];
	return provider->add ? provider : NULL;
}

static bool trust_perfmon;
module_param(trust_perfmon, bool, 0644);
MODULE_PARM_DESC(
	trust_perfmon,
	"all probes may be named with CAP_PERFMON alone, also those that read any memory, or damage it");

static bool fkt_may_name(const struct fkt_provider *provider)
{
	return provider->harmless || (READ_ONCE(trust_perfmon) && !provider->changes)
		       ? perfmon_capable()
		       : capable(CAP_SYS_ADMIN);
}

static void fkt_specs_free(struct fkt_specs *specs)
{
	kvfree(specs->spec);
	kvfree(specs->common);
}

/*
 * Copy what a program names. Its memory may make us wait for as long as it likes (userfaultfd, a
 * file on a network): no lock is held meanwhile.
 */
static int fkt_specs_copy(struct fkt_specs *specs, const struct fkt_provider *provider,
			  const struct fkt_probes *probes)
{
	const void __user *from = u64_to_user_ptr(probes->specs_ptr);
	void *spec;
	u32 i;
	int ret;

	if (!probes->count || probes->count > provider->count_max ||
	    probes->spec_bytes < provider->spec_bytes || probes->spec_bytes > PAGE_SIZE ||
	    probes->common_bytes > provider->common_max)
		return -EINVAL;
	specs->count = probes->count;
	specs->common_bytes = probes->common_bytes;
	spec = kvmalloc_array(probes->count, provider->spec_bytes, GFP_KERNEL_ACCOUNT);
	specs->spec = spec;
	if (!spec)
		return -ENOMEM;
	for (i = 0; i < probes->count; i++) {
		ret = copy_struct_from_user(spec + (size_t)i * provider->spec_bytes,
					    provider->spec_bytes,
					    from + (size_t)i * probes->spec_bytes,
					    probes->spec_bytes);
		if (ret)
			return ret;
		/* Specs of programs of the future may be large. */
		cond_resched();
	}
	if (!probes->common_bytes)
		return 0;
	specs->common = vmemdup_user(u64_to_user_ptr(probes->common_ptr), probes->common_bytes);
	if (IS_ERR(specs->common)) {
		ret = PTR_ERR(specs->common);
		specs->common = NULL;
		return ret;
	}
	return 0;
}

/* 0: with the session's lock taken, and @file may name probes for the next recording. */
static int fkt_providers_lock(struct fkt_session *s, const struct file *file)
{
	if (mutex_lock_interruptible(&s->lock))
		return -ERESTARTSYS;
	if (s->state == FKT_STATE_IDLE && (!s->probes_of || s->probes_of == file))
		return 0;
	mutex_unlock(&s->lock);
	return -EBUSY;
}

/**
 * fkt_providers_add - take probes for the next recording, see FKT_ADD_PROBES
 * @s: the session
 * @probes: what a program asks for, not checked but for its size; its @done is set
 * @file: on whose behalf, which will begin the recording
 *
 * Context: process; may sleep.
 * Return: 0 or a negative errno value.
 */
int fkt_providers_add(struct fkt_session *s, struct fkt_probes *probes, const struct file *file)
{
	const struct fkt_provider *provider = fkt_provider_of(probes->kind);
	struct fkt_specs specs = {};
	int ret;

	probes->done = 0;
	if (!provider)
		return -EINVAL;
	ret = provider->lockdown ? security_locked_down(provider->lockdown) : 0;
	if (ret)
		return ret;
	if (!fkt_may_name(provider))
		return -EPERM;
	/* So that who may not now is told so before anything else, and asks for no memory. */
	ret = fkt_providers_lock(s, file);
	if (ret)
		return ret;
	mutex_unlock(&s->lock);
	ret = fkt_specs_copy(&specs, provider, probes);
	if (ret)
		goto out_free;
	ret = fkt_providers_lock(s, file);
	if (ret)
		goto out_free;
	ret = provider->add(&specs);
	probes->done = ret ? specs.done : specs.count;
	/*
	 * Those that were taken before an error are there, and are to be forgotten with the file.
	 */
	if (probes->done)
		s->probes_of = file;
	mutex_unlock(&s->lock);
out_free:
	fkt_specs_free(&specs);
	return ret;
}

/**
 * fkt_providers_hookable - which addresses can be probed, see FKT_HOOKABLE
 * @hookable: what a program asks, not checked but for its size
 *
 * Context: process; may sleep.
 * Return: 0 or a negative errno value.
 */
int fkt_providers_hookable(const struct fkt_hookable *hookable)
{
	const struct fkt_provider *provider = fkt_provider_of(hookable->kind);
	void __user *where = u64_to_user_ptr(hookable->addresses_ptr);
	const size_t bytes = hookable->count * sizeof(u64);
	unsigned long *addresses;
	int ret;

	static_assert(sizeof(*addresses) == sizeof(u64));
	if (!provider || !provider->hookable || hookable->reserved || !hookable->count ||
	    hookable->count > FKT_HOOKABLE_MAX)
		return -EINVAL;
	if (!fkt_may_name(provider))
		return -EPERM;
	addresses = vmemdup_user(where, bytes);
	if (IS_ERR(addresses))
		return PTR_ERR(addresses);
	ret = provider->hookable(addresses, hookable->count);
	if (!ret && copy_to_user(where, addresses, bytes))
		ret = -EFAULT;
	kvfree(addresses);
	return ret;
}

/**
 * fkt_providers_clear - forget what was named for one recording
 * @s: the session
 * Context: the session's lock, nothing is attached; may sleep.
 */
void fkt_providers_clear(struct fkt_session *s)
{
	int i;

	for (i = 0; i < FKT_PROVIDERS_COUNT; i++)
		if (fkt_providers[i]->clear)
			fkt_providers[i]->clear();
	s->probes_of = NULL;
}

/* --- A recording ---------------------------------------------------------------------------- */

/**
 * fkt_providers_begin - a recording begins
 * Context: the session's lock, nothing is attached; may sleep.
 */
void fkt_providers_begin(void)
{
	int i;

	for (i = 0; i < FKT_PROVIDERS_COUNT; i++)
		if (fkt_providers[i]->begin)
			fkt_providers[i]->begin();
}

/*
 * A provider could not attach these layers, or not all of them. It knows only to detach everything:
 * that is done at once where it had nothing attached, and the layers may be asked for again. Beside
 * others that record it is not done: what was hooked stays until the end, the mask's bit is never
 * set, and who asks again is told the same.
 */
static void fkt_provider_failed(const struct fkt_provider *provider, struct fkt_attached *attached,
				u32 keys, int error)
{
	const bool interrupted = error == -ERESTARTSYS;

	if (!interrupted)
		pr_warn("fkt: cannot attach the %s probes: error %d\n", provider->name, -error);
	if (!attached->keys) {
		provider->detach();
		return;
	}
	if (interrupted)
		return;
	attached->failed |= keys;
	attached->error = error;
}

/**
 * fkt_providers_attach - attach the probes of layers that are not attached yet
 * @s: the session
 * @mask: the layers
 *
 * Context: the session's lock; may sleep.
 * Return: 0 or a negative errno value, with some of them attached.
 */
int fkt_providers_attach(struct fkt_session *s, u32 mask)
{
	int i, ret;

	for (i = 0; i < FKT_PROVIDERS_COUNT; i++) {
		struct fkt_attached *attached = &s->probes[i];
		u32 keys = fkt_providers[i]->keys & mask & ~attached->keys;

		if (!keys)
			continue;
		if (keys & attached->failed)
			return attached->error;
		ret = fkt_providers[i]->attach(s, keys);
		if (ret) {
			fkt_provider_failed(fkt_providers[i], attached, keys, ret);
			return ret;
		}
		attached->keys |= keys;
	}
	return 0;
}

/**
 * fkt_providers_detach - detach all probes
 * @s: the session
 * Context: the session's lock; may sleep. Probes may still be running when it returns.
 */
void fkt_providers_detach(struct fkt_session *s)
{
	int i;

	for (i = 0; i < FKT_PROVIDERS_COUNT; i++) {
		if (s->probes[i].keys)
			fkt_providers[i]->detach();
		s->probes[i].keys = 0;
		s->probes[i].failed = 0;
	}
}

/**
 * fkt_providers_status - what the kinds know of the running or the last recording
 * @status: all zero where only they know
 * Context: the session's lock; may sleep.
 */
void fkt_providers_status(struct fkt_status *status)
{
	int i;

	for (i = 0; i < FKT_PROVIDERS_COUNT; i++)
		if (fkt_providers[i]->status)
			fkt_providers[i]->status(status);
}

/* --- The module ----------------------------------------------------------------------------- */

static void fkt_providers_undo(int count)
{
	while (count--)
		if (fkt_providers[count]->exit)
			fkt_providers[count]->exit();
}

/**
 * fkt_providers_init - once, at module load
 * Return: 0 or a negative errno value.
 */
int fkt_providers_init(void)
{
	int i, ret;

	for (i = 0; i < FKT_PROVIDERS_COUNT; i++) {
		ret = fkt_providers[i]->init ? fkt_providers[i]->init() : 0;
		if (ret) {
			fkt_providers_undo(i);
			return ret;
		}
	}
	return 0;
}

/**
 * fkt_providers_exit - at module unload; idle, nothing is named
 */
void fkt_providers_exit(void)
{
	fkt_providers_undo(FKT_PROVIDERS_COUNT);
}
