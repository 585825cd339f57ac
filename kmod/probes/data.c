// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory that system calls are given, and that they write: strings, buffers, structures.
 *
 * It stands in slots of its own before the call's event, see FKT_CODE_DATA in format.h. Nobody
 * waits for memory that is not there: that is said, and what a call is given is looked at once more
 * when the call has ended, as the kernel has been there then.
 */
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <fkt/calls.h>
#include "compat.h"
#include "data.h"
#include "fetch.h"
#include "fkt.h"

#define FKT_DATA_CALLS	    1024u		/* of each of the two tables of system calls */
#define FKT_DATA_ITEMS_MAX  (FKT_DATA_ARGS + 1) /* and the result */
/* So many pointers of an array are counted. */
#define FKT_DATA_VARS_MAX   1024u
#define FKT_DATA_LATE_BITS  8
/* The low bits of a task's address, which are zeros, have which arguments they are. */
#define FKT_DATA_LATE_ARGS  ((1ul << FKT_DATA_ARGS) - 1)
#define FKT_DATA_SLOT_WORDS (FKT_SLOT_WORDS_MAX - 1)

/**
 * struct fkt_data_item - an argument whose memory is wanted
 * @arg: its number
 * @read: enum fkt_data_read
 * @limit: see struct fkt_data_spec
 */
struct fkt_data_item {
	u8 arg;
	u8 read;
	u16 limit;
};

/**
 * struct fkt_data_call - a system call of whose arguments the memory is wanted
 * @count: of @item
 * @item: in no order
 */
struct fkt_data_call {
	u32 count;
	struct fkt_data_item item[FKT_DATA_ITEMS_MAX];
};

/* The calls of 64-bit programs, and those of 32-bit ones. The session's lock; NULL: none wanted. */
static struct fkt_data_call *fkt_data_calls;

/*
 * Which threads are in calls that were given memory that was not there: the address of each, and
 * which arguments. When two threads at a time have the same place, one of them is not looked at
 * again.
 */
static unsigned long fkt_data_late[1 << FKT_DATA_LATE_BITS];

/* Whether the memory of any is recorded. The session's lock. */
bool fkt_data_wanted(void)
{
	return fkt_data_calls;
}

/* --- A slot --------------------------------------------------------------------------------- */

/**
 * struct fkt_data_slot - a slot that is being made
 * @code: of the call's entry
 * @of: its immediate, but for what is known in the end
 * @element: number of the element, in an array
 * @head: bytes that stand before the memory's own
 * @words: of the slot; the first one is for fkt_data_put()
 */
struct fkt_data_slot {
	u32 code;
	u16 of;
	u16 element;
	u32 head;
	u64 words[FKT_DATA_SLOT_WORDS];
};

/* What comes next is of this argument, or of the result. */
static void fkt_data_about(struct fkt_data_slot *slot, u16 of)
{
	slot->of = of;
	slot->element = 0;
	slot->head = 0;
}

/* Where the memory's bytes go, and how many have room there. */
static u8 *fkt_data_bytes(struct fkt_data_slot *slot)
{
	return (u8 *)&slot->words[1] + slot->head;
}

static u32 fkt_data_room(const struct fkt_data_slot *slot)
{
	return FKT_DATA_SLOT_BYTES - slot->head;
}

/* Record @bytes of the memory. What comes next has nothing before it. */
static void fkt_data_put(struct fkt_data_slot *slot, u32 bytes, u16 flags)
{
	const u32 all = slot->head + bytes, words = 1 + DIV_ROUND_UP(all, 8);

	slot->words[0] = slot->code | (u64)slot->element << 32 | (u64)all << 48;
	/* What was read behind the end is nobody's. */
	if (all % 8)
		slot->words[words - 1] &= (1ull << (all % 8 * 8)) - 1;
	fkt_event_tag(FKT_TAG(FKT_CODE_DATA, words, slot->of | flags), words, slot->words);
	slot->head = 0;
}

/* One number of a program's memory, and on to the next one, for fkt_data_copy(). */
#define FKT_DATA_COPY(type, to, from, left, fault)                                                 \
	do {                                                                                       \
		unsafe_get_user(*(type *)(to), (const type __user *)(from), fault);                \
		(to) += sizeof(type);                                                              \
		(from) += sizeof(type);                                                            \
		(left) -= sizeof(type);                                                            \
	} while (0)

/**
 * fkt_data_copy - read the current program's memory, which may not be there
 * @to: where to put it
 * @from: its address; not believed
 * @bytes: how many
 *
 * As copy_from_user_nofault(), but without calls.
 *
 * Context: any but NMI, while current->mm is there; preemption off.
 * Return: whether all was there.
 */
bool fkt_data_copy(void *to, u64 from, u32 bytes)
{
	const void __user *at = (const void __user *)from;
	bool there = false;

	pagefault_disable();
	if (!user_read_access_begin(at, bytes))
		goto out;
	while (bytes >= sizeof(u64))
		FKT_DATA_COPY(u64, to, at, bytes, fault);
	if (bytes >= sizeof(u32))
		FKT_DATA_COPY(u32, to, at, bytes, fault);
	while (bytes)
		FKT_DATA_COPY(u8, to, at, bytes, fault);
	there = true;
fault:
	user_read_access_end();
out:
	pagefault_enable();
	return there;
}

/* Read up to so many bytes, but none of the next page. Return: how many; 0: it is not there. */
static u32 fkt_data_read(void *to, u64 from, u32 bytes)
{
	bytes = min_t(u32, bytes, PAGE_SIZE - offset_in_page(from));
	return fkt_data_copy(to, from, bytes) ? bytes : 0;
}

/* --- What is to be read --------------------------------------------------------------------- */

/* Where the first NUL is, @bytes if it is none of these. */
static u32 fkt_data_length(const u64 *words, u32 bytes)
{
	u32 i, first;

	for (i = 0; i < bytes; i += 8)
		if (fkt_has_nul(words[i / 8], &first))
			return min(i + first, bytes);
	return bytes;
}

/* A string. Return: whether it was there. */
static bool fkt_data_string(struct fkt_data_slot *slot, u64 from, u32 limit)
{
	u32 done = 0, bytes, length;

	for (;; done += bytes) {
		bytes = fkt_data_read(fkt_data_bytes(slot), from + done,
				      min_t(u32, fkt_data_room(slot), limit + 1 - done));
		if (!bytes) {
			fkt_data_put(slot, 0, FKT_DATA_FAULT);
			return false;
		}
		length = fkt_data_length(&slot->words[1], bytes);
		if (length < bytes) {
			fkt_data_put(slot, length, 0);
			return true;
		}
		if (done + bytes > limit) {
			fkt_data_put(slot, limit - done, FKT_DATA_CUT);
			return true;
		}
		fkt_data_put(slot, bytes, FKT_DATA_MORE);
	}
}

/* A buffer with so many bytes. Return: whether it was there, as far as it is wanted. */
static bool fkt_data_buffer(struct fkt_data_slot *slot, u64 from, u64 bytes, u32 limit)
{
	const u16 cut = bytes > limit ? FKT_DATA_CUT : 0;
	const u32 wanted = min_t(u64, bytes, limit);
	u32 done = 0, piece;

	if (!wanted)
		fkt_data_put(slot, 0, cut);
	for (; done < wanted; done += piece) {
		piece = fkt_data_read(fkt_data_bytes(slot), from + done,
				      min_t(u32, fkt_data_room(slot), wanted - done));
		if (!piece) {
			fkt_data_put(slot, 0, FKT_DATA_FAULT);
			return false;
		}
		fkt_data_put(slot, piece, done + piece < wanted ? FKT_DATA_MORE : cut);
	}
	return true;
}

/* How many elements an array has. */
static void fkt_data_put_count(struct fkt_data_slot *slot, u32 count, bool cut)
{
	slot->element = FKT_DATA_ARRAY;
	slot->words[1] = count;
	fkt_data_put(slot, sizeof(count), cut ? FKT_DATA_CUT : 0);
}

/* That it is not known. Return: false. */
static bool fkt_data_put_no_count(struct fkt_data_slot *slot)
{
	slot->element = FKT_DATA_ARRAY;
	fkt_data_put(slot, 0, FKT_DATA_FAULT);
	return false;
}

/* A pointer of an array of them; false: it is not there. */
static bool fkt_data_pointer(u64 *pointer, u64 from, u32 index, bool compat)
{
	const u32 bytes = compat ? sizeof(u32) : sizeof(u64);

	*pointer = 0;
	return fkt_data_copy(pointer, from + (u64)index * bytes, bytes);
}

/* Strings of an array of pointers to them. Return: whether all was there. */
static bool fkt_data_strings(struct fkt_data_slot *slot, u64 from, u32 limit, bool compat)
{
	bool there = true;
	u64 pointer;
	u32 i;

	for (i = 0; i <= FKT_DATA_ELEMENTS_MAX; i++) {
		if (!fkt_data_pointer(&pointer, from, i, compat))
			return fkt_data_put_no_count(slot);
		if (!pointer || i == FKT_DATA_ELEMENTS_MAX)
			break;
		slot->element = i;
		there &= fkt_data_string(slot, pointer, limit);
	}
	fkt_data_put_count(slot, i, pointer);
	return there;
}

/* The number of pointers of an array. */
static bool fkt_data_vars(struct fkt_data_slot *slot, u64 from, bool compat)
{
	u64 pointer;
	u32 i;

	for (i = 0; i <= FKT_DATA_VARS_MAX; i++) {
		if (!fkt_data_pointer(&pointer, from, i, compat))
			return fkt_data_put_no_count(slot);
		if (!pointer || i == FKT_DATA_VARS_MAX)
			break;
	}
	fkt_data_put_count(slot, i, pointer);
	return true;
}

/*
 * Buffers of an array of struct iovec, of 64-bit programs, filled up to @filled bytes. Return:
 * whether all was there.
 */
static bool fkt_data_vector(struct fkt_data_slot *slot, u64 from, u64 count, u64 filled, u32 limit)
{
	const u32 wanted = min_t(u64, count, FKT_DATA_ELEMENTS_MAX);
	bool there = true;
	u64 iov[2], bytes;
	u32 i;

	for (i = 0; i < wanted; i++) {
		if (!fkt_data_copy(iov, from + i * sizeof(iov), sizeof(iov)))
			return fkt_data_put_no_count(slot);
		bytes = min(iov[1], filled);
		filled -= bytes;
		slot->element = i;
		slot->words[1] = iov[1];
		slot->head = sizeof(u64);
		there &= fkt_data_buffer(slot, iov[0], bytes, limit);
	}
	fkt_data_put_count(slot, wanted, count > wanted);
	return there;
}

/* A buffer as long as a 32-bit number says that is in memory itself. */
static bool fkt_data_counted(struct fkt_data_slot *slot, u64 from, u64 length, u32 limit)
{
	u32 bytes;

	if (fkt_data_copy(&bytes, length, sizeof(bytes)))
		return fkt_data_buffer(slot, from, bytes, limit);
	fkt_data_put(slot, 0, FKT_DATA_FAULT);
	return false;
}

/* The path of a file, if it is one. */
static void fkt_data_path(struct fkt_data_slot *slot, s32 fd)
{
	const char *path;
	u32 bytes, done = 0, piece;

	slot->head = 0;
	path = fkt_path_wanted() ? fkt_path_of(fd, &bytes) : NULL;
	if (!path)
		return;
	do {
		piece = min_t(u32, fkt_data_room(slot), bytes - done);
		memcpy(fkt_data_bytes(slot), path + done, piece);
		done += piece;
		fkt_data_put(slot, piece, done < bytes ? FKT_DATA_MORE : 0);
	} while (done < bytes);
}

/* Two file descriptors, and their paths. */
static void fkt_data_fds(struct fkt_data_slot *slot, u64 from)
{
	s32 fd[2];
	u32 i;

	if (!fkt_data_buffer(slot, from, sizeof(fd), sizeof(fd)) ||
	    !fkt_data_copy(fd, from, sizeof(fd)))
		return;
	for (i = 0; i < ARRAY_SIZE(fd); i++) {
		slot->element = 1 + i;
		fkt_data_path(slot, fd[i]);
	}
}

/* Past the NUL of a string; @end where there is none. */
static u64 fkt_data_behind(struct fkt_data_slot *slot, u64 at, u64 end)
{
	u32 bytes, length;

	for (; at < end; at += bytes) {
		bytes = fkt_data_read(fkt_data_bytes(slot), at,
				      min_t(u64, fkt_data_room(slot), end - at));
		if (!bytes)
			return end;
		length = fkt_data_length(&slot->words[1], bytes);
		if (length < bytes)
			return at + length + 1;
	}
	return end;
}

/*
 * What a program was begun with that was not there for execve() to be looked at, as it is often
 * after fork(): it stands at the end of the new program's stack, the arguments, the environment and
 * the path one after the other. A script's are its interpreter's.
 */
static void fkt_data_executed(struct fkt_data_slot *slot, const struct fkt_data_item *item)
{
	const struct mm_struct *mm = current->mm;
	u64 at, end;
	u32 i;

	if (!mm)
		return;
	if (item->read == FKT_DATA_STRING) {
		fkt_data_string(slot, READ_ONCE(mm->env_end), item->limit);
		return;
	}
	if (item->read != FKT_DATA_STRINGS && item->read != FKT_DATA_VARS)
		return;
	at = item->read == FKT_DATA_VARS ? READ_ONCE(mm->env_start) : READ_ONCE(mm->arg_start);
	end = item->read == FKT_DATA_VARS ? READ_ONCE(mm->env_end) : READ_ONCE(mm->arg_end);
	for (i = 0; at < end && i < FKT_DATA_ELEMENTS_MAX; i++) {
		slot->element = i;
		if (item->read == FKT_DATA_STRINGS)
			fkt_data_string(slot, at, item->limit);
		at = fkt_data_behind(slot, at, end);
	}
	fkt_data_put_count(slot, i, at < end);
}

/* --- Probes --------------------------------------------------------------------------------- */

static const struct fkt_data_call *fkt_data_call_of(u32 code, bool compat)
{
	const u32 first = compat ? FKT_CODE_COMPAT_ENTRY : FKT_CODE_SYSCALL_ENTRY;

	return &fkt_data_calls[code - first + (compat ? FKT_DATA_CALLS : 0)];
}

/* What an argument was given. Return: whether it was there; true where none is wanted yet. */
static bool fkt_data_given(struct fkt_data_slot *slot, const struct fkt_data_item *item,
			   bool compat, const unsigned long arg[FKT_DATA_ARGS])
{
	u64 from;

	if (item->arg == FKT_DATA_RESULT)
		return true;
	from = arg[item->arg];
	if (item->read == FKT_DATA_FD)
		fkt_data_path(slot, from);
	if (!from)
		return true;
	switch (item->read) {
	case FKT_DATA_STRING:
		return fkt_data_string(slot, from, item->limit);
	case FKT_DATA_STRINGS:
		return fkt_data_strings(slot, from, item->limit, compat);
	case FKT_DATA_VARS:
		return fkt_data_vars(slot, from, compat);
	case FKT_DATA_IN:
	case FKT_DATA_INOUT:
		return fkt_data_buffer(slot, from, item->limit, item->limit);
	case FKT_DATA_IN_LENGTH:
		return fkt_data_buffer(slot, from, arg[item->arg + 1], item->limit);
	case FKT_DATA_VECTOR_IN:
		return fkt_data_vector(slot, from, arg[item->arg + 1], U64_MAX, item->limit);
	default:
		return true;
	}
}

/* What a call has written that ended well. */
static void fkt_data_written(struct fkt_data_slot *slot, const struct fkt_data_item *item,
			     const unsigned long arg[FKT_DATA_ARGS], u64 result)
{
	u64 from;

	if (item->arg == FKT_DATA_RESULT) {
		fkt_data_path(slot, result);
		return;
	}
	from = arg[item->arg];
	if (!from)
		return;
	switch (item->read) {
	case FKT_DATA_OUT:
	case FKT_DATA_INOUT:
		fkt_data_buffer(slot, from, item->limit, item->limit);
		break;
	case FKT_DATA_FDS_OUT:
		fkt_data_fds(slot, from);
		break;
	case FKT_DATA_OUT_RESULT:
		/* MSG_TRUNC: it may return more than there is room for. */
		fkt_data_buffer(slot, from, min_t(u64, result, arg[item->arg + 1]), item->limit);
		break;
	case FKT_DATA_OUT_LENGTH:
		fkt_data_counted(slot, from, arg[item->arg + 1], item->limit);
		break;
	case FKT_DATA_VECTOR_OUT:
		fkt_data_vector(slot, from, arg[item->arg + 1], result, item->limit);
		break;
	default:
		break;
	}
}

static unsigned long *fkt_data_late_place(void)
{
	return &fkt_data_late[hash_ptr(current, FKT_DATA_LATE_BITS)];
}

/* The arguments of the current thread's call that were not there; none from now on. */
static u32 fkt_data_late_args(void)
{
	unsigned long *place = fkt_data_late_place(), seen = READ_ONCE(*place);

	BUILD_BUG_ON(FKT_DATA_LATE_ARGS >= L1_CACHE_BYTES);
	if ((seen & ~FKT_DATA_LATE_ARGS) != (unsigned long)current)
		return 0;
	WRITE_ONCE(*place, 0);
	return seen & FKT_DATA_LATE_ARGS;
}

/**
 * fkt_data_enter - record the memory that a system call is given
 * @code: of its entry, which is recorded next; below FKT_DATA_CALLS in its table
 * @compat: it is a 32-bit program's
 * @arg: its arguments
 *
 * Context: the thread that calls, preemption off, while fkt_data_wanted().
 */
void fkt_data_enter(u32 code, bool compat, const unsigned long arg[FKT_DATA_ARGS])
{
	const struct fkt_data_call *call = fkt_data_call_of(code, compat);
	struct fkt_data_slot slot = { .code = code };
	u32 late = 0, i;

	if (!call->count)
		return;
	for (i = 0; i < call->count; i++) {
		fkt_data_about(&slot, call->item[i].arg);
		if (!fkt_data_given(&slot, &call->item[i], compat, arg))
			late |= BIT(call->item[i].arg);
	}
	/* Of another one's place, nothing is known: it may still be there. */
	if (unlikely(late))
		WRITE_ONCE(*fkt_data_late_place(), (unsigned long)current | late);
	else
		fkt_data_late_args();
}

/* What a call was given that was not there when it began. */
static void fkt_data_given_late(struct fkt_data_slot *slot, const struct fkt_data_item *item,
				bool compat, const unsigned long arg[FKT_DATA_ARGS], long ret)
{
	/* Registers are 0 when a program begins; the old memory has gone. */
	if (!arg[item->arg] && !ret)
		fkt_data_executed(slot, item);
	else
		fkt_data_given(slot, item, compat, arg);
}

/**
 * fkt_data_exit - record the memory that a system call has written
 * @code: of its entry; below FKT_DATA_CALLS in its table
 * @compat: it is a 32-bit program's
 * @arg: its arguments
 * @ret: its result, which is recorded next
 *
 * Context: as for fkt_data_enter().
 */
void fkt_data_exit(u32 code, bool compat, const unsigned long arg[FKT_DATA_ARGS], long ret)
{
	const struct fkt_data_call *call = fkt_data_call_of(code, compat);
	struct fkt_data_slot slot = { .code = code };
	const struct fkt_data_item *item;
	u32 late, i;

	if (!call->count)
		return;
	late = fkt_data_late_args();
	for (i = 0; i < call->count; i++) {
		item = &call->item[i];
		fkt_data_about(&slot, item->arg | FKT_DATA_EXIT);
		/* What it has written since is not what it was given. */
		if (late & BIT(item->arg) && item->read != FKT_DATA_INOUT)
			fkt_data_given_late(&slot, item, compat, arg, ret);
		else if (!IS_ERR_VALUE(ret))
			fkt_data_written(&slot, item, arg, ret);
	}
}

/* --- What the recorder asked for ------------------------------------------------------------ */

/* Which call it is, in fkt_data_calls; 2 * FKT_DATA_CALLS where it is none. */
static u32 fkt_data_number(u32 code)
{
	/* The last one of each table stands for many. */
	if (code - FKT_CODE_SYSCALL_ENTRY < FKT_DATA_CALLS - 1)
		return code - FKT_CODE_SYSCALL_ENTRY;
	if (code - FKT_CODE_COMPAT_ENTRY < FKT_DATA_CALLS - 1)
		return code - FKT_CODE_COMPAT_ENTRY + FKT_DATA_CALLS;
	return 2 * FKT_DATA_CALLS;
}

static bool fkt_data_is_right(const struct fkt_data_spec *spec)
{
	if (spec->arg == FKT_DATA_RESULT)
		return spec->read == FKT_DATA_FD;
	if (spec->arg >= FKT_DATA_ARGS || spec->limit > FKT_DATA_LIMIT_MAX)
		return false;
	switch (spec->read) {
	case FKT_DATA_STRING:
	case FKT_DATA_STRINGS:
	case FKT_DATA_VARS:
	case FKT_DATA_FD:
	case FKT_DATA_FDS_OUT:
		return true;
	case FKT_DATA_IN:
	case FKT_DATA_OUT:
	case FKT_DATA_INOUT:
		return spec->limit;
	case FKT_DATA_IN_LENGTH:
	case FKT_DATA_OUT_RESULT:
	case FKT_DATA_OUT_LENGTH:
		return spec->arg + 1 < FKT_DATA_ARGS;
	case FKT_DATA_VECTOR_IN:
	case FKT_DATA_VECTOR_OUT:
		/* The struct is that of 64-bit programs. */
		return spec->arg + 1 < FKT_DATA_ARGS &&
		       fkt_data_number(spec->code) < FKT_DATA_CALLS;
	default:
		return false;
	}
}

static int fkt_data_add(struct fkt_specs *specs)
{
	const struct fkt_data_spec *spec = specs->spec;
	struct fkt_data_call *call;
	u32 i, k;
	int ret;

	if (specs->common && specs->common_bytes != sizeof(struct fkt_data_common))
		return -EINVAL;
	for (i = 0; i < specs->count; i++)
		if (fkt_data_number(spec[i].code) == 2 * FKT_DATA_CALLS ||
		    !fkt_data_is_right(&spec[i]))
			return -EINVAL;
	/* What is read there is the kernel's memory. */
	if (specs->common && !security_locked_down(LOCKDOWN_BPF_READ_KERNEL)) {
		ret = fkt_path_begin(specs->common);
		if (ret)
			return ret;
	}
	if (!fkt_data_calls)
		fkt_data_calls = kvcalloc(2 * FKT_DATA_CALLS, sizeof(*fkt_data_calls), GFP_KERNEL);
	if (!fkt_data_calls) {
		fkt_path_end();
		return -ENOMEM;
	}
	for (i = 0; i < specs->count; i++) {
		call = &fkt_data_calls[fkt_data_number(spec[i].code)];
		for (k = 0; k < call->count && call->item[k].arg != spec[i].arg; k++)
			;
		call->item[k] = (struct fkt_data_item){ spec[i].arg, spec[i].read, spec[i].limit };
		call->count = max(call->count, k + 1);
	}
	return 0;
}

static void fkt_data_clear(void)
{
	kvfree(fkt_data_calls);
	fkt_data_calls = NULL;
	fkt_path_end();
}

/* Threads of the last recording may have the same addresses as others now. */
static void fkt_data_begin(void)
{
	memset(fkt_data_late, 0, sizeof(fkt_data_late));
}

const struct fkt_provider fkt_provider_data = {
	.name = "data",
	.spec_bytes = sizeof(struct fkt_data_spec),
	.common_max = sizeof(struct fkt_data_common),
	.count_max = FKT_DATA_SPECS_MAX,
	.begin = fkt_data_begin,
	.add = fkt_data_add,
	.clear = fkt_data_clear,
};
