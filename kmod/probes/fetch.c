// SPDX-License-Identifier: GPL-2.0-only
/*
 * What probes record besides the moment: the recorder gives a list of operations on registers, or
 * on the arguments of a tracepoint or a function, and on memory. They are checked when they are
 * given, and executed each time.
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include "compat.h"
#include "fetch.h"
#include "fkt.h"

/*
 * Who is just fetching on this CPU with interrupts on, and who with interrupts off: a thread, or
 * the interrupt that came last. 0: nobody. An interrupt that ends is a thread again to
 * preempt_count(), and wakes others, before it has left: what tells it from the thread that it came
 * to, in the midst of fetching, is that its interrupts are off.
 */
static DEFINE_PER_CPU(u32, fkt_fetching[2]);

/* The first of them, where what was fetched meanwhile, with interrupts off, has taken a fault. */
static DEFINE_PER_CPU(u32, fkt_fetching_faulted[2]);

/* Who fetches here, if one does. */
static __always_inline u32 fkt_fetching_here(void)
{
	return 1 | (preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET));
}

/* Memory was not there. Return: false. */
static noinline bool fkt_fetch_fault(void)
{
	const u32 here = fkt_fetching_here();

	if (irqs_disabled() && raw_cpu_read(fkt_fetching[0]) == here)
		raw_cpu_write(fkt_fetching_faulted[0], here);
	return false;
}
NOKPROBE_SYMBOL(fkt_fetch_fault);

/* Programs and the kernel have addresses of their own on x86, so the address tells whose it is. */
static bool fkt_fetch_memory(void *to, u64 from, size_t bytes, bool user)
{
	bool there;

	if (user || from < TASK_SIZE_MAX)
		there = !copy_from_user_nofault(to, (const void __user *)from, bytes);
	else
		there = fkt_arch_kernel_address(from) &&
			!copy_from_kernel_nofault(to, (const void *)from, bytes);
	return likely(there) || fkt_fetch_fault();
}
NOKPROBE_SYMBOL(fkt_fetch_memory);

/*
 * One number, padded with zeros: what fkt_fetch_memory() does, without the calls that it takes for
 * the kernel's memory.
 */
static __always_inline bool fkt_fetch_number(u64 *to, u64 from, u32 bytes, bool user)
{
	bool there = false;

	*to = 0;
	if (user || from < TASK_SIZE_MAX)
		return fkt_fetch_memory(to, from, bytes, user);
	if (!fkt_arch_kernel_address(from))
		return false;
	pagefault_disable();
	switch (bytes) {
	case 1:
		__get_kernel_nofault(to, (const void *)from, u8, out);
		break;
	case 2:
		__get_kernel_nofault(to, (const void *)from, u16, out);
		break;
	case 4:
		__get_kernel_nofault(to, (const void *)from, u32, out);
		break;
	default:
		__get_kernel_nofault(to, (const void *)from, u64, out);
		break;
	}
	there = true;
out:
	pagefault_enable();
	return likely(there) || fkt_fetch_fault();
}

/*
 * A string, in aligned words of memory: none reaches into a page that the string does not reach.
 * Where @checked, a constant, says so, all of them have addresses of the kernel.
 */
static __always_inline u32 fkt_fetch_letters(u64 *words, u32 count, u64 from, bool user,
					     bool checked)
{
	static const char fault[8] = "(fault)";
	const u32 room = 8 * count;
	u32 skip = from & 7, done = 0, length;
	u64 word;

	for (from -= skip;; from += sizeof(word)) {
		if (checked)
			__get_kernel_nofault(&word, (const void *)from, u64, missing);
		else if (!fkt_fetch_number(&word, from, sizeof(word), user))
			goto missing;
		/* What comes in behind is no end. */
		word = word >> (8 * skip) | ~(~0ull >> (8 * skip));
		memcpy((char *)words + done, &word, sizeof(word));
		if (fkt_has_nul(word, &length)) {
			done += length;
			break;
		}
		done += sizeof(word) - skip;
		skip = 0;
		if (done >= room)
			return count;
	}
	goto end;
missing:
	if (checked)
		fkt_fetch_fault();
	if (!done) {
		memcpy(words, fault, sizeof(fault));
		return 1;
	}
end:
	if (done >= room)
		return count;
	words[done / 8] &= (1ull << (8 * (done % 8))) - 1;
	return DIV_ROUND_UP(done, 8);
}

/*
 * A string, cut to @count words; the last one of those that it needs is padded with NULs. One word
 * behind them may be written, too. Return: how many words it needs.
 */
static u32 fkt_fetch_string(u64 *words, u32 count, u64 from, bool user)
{
	const u64 last = from + 8 * count;
	u32 needs;

	if (user || from < TASK_SIZE_MAX || last < from || !fkt_arch_kernel_address(from) ||
	    !fkt_arch_kernel_address(last))
		return fkt_fetch_letters(words, count, from, user, false);
	pagefault_disable();
	needs = fkt_fetch_letters(words, count, from, false, true);
	pagefault_enable();
	return needs;
}
NOKPROBE_SYMBOL(fkt_fetch_string);

/* Bytes as they are, padded with NULs. Where they are not all there, aligned pieces of them are. */
static void fkt_fetch_bytes(u64 *words, size_t bytes, u64 from, bool user)
{
	char *to = (char *)words;
	size_t piece, done;

	words[(bytes - 1) / 8] = 0;
	if (fkt_fetch_memory(to, from, bytes, user))
		return;
	for (done = 0; done < bytes; done += piece) {
		piece = min_t(size_t, 8 - ((from + done) & 7), bytes - done);
		if (!fkt_fetch_memory(to + done, from + done, piece, user))
			memset(to + done, 0, piece);
	}
}
NOKPROBE_SYMBOL(fkt_fetch_bytes);

/*
 * The rarer operations, kept out of the way of the others, which need no more comparisons for them.
 * Return: the value.
 */
static noinline u64 fkt_fetch_rare(const struct fkt_fetch *op, u64 value, u64 *args,
				   const u64 *kept)
{
	switch (op->op) {
	case FKT_FETCH_BITS:
		return value >> op->value & GENMASK_ULL(op->size - 1, 0);
	case FKT_FETCH_BYTES:
	case FKT_FETCH_BYTES_USER:
		fkt_fetch_bytes(args, op->size, value + op->value, op->op == FKT_FETCH_BYTES_USER);
		return value;
	default: /* FKT_FETCH_ENTRY_…: see fkt_fetch_keep() */
		return kept ? kept[op->size] : 0;
	}
}
NOKPROBE_SYMBOL(fkt_fetch_rare);

/* The words that one of them records. */
static inline u32 fkt_fetch_rare_words(const struct fkt_fetch *op)
{
	return op->op == FKT_FETCH_BYTES || op->op == FKT_FETCH_BYTES_USER
		       ? DIV_ROUND_UP(op->size, 8)
		       : 0;
}

/* All operations of a probe. Return: how many words they make. */
static __always_inline u32 fkt_fetch_words(const struct fkt_fetch *op, u32 ops, void *registers,
					   const u64 *kept, u64 args[FKT_FETCH_WORDS_MAX + 1])
{
	const struct fkt_fetch *end = op + ops;
	u64 value = 0, read;
	u32 words = 0;

	for (; op < end; op++) {
		switch (op->op) {
		case FKT_FETCH_REGISTER:
			value = ((unsigned long *)registers)[op->value];
			break;
		case FKT_FETCH_STACK:
			value = fkt_arch_stack_word(registers, op->value);
			break;
		case FKT_FETCH_STACK_ADDR:
			value = kernel_stack_pointer(registers);
			break;
		case FKT_FETCH_VALUE:
			value = op->value;
			break;
		case FKT_FETCH_READ:
		case FKT_FETCH_READ_USER:
			if (!fkt_fetch_number(&read, value + op->value, op->size,
					      op->op == FKT_FETCH_READ_USER))
				read = 0;
			value = read;
			break;
		case FKT_FETCH_WORD:
			args[words++] = value;
			break;
		case FKT_FETCH_STRING:
		case FKT_FETCH_STRING_USER:
			read = fkt_fetch_string(args + words, op->size, value + op->value,
						op->op == FKT_FETCH_STRING_USER);
			while (read < op->size)
				args[words + read++] = 0;
			words += op->size;
			break;
		case FKT_FETCH_LAST_STRING:
		case FKT_FETCH_LAST_STRING_USER:
			words += fkt_fetch_string(args + words, op->size, value + op->value,
						  op->op == FKT_FETCH_LAST_STRING_USER);
			break;
		case FKT_FETCH_COMM:
			/* As in fkt_comm(). */
			data_race(memcpy(args + words, current->comm, TASK_COMM_LEN));
			words += TASK_COMM_LEN / 8;
			break;
		default:
			value = fkt_fetch_rare(op, value, args + words, kept);
			words += fkt_fetch_rare_words(op);
			break;
		}
	}
	return words;
}

/*
 * The same. What is traced may be what this calls, or the fault that it takes: there is nothing to
 * be had of that, or it would call itself for ever. Of who fetches with interrupts on, the fault
 * comes with them off, and has what is to be had; the fault of fetching that has not. Nor has the
 * rest that comes with them off from then on: where each of many functions on the way of a fault
 * has much that is not there, each of many faults would take many times as many again.
 */
static __always_inline u32 fkt_fetch_once(const struct fkt_fetch *op, u32 ops, void *registers,
					  const u64 *kept, u64 args[FKT_FETCH_WORDS_MAX + 1])
{
	const u32 here = fkt_fetching_here();
	const u32 off = irqs_disabled();
	const u32 before = raw_cpu_read(fkt_fetching[off]);
	u32 words;

	if (unlikely(before == here || raw_cpu_read(fkt_fetching_faulted[0]) == here))
		return 0;
	raw_cpu_write(fkt_fetching[off], here);
	barrier(); /* partner: whoever is traced here, on this CPU */
	words = fkt_fetch_words(op, ops, registers, kept, args);
	barrier(); /* partner: the same */
	raw_cpu_write(fkt_fetching[off], before);
	/* The second one is never read: no need to look which it is. */
	raw_cpu_write(fkt_fetching_faulted[off], 0);
	return words;
}

/**
 * fkt_fetch_args - fetch what a probe is to record, and record nothing
 * @op: operations that fkt_fetch_check() has found right, FKT_FETCH_WORDS_MAX words of them
 * @ops: how many
 * @registers: as for fkt_fetch()
 * @kept: likewise
 * @args: receives the words
 *
 * Context: as for fkt_fetch().
 * Return: how many words there are; 0 where it is called by what fetches.
 */
noinline u32 fkt_fetch_args(const struct fkt_fetch *op, u32 ops, void *registers, const u64 *kept,
			    u64 args[FKT_FETCH_WORDS_MAX + 1])
{
	return fkt_fetch_once(op, ops, registers, kept, args);
}
NOKPROBE_SYMBOL(fkt_fetch_args);

/**
 * fkt_fetch - fetch what a probe is to record, and record it
 * @tag: its FKT_TAG, without words
 * @op: operations that fkt_fetch_check() has found right, FKT_FETCH_WORDS_MAX words of them
 * @ops: how many
 * @registers: a struct pt_regs, or the words that FKT_FETCH_REGISTER counts instead
 * @kept: what was kept when the function was entered that returns now, or NULL
 *
 * Kept out of the probes' own code: one without arguments needs none of it.
 *
 * Context: any, NMI included, with the caller's FKT_PROBE_GUARD(). Faults are never taken.
 */
noinline void fkt_fetch(u64 tag, const struct fkt_fetch *op, u32 ops, void *registers,
			const u64 *kept)
{
	u64 args[FKT_FETCH_WORDS_MAX + 1] __fkt_uninitialized;
	const u32 words = fkt_fetch_once(op, ops, registers, kept, args);

	fkt_event_tag(tag | words, words, args);
}
NOKPROBE_SYMBOL(fkt_fetch);

/**
 * fkt_fetch_stack - the same, with the stack; there may be no operations
 * @tag: as for fkt_fetch()
 * @op: likewise
 * @ops: likewise
 * @registers: likewise
 * @kept: likewise
 * @ip: as for fkt_event_stack()
 * @of: likewise
 *
 * Context: as for fkt_fetch().
 */
noinline void fkt_fetch_stack(u64 tag, const struct fkt_fetch *op, u32 ops, void *registers,
			      const u64 *kept, unsigned long ip, enum fkt_stack_of of)
{
	u64 args[FKT_FETCH_WORDS_MAX + 1] __fkt_uninitialized;
	const u32 words = fkt_fetch_args(op, ops, registers, kept, args);

	fkt_event_stack(tag | words, words, args, ip, of);
}
NOKPROBE_SYMBOL(fkt_fetch_stack);

/**
 * fkt_fetch_value - fetch one value, and record nothing
 * @op: operations that fkt_fetch_check() has found right; all they record is one word
 * @ops: how many
 * @registers: as for fkt_fetch()
 * @word: receives it
 *
 * Context: as for fkt_fetch().
 * Return: false where nothing can be had, as fkt_fetch_args() says.
 */
noinline bool fkt_fetch_value(const struct fkt_fetch *op, u32 ops, void *registers, u64 *word)
{
	u64 args[FKT_FETCH_WORDS_MAX + 1] __fkt_uninitialized;

	if (!fkt_fetch_args(op, ops, registers, NULL, args))
		return false;
	*word = args[0];
	return true;
}
NOKPROBE_SYMBOL(fkt_fetch_value);

/**
 * fkt_fetch_check - whether an operation is one that fkt_fetch() may be given
 * @op: what a program asks for
 * @last: it is the last one of its probe
 * @registers: how many words FKT_FETCH_REGISTER may count; 0: a struct pt_regs, and with it a stack
 *
 * What is kept from a function's entry is not: it is the caller's to check.
 *
 * Context: any.
 * Return: how many words it records at most, or -EINVAL.
 */
int fkt_fetch_check(const struct fkt_fetch *op, bool last, u32 registers)
{
	const u32 count = registers ?: sizeof(struct pt_regs) / sizeof(unsigned long);

	switch (op->op) {
	case FKT_FETCH_REGISTER:
		return op->size || op->value < 0 || op->value >= count ? -EINVAL : 0;
	case FKT_FETCH_STACK:
		return registers || op->size || op->value < 0 ||
				       op->value >= THREAD_SIZE / sizeof(unsigned long)
			       ? -EINVAL
			       : 0;
	case FKT_FETCH_STACK_ADDR:
		return registers || op->size || op->value ? -EINVAL : 0;
	case FKT_FETCH_VALUE:
		return op->size ? -EINVAL : 0;
	case FKT_FETCH_READ:
	case FKT_FETCH_READ_USER:
		return op->size == 1 || op->size == 2 || op->size == 4 || op->size == 8 ? 0
											: -EINVAL;
	case FKT_FETCH_WORD:
		return op->size || op->value ? -EINVAL : 1;
	case FKT_FETCH_LAST_STRING:
	case FKT_FETCH_LAST_STRING_USER:
		if (!last)
			return -EINVAL;
		fallthrough;
	case FKT_FETCH_STRING:
	case FKT_FETCH_STRING_USER:
		return op->size && op->size <= FKT_FETCH_WORDS_MAX ? (int)op->size : -EINVAL;
	case FKT_FETCH_COMM:
		return op->size || op->value ? -EINVAL : TASK_COMM_LEN / 8;
	case FKT_FETCH_BITS:
		return op->value >= 0 && op->value < 64 && op->size && op->size <= 64 - op->value
			       ? 0
			       : -EINVAL;
	case FKT_FETCH_BYTES:
	case FKT_FETCH_BYTES_USER:
		return op->size && op->size <= 8 * FKT_FETCH_WORDS_MAX
			       ? (int)fkt_fetch_rare_words(op)
			       : -EINVAL;
	}
	return -EINVAL;
}

/**
 * fkt_fetch_valid - whether fkt_fetch() may be given some of the operations that a program names
 * @op: all of them
 * @count: how many these are
 * @first: the first one of a probe; not believed
 * @ops: how many it has; likewise
 * @registers: as for fkt_fetch_check()
 *
 * Context: any.
 */
bool fkt_fetch_valid(const struct fkt_fetch *op, u32 count, u32 first, u32 ops, u32 registers)
{
	int words = 0, ret;
	u32 i;

	if (ops > FKT_FETCH_OPS_MAX || first > count || ops > count - first)
		return false;
	for (i = 0; i < ops; i++) {
		ret = fkt_fetch_check(&op[first + i], i == ops - 1, registers);
		if (ret < 0)
			return false;
		words += ret;
		if (words > FKT_FETCH_WORDS_MAX)
			return false;
	}
	return true;
}
