/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The direct trampoline of traced functions. ftrace makes a function's first instruction call it, so
 * that it finds on the stack
 *
 *	0(%rsp)		the return into the function's body
 *	8(%rsp)		the function's return to its caller
 *
 * and the arguments in their registers. It calls the body, and so catches the exit without touching
 * the caller's return address. The body finds its arguments in registers only: functions that have
 * some on the stack get no exit (probes/function.c).
 *
 * The body is entered by a return: an indirect call would have to land on an ENDBR.
 *
 * Where ftrace can't call it directly, fkt_function_redirected is entered instead of the body, as if
 * by the caller, with the body in %r10: no function's argument.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/orc_types.h>
#include <asm/unwind_hints.h>

#define FRAME_BYTES	56
#define SAVED_FUNCTION	48
#define BODY		FRAME_BYTES

	.text

SYM_FUNC_START_LOCAL(fkt_enter_body)
	/* Behind our return address stands the frame of fkt_function_trampoline. */
	pushq	8+BODY(%rsp)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(fkt_enter_body)

SYM_FUNC_START(fkt_function_redirected)
	pushq	%r10
SYM_INNER_LABEL(fkt_function_trampoline, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR /* called directly */
	/* One word more on the stack than a function has that was just called. */
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=16 type=UNWIND_HINT_TYPE_CALL
	subq	$FRAME_BYTES, %rsp
	/*
	 * The six argument registers make the array that fkt_function_entry() gets. %al, which
	 * counts a variadic function's vector registers, says nothing in the kernel.
	 */
	movq	%rdi, 0(%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)

	movq	BODY(%rsp), %rdi
	movq	%rsp, %rsi
	call	fkt_function_entry
	movq	%rax, SAVED_FUNCTION(%rsp)
	testq	%rax, %rax

	movq	0(%rsp), %rdi
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rcx
	movq	32(%rsp), %r8
	movq	40(%rsp), %r9
	jz	.Lno_exit
	call	fkt_enter_body

	/* The body returned: its value is in %rax, of a pair the second half in %rdx. */
	movq	%rax, 0(%rsp)
	movq	%rdx, 8(%rsp)
	movq	SAVED_FUNCTION(%rsp), %rdi
	movq	%rax, %rsi
	call	fkt_function_exit
	movq	0(%rsp), %rax
	movq	8(%rsp), %rdx
	addq	$(FRAME_BYTES + 8), %rsp
	UNWIND_HINT_FUNC
	RET

.Lno_exit:
	addq	$FRAME_BYTES, %rsp
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(fkt_function_redirected)
