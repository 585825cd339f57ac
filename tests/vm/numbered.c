// SPDX-License-Identifier: GPL-2.0-only
/*
 * numbered COUNT FILE: on each CPU a thread calls close() with numbers that no file has: the CPU's
 * and its own count, from 1 on. That of CPU 0 writes "c" into FILE after COUNT calls, which ends
 * the machine when it is /proc/sysrq-trigger. The others go on. They sleep now and then, so that a
 * disk keeps up.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_NUMBER 0x40000000
#define CPU_SHIFT    24
#define BURST	     500
#define PAUSE_US     10000

static unsigned long count;
static int file;

static void *call(void *arg)
{
	unsigned long cpu = (unsigned long)arg;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "CPU %lu", cpu);
	for (unsigned long i = 1; cpu || i <= count; i++) {
		syscall(SYS_close, FIRST_NUMBER | cpu << CPU_SHIFT | i);
		if (!(i % BURST))
			usleep(PAUSE_US);
	}
	if (write(file, "c", 1) != 1)
		err(1, "write");
	return NULL;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread;

	if (argc != 3)
		errx(2, "numbered COUNT FILE");
	count = strtoul(argv[1], NULL, 10);
	file = open(argv[2], O_WRONLY | O_CLOEXEC);
	if (file < 0)
		err(1, "%s", argv[2]);
	for (long cpu = cpus - 1; cpu > 0; cpu--)
		if (pthread_create(&thread, NULL, call, (void *)cpu))
			errx(1, "pthread_create");
	call(NULL);
	return 0;
}
