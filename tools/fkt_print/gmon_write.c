// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gmon.out, and an ELF file with the functions' names. Functions of the kernel, its modules and
 * programs stand far apart, or at the same addresses: here each one has a place of its own in a
 * code that is nowhere, and the profile a number for each of these places.
 */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/gmon_out.h>

#include "gmon.h"

/* gprof counts code in units of two bytes. */
#define CODE_BEGIN  0x10000ull
#define CODE_BYTES  4
#define TICKS_MAX   UINT16_MAX
#define DIMENSION   "seconds"
#define TEXT_NAME   1
#define SECTION_ALL "\0.text\0.symtab\0.strtab\0.shstrtab"
/* gprof does not see the last function of a program: here that is none. */
#define LAST	    "(end)"

static void put16(FILE *file, uint16_t value)
{
	value = htole16(value);
	fwrite(&value, sizeof(value), 1, file);
}

static void put32(FILE *file, uint32_t value)
{
	value = htole32(value);
	fwrite(&value, sizeof(value), 1, file);
}

static void put64(FILE *file, uint64_t value)
{
	value = htole64(value);
	fwrite(&value, sizeof(value), 1, file);
}

static uint64_t code_of(uint32_t function)
{
	return CODE_BEGIN + (uint64_t)function * CODE_BYTES;
}

/* A number has 16 bits: what is beyond stands in a further record, and is added. */
static uint64_t put_ticks(FILE *file, const struct gmon *gmon, uint64_t done)
{
	const char dimension[15] = DIMENSION;
	uint64_t left = 0, ticks;

	putc(GMON_TAG_TIME_HIST, file);
	put64(file, code_of(0));
	put64(file, code_of(gmon->functions));
	put32(file, gmon->functions);
	put32(file, gmon->rate);
	fwrite(dimension, sizeof(dimension), 1, file);
	putc(*DIMENSION, file);
	for (uint32_t i = 0; i < gmon->functions; i++) {
		ticks = gmon->ticks[i] > done ? gmon->ticks[i] - done : 0;
		if (ticks > TICKS_MAX) {
			left |= ticks - TICKS_MAX;
			ticks = TICKS_MAX;
		}
		put16(file, (uint16_t)ticks);
	}
	return left;
}

static void put_arc(FILE *file, const struct gmon_arc *arc)
{
	uint64_t left = arc->count;
	uint32_t count;

	for (; left; left -= count) {
		count = left > INT32_MAX ? INT32_MAX : (uint32_t)left;
		putc(GMON_TAG_CG_ARC, file);
		put64(file, code_of(arc->from));
		put64(file, code_of(arc->to));
		put32(file, count);
	}
}

void gmon_write(FILE *file, const struct gmon *gmon)
{
	const char spare[3 * sizeof(uint32_t)] = { 0 };
	uint64_t done = 0;

	fwrite(GMON_MAGIC, 4, 1, file);
	put32(file, GMON_VERSION);
	fwrite(spare, sizeof(spare), 1, file);
	while (put_ticks(file, gmon, done))
		done += TICKS_MAX;
	for (uint32_t i = 0; i < gmon->arcs; i++)
		put_arc(file, &gmon->arc[i]);
}

/* ---- the program ---- */

enum {
	SECTION_NONE,
	SECTION_TEXT,
	SECTION_SYMBOLS,
	SECTION_NAMES,
	SECTION_SECTIONS,
	SECTIONS,
};

static void put_header(FILE *file, uint64_t sections)
{
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = htole16(ET_EXEC),
		.e_machine = htole16(EM_X86_64),
		.e_version = htole32(EV_CURRENT),
		.e_shoff = htole64(sections),
		.e_ehsize = htole16(sizeof(Elf64_Ehdr)),
		.e_shentsize = htole16(sizeof(Elf64_Shdr)),
		.e_shnum = htole16(SECTIONS),
		.e_shstrndx = htole16(SECTION_SECTIONS),
	};

	fwrite(&header, sizeof(header), 1, file);
}

static const char *name_of(const struct gmon *gmon, uint32_t function)
{
	return function < gmon->functions ? gmon->names[function] : LAST;
}

static void put_symbols(FILE *file, const struct gmon *gmon)
{
	Elf64_Sym symbol = { 0 };
	uint32_t name = 1;

	fwrite(&symbol, sizeof(symbol), 1, file);
	for (uint32_t i = 0; i <= gmon->functions; i++) {
		symbol = (Elf64_Sym){
			.st_name = htole32(name),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = htole16(SECTION_TEXT),
			.st_value = htole64(code_of(i)),
			.st_size = htole64(CODE_BYTES),
		};
		fwrite(&symbol, sizeof(symbol), 1, file);
		name += (uint32_t)strlen(name_of(gmon, i)) + 1;
	}
}

static void put_section(FILE *file, const Elf64_Shdr *section)
{
	const Elf64_Shdr put = {
		.sh_name = htole32(section->sh_name),
		.sh_type = htole32(section->sh_type),
		.sh_flags = htole64(section->sh_flags),
		.sh_addr = htole64(section->sh_addr),
		.sh_offset = htole64(section->sh_offset),
		.sh_size = htole64(section->sh_size),
		.sh_link = htole32(section->sh_link),
		.sh_info = htole32(section->sh_info),
		.sh_addralign = htole64(1),
		.sh_entsize = htole64(section->sh_entsize),
	};

	fwrite(&put, sizeof(put), 1, file);
}

void gmon_write_elf(FILE *file, const struct gmon *gmon)
{
	static const char names[] = SECTION_ALL;
	Elf64_Shdr section[SECTIONS] = {
		[SECTION_TEXT] = { .sh_name = TEXT_NAME,
				   .sh_type = SHT_NOBITS,
				   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				   .sh_addr = code_of(0),
				   .sh_offset = sizeof(Elf64_Ehdr),
				   .sh_size = (gmon->functions + 1ull) * CODE_BYTES },
		[SECTION_SYMBOLS] = { .sh_name = TEXT_NAME + sizeof(".text"),
				      .sh_type = SHT_SYMTAB,
				      .sh_size = (gmon->functions + 2ull) * sizeof(Elf64_Sym),
				      .sh_link = SECTION_NAMES,
				      .sh_info = 1,
				      .sh_entsize = sizeof(Elf64_Sym) },
		[SECTION_NAMES] = { .sh_name = TEXT_NAME + sizeof(".text") + sizeof(".symtab"),
				    .sh_type = SHT_STRTAB,
				    .sh_size = 1 },
		[SECTION_SECTIONS] = { .sh_name = TEXT_NAME + sizeof(".text") + sizeof(".symtab") +
						  sizeof(".strtab"),
				       .sh_type = SHT_STRTAB,
				       .sh_size = sizeof(names) },
	};
	uint64_t offset = sizeof(Elf64_Ehdr);

	for (uint32_t i = 0; i <= gmon->functions; i++)
		section[SECTION_NAMES].sh_size += strlen(name_of(gmon, i)) + 1;
	for (unsigned int i = SECTION_SYMBOLS; i < SECTIONS; i++) {
		section[i].sh_offset = offset;
		offset += section[i].sh_size;
	}
	put_header(file, offset);
	put_symbols(file, gmon);
	putc('\0', file);
	for (uint32_t i = 0; i <= gmon->functions; i++)
		fwrite(name_of(gmon, i), strlen(name_of(gmon, i)) + 1, 1, file);
	fwrite(names, sizeof(names), 1, file);
	for (unsigned int i = 0; i < SECTIONS; i++)
		put_section(file, &section[i]);
}
