// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory_calls FILE: system calls with memory of all kinds, always the same: strings and buffers
 * long and short, at the end of what is mapped, not there, or not there yet. FILE has the text
 * "/nowhere/mapped". To be looked at by two tracers, whose lines are then the same.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static char letters[5000];

/* A page, and behind it one that cannot be read. */
static char *at_end(void)
{
	char *page =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED || mprotect(page + PAGE, PAGE, PROT_NONE))
		err(1, "mmap");
	memset(page, 'e', PAGE);
	return page + PAGE;
}

static void files(const char *file)
{
	char *end = at_end(), name[1000], buffer[100];
	struct stat stat;
	int fd, fds[2];
	void *map;

	/* Of lengths about those of slots. */
	for (size_t n = 100; n < 108; n++) {
		memset(name, 'n', n);
		name[n] = '\0';
		syscall(SYS_open, name, O_RDONLY);
	}
	letters[4200] = '\0';
	syscall(SYS_open, letters, O_RDONLY);
	letters[4200] = 'a';
	syscall(SYS_open, "", O_RDONLY);
	syscall(SYS_open, NULL, O_RDONLY);
	syscall(SYS_open, 8, O_RDONLY);
	/* Without a NUL, and with one in the last byte. */
	syscall(SYS_open, end - 5, O_RDONLY);
	end[-1] = '\0';
	syscall(SYS_open, end - 6, O_RDONLY);
	end[-1] = 'e';
	fd = open(file, O_RDWR);
	if (fd < 0)
		err(1, "%s", file);
	/* It is in no page table yet. */
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	syscall(SYS_open, map, O_RDONLY);
	syscall(SYS_open, map, O_RDONLY);
	syscall(SYS_openat, AT_FDCWD, "/nowhere/\n\"\\\1\0019\377", O_CREAT | O_WRONLY, 0644);
	syscall(SYS_newfstatat, fd, "", &stat, AT_EMPTY_PATH);
	syscall(SYS_rename, "/nowhere/a", "/nowhere/b");
	syscall(SYS_renameat2, AT_FDCWD, "/nowhere/a", AT_FDCWD, "/nowhere/b", 1);
	syscall(SYS_readlink, "/proc/self/nothing", buffer, sizeof(buffer));
	syscall(SYS_getcwd, buffer, sizeof(buffer));
	syscall(SYS_pread64, fd, buffer, sizeof(buffer), 0L);
	syscall(SYS_pread64, fd, buffer, sizeof(buffer), 1000L);
	syscall(SYS_pread64, fd, end, 10, 0L);
	syscall(SYS_read, -1, buffer, sizeof(buffer));
	syscall(SYS_pipe2, fds, O_CLOEXEC);
	for (size_t n = 30; n < 35; n++) {
		syscall(SYS_write, fds[1], letters, n);
		syscall(SYS_read, fds[0], buffer, sizeof(buffer));
	}
	syscall(SYS_write, fds[1], letters, 0);
	syscall(SYS_write, fds[1], end - 20, 40);
	syscall(SYS_write, -1, NULL, 4);
}

static void vectors(void)
{
	struct iovec iov[70] = { { letters, 5 }, { letters, 0 }, { letters, 40 } }, in[3];
	char a[4], b[50];
	int fds[2];

	if (pipe(fds))
		err(1, "pipe");
	in[0] = (struct iovec){ a, sizeof(a) };
	in[1] = (struct iovec){ b, sizeof(b) };
	in[2] = (struct iovec){ letters, 10 };
	syscall(SYS_writev, fds[1], iov, 3);
	syscall(SYS_readv, fds[0], in, 3);
	syscall(SYS_writev, fds[1], iov, 0);
	syscall(SYS_writev, -1, iov, 3);
	syscall(SYS_writev, fds[1], 8, 3);
}

static void sockets(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/nowhere/socket" };
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(80),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(80) };
	struct sockaddr_storage from;
	socklen_t length = sizeof(from);
	int fds[2], one = 1, fd;
	char buffer[10];

	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	syscall(SYS_connect, fd, &un, sizeof(un));
	syscall(SYS_connect, fd, &in, sizeof(in));
	syscall(SYS_connect, fd, &in6, sizeof(in6));
	syscall(SYS_connect, fd, NULL, 0);
	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_KEEPALIVE, &one, &length);
	length = sizeof(from);
	syscall(SYS_getsockname, fd, &from, &length);
	un.sun_path[0] = '\0';
	strcpy(un.sun_path + 1, "fkt-memory-calls");
	syscall(SYS_bind, fd, &un, 2 + 1 + 16);
	length = sizeof(from);
	syscall(SYS_getsockname, fd, &from, &length);
	syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, fds);
	syscall(SYS_sendto, fds[0], "datagram", 8, 0, NULL, 0);
	length = sizeof(from);
	syscall(SYS_recvfrom, fds[1], buffer, sizeof(buffer), 0, &from, &length);
	syscall(SYS_sendto, fds[0], "datagram", 8, 0, NULL, 0);
	memset(buffer, 'X', sizeof(buffer));
	syscall(SYS_recvfrom, fds[1], buffer, 4, MSG_TRUNC, NULL, NULL);
}

/* Files at all kinds of places. */
static void places(void)
{
	int fd, dir;

	fd = open("/mnt/disk/gone", O_CREAT | O_RDWR, 0600);
	syscall(SYS_fsync, fd);
	unlink("/mnt/disk/gone");
	syscall(SYS_fsync, fd);
	fd = memfd_create("mem", MFD_CLOEXEC);
	syscall(SYS_ftruncate, fd, 10L);
	fd = epoll_create1(0);
	syscall(SYS_lseek, fd, 0L, SEEK_SET);
	syscall(SYS_lseek, eventfd(0, 0), 0L, SEEK_SET);
	dir = open("/proc/self", O_DIRECTORY | O_PATH);
	syscall(SYS_openat, dir, "status", O_RDONLY);
	syscall(SYS_dup, dir);
	syscall(SYS_dup3, dir, 100, 0);
	syscall(SYS_fcntl, dir, F_DUPFD, 200L);
	syscall(SYS_fcntl, dir, F_GETFD);
	syscall(SYS_lseek, 12345, 0L, SEEK_SET);
	mkdir("/mnt/disk/tree", 0755);
	mkdir("/mnt/disk/tree/branch", 0755);
	fd = open("/mnt/disk/tree/branch", O_DIRECTORY);
	rename("/mnt/disk/tree", "/mnt/disk/wood");
	syscall(SYS_fchdir, fd);
	syscall(SYS_openat, AT_FDCWD, "leaf", O_RDONLY);
	/* What is outside of the root has a path as well. */
	if (chroot("/mnt/disk/wood"))
		err(1, "chroot");
	syscall(SYS_openat, AT_FDCWD, "leaf", O_RDONLY);
	syscall(SYS_openat, dir, "status", O_RDONLY);
	fd = open("/", O_DIRECTORY);
	syscall(SYS_fchdir, fd);
	rmdir("/branch");
}

static void others(void)
{
	static const char *const argv[] = { "/nowhere/program", "", "two words", letters, NULL };
	static const char *const envp[] = { "A=1", "B=2", NULL };
	struct sigaction action = { .sa_handler = SIG_IGN };
	struct timespec time = { 0, 1000 };
	struct rlimit limit;
	uid_t id[3];
	sigset_t set, old;
	int status;
	pid_t child;

	syscall(SYS_execve, argv[0], argv, envp);
	syscall(SYS_execve, argv[0], NULL, NULL);
	syscall(SYS_execve, argv[0], 8, 8);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	sigaction(SIGUSR2, &action, NULL);
	syscall(SYS_nanosleep, &time, NULL);
	syscall(SYS_getrlimit, RLIMIT_CORE, &limit);
	syscall(SYS_getresuid, &id[0], &id[1], &id[2]);
	child = fork();
	if (!child)
		syscall(SYS_exit, 3);
	syscall(SYS_wait4, child, &status, 0, NULL);
	/* Neither the path nor what it is called is in the child's page tables. */
	child = fork();
	if (!child) {
		execl("/bin/true", "the-name-of-true", "one", "", "an argument longer than five",
		      NULL);
		_exit(1);
	}
	syscall(SYS_wait4, child, &status, 0, NULL);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "FILE?");
	memset(letters, 'a', sizeof(letters));
	files(argv[1]);
	vectors();
	sockets();
	others();
	places();
	return 0;
}
