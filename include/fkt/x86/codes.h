/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the indexes and numbers of codes.h stand for on x86 machines.
 *
 * Each architecture's tables have the same names: a file includes those of one.
 */
#ifndef FKT_X86_CODES_H
#define FKT_X86_CODES_H

/*
 * Interrupt vectors: X(index, name); the kernel's tracepoints are called name_entry and name_exit
 */
#define FKT_VECTORS(X)                                                                             \
	X(0, local_timer)                                                                          \
	X(1, reschedule)                                                                           \
	X(2, call_function)                                                                        \
	X(3, call_function_single)                                                                 \
	X(4, irq_work)                                                                             \
	X(5, x86_platform_ipi)                                                                     \
	X(6, spurious_apic)                                                                        \
	X(7, error_apic)                                                                           \
	X(8, thermal_apic)                                                                         \
	X(9, threshold_apic)                                                                       \
	X(10, deferred_error_apic)

/* Exceptions: X(trap number, "name") */
#define FKT_TRAPS(X)                                                                               \
	X(0, "divide_error")                                                                       \
	X(1, "debug")                                                                              \
	X(2, "nmi")                                                                                \
	X(3, "int3")                                                                               \
	X(4, "overflow")                                                                           \
	X(5, "bounds")                                                                             \
	X(6, "invalid_op")                                                                         \
	X(7, "device_not_available")                                                               \
	X(8, "double_fault")                                                                       \
	X(9, "coprocessor_segment_overrun")                                                        \
	X(10, "invalid_TSS")                                                                       \
	X(11, "segment_not_present")                                                               \
	X(12, "stack_segment")                                                                     \
	X(13, "general_protection")                                                                \
	X(14, "page_fault")                                                                        \
	X(16, "coprocessor_error")                                                                 \
	X(17, "alignment_check")                                                                   \
	X(18, "machine_check")                                                                     \
	X(19, "simd_coprocessor_error")                                                            \
	X(20, "virtualization")                                                                    \
	X(21, "control_protection")

#endif
