/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A 32-bit program: getppid() three times, write() of three bytes, open() of a bad name, exit(7).
 */
	.section .note.GNU-stack, "", @progbits
	.text
	.globl	_start
_start:
	movl	$3, %esi
1:	movl	$64, %eax	/* getppid */
	int	$0x80
	decl	%esi
	jnz	1b

	movl	$4, %eax	/* write */
	movl	$1, %ebx
	movl	$message, %ecx
	movl	$3, %edx
	int	$0x80

	movl	$5, %eax	/* open */
	movl	$1, %ebx
	xorl	%ecx, %ecx
	xorl	%edx, %edx
	int	$0x80

	movl	$1, %eax	/* exit */
	movl	$7, %ebx
	int	$0x80

message:
	.ascii	"hi\n"
