// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold FUNCTION COMMAND…: runs the command while a BPF program is attached to the kernel's
 * function, as systemd attaches one for RestrictFileSystems=: by a direct trampoline, of which a
 * function has one.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY);
	struct btf *btf = btf__load_vmlinux_btf();
	int id, program, status;
	pid_t child;

	if (argc < 3)
		errx(2, "usage: hold FUNCTION COMMAND [ARGUMENT...]");
	id = btf ? btf__find_by_name_kind(btf, argv[1], BTF_KIND_FUNC) : -1;
	if (id < 0)
		errx(77, "BTF has no function %s", argv[1]);
	options.attach_btf_id = (uint32_t)id;
	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", nothing,
				sizeof(nothing) / sizeof(nothing[0]), &options);
	if (program < 0 || bpf_raw_tracepoint_open(NULL, program) < 0)
		err(77, "no BPF program can be attached to %s", argv[1]);
	child = fork();
	if (!child) {
		execvp(argv[2], argv + 2);
		err(127, "%s", argv[2]);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		err(1, "%s", argv[2]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
