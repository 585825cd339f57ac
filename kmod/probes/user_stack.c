// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stack of a program, by its frame pointers: at each stands the caller's one, and behind that
 * where the function returns to. All of this is the program's: it is read as memory that may not be
 * there, for nobody waits here, and believed as far as the frames go up.
 */
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include "data.h"
#include "fkt.h"
#include "stacks.h"

/* Read the frame at a frame pointer. Return: whether it was there. */
static bool fkt_user_frame(u64 at, u32 word, u64 *next, u64 *ip)
{
	u64 frame[2];
	u32 narrow[2];

	if (word == sizeof(u64)) {
		if (!fkt_data_copy(frame, at, sizeof(frame)))
			return false;
		*next = frame[0];
		*ip = frame[1];
		return true;
	}
	if (!fkt_data_copy(narrow, at, sizeof(narrow)))
		return false;
	*next = narrow[0];
	*ip = narrow[1];
	return true;
}

/* Return: behind the number. */
static u8 *fkt_user_put(u8 *to, u64 number)
{
	for (; number >= 0x80; number >>= 7)
		*to++ = number | 0x80;
	*to++ = number;
	return to;
}

u32 fkt_user_stack(u64 words[FKT_STACK_WORDS_MAX], u16 *flags)
{
	struct pt_regs *regs = task_pt_regs(current);
	u8 *begin = (u8 *)words, *to = begin;
	const u8 *last = begin + 8 * FKT_STACK_WORDS_MAX - FKT_STACK_NUMBER_BYTES;
	u64 ip, next, fp, below, before = 0;
	u32 word, frames;

	ip = instruction_pointer(regs);
	/*
	 * A kernel thread may have borrowed a program's memory; it has no registers of one. A
	 * program's thread that never leaves the kernel, as io_uring's, has those of whoever made
	 * it, but for this. And where nobody has code, readers take no address.
	 */
	if (!current->mm || in_nmi() || !user_mode(regs) || !ip || ip >= TASK_SIZE_MAX)
		return 0;
	/* Within an exec, the registers may be one program's, and the memory the next one's. */
	if (current->in_execve || !fkt_arch_memory_is_there(current->mm))
		return 0;
	word = fkt_arch_user_word(regs);
	fp = frame_pointer(regs);
	below = user_stack_pointer(regs);
	to = fkt_user_put(to, current->tgid);
	for (frames = 0;; frames++) {
		if (frames == FKT_STACK_FRAMES_MAX || to > last) {
			*flags |= FKT_STACK_CUT;
			break;
		}
		to = fkt_user_put(to, FKT_STACK_ZIGZAG(ip - before));
		before = ip;
		/* Frames go up; else it is none: the register may have another use. */
		if (fp < below || fp % word || fp >= TASK_SIZE_MAX)
			break;
		if (!fkt_user_frame(fp, word, &next, &ip)) {
			*flags |= FKT_STACK_FAULT;
			break;
		}
		/* Nobody has code there. */
		if (ip < PAGE_SIZE || ip >= TASK_SIZE_MAX)
			break;
		below = fp + 2 * word;
		fp = next;
	}
	return to - begin;
}
