/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* elf.c: the functions of a program or library, by where they stand in its file. */
#ifndef FKT_ELF_H
#define FKT_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer ones are not known. */
#define FKT_BUILD_ID_BYTES 64
#define FKT_BUILD_ID_TEXT  (2 * FKT_BUILD_ID_BYTES + 1)

/* The build id of a file that is open, in hex; false, and "", where it has none. */
bool fkt_elf_build_id(int fd, char text[FKT_BUILD_ID_TEXT]);

struct fkt_elf;

/*
 * The functions of a file that has this build id, and of its separate debug file, where there is
 * one. NULL: there is no such file, or it is not to be understood. To be freed by fkt_elf_free().
 */
struct fkt_elf *fkt_elf_new(const char *path, const char *build_id);
void fkt_elf_free(struct fkt_elf *elf);
/* The memory that it takes. */
size_t fkt_elf_bytes(const struct fkt_elf *elf);

/* The function that is at a place in the file, and how far that is in it. False: none is known. */
bool fkt_elf_function(const struct fkt_elf *elf, uint64_t offset, const char **name,
		      uint64_t *into);

#endif
