/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trampolines of traced functions. ftrace makes a function's first instruction call one, so
 * that it finds on the stack
 *
 *	0(%rsp)		the return into the function's body
 *	8(%rsp)		the function's return to its caller
 *
 * and the arguments in their registers. It calls the body, and so catches the exit without touching
 * the caller's return address. While the body runs, all that it has on the stack is
 *
 *	0(%rsp)		fkt_gate_returned, where the body returns to
 *	8(%rsp)		the ticket
 *	16(%rsp)	the function's return to its caller
 *
 * A body that has arguments on the stack as well finds copies of them: they are the called
 * function's own, and nobody looks at them afterwards.
 *
 * The body is entered by a return: an indirect call would have to land on an ENDBR. No function has
 * an argument in %r10 or %r11.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>
#include <asm/orc_types.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>
#include "compat.h"
#include "gate/fkt_gate.h"

#define COPY_BYTES (8*FKT_GATE_COPY_WORDS)

/*
 * A kprobe in here could be hit by what handles it; a kretprobe takes what is on top of the stack
 * for a return.
 */
	.section .kprobes.text, "ax"

/*
 * preempt_disable_notrace() and preempt_enable_notrace(): the latter goes to \resched if need be.
 */
.macro PREEMPT_DISABLE
#ifdef CONFIG_PREEMPT_COUNT
	incl	PER_CPU_VAR(FKT_PREEMPT_COUNT)
#endif
.endm

.macro PREEMPT_ENABLE resched:req
#ifdef CONFIG_PREEMPT_COUNT
	decl	PER_CPU_VAR(FKT_PREEMPT_COUNT)
#ifdef CONFIG_PREEMPTION
	jz	\resched
#endif
#endif
.endm

.macro PUSH_ARGS
	pushq	%r9
	pushq	%r8
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
.endm

.macro POP_ARGS
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%r8
	popq	%r9
.endm

/* fkt_gate_resched(), keeping what a call has left in %rax. */
.macro RESCHED back:req
	pushq	%rax
	call	fkt_gate_resched
	popq	%rax
	jmp	\back
.endm

/*
 * The body has returned to the ticket: its result is in %rax, of a pair the second half in %rdx. A
 * ticket of another recording is not in the range, and nothing but the registers is touched for it.
 */
.macro LEAVE
	popq	%rdi
	pushq	%rax
	pushq	%rdx
	PREEMPT_DISABLE
	subq	fkt_gate_first(%rip), %rdi
	cmpq	fkt_gate_tickets(%rip), %rdi
	jae	.Lleft_\@
	movq	%rax, %rsi
	call	__SCT__fkt_gate_exit
.Lleft_\@:
	PREEMPT_ENABLE .Lresched_\@
.Lleave_\@:
	popq	%rdx
	popq	%rax
	UNWIND_HINT_FUNC
	RET

.Lresched_\@:
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=24 type=UNWIND_HINT_TYPE_CALL
	RESCHED .Lleave_\@
.endm

/*
 * objtool finds the key of a static call by its name, where the object has that: so that the kernel
 * patches the calls below into direct ones.
 */
	.pushsection .discard.fkt_gate_keys
	.quad	__SCK__fkt_gate_entry
	.quad	__SCK__fkt_gate_entry_copying
	.quad	__SCK__fkt_gate_exit
	.popsection

/*
 * Call the body, whose address is in %r11, by way of \enter, where ENTER_BODY stands. When it has
 * returned, the caller's frame begins \offset bytes up: behind the ticket and the return to it.
 */
.macro CALL_BODY enter:req returned:req offset:req
	ANNOTATE_INTRA_FUNCTION_CALL
	call	\enter
SYM_INNER_LABEL(\returned, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR /* returned to */
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=\offset type=UNWIND_HINT_TYPE_CALL
.endm

.macro ENTER_BODY
	pushq	%r11
	UNWIND_HINT_FUNC
	RET
.endm

SYM_FUNC_START(fkt_gate_called)
	ANNOTATE_NOENDBR /* called directly */
	/* One word more on the stack than a function has that was just called. */
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=16 type=UNWIND_HINT_TYPE_CALL
	/*
	 * The registers and the return into the body are a struct fkt_gate_call. %al, which counts
	 * a variadic function's vector registers, says nothing in the kernel.
	 */
	PUSH_ARGS
	movq	%rsp, %rdi
	PREEMPT_DISABLE
	call	__SCT__fkt_gate_entry
	PREEMPT_ENABLE .Lresched_entry
.Lentered:
	testq	%rax, %rax
	POP_ARGS
	jz	.Lno_exit
	popq	%r11
	pushq	%rax
	CALL_BODY .Lenter fkt_gate_returned 16
	LEAVE

.Lenter:
	ENTER_BODY

.Lno_exit:
	UNWIND_HINT_FUNC
	RET /* into the body */

.Lresched_entry:
	RESCHED .Lentered
SYM_FUNC_END(fkt_gate_called)

SYM_FUNC_START(fkt_gate_called_copying)
	ANNOTATE_NOENDBR /* called directly */
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=16 type=UNWIND_HINT_TYPE_CALL
	/* A struct fkt_gate_copying_call. */
	pushq	$0
	PUSH_ARGS
	movq	%rsp, %rdi
	PREEMPT_DISABLE
	call	__SCT__fkt_gate_entry_copying
	PREEMPT_ENABLE .Lresched_entry_copying
.Lentered_copying:
	testq	%rax, %rax
	POP_ARGS
	jz	.Lno_exit_copying
	popq	%r10
	popq	%r11
	pushq	%rax

	/* %r10 words from above the ticket and the return to the caller. */
	subq	$COPY_BYTES, %rsp
	testq	%r10, %r10
	jz	.Lcopied
.Lcopy:
	movq	COPY_BYTES+8(%rsp,%r10,8), %rax
	movq	%rax, -8(%rsp,%r10,8)
	decq	%r10
	jnz	.Lcopy
.Lcopied:
	CALL_BODY .Lenter_copying fkt_gate_returned_copying 80 /* COPY_BYTES more */
	addq	$COPY_BYTES, %rsp
	LEAVE

.Lenter_copying:
	ENTER_BODY

.Lno_exit_copying:
	addq	$8, %rsp
	UNWIND_HINT_FUNC
	RET

.Lresched_entry_copying:
	RESCHED .Lentered_copying
SYM_FUNC_END(fkt_gate_called_copying)
