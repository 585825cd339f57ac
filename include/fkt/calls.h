/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What system calls are given, by their names, for those who show them as strace(1) does and for
 * fkt_record, which tells the module what of the memory they point to is to be recorded.
 */
#ifndef FKT_CALLS_H
#define FKT_CALLS_H

/*
 * What is to be read where an argument points, and when; FD: what a number stands for.
 *
 *	STRING		up to its NUL
 *	STRINGS		those of an array of pointers to them, up to NULL
 *	VARS		how many pointers there are, up to NULL
 *	IN OUT INOUT	so many bytes, when the call begins, when it has ended well, or both times
 *	IN_LENGTH	as many as the next argument says, when it begins
 *	OUT_RESULT	as many as it returns
 *	OUT_LENGTH	as many as the next argument points to a 32-bit number of
 *	VECTOR_IN	buffers of an array of struct iovec, as long as the next argument says
 *	VECTOR_OUT	the same, filled with as much as it returns
 *	FD		of this file descriptor, its path; of AT_FDCWD, the current directory
 *	FDS_OUT		of two file descriptors, the numbers and their paths, when it has ended well
 */
/* clang-format off */
#define FKT_DATA_READS(X)                                                                          \
	X(NONE) X(STRING) X(STRINGS) X(VARS) X(IN) X(OUT) X(INOUT) X(IN_LENGTH) X(OUT_RESULT)      \
	X(OUT_LENGTH) X(VECTOR_IN) X(VECTOR_OUT) X(FD) X(FDS_OUT)
/* clang-format on */

enum fkt_data_read {
#define X(NAME) FKT_DATA_##NAME,
	FKT_DATA_READS(X)
#undef X
	FKT_DATA_READS_COUNT
};

/*
 * Kinds of argument: X(NAME, "word", what is read, bytes). A word that is none of these is the
 * name of a table of flags (lib/arch/). Numbers of bytes are those of 64-bit programs; of 32-bit
 * ones, what has more than 4 bytes is not read.
 */
#define FKT_ARG_KINDS(X)                                                                           \
	X(INT, "int", NONE, 0)                                                                     \
	X(UINT, "uint", NONE, 0)                                                                   \
	X(LONG, "long", NONE, 0)                                                                   \
	X(SIZE, "size", NONE, 0)                                                                   \
	X(HEX, "hex", NONE, 0)                                                                     \
	X(PTR, "ptr", NONE, 0)                                                                     \
	X(OCTAL, "octal", NONE, 0)	 /* 0644, 000 */                                           \
	X(CREAT, "creat", NONE, 0)	 /* the same, if the flags before it make a file */        \
	X(FILEMODE, "filemode", NONE, 0) /* S_IFIFO|0644 */                                        \
	X(DEV, "dev", NONE, 0)		 /* of a device alone */                                   \
	X(ID, "id", NONE, 0)		 /* a user or group; -1 */                                 \
	X(SIGNAL, "signal", NONE, 0)                                                               \
	X(PROTOCOL, "protocol", NONE, 0) /* of the family two arguments before */                  \
	X(CLONEFLAGS, "cloneflags", NONE, 0)                                                       \
	X(FCNTLARG, "fcntlarg", NONE, 0)   /* what the command before it takes */                  \
	X(FUTEXARGS, "futexargs", NONE, 0) /* it and all that follow: as the operation says */     \
	X(OPTNAME, "optname", NONE, 0)	   /* of the level before it */                            \
	X(FD, "fd", FD, 0)                                                                         \
	X(DIRFD, "dirfd", FD, 0)                                                                   \
	X(PATH, "path", STRING, 0)                                                                 \
	X(ARGV, "argv", STRINGS, 0)                                                                \
	X(ENVP, "envp", VARS, 0)                                                                   \
	X(BUF, "buf", IN_LENGTH, 0)                                                                \
	X(RBUF, "rbuf", OUT_RESULT, 0)                                                             \
	X(RRAW, "rraw", OUT_RESULT, 0) /* in hexadecimal */                                        \
	X(RCWD, "rcwd", OUT_RESULT, 0) /* with its NUL */                                          \
	X(ADDR, "addr", IN_LENGTH, 0)                                                              \
	X(RADDR, "raddr", OUT_LENGTH, 0)                                                           \
	X(OPT, "opt", IN_LENGTH, 0)                                                                \
	X(ROPT, "ropt", OUT_LENGTH, 0)                                                             \
	X(RLEN, "rlen", INOUT, 4)                                                                  \
	X(IOV, "iov", VECTOR_IN, 0)                                                                \
	X(RIOV, "riov", VECTOR_OUT, 0)                                                             \
	X(PIPE, "pipe", FDS_OUT, 0)                                                                \
	X(WSTATUS, "wstatus", OUT, 4)                                                              \
	X(RID, "rid", OUT, 4)                                                                      \
	X(SIGSET, "sigset", IN, 8)                                                                 \
	X(RSIGSET, "rsigset", OUT, 8)                                                              \
	X(SIGACT, "sigact", IN, 32)                                                                \
	X(RSIGACT, "rsigact", OUT, 32)                                                             \
	X(TIME, "timespec", IN, 16)                                                                \
	X(RTIME, "rtimespec", OUT, 16)                                                             \
	X(REST, "rest", NONE, 0) /* what is left of a sleep */                                     \
	X(RLIMIT, "rlimit64", IN, 16)                                                              \
	X(RRLIMIT, "rrlimit64", OUT, 16)                                                           \
	X(STAT, "stat", OUT, 56) /* up to its size */

/* The same of results: X(NAME, "word") */
#define FKT_RESULT_KINDS(X)                                                                        \
	X(NUMBER, "")                                                                              \
	X(FD, "fd") X(HEX, "hex") X(OCTAL, "octal") X(TIMEOUT, "timeout") /* 0 is one */

enum fkt_arg_kind {
#define X(NAME, word, read, bytes) FKT_ARG_##NAME,
	FKT_ARG_KINDS(X)
#undef X
	FKT_ARG_FLAGS, /* of a table */
};

enum fkt_result_kind {
#define X(NAME, word) FKT_RESULT_##NAME,
	FKT_RESULT_KINDS(X)
#undef X
};

/*
 * System calls: X("name", "its arguments", "its result"). A result is a number in decimal where
 * nothing is said. Those that are not here have all their arguments in hexadecimal.
 */
#define FKT_CALLS(X)                                                                               \
	X("read", "fd rbuf size", "")                                                              \
	X("write", "fd buf size", "")                                                              \
	X("open", "path open creat", "fd")                                                         \
	X("close", "fd", "")                                                                       \
	X("stat", "path stat", "")                                                                 \
	X("fstat", "fd stat", "")                                                                  \
	X("lstat", "path stat", "")                                                                \
	X("poll", "ptr size int", "timeout")                                                       \
	X("lseek", "fd long whence", "")                                                           \
	X("mmap", "ptr size prot map fd hex", "hex")                                               \
	X("mprotect", "ptr size prot", "")                                                         \
	X("munmap", "ptr size", "")                                                                \
	X("brk", "ptr", "hex")                                                                     \
	X("rt_sigaction", "signal sigact rsigact size", "")                                        \
	X("rt_sigprocmask", "sigmask sigset rsigset size", "")                                     \
	X("ioctl", "fd ioctl ptr", "")                                                             \
	X("pread64", "fd rbuf size long", "")                                                      \
	X("pwrite64", "fd buf size long", "")                                                      \
	X("readv", "fd riov size", "")                                                             \
	X("writev", "fd iov size", "")                                                             \
	X("access", "path access", "")                                                             \
	X("pipe", "pipe", "")                                                                      \
	X("select", "int ptr ptr ptr ptr", "timeout")                                              \
	X("sched_yield", "", "")                                                                   \
	X("mremap", "ptr size size mremap ptr", "hex")                                             \
	X("msync", "ptr size msync", "")                                                           \
	X("mincore", "ptr size ptr", "")                                                           \
	X("madvise", "ptr size madvise", "")                                                       \
	X("dup", "fd", "fd")                                                                       \
	X("dup2", "fd fd", "fd")                                                                   \
	X("pause", "", "")                                                                         \
	X("nanosleep", "timespec rest", "")                                                        \
	X("getitimer", "itimer ptr", "")                                                           \
	X("alarm", "uint", "")                                                                     \
	X("setitimer", "itimer ptr ptr", "")                                                       \
	X("getpid", "", "")                                                                        \
	X("sendfile", "fd fd ptr size", "")                                                        \
	X("socket", "family socket protocol", "fd")                                                \
	X("connect", "fd addr int", "")                                                            \
	X("accept", "fd raddr rlen", "fd")                                                         \
	X("sendto", "fd buf size msg addr int", "")                                                \
	X("recvfrom", "fd rbuf size msg raddr rlen", "")                                           \
	X("sendmsg", "fd ptr msg", "")                                                             \
	X("recvmsg", "fd ptr msg", "")                                                             \
	X("shutdown", "fd shutdown", "")                                                           \
	X("bind", "fd addr int", "")                                                               \
	X("listen", "fd int", "")                                                                  \
	X("getsockname", "fd raddr rlen", "")                                                      \
	X("getpeername", "fd raddr rlen", "")                                                      \
	X("socketpair", "family socket protocol pipe", "")                                         \
	X("setsockopt", "fd sol optname opt int", "")                                              \
	X("getsockopt", "fd sol optname ropt rlen", "")                                            \
	X("clone", "cloneflags ptr ptr ptr hex", "")                                               \
	X("fork", "", "")                                                                          \
	X("vfork", "", "")                                                                         \
	X("execve", "path argv envp", "")                                                          \
	X("exit", "int", "")                                                                       \
	X("wait4", "int wstatus wait ptr", "")                                                     \
	X("kill", "int signal", "")                                                                \
	X("uname", "ptr", "")                                                                      \
	X("fcntl", "fd fcntl fcntlarg", "")                                                        \
	X("flock", "fd flock", "")                                                                 \
	X("fsync", "fd", "")                                                                       \
	X("fdatasync", "fd", "")                                                                   \
	X("truncate", "path long", "")                                                             \
	X("ftruncate", "fd long", "")                                                              \
	X("getdents", "fd ptr size", "")                                                           \
	X("getcwd", "rcwd size", "")                                                               \
	X("chdir", "path", "")                                                                     \
	X("fchdir", "fd", "")                                                                      \
	X("rename", "path path", "")                                                               \
	X("mkdir", "path octal", "")                                                               \
	X("rmdir", "path", "")                                                                     \
	X("creat", "path octal", "fd")                                                             \
	X("link", "path path", "")                                                                 \
	X("unlink", "path", "")                                                                    \
	X("symlink", "path path", "")                                                              \
	X("readlink", "path rbuf size", "")                                                        \
	X("chmod", "path octal", "")                                                               \
	X("fchmod", "fd octal", "")                                                                \
	X("chown", "path id id", "")                                                               \
	X("fchown", "fd id id", "")                                                                \
	X("lchown", "path id id", "")                                                              \
	X("umask", "octal", "octal")                                                               \
	X("gettimeofday", "ptr ptr", "")                                                           \
	X("getrlimit", "rlimit rrlimit64", "")                                                     \
	X("getrusage", "rusage ptr", "")                                                           \
	X("sysinfo", "ptr", "")                                                                    \
	X("times", "ptr", "")                                                                      \
	X("getuid", "", "")                                                                        \
	X("getgid", "", "")                                                                        \
	X("setuid", "id", "")                                                                      \
	X("setgid", "id", "")                                                                      \
	X("geteuid", "", "")                                                                       \
	X("getegid", "", "")                                                                       \
	X("setpgid", "int int", "")                                                                \
	X("getppid", "", "")                                                                       \
	X("getpgrp", "", "")                                                                       \
	X("setsid", "", "")                                                                        \
	X("setreuid", "id id", "")                                                                 \
	X("setregid", "id id", "")                                                                 \
	X("getgroups", "int ptr", "")                                                              \
	X("setgroups", "int ptr", "")                                                              \
	X("setresuid", "id id id", "")                                                             \
	X("getresuid", "rid rid rid", "")                                                          \
	X("setresgid", "id id id", "")                                                             \
	X("getresgid", "rid rid rid", "")                                                          \
	X("getpgid", "int", "")                                                                    \
	X("setfsuid", "id", "")                                                                    \
	X("setfsgid", "id", "")                                                                    \
	X("getsid", "int", "")                                                                     \
	X("rt_sigpending", "rsigset size", "")                                                     \
	X("rt_sigtimedwait", "sigset ptr timespec size", "")                                       \
	X("rt_sigsuspend", "sigset size", "")                                                      \
	X("rt_sigreturn", "", "")                                                                  \
	X("utime", "path ptr", "")                                                                 \
	X("mknod", "path filemode dev", "")                                                        \
	X("statfs", "path ptr", "")                                                                \
	X("fstatfs", "fd ptr", "")                                                                 \
	X("getpriority", "priority int", "")                                                       \
	X("setpriority", "priority int int", "")                                                   \
	X("sched_setscheduler", "int sched ptr", "")                                               \
	X("sched_getscheduler", "int", "")                                                         \
	X("mlock", "ptr size", "")                                                                 \
	X("munlock", "ptr size", "")                                                               \
	X("mlockall", "mlockall", "")                                                              \
	X("munlockall", "", "")                                                                    \
	X("prctl", "prctl hex hex hex hex", "")                                                    \
	X("arch_prctl", "arch_prctl ptr", "")                                                      \
	X("setrlimit", "rlimit rlimit64", "")                                                      \
	X("chroot", "path", "")                                                                    \
	X("sync", "", "")                                                                          \
	X("mount", "path path path mount ptr", "")                                                 \
	X("umount2", "path umount", "")                                                            \
	X("sethostname", "buf size", "")                                                           \
	X("gettid", "", "")                                                                        \
	X("readahead", "fd long size", "")                                                         \
	X("getxattr", "path path ptr size", "")                                                    \
	X("lgetxattr", "path path ptr size", "")                                                   \
	X("fgetxattr", "fd path ptr size", "")                                                     \
	X("setxattr", "path path buf size xattr", "")                                              \
	X("lsetxattr", "path path buf size xattr", "")                                             \
	X("fsetxattr", "fd path buf size xattr", "")                                               \
	X("listxattr", "path ptr size", "")                                                        \
	X("llistxattr", "path ptr size", "")                                                       \
	X("flistxattr", "fd ptr size", "")                                                         \
	X("removexattr", "path path", "")                                                          \
	X("tkill", "int signal", "")                                                               \
	X("futex", "ptr futex futexargs", "")                                                      \
	X("sched_setaffinity", "int size ptr", "")                                                 \
	X("sched_getaffinity", "int size ptr", "")                                                 \
	X("getdents64", "fd ptr size", "")                                                         \
	X("set_tid_address", "ptr", "")                                                            \
	X("restart_syscall", "", "")                                                               \
	X("fadvise64", "fd long size fadvise", "")                                                 \
	X("clock_settime", "clock timespec", "")                                                   \
	X("clock_gettime", "clock rtimespec", "")                                                  \
	X("clock_getres", "clock rtimespec", "")                                                   \
	X("clock_nanosleep", "clock timer timespec rest", "")                                      \
	X("exit_group", "int", "")                                                                 \
	X("epoll_wait", "fd ptr int int", "")                                                      \
	X("epoll_ctl", "fd epoll_ctl fd ptr", "")                                                  \
	X("tgkill", "int int signal", "")                                                          \
	X("utimes", "path ptr", "")                                                                \
	X("waitid", "waitid int ptr wait ptr", "")                                                 \
	X("inotify_init", "", "fd")                                                                \
	X("inotify_add_watch", "fd path hex", "")                                                  \
	X("inotify_rm_watch", "fd int", "")                                                        \
	X("openat", "dirfd path open creat", "fd")                                                 \
	X("mkdirat", "dirfd path octal", "")                                                       \
	X("mknodat", "dirfd path filemode dev", "")                                                \
	X("fchownat", "dirfd path id id at", "")                                                   \
	X("futimesat", "dirfd path ptr", "")                                                       \
	X("newfstatat", "dirfd path stat at", "")                                                  \
	X("unlinkat", "dirfd path unlink", "")                                                     \
	X("renameat", "dirfd path dirfd path", "")                                                 \
	X("linkat", "dirfd path dirfd path at", "")                                                \
	X("symlinkat", "path dirfd path", "")                                                      \
	X("readlinkat", "dirfd path rbuf size", "")                                                \
	X("fchmodat", "dirfd path octal", "")                                                      \
	X("faccessat", "dirfd path access", "")                                                    \
	X("faccessat2", "dirfd path access eaccess", "")                                           \
	X("pselect6", "int ptr ptr ptr ptr ptr", "")                                               \
	X("ppoll", "ptr size timespec sigset size", "")                                            \
	X("unshare", "clone", "")                                                                  \
	X("set_robust_list", "ptr size", "")                                                       \
	X("get_robust_list", "int ptr ptr", "")                                                    \
	X("splice", "fd ptr fd ptr size splice", "")                                               \
	X("tee", "fd fd size splice", "")                                                          \
	X("vmsplice", "fd ptr size splice", "")                                                    \
	X("sync_file_range", "fd long long hex", "")                                               \
	X("utimensat", "dirfd path ptr at", "")                                                    \
	X("epoll_pwait", "fd ptr int int sigset size", "")                                         \
	X("signalfd4", "fd sigset size signalfd", "fd")                                            \
	X("timerfd_create", "clock timerfd", "fd")                                                 \
	X("timerfd_settime", "fd timerfd_set ptr ptr", "")                                         \
	X("timerfd_gettime", "fd ptr", "")                                                         \
	X("eventfd", "uint", "fd")                                                                 \
	X("eventfd2", "uint eventfd", "fd")                                                        \
	X("fallocate", "fd fallocate long long", "")                                               \
	X("accept4", "fd raddr rlen accept", "fd")                                                 \
	X("epoll_create", "int", "fd")                                                             \
	X("epoll_create1", "epoll", "fd")                                                          \
	X("dup3", "fd fd fdflags", "fd")                                                           \
	X("pipe2", "pipe fdflags", "")                                                             \
	X("inotify_init1", "inotify", "fd")                                                        \
	X("preadv", "fd riov size long", "")                                                       \
	X("pwritev", "fd iov size long", "")                                                       \
	X("prlimit64", "int rlimit rlimit64 rrlimit64", "")                                        \
	X("syncfs", "fd", "")                                                                      \
	X("setns", "fd clone", "")                                                                 \
	X("getcpu", "rid rid ptr", "")                                                             \
	X("renameat2", "dirfd path dirfd path rename", "")                                         \
	X("getrandom", "rraw size getrandom", "")                                                  \
	X("memfd_create", "path memfd", "fd")                                                      \
	X("execveat", "dirfd path argv envp at", "")                                               \
	X("membarrier", "membarrier hex", "")                                                      \
	X("copy_file_range", "fd ptr fd ptr size hex", "")                                         \
	X("statx", "dirfd path statx_at statx ptr", "")                                            \
	X("rseq", "ptr hex hex hex", "")                                                           \
	X("pidfd_send_signal", "fd signal ptr hex", "")                                            \
	X("pidfd_open", "int hex", "fd")                                                           \
	X("clone3", "ptr size", "")                                                                \
	X("close_range", "uint uint hex", "")                                                      \
	X("openat2", "dirfd path ptr size", "fd")

#endif
