// SPDX-License-Identifier: GPL-2.0-only
/*
 * Taking back what the trampoline has on the stacks of tasks that are inside traced functions.
 *
 * A task may sleep in a traced function for as long as it likes, a daemon or a kernel thread for
 * ever; when it returns, it returns to the trampoline. So that the module need not wait for it, its
 * return address is changed: to the end of a function of the kernel's own that does what is left
 * for the trampoline to do, which is to add a number to %rsp and to return.
 *
 *	sub    %gs:0x28,%rax	the stack protector's word
 *	jne    …
 *	add    $0x40,%rsp	<- the new return address
 *	ret
 *
 * There are dozens of them in a kernel. It is looked for as a whole, so that no other bytes can be
 * taken for it; the kernel's unwinder knows how to go on from there; and a kprobe that is made into
 * a jump can't reach over it, for it would have to begin at the branch, and branches are left alone.
 */
#include <linux/kallsyms.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <asm/text-patching.h>
#include "fkt.h"
#include "trampoline.h"

#define FKT_CHECK_BYTES	  9 /* sub %gs:0x28,%reg */
#define FKT_BRANCH_BYTES  2
#define FKT_ADD_BYTES	  4
#define FKT_JMP32_BYTES	  5
#define FKT_PATTERN_BYTES (FKT_CHECK_BYTES + FKT_BRANCH_BYTES + FKT_ADD_BYTES + FKT_JMP32_BYTES)
#define FKT_RESCHED_BYTES 65536

/* The ways in which a body is called, by the address it returns to. Offsets are from that. */
static const struct fkt_frame_kind {
	const char *returned;
	unsigned int function;
	unsigned int body;
	unsigned int second; /* where a second address has to stand, 0 if one is enough */
} fkt_frame_kinds[] = {
	{
		.returned = fkt_function_returned,
		.function = 8 + FKT_FRAME_FUNCTION,
		.body = 8 + FKT_FRAME_BODY,
	},
	{
		.returned = fkt_function_returned_copied,
		.function = 8 + FKT_COPY_BYTES + FKT_FRAME_FUNCTION,
		.body = 8 + FKT_COPY_BYTES + FKT_FRAME_COPIED_BODY,
		/* Instead of the first argument register, which the body had long ago. */
		.second = 8 + FKT_EPILOGUE_BYTES,
	},
};
static_assert(2 * (FKT_EPILOGUE_BYTES + 8) == FKT_COPY_BYTES + FKT_FRAME_COPIED_BODY + 16);

/**
 * struct fkt_frames - one search of all stacks
 * @ours: whether a frame is to be taken back
 * @epilogue: the new return address, 0 if there is none
 * @left: frames that were found and stayed
 */
struct fkt_frames {
	bool (*ours)(const struct fkt_function *function, unsigned long body);
	unsigned long epilogue;
	atomic_long_t left;
};

/* The address in the kernel's text, 0 if it has none; looked for when it is first needed. */
static unsigned long fkt_frames_epilogue;

/* Whether a return is here, or what the kernel has instead of one against speculation. */
static bool fkt_is_return(const u8 *code)
{
	char name[KSYM_SYMBOL_LEN];
	s32 distance;

	if (code[0] == RET_INSN_OPCODE)
		return true;
	if (code[0] != JMP32_INSN_OPCODE)
		return false;
	memcpy(&distance, code + 1, sizeof(distance));
	sprint_symbol_no_offset(name, (unsigned long)code + FKT_JMP32_BYTES + distance);
	return strstr(name, "return_thunk");
}

static bool fkt_is_epilogue(const u8 *code)
{
	/* add $FKT_EPILOGUE_BYTES,%rsp */
	static const u8 add[FKT_ADD_BYTES] = { 0x48, 0x83, 0xc4, FKT_EPILOGUE_BYTES };
	/* sub %gs:0x28,%reg without the bits that say which register */
	static const u8 check[FKT_CHECK_BYTES] = { 0x65, 0x48, 0x2b, 0x04, 0x25, 0x28 };
	const u8 *branch = code + FKT_CHECK_BYTES;

	return !memcmp(branch + FKT_BRANCH_BYTES, add, sizeof(add)) && branch[0] == 0x75 &&
	       code[0] == check[0] && (code[1] & ~4) == check[1] && code[2] == check[2] &&
	       (code[3] & ~0x38) == check[3] && !memcmp(code + 4, check + 4, sizeof(check) - 4) &&
	       fkt_is_return(branch + FKT_BRANCH_BYTES + FKT_ADD_BYTES);
}

/*
 * What lies between two functions of the kernel itself is its text. schedule() is in a section of
 * its own behind nearly all of it.
 */
static unsigned long fkt_find_epilogue(void)
{
	const u8 *code = (const u8 *)wake_up_process, *end = (const u8 *)schedule;

	for (; code + FKT_PATTERN_BYTES < end; code++) {
		if (fkt_is_epilogue(code))
			return (unsigned long)code + FKT_CHECK_BYTES + FKT_BRANCH_BYTES;
		if (!((unsigned long)code % FKT_RESCHED_BYTES))
			cond_resched();
	}
	return 0;
}

/*
 * All that is on a stack from @sp on. What was there long ago and looks like a frame may be taken
 * for one: it does no harm to change what nobody reads.
 */
static void __no_sanitize_address fkt_frames_of_stack(struct fkt_frames *frames, unsigned long sp,
						      unsigned long end)
{
	const struct fkt_frame_kind *kind;
	unsigned long *slot;
	unsigned int i;

	for (slot = (unsigned long *)ALIGN(sp, sizeof(*slot)); (unsigned long)slot < end; slot++) {
		unsigned long value = READ_ONCE(*slot);

		for (i = 0; i < ARRAY_SIZE(fkt_frame_kinds); i++) {
			void *base = slot;

			kind = &fkt_frame_kinds[i];
			if (value != (unsigned long)kind->returned ||
			    (unsigned long)slot + kind->body + sizeof(*slot) >= end ||
			    !frames->ours(
				    READ_ONCE(*(struct fkt_function **)(base + kind->function)),
				    READ_ONCE(*(unsigned long *)(base + kind->body))))
				continue;
			if (!frames->epilogue) {
				atomic_long_inc(&frames->left);
				continue;
			}
			if (kind->second)
				WRITE_ONCE(*(unsigned long *)(base + kind->second),
					   frames->epilogue);
			WRITE_ONCE(*slot, frames->epilogue);
		}
	}
}

static void fkt_frames_of_task(struct fkt_frames *frames, struct task_struct *task)
{
	unsigned long stack = (unsigned long)task_stack_page(task);
	unsigned long sp = READ_ONCE(task->thread.sp);

	/* One that has ended may have lost its stack. */
	if (READ_ONCE(task->on_cpu) || !refcount_read(&task->stack_refcount))
		return;
	if (sp > stack && sp < stack + THREAD_SIZE)
		fkt_frames_of_stack(frames, sp, stack + THREAD_SIZE);
}

/*
 * On every CPU at once, with interrupts off, so that no task runs but these, and no task is in the
 * midst of joining or leaving the list of tasks.
 */
static int fkt_frames_stop(void *data)
{
	struct task_struct *process, *task;
	struct fkt_frames *frames = data;

	fkt_frames_of_stack(frames, current_stack_pointer,
			    (unsigned long)task_stack_page(current) + THREAD_SIZE);
	if (smp_processor_id() != cpumask_first(cpu_online_mask))
		return 0;
	rcu_read_lock();
	for_each_process_thread(process, task)
		fkt_frames_of_task(frames, task);
	rcu_read_unlock();
	return 0;
}

/**
 * fkt_frames_take_back - make all who are inside traced functions return past the trampoline
 * @ours: which of them: gets what the frame says, true or not; called with all CPUs stopped
 *
 * The caller has seen to it that nobody is on the way into a function. Not found is who is already on
 * the way out, and a task that has begun to end and is in no list any more: for both
 * synchronize_rcu_tasks() waits. An idle task sleeps in functions that have no exit.
 *
 * Context: process; sleeps, and stops all CPUs for as long as it takes to look through the stacks.
 * Return: how many have to return through the trampoline all the same, because the kernel does not
 * have the code that could stand in for it.
 */
long fkt_frames_take_back(bool (*ours)(const struct fkt_function *function, unsigned long body))
{
	struct fkt_frames frames = { .ours = ours, .left = ATOMIC_LONG_INIT(0) };

	if (!fkt_frames_epilogue)
		fkt_frames_epilogue = fkt_find_epilogue();
	frames.epilogue = fkt_frames_epilogue;
	stop_machine(fkt_frames_stop, &frames, cpu_online_mask);
	return atomic_long_read(&frames.left);
}
