// SPDX-License-Identifier: GPL-2.0-only
/*
 * fexit FUNCTION...: a BPF program at the beginning and at the end of each of these functions,
 * until standard input ends; says "attached" when they are there, and which could not be attached.
 * The programs do nothing but return: it is the kernel's BPF trampolines that are wanted here.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <err.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int attach(const struct btf *btf, const char *function, enum bpf_attach_type type)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type);
	int id, program;

	id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	if (id < 0)
		return id;
	opts.attach_btf_id = id;
	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "fexit", "GPL", insns, 2, &opts);
	if (program < 0)
		return program;
	return bpf_link_create(program, 0, type, NULL);
}

int main(int argc, char **argv)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int i, link, attached = 0;
	char c;

	if (!btf)
		err(1, "the kernel's BTF");
	for (i = 1; i < argc; i++) {
		link = attach(btf, argv[i], BPF_TRACE_FENTRY);
		if (link >= 0) {
			attached++;
			link = attach(btf, argv[i], BPF_TRACE_FEXIT);
		}
		if (link >= 0)
			attached++;
		else
			warnx("%s: %s", argv[i], strerror(-link));
	}
	printf("attached %d\n", attached);
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return 0;
}
