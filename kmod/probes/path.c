// SPDX-License-Identifier: GPL-2.0-only
/*
 * The paths of a thread's files, as /proc/PID/fd has them, without locks and references: for
 * probes.
 *
 * Preemption is off, so what RCU frees stays while it is read. Sockets and pipes may go without
 * that when another thread closes them: nothing is believed of what is read, and what cannot be
 * read ends it. Of a file that is moved or closed at that very moment the path may be wrong.
 */
#include <linux/dcache.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <uapi/linux/fcntl.h>
#include "compat.h"
#include "data.h"
#include "fkt.h"

#define FKT_PATH_BYTES	      1024
#define FKT_PATH_STEPS	      1024
#define FKT_PATH_NUMBER_BYTES 20
#define FKT_PATH_DELETED      " (deleted)"

/**
 * struct fkt_path_room - where a CPU puts a path together, from its end on
 * @at: where it begins
 * @text: the path
 */
struct fkt_path_room {
	u32 at;
	char text[FKT_PATH_BYTES];
};

static struct fkt_path_room __percpu *fkt_path_rooms;
/* Where in struct mount its struct vfsmount is, its parent, and where it is mounted. */
static struct fkt_data_common fkt_path_mount;

/* --- Memory that may not be there ----------------------------------------------------------- */

/* A word; 0 where it is not there. Page faults are off. */
static u64 fkt_path_word(const void *from)
{
	u64 word;

	if (!fkt_arch_kernel_address((u64)from))
		return 0;
	__get_kernel_nofault(&word, from, u64, missing);
	return word;
missing:
	return 0;
}

/* A pointer of a struct that may have gone. */
#define FKT_PATH_GET(pointer)                                                                      \
	({                                                                                         \
		BUILD_BUG_ON(sizeof(*(pointer)) != sizeof(u64));                                   \
		(typeof(*(pointer)))fkt_path_word(pointer);                                        \
	})

static bool fkt_path_bytes(char *to, const char *from, u32 bytes)
{
	u32 i;

	if (!fkt_arch_kernel_address((u64)from) || !fkt_arch_kernel_address((u64)from + bytes))
		return false;
	for (i = 0; i < bytes; i++)
		__get_kernel_nofault(to + i, from + i, u8, missing);
	return true;
missing:
	return false;
}

/* --- Putting it together -------------------------------------------------------------------- */

/* Before what is there. Return: whether there was room, and it was there. */
static bool fkt_path_put(struct fkt_path_room *room, const char *from, u32 bytes)
{
	if (bytes > room->at || !fkt_path_bytes(room->text + room->at - bytes, from, bytes))
		return false;
	room->at -= bytes;
	return true;
}

static bool fkt_path_put_text(struct fkt_path_room *room, const char *text)
{
	u32 bytes = 0;

	while (text[bytes])
		bytes++;
	return fkt_path_put(room, text, bytes);
}

static bool fkt_path_put_number(struct fkt_path_room *room, u64 number)
{
	char text[FKT_PATH_NUMBER_BYTES];
	u32 at = sizeof(text);

	do
		text[--at] = '0' + number % 10;
	while ((number /= 10));
	return fkt_path_put(room, text + at, sizeof(text) - at);
}

/* Whether it is a name, and not what was there before one, or came there since. */
static bool fkt_path_is_name(const char *text, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		if (!text[i] || text[i] == '/')
			return false;
	return bytes;
}

/* An entry's name: the same before and after it was copied, and as long as it is said to be. */
static bool fkt_path_put_name(struct fkt_path_room *room, const struct dentry *dentry)
{
	const u64 hash_len = fkt_path_word(&dentry->d_name.hash_len);
	const char *name = (const char *)FKT_PATH_GET(&dentry->d_name.name);
	const u32 bytes = hashlen_len(hash_len);
	char end;

	return bytes <= NAME_MAX && fkt_path_put(room, name, bytes) &&
	       fkt_path_is_name(room->text + room->at, bytes) &&
	       fkt_path_bytes(&end, name + bytes, 1) && !end &&
	       (const char *)FKT_PATH_GET(&dentry->d_name.name) == name &&
	       fkt_path_word(&dentry->d_name.hash_len) == hash_len;
}

/* --- What a path is ------------------------------------------------------------------------- */

/* Files without a place: pipes, sockets and their like. */
static bool fkt_path_put_nameless(struct fkt_path_room *room, const struct dentry *dentry)
{
	const struct super_block *sb = FKT_PATH_GET(&dentry->d_sb);
	const struct inode *inode = FKT_PATH_GET(&dentry->d_inode);
	const u64 number = FKT_PATH_GET(&inode->i_ino);

	switch (FKT_PATH_GET(&sb->s_magic)) {
	case PIPEFS_MAGIC:
		return fkt_path_put_text(room, "]") && fkt_path_put_number(room, number) &&
		       fkt_path_put_text(room, "pipe:[");
	case SOCKFS_MAGIC:
		return fkt_path_put_text(room, "]") && fkt_path_put_number(room, number) &&
		       fkt_path_put_text(room, "socket:[");
	case ANON_INODE_FS_MAGIC:
		return fkt_path_put_name(room, dentry) && fkt_path_put_text(room, "anon_inode:");
	case TMPFS_MAGIC: /* memfd_create(), shared memory of System V */
	case HUGETLBFS_MAGIC:
	case SECRETMEM_MAGIC:
		return fkt_path_put_text(room, FKT_PATH_DELETED) &&
		       fkt_path_put_name(room, dentry) && fkt_path_put_text(room, "/");
	default:
		return false;
	}
}

/* The struct mount around it is not for modules. */
static u64 fkt_path_of_mount(const struct vfsmount *mnt, u32 offset)
{
	return fkt_path_word((const char *)mnt - fkt_path_mount.mnt + offset);
}

/* From a directory's entry up to where nothing is above it, also of threads after chroot(2). */
static bool fkt_path_put_places(struct fkt_path_room *room, struct path path)
{
	const u32 end = room->at;
	const struct dentry *parent;
	u64 mount;
	u32 i;

	for (i = 0; i < FKT_PATH_STEPS; i++) {
		parent = FKT_PATH_GET(&path.dentry->d_parent);
		if (!parent)
			return false;
		if (path.dentry != parent && path.dentry != FKT_PATH_GET(&path.mnt->mnt_root)) {
			if (!fkt_path_put_name(room, path.dentry) || !fkt_path_put_text(room, "/"))
				return false;
			path.dentry = (struct dentry *)parent;
			continue;
		}
		mount = fkt_path_of_mount(path.mnt, fkt_path_mount.parent);
		if (!mount)
			return false;
		if (mount == (u64)path.mnt - fkt_path_mount.mnt)
			return room->at < end || fkt_path_put_text(room, "/");
		path.dentry =
			(struct dentry *)fkt_path_of_mount(path.mnt, fkt_path_mount.mountpoint);
		path.mnt = (struct vfsmount *)(mount + fkt_path_mount.mnt);
	}
	return false;
}

static bool fkt_path_is_deleted(const struct dentry *dentry)
{
	return !FKT_PATH_GET(&dentry->d_hash.pprev) && FKT_PATH_GET(&dentry->d_parent) != dentry;
}

static bool fkt_path_put_path(struct fkt_path_room *room, const struct path *path)
{
	const struct dentry_operations *op = FKT_PATH_GET(&path->dentry->d_op);

	if (op && FKT_PATH_GET(&op->d_dname) &&
	    (FKT_PATH_GET(&path->dentry->d_parent) != path->dentry ||
	     FKT_PATH_GET(&path->mnt->mnt_root) != path->dentry))
		return fkt_path_put_nameless(room, path->dentry);
	if (fkt_path_is_deleted(path->dentry) && !fkt_path_put_text(room, FKT_PATH_DELETED))
		return false;
	return fkt_path_put_places(room, *path);
}

/* The file of a number; false where there is none. */
static bool fkt_path_find(struct path *path, s32 fd)
{
	const struct fdtable *table;
	const struct file *file;

	if (!current->fs || !current->files)
		return false;
	if (fd == AT_FDCWD) {
		path->mnt = READ_ONCE(current->fs->pwd.mnt);
		path->dentry = READ_ONCE(current->fs->pwd.dentry);
		return true;
	}
	/* Preemption is off: rcu_read_lock_sched() is nothing more, but for debugging. */
	table = rcu_dereference_raw(current->files->fdt);
	if (fd < 0 || fd >= table->max_fds)
		return false;
	file = rcu_dereference_raw(table->fd[array_index_nospec(fd, table->max_fds)]);
	if (!file)
		return false;
	path->mnt = FKT_PATH_GET(&file->f_path.mnt);
	path->dentry = FKT_PATH_GET(&file->f_path.dentry);
	return path->mnt && path->dentry;
}

/**
 * fkt_path_of - the path of one of the current thread's files
 * @fd: its number, or AT_FDCWD
 * @bytes: set: how long it is
 *
 * Context: a thread, preemption off until it is used, while fkt_path_wanted().
 * Return: the path, without a NUL; NULL where there is no such file, or its path is too long.
 */
const char *fkt_path_of(s32 fd, u32 *bytes)
{
	struct fkt_path_room *room = this_cpu_ptr(fkt_path_rooms);
	struct path path;
	bool there;

	room->at = sizeof(room->text);
	pagefault_disable();
	there = fkt_path_find(&path, fd) && fkt_path_put_path(room, &path);
	pagefault_enable();
	*bytes = sizeof(room->text) - room->at;
	return there ? room->text + room->at : NULL;
}

/* --- What the recorder asked for ------------------------------------------------------------ */

/* Whether paths are recorded. The session's lock, or while attached. */
bool fkt_path_wanted(void)
{
	return fkt_path_rooms;
}

/**
 * fkt_path_begin - paths are wanted
 * @mount: where in struct mount things are; not checked
 * Context: the session's lock; may sleep.
 * Return: 0 or a negative errno value.
 */
int fkt_path_begin(const struct fkt_data_common *mount)
{
	if (mount->reserved || (mount->mnt | mount->parent | mount->mountpoint) % sizeof(u64) ||
	    max3(mount->mnt, mount->parent, mount->mountpoint) >= PAGE_SIZE)
		return -EINVAL;
	fkt_path_mount = *mount;
	if (!fkt_path_rooms)
		fkt_path_rooms = alloc_percpu(struct fkt_path_room);
	return fkt_path_rooms ? 0 : -ENOMEM;
}

/**
 * fkt_path_end - they are not wanted any more
 * Context: the session's lock, not attached; may sleep.
 */
void fkt_path_end(void)
{
	free_percpu(fkt_path_rooms);
	fkt_path_rooms = NULL;
}
