// SPDX-License-Identifier: GPL-2.0-only
/*
 * deny THREAD COMMAND…: runs the command while a security module, a BPF program on the hook
 * file_permission, lets no thread of this name write. Exit status 77 where there is no such thing.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAY_WRITE  2
#define NAME_BYTES 16 /* the kernel's TASK_COMM_LEN */

/* The hook's arguments are 8 bytes each: the file, the mask. */
static int load_program(uint32_t hook, const char *thread)
{
	struct bpf_insn insns[] = {
		/* 0: if the mask is not MAY_WRITE, go to 10 */
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 6, .src_reg = 1, .off = 8 },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 6, .off = 8, .imm = MAY_WRITE },
		/* 2: bpf_get_current_comm(%r10 - 16, 16) */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -NAME_BYTES },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = NAME_BYTES },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_comm },
		/* 6: if it is this name, whose first 8 bytes are put into 7 and 8, go to 12 */
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 1, .src_reg = 10, .off = -16 },
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 2 },
		{ .imm = 0 },
		{ .code = BPF_JMP | BPF_JEQ | BPF_X, .dst_reg = 1, .src_reg = 2, .off = 2 },
		/* 10 */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
		/* 12 */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = -EACCES },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_LSM_MAC,
		    .attach_btf_id = hook);
	char name[NAME_BYTES] = "";

	strncpy(name, thread, sizeof(name) - 1);
	memcpy(&insns[7].imm, name, sizeof(insns[7].imm));
	memcpy(&insns[8].imm, name + sizeof(insns[7].imm), sizeof(insns[8].imm));
	return bpf_prog_load(BPF_PROG_TYPE_LSM, "deny", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), &options);
}

int main(int argc, char **argv)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int hook, program, status;
	pid_t child;

	if (argc < 3)
		errx(2, "usage: deny THREAD COMMAND [ARGUMENT...]");
	hook = btf ? btf__find_by_name_kind(btf, "bpf_lsm_file_permission", BTF_KIND_FUNC) : -1;
	if (hook < 0)
		errx(77, "BTF does not have the hook");
	program = load_program((uint32_t)hook, argv[1]);
	if (program < 0 || bpf_raw_tracepoint_open(NULL, program) < 0)
		err(77, "no BPF program can be attached to the hook");
	child = fork();
	if (!child) {
		execvp(argv[2], argv + 2);
		err(127, "%s", argv[2]);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		err(1, "%s", argv[2]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
