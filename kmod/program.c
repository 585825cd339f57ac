// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/fkt_user: programs map a page that says whether anybody records, and lanes of their own into
 * which they write events. Who may is said by the device's mode and group.
 *
 * The pages are ordinary ones, which are found one by one when the program touches them, so that
 * they are there for as long as they are mapped, whatever becomes of the file. Mapped files pin the
 * module.
 */
#include <linux/bitops.h>
#include <linux/cred.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "compat.h"
#include "fkt.h"
#include "program.h"

static unsigned int user_programs = 256;
module_param(user_programs, uint, 0644);
MODULE_PARM_DESC(user_programs, "how many programs of a user may write events at a time (256)");

LIST_HEAD(fkt_programs);
DEFINE_MUTEX(fkt_programs_lock);

/* All that is read by every program: whether anybody records. */
static struct page *fkt_control_page;

/**
 * fkt_program_follow_mask - tell programs whether their layer is on
 * Context: any, NMI included; the active mask has been changed.
 */
void fkt_program_follow_mask(void)
{
	struct fkt_user_control *control;
	u32 mask;

	if (!fkt_control_page)
		return;
	control = page_address(fkt_control_page);
	do {
		mask = READ_ONCE(fkt_mask);
		WRITE_ONCE(control->on, !!(mask & FKT_KEY_APPLICATION));
		smp_mb(); /* partner: the exchanges in fkt_mask_off() and fkt_mask_set() */
	} while (READ_ONCE(fkt_mask) != mask);
}

/* --- Names ---------------------------------------------------------------------------------- */

/**
 * struct fkt_program_name - a name that programs have asked for, which stands for two codes
 * @name: the name
 * @spec: its arguments
 * @kind: enum fkt_user_kind
 * @users: programs that have it
 * @uid: who has asked for it first
 *
 * When no program has it any more, it goes; but where the running recording, or the last one, has
 * such events, or was told of the name, it stays until the one after the next begins: the head of
 * the next one may have been made already when that begins.
 */
struct fkt_program_name {
	char name[FKT_USER_NAME_BYTES];
	char spec[FKT_USER_SPEC_BYTES];
	u32 kind;
	u32 users;
	kuid_t uid;
};

static struct fkt_program_name *fkt_names[FKT_PROGRAM_NAMES];
static DEFINE_MUTEX(fkt_names_lock);
/* Names that are in a trace, or may be. Set by atomic exchanges. */
static DECLARE_BITMAP(fkt_names_told, FKT_PROGRAM_NAMES);
/* Names that no program has had since before the recording began. */
static DECLARE_BITMAP(fkt_names_old, FKT_PROGRAM_NAMES);
/* Where to look for a free place first: codes that were in use lately rest. */
static u32 fkt_names_next;

/* With the names' lock. */
static void fkt_name_forget(u32 i)
{
	kfree(fkt_names[i]);
	fkt_names[i] = NULL;
	clear_bit(i, fkt_names_told);
	__clear_bit(i, fkt_names_old);
}

/**
 * fkt_program_names_forget - forget the names that no program has had for a whole recording
 * @all: those of the last recording, too: there will be no other
 *
 * Context: process; a recording begins, or the module goes: nobody takes what programs write.
 */
void fkt_program_names_forget(bool all)
{
	u32 i;

	mutex_lock(&fkt_names_lock);
	for (i = 0; i < FKT_PROGRAM_NAMES; i++) {
		if (!fkt_names[i] || fkt_names[i]->users)
			continue;
		if (all || test_bit(i, fkt_names_old))
			fkt_name_forget(i);
		else
			__set_bit(i, fkt_names_old);
	}
	mutex_unlock(&fkt_names_lock);
}

/**
 * fkt_program_name_told - an event was recorded
 * @code: its code, which a program has
 */
void fkt_program_name_told(u32 code)
{
	const u32 i = (code - FKT_CODE_PROGRAMS) / 2;

	if (!test_bit(i, fkt_names_told))
		set_bit(i, fkt_names_told);
}

/**
 * fkt_program_code_line - a line of FKT_SECTION_CODES
 * @name: which name, less than FKT_PROGRAM_NAMES
 * @end: of the code of its end
 * @line: written
 * @room: its size
 *
 * Return: its length, 0 when there is no such code.
 */
u32 fkt_program_code_line(u32 name, bool end, char *line, u32 room)
{
	const u32 code = FKT_CODE_PROGRAMS + 2 * name;
	const struct fkt_program_name *one;
	u32 length = 0;

	mutex_lock(&fkt_names_lock);
	one = fkt_names[name];
	if (one && !test_bit(name, fkt_names_old) && (!end || one->kind == FKT_USER_SPAN))
		length = scnprintf(line, room, "0x%05x 1 %s 0x%05x application app:%s #words %s\n",
				   code + end,
				   one->kind != FKT_USER_SPAN ? "point"
				   : end		      ? "exit"
							      : "entry",
				   one->kind != FKT_USER_SPAN ? 0 : code + !end, one->name,
				   one->spec);
	/* Whoever has asked may write it into a trace. */
	if (length)
		set_bit(name, fkt_names_told);
	mutex_unlock(&fkt_names_lock);
	return length;
}

/* The place of a name, a free one, or -ENOSPC. With the names' lock. */
static int fkt_names_find(const struct fkt_user_name *wanted)
{
	u32 n, i, of_user = 0;
	int free = -ENOSPC;

	for (n = 0; n < FKT_PROGRAM_NAMES; n++) {
		i = (fkt_names_next + n) % FKT_PROGRAM_NAMES;
		if (!fkt_names[i]) {
			if (free < 0)
				free = i;
			continue;
		}
		if (fkt_names[i]->kind == wanted->kind &&
		    !strcmp(fkt_names[i]->name, wanted->name) &&
		    !strcmp(fkt_names[i]->spec, wanted->spec))
			return i;
		of_user += uid_eq(fkt_names[i]->uid, current_uid()) && !test_bit(i, fkt_names_old);
	}
	return of_user < FKT_PROGRAM_NAMES_USER ? free : -ENOSPC;
}

/* The place of a name. @fresh is memory for it, NULL when it was used. With the names' lock. */
static int fkt_names_enter(const struct fkt_user_name *wanted, struct fkt_program_name **fresh)
{
	struct fkt_program_name *one = *fresh;
	const int i = fkt_names_find(wanted);

	if (i < 0 || fkt_names[i])
		return i;
	*fresh = NULL;
	strscpy(one->name, wanted->name, sizeof(one->name));
	strscpy(one->spec, wanted->spec, sizeof(one->spec));
	one->kind = wanted->kind;
	one->uid = current_uid();
	fkt_names[i] = one;
	fkt_names_next = i + 1;
	return i;
}

static int fkt_program_name(struct fkt_program *p, struct fkt_user_name __user *arg)
{
	struct fkt_program_name *fresh;
	struct fkt_user_name wanted;
	int i, ret = 0;

	if (copy_from_user(&wanted, arg, sizeof(wanted)))
		return -EFAULT;
	if (wanted.kind > FKT_USER_SPAN ||
	    strnlen(wanted.name, sizeof(wanted.name)) == sizeof(wanted.name) ||
	    strnlen(wanted.spec, sizeof(wanted.spec)) == sizeof(wanted.spec) ||
	    !fkt_is_name(wanted.name, strlen(wanted.name)) || fkt_spec_fault(wanted.spec) ||
	    (wanted.kind == FKT_USER_SPAN && wanted.spec[0]))
		return -EINVAL;
	/* Without a lock: others need the names. */
	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return -ENOMEM;
	mutex_lock(&p->lock);
	mutex_lock(&fkt_names_lock);
	i = bitmap_weight(p->names, FKT_PROGRAM_NAMES) < FKT_PROGRAM_NAMES_MAX
		    ? fkt_names_enter(&wanted, &fresh)
		    : -ENOSPC;
	if (i >= 0 && !test_and_set_bit(i, p->names)) {
		fkt_names[i]->users++;
		__clear_bit(i, fkt_names_old);
	}
	mutex_unlock(&fkt_names_lock);
	mutex_unlock(&p->lock);
	kfree(fresh);
	if (i < 0)
		return i;
	if (put_user(FKT_CODE_PROGRAMS + 2 * i, &arg->code))
		ret = -EFAULT;
	return ret;
}

static void fkt_program_drop_names(struct fkt_program *p)
{
	u32 i;

	mutex_lock(&fkt_names_lock);
	for (i = 0; i < FKT_PROGRAM_NAMES; i++) {
		if (!test_bit(i, p->names))
			continue;
		fkt_names[i]->users--;
		if (!fkt_names[i]->users && !test_bit(i, fkt_names_told))
			fkt_name_forget(i);
	}
	mutex_unlock(&fkt_names_lock);
}

/* --- Memory --------------------------------------------------------------------------------- */

static u32 fkt_program_pages(const struct fkt_program *p)
{
	return p->lanes * FKT_PROGRAM_LANE_PAGES;
}

static void fkt_pages_free(struct page **pages, u32 count)
{
	u32 i;

	if (!pages)
		return;
	for (i = 0; i < count; i++)
		if (pages[i])
			put_page(pages[i]);
	kvfree(pages);
}

/*
 * Rather no events than memory that others need: it is charged to the program's own group, which
 * may have it wait for as long as it likes. So no lock that others need is held.
 */
static int fkt_program_alloc(struct fkt_program *p)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN;
	const u32 count = fkt_program_pages(p);
	struct page **pages;
	u32 i;

	if (p->pages)
		return 0;
	pages = kvcalloc(count, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		pages[i] = alloc_page(gfp);
		if (!pages[i]) {
			fkt_pages_free(pages, count);
			return -ENOMEM;
		}
	}
	mutex_lock(&p->lock);
	smp_store_release(&p->pages, pages); /* partner: the acquire in fkt_program_fault() */
	mutex_unlock(&p->lock);
	return 0;
}

/* The number of a thread that has one, or FKT_USER_THREAD_NONE; with how many are free. */
static u32 fkt_program_find_thread(const struct fkt_program *p, const struct pid *pid, u32 *free)
{
	u32 i;

	*free = 0;
	for (i = 0; i < p->threads_room; i++) {
		if (p->threads[i] == pid)
			return i + 1;
		*free += !p->threads[i];
	}
	return FKT_USER_THREAD_NONE;
}

/* Room for more threads, if that is to be had. */
static void fkt_program_more_threads(struct fkt_program *p)
{
	const u32 room = max_t(u32, FKT_PROGRAM_THREADS_MIN, 2 * p->threads_room);
	struct pid **larger, **smaller = p->threads;

	if (room > FKT_PROGRAM_THREADS_MAX)
		return;
	larger = kvcalloc(room, sizeof(*larger), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!larger)
		return;
	mutex_lock(&p->lock);
	if (smaller)
		memcpy(larger, smaller, p->threads_room * sizeof(*larger));
	p->threads = larger;
	p->threads_room = room;
	mutex_unlock(&p->lock);
	kvfree(smaller);
}

/* The number of the current thread, one that it has already or a new one. */
static u32 fkt_program_thread(struct fkt_program *p)
{
	struct pid *pid = task_pid(current);
	u32 i, free;

	i = fkt_program_find_thread(p, pid, &free);
	if (i != FKT_USER_THREAD_NONE)
		return i;
	if (!free) {
		fkt_program_free_numbers(p);
		fkt_program_find_thread(p, pid, &free);
		/* Not for each thread anew, where most of them live on. */
		if (free <= p->threads_room / 4)
			fkt_program_more_threads(p);
	}
	for (i = 0; i < p->threads_room && p->threads[i]; i++)
		;
	if (i == p->threads_room)
		return FKT_USER_THREAD_NONE;
	mutex_lock(&p->lock);
	p->threads[i] = get_pid(pid);
	fkt_program_ask_filter(p, i + 1);
	mutex_unlock(&p->lock);
	return i + 1;
}

/* Whether a user has not too many already. With the programs' lock. */
static bool fkt_program_may(kuid_t uid)
{
	const struct fkt_program *other;
	u32 count = 0;

	list_for_each_entry(other, &fkt_programs, link)
		count += uid_eq(other->uid, uid);
	return count < READ_ONCE(user_programs);
}

/* It is about to write: only those that do have a place. */
static int fkt_program_enter(struct fkt_program *p)
{
	int ret = 0;

	if (p->writes)
		return 0;
	mutex_lock(&fkt_programs_lock);
	if (fkt_program_may(p->uid)) {
		fkt_program_comes(p);
		list_add_tail(&p->link, &fkt_programs);
	} else {
		fkt_program_refused();
		ret = -EMFILE;
	}
	mutex_unlock(&fkt_programs_lock);
	return ret;
}

static int fkt_program_join(struct fkt_program *p, struct fkt_user_join __user *arg)
{
	u32 version, thread = FKT_USER_THREAD_NONE;
	int ret;

	if (get_user(version, &arg->version))
		return -EFAULT;
	if (version != FKT_USER_VERSION) {
		mutex_lock(&fkt_programs_lock);
		fkt_program_refused();
		mutex_unlock(&fkt_programs_lock);
		return -EINVAL;
	}
	if (mutex_lock_killable(&p->joining))
		return -EINTR;
	ret = fkt_program_enter(p) ?: fkt_program_alloc(p);
	if (!ret)
		thread = fkt_program_thread(p);
	mutex_unlock(&p->joining);
	return ret ?: put_user(thread, &arg->thread);
}

static vm_fault_t fkt_program_fault(struct vm_fault *vmf)
{
	struct fkt_program *p = vmf->vma->vm_file->private_data;
	struct page **pages = smp_load_acquire(&p->pages); /* partner: fkt_program_alloc() */
	struct page *page = NULL;

	if (vmf->pgoff == 0)
		page = fkt_control_page;
	else if (vmf->pgoff == 1)
		page = p->head;
	else if (pages && vmf->pgoff - 2 < fkt_program_pages(p))
		page = pages[vmf->pgoff - 2];
	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct fkt_program_vm_ops = {
	.fault = fkt_program_fault,
};

/*
 * The first page is for reading, and a child of fork(2) has it, too. The others are for writing,
 * and the process's alone.
 */
static int fkt_program_mmap(struct file *file, struct vm_area_struct *vma)
{
	const bool control = vma->vm_pgoff == 0;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC || vma->vm_pgoff > 1)
		return -EINVAL;
	if (control && (vma->vm_flags & VM_WRITE || vma_pages(vma) != 1))
		return -EINVAL;
	if (vma_pages(vma) > 1 + FKT_USER_LANES_MAX * FKT_PROGRAM_LANE_PAGES)
		return -EINVAL;
	fkt_vm_flags_clear(vma, control ? VM_MAYEXEC | VM_MAYWRITE : VM_MAYEXEC);
	fkt_vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP | (control ? 0 : VM_DONTCOPY));
	vma->vm_ops = &fkt_program_vm_ops;
	return 0;
}

/* --- The device ----------------------------------------------------------------------------- */

static void fkt_program_free(struct fkt_program *p)
{
	u32 i;

	for (i = 0; i < p->threads_room; i++)
		put_pid(p->threads[i]);
	kvfree(p->threads);
	fkt_pages_free(p->pages, fkt_program_pages(p));
	if (p->head)
		put_page(p->head);
	put_pid(p->process);
	kfree(p);
}

static int fkt_program_open(struct inode *inode, struct file *file)
{
	static atomic_t ids = ATOMIC_INIT(0);
	struct fkt_program *p;

	if (!fkt_arch_programs_have_clock())
		return -ENODEV;
	p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		return -ENOMEM;
	INIT_LIST_HEAD(&p->link);
	mutex_init(&p->joining);
	mutex_init(&p->lock);
	p->id = (u32)atomic_inc_return(&ids) & INT_MAX;
	p->uid = current_uid();
	p->process = get_pid(task_tgid(current));
	/* Twice as many as CPUs: see fkt_user_write(). */
	p->lanes = clamp_t(u32, 2 * roundup_pow_of_two(num_possible_cpus()), FKT_USER_LANES_MIN,
			   FKT_USER_LANES_MAX);
	p->head = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!p->head) {
		fkt_program_free(p);
		return -ENOMEM;
	}
	BUILD_BUG_ON(sizeof(struct fkt_user_lanes) > FKT_USER_PAGE);
	BUILD_BUG_ON(PAGE_SIZE != FKT_USER_PAGE);
	fkt_program_head(p)->mask = p->lanes - 1;
	fkt_program_head(p)->id = p->id;
	file->private_data = p;
	return 0;
}

static int fkt_program_release(struct inode *inode, struct file *file)
{
	struct fkt_program *p = file->private_data;

	if (p->writes) {
		mutex_lock(&fkt_programs_lock);
		fkt_program_goes(p);
		list_del(&p->link);
		mutex_unlock(&fkt_programs_lock);
	}
	fkt_program_drop_names(p);
	fkt_program_free(p);
	return 0;
}

static long fkt_program_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct fkt_program *p = file->private_data;

	switch (cmd) {
	case FKT_USER_JOIN:
		return fkt_program_join(p, (void __user *)arg);
	case FKT_USER_NAME:
		return fkt_program_name(p, (void __user *)arg);
	case FKT_USER_FLUSH:
		fkt_program_flush(p);
		return p->id;
	case FKT_USER_ID:
		return p->id;
	}
	return -ENOTTY;
}

static const struct file_operations fkt_program_fops = {
	.owner = THIS_MODULE,
	.open = fkt_program_open,
	.release = fkt_program_release,
	.mmap = fkt_program_mmap,
	.unlocked_ioctl = fkt_program_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice fkt_program_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fkt_user",
	.fops = &fkt_program_fops,
	.mode = 0600,
};

/**
 * fkt_program_init - once, at module load
 * Return: 0 or a negative errno value.
 */
int fkt_program_init(void)
{
	struct fkt_user_control *control;
	int ret;

	fkt_control_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!fkt_control_page)
		return -ENOMEM;
	control = page_address(fkt_control_page);
	control->version = FKT_USER_VERSION;
	ret = misc_register(&fkt_program_device);
	if (ret)
		put_page(fkt_control_page);
	return ret;
}

/**
 * fkt_program_exit - once, at module unload: nobody has it open, or mapped
 */
void fkt_program_exit(void)
{
	misc_deregister(&fkt_program_device);
	put_page(fkt_control_page);
	fkt_control_page = NULL;
	fkt_program_names_forget(true);
}
