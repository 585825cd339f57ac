// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An ELF core: /proc/vmcore and what was copied from it, and QEMU's dump-guest-memory. Its segments
 * are memory; the addresses that they had there say where their pages begin.
 */
#include <elf.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "image.h"

/* More are a lie. */
#define SEGMENTS_MAX (1u << 20)

/* How many segments there are: where the header has no room for the number, section 0 says it. */
static uint32_t count_segments(const struct image *image, const Elf64_Ehdr *header)
{
	uint32_t count = le16toh(header->e_phnum);
	Elf64_Shdr section;

	if (count != PN_XNUM)
		return count;
	if (pread(image->fd, &section, sizeof(section), (off_t)le64toh(header->e_shoff)) !=
	    sizeof(section))
		return 0;
	return le32toh(section.sh_info);
}

static bool add_segment(struct image *image, const Elf64_Phdr *segment)
{
	uint64_t offset = le64toh(segment->p_offset), bytes = le64toh(segment->p_filesz);
	uint64_t skip = -le64toh(segment->p_paddr) % IMAGE_PAGE_BYTES;

	/* An address that is not known is all ones. */
	if (le64toh(segment->p_paddr) == UINT64_MAX)
		skip = -le64toh(segment->p_vaddr) % IMAGE_PAGE_BYTES;
	if (le32toh(segment->p_type) != PT_LOAD || bytes <= skip || bytes > INT64_MAX ||
	    offset > INT64_MAX - bytes)
		return true;
	return image_add_part(image, offset + skip, bytes - skip);
}

static bool elf_open(struct image *image, const void *begin, size_t bytes)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	uint64_t offset;
	uint32_t count;

	if (bytes < EI_NIDENT || memcmp(begin, ELFMAG, SELFMAG))
		return false;
	memset(&header, 0, sizeof(header));
	memcpy(&header, begin, bytes < sizeof(header) ? bytes : sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    le16toh(header.e_type) != ET_CORE || le16toh(header.e_phentsize) != sizeof(segment)) {
		snprintf(image->error, sizeof(image->error),
			 "is an ELF file, but no image of a 64-bit machine's memory");
		return true;
	}
	count = count_segments(image, &header);
	offset = le64toh(header.e_phoff);
	if (count > SEGMENTS_MAX || offset > INT64_MAX / 2) {
		snprintf(image->error, sizeof(image->error), "has a damaged header");
		return true;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (pread(image->fd, &segment, sizeof(segment),
			  (off_t)(offset + i * sizeof(segment))) != sizeof(segment)) {
			snprintf(image->error, sizeof(image->error),
				 "is cut off before its memory begins");
			return true;
		}
		if (!add_segment(image, &segment))
			return true;
	}
	if (!image->pages)
		snprintf(image->error, sizeof(image->error), "has no memory in it");
	return true;
}

const struct image_kind image_kind_elf = {
	.name = "ELF core",
	.open = elf_open,
};
