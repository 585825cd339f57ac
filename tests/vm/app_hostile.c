// SPDX-License-Identifier: GPL-2.0-only
/*
 * app_hostile SECONDS: a program that has /dev/fkt_user and does to it what it likes: scribbles
 * over all pages while others write, claims counts and tags, unmaps, remaps, forks and dies.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fkt/user.h>

#define BYTES	FKT_USER_LANES_BYTES(FKT_USER_LANES_MAX)
#define THREADS 3

static struct fkt_user_lanes *lanes;
static __u32 code;

static __u64 any(unsigned int *seed)
{
	return (__u64)rand_r(seed) << 42 ^ (__u64)rand_r(seed) << 21 ^ (__u64)rand_r(seed);
}

/* What is to fail: it says so if it does not. */
static void must_fail(const char *what, int failed)
{
	if (!failed) {
		printf("it let me: %s\n", what);
		fflush(stdout);
	}
}

/* A tag that is right but for something, with a clock of now, of long ago or of another day. */
static void claim(struct fkt_user_lane *lane, __u64 *word, unsigned int *seed)
{
	const __u32 at = (__u32)lane->head, args = (__u32)any(seed) % 9;
	const __u64 codes[] = { code, 1, 0x1100, 0x10000, FKT_USER_CODE_MARK, any(seed) };

	word[(at + 1) % FKT_USER_LANE_WORDS] =
		__builtin_ia32_rdtsc() - (any(seed) % 3 ? 0 : any(seed));
	for (__u32 i = 0; i < args; i++)
		word[(at + 2 + i) % FKT_USER_LANE_WORDS] = any(seed);
	word[at % FKT_USER_LANE_WORDS] = FKT_USER_TAG(args, at, codes[any(seed) % 6] & 0x7ffff,
						      any(seed) & 0xffff, any(seed) % 5) |
					 FKT_USER_DONE;
	lane->head += (1ull << 32) + FKT_USER_HEAD_WORDS + args;
}

static void *scribble(void *arg)
{
	unsigned int seed = (unsigned int)(unsigned long)arg;
	__u64 *words = (__u64 *)((char *)lanes + FKT_USER_PAGE);

	for (;;) {
		const __u32 lane = (__u32)any(&seed) & lanes->mask & (FKT_USER_LANES_MAX - 1);

		switch (any(&seed) % 16) {
		case 0:
			lanes->lane[lane].head = any(&seed);
			break;
		case 1:
			lanes->lane[lane].lost = any(&seed);
			break;
		case 2:
			lanes->lane[lane].tail = any(&seed);
			break;
		case 3:
			lanes->lane[lane].head = lanes->lane[lane].tail;
			break;
		case 4:
			words[lane * FKT_USER_LANE_WORDS + any(&seed) % FKT_USER_LANE_WORDS] =
				any(&seed);
			break;
		case 5:
			(void)ioctl(lanes->fd, FKT_USER_FLUSH);
			break;
		default:
			claim(&lanes->lane[lane], words + lane * FKT_USER_LANE_WORDS, &seed);
		}
	}
	return NULL;
}

static void ask_for_names(int fd)
{
	struct fkt_user_name name;
	unsigned int seed = (unsigned int)getpid();

	for (unsigned int i = 0; i < 600; i++) {
		memset(&name, 0, sizeof(name));
		snprintf(name.name, sizeof(name.name), "hostile%u", i);
		if (!ioctl(fd, FKT_USER_NAME, &name))
			code = name.code;
	}
	for (unsigned int i = 0; i < 1000; i++) {
		for (size_t k = 0; k < sizeof(name) / 8; k++)
			memcpy((char *)&name + 8 * k, &(__u64){ any(&seed) }, 8);
		name.kind %= 3;
		(void)ioctl(fd, FKT_USER_NAME, &name);
	}
	must_fail("a name with a line's end", ({
			  memset(&name, 0, sizeof(name));
			  strcpy(name.name, "a\nb");
			  ioctl(fd, FKT_USER_NAME, &name);
		  }));
	must_fail("another version", ({
			  struct fkt_user_join join = { 99, 0 };
			  ioctl(fd, FKT_USER_JOIN, &join);
		  }));
	must_fail("no memory", ioctl(fd, FKT_USER_JOIN, NULL));
}

static void map_strangely(int fd)
{
	void *page;

	must_fail("a control page to write",
		  mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	must_fail("code",
		  mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 4096) == MAP_FAILED);
	must_fail("a private page", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED);
	must_fail("far away", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 1 << 30) == MAP_FAILED);
	must_fail("too much", mmap(NULL, 1 << 30, PROT_READ, MAP_SHARED, fd, 4096) == MAP_FAILED);
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	must_fail("write to the control page", mprotect(page, 4096, PROT_READ | PROT_WRITE));
	must_fail("run the control page", mprotect(page, 4096, PROT_READ | PROT_EXEC));
	must_fail("more of it", mremap(page, 4096, 1 << 20, MREMAP_MAYMOVE) == MAP_FAILED);
	must_fail("truncate", ftruncate(fd, 0));
	if (page != MAP_FAILED) {
		int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

		must_fail("write past its protection",
			  pwrite(mem, "x", 1, (off_t)(unsigned long)page) != 1);
		close(mem);
	}
}

/* One life: it ends by itself, in the midst of everything, or by the memory that it has lost. */
static void live(void)
{
	struct fkt_user_join join = { FKT_USER_VERSION, 0 };
	unsigned int seed = (unsigned int)getpid();
	int fd = open(FKT_USER_DEVICE, O_RDWR | O_CLOEXEC);
	pthread_t thread;

	if (fd < 0)
		_exit(0);
	map_strangely(fd);
	lanes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	if (lanes == MAP_FAILED)
		_exit(0);
	ask_for_names(fd);
	if (ioctl(fd, FKT_USER_JOIN, &join))
		_exit(0);
	lanes->fd = fd;
	for (unsigned long i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, scribble, (void *)(any(&seed) + i)))
			break;
	usleep((useconds_t)(any(&seed) % 50000));
	switch (any(&seed) % 6) {
	case 0:
		munmap(lanes, BYTES);
		break;
	case 1:
		mremap(lanes, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
		       (char *)lanes + (1ul << 32));
		break;
	case 2:
		munmap((char *)lanes + 8192, 65536);
		break;
	case 3:
		close(fd);
		break;
	case 4:
		if (!fork())
			scribble((void *)7ul);
		break;
	default:
		madvise(lanes, BYTES, MADV_DONTNEED);
		madvise(lanes, BYTES, MADV_DOFORK);
		if (!fork())
			scribble((void *)8ul);
		break;
	}
	usleep((useconds_t)(any(&seed) % 20000));
	kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + (argc == 2 ? atoi(argv[1]) : 1);
	unsigned long lives = 0;
	pid_t child;

	do {
		child = fork();
		if (child < 0)
			err(1, "fork");
		if (!child) {
			setpgid(0, 0);
			live();
		}
		waitpid(child, NULL, 0);
		kill(-child, SIGKILL);
		lives++;
	} while (time(NULL) < end);
	printf("%lu lives\n", lives);
	return 0;
}
