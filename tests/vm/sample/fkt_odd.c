// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes wrong seldom, made to order, for tests/vm/output_errors.sh and tests/vm/splice.sh.
 *
 *	/dev/fkt_odd			takes all that is written to it
 *	insmod fkt_odd.ko fail_at=N	... but for one write, the one of byte N, for which it has
 *					no memory
 *	insmod fkt_odd.ko steal=SYMBOL steal_at=OFFSET
 *					takes CPU 1 away for some milliseconds, often when it comes
 *					there, as a hypervisor may
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/splice.h>
#include <linux/uio.h>

static ulong fail_at = ULONG_MAX;
module_param(fail_at, ulong, 0444);
static char *steal;
module_param(steal, charp, 0444);
static uint steal_at;
module_param(steal_at, uint, 0444);
static uint stolen;
module_param(stolen, uint, 0444);

static ulong written;

static ssize_t odd_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	size_t n = iov_iter_count(from);

	if (written + n > fail_at) {
		fail_at = ULONG_MAX;
		return -ENOMEM;
	}
	written += n;
	iov_iter_advance(from, n);
	return n;
}

static const struct file_operations odd_fops = {
	.owner = THIS_MODULE,
	.write_iter = odd_write_iter,
	.splice_write = iter_file_splice_write,
	.llseek = noop_llseek,
};

static struct miscdevice odd_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fkt_odd",
	.fops = &odd_fops,
	.mode = 0600,
};

static int odd_steal(struct kprobe *kp, struct pt_regs *regs)
{
	static uint passed;

	if (raw_smp_processor_id() == 1 && ++passed % 3 == 0) {
		mdelay(30);
		stolen++;
	}
	return 0;
}

static struct kprobe odd_probe = {
	.pre_handler = odd_steal,
};

static int __init odd_init(void)
{
	int ret = misc_register(&odd_device);

	if (ret || !steal)
		return ret;
	odd_probe.symbol_name = steal;
	odd_probe.offset = steal_at;
	ret = register_kprobe(&odd_probe);
	if (ret)
		misc_deregister(&odd_device);
	return ret;
}

static void __exit odd_exit(void)
{
	if (steal)
		unregister_kprobe(&odd_probe);
	misc_deregister(&odd_device);
}

module_init(odd_init);
module_exit(odd_exit);
MODULE_DESCRIPTION("Fast Kernel Tracing: what goes wrong seldom, for its tests");
MODULE_LICENSE("GPL");
