// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The functions of ELF files. Which files these are a trace says, and so they may be anything:
 * nothing but a regular file is opened, and what is in it is libelf's to check.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>

#include "elf.h"
#include "internal.h"

/* Where gdb looks as well, and distributions put them. */
#define DEBUG_DIR     "/usr/lib/debug"
#define DEBUG_FILES   DEBUG_DIR "/.build-id"

#define SEGMENTS_MAX  64
/* Of what a build id is looked for in. */
#define HEADERS_MAX   64
#define NOTES_MAX     4096
/* The bytes of names that are read, and the underscores of a name that are counted. */
#define NAMES_MAX     (256u << 20)
#define RANK_MAX      15
/* More names than that are a lie; the largest programs have some hundred thousand. */
#define FUNCTIONS_MAX (1u << 22)

struct segment {
	uint64_t offset;
	uint64_t bytes;
	uint64_t address;
};

/**
 * struct function - a function
 * @address: where it is in the program's own view
 * @bytes: 0 where that is not known
 * @name: where in @names
 * @rank: of those at one address, the lowest counts
 */
struct function {
	uint64_t address;
	uint64_t bytes;
	uint32_t name;
	uint32_t rank;
};

struct fkt_elf {
	struct segment segment[SEGMENTS_MAX];
	unsigned int segments;
	struct function *function;
	size_t functions;
	char *names;
	size_t names_bytes;
};

/* ---- the build id ---- */

/* The one of a piece of notes. */
static bool find_build_id(Elf_Data *notes, char text[FKT_BUILD_ID_TEXT])
{
	const unsigned char *bytes;
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (notes && (at = gelf_getnote(notes, at, &note, &name, &desc))) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp((char *)notes->d_buf + name, "GNU", sizeof("GNU")) || !note.n_descsz ||
		    note.n_descsz > FKT_BUILD_ID_BYTES)
			continue;
		bytes = (unsigned char *)notes->d_buf + desc;
		for (unsigned int i = 0; i < note.n_descsz; i++)
			sprintf(text + 2 * i, "%02x", bytes[i]);
		return true;
	}
	return false;
}

static bool build_id_of(Elf *elf, char text[FKT_BUILD_ID_TEXT])
{
	size_t count = 0;
	GElf_Phdr header;

	*text = '\0';
	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count && i < HEADERS_MAX && gelf_getphdr(elf, (int)i, &header); i++)
		if (header.p_type == PT_NOTE && header.p_filesz <= NOTES_MAX &&
		    find_build_id(
			    elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
						 header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
			    text))
			return true;
	return false;
}

static Elf *begin(int fd)
{
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	return NULL;
}

bool fkt_elf_build_id(int fd, char text[FKT_BUILD_ID_TEXT])
{
	Elf *elf = begin(fd);
	bool found = elf && build_id_of(elf, text);

	if (!found)
		*text = '\0';
	elf_end(elf);
	return found;
}

/* ---- functions ---- */

/* Of several names, the one with the fewest underscores before it, and of these a global one. */
static uint32_t rank_of(const GElf_Sym *symbol, const char *name)
{
	static const uint32_t rank[] = { [STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1 };
	const unsigned int binding = GELF_ST_BIND(symbol->st_info);
	uint32_t underscores = 0;

	while (underscores < RANK_MAX && name[underscores] == '_')
		underscores++;
	return 4 * underscores + (binding <= STB_WEAK ? rank[binding] : 3);
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* A table with entries, and the names that they have, as one string after the other. */
static bool take_table(struct fkt_elf *elf, Elf *file, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *names_section = elf_getscn(file, header->sh_link);
	struct function *function;
	Elf_Data *data, *names;
	GElf_Shdr names_header;
	size_t count, kept = 0;
	GElf_Sym symbol;

	/* Before anything is read: what a file claims to have, libelf makes room for. */
	if (!gelf_getshdr(names_section, &names_header) || names_header.sh_size > NAMES_MAX ||
	    !header->sh_entsize || header->sh_size / header->sh_entsize > FUNCTIONS_MAX ||
	    header->sh_size > FUNCTIONS_MAX * sizeof(GElf_Sym))
		return false;
	data = elf_getdata(section, NULL);
	names = elf_getdata(names_section, NULL);
	if (!data || !names || !names->d_buf || !names->d_size)
		return false;
	count = data->d_size / header->sh_entsize;
	elf->names = malloc(names->d_size + 1);
	elf->function = malloc((count + 1) * sizeof(*elf->function));
	if (!elf->names || !elf->function)
		return false;
	memcpy(elf->names, names->d_buf, names->d_size);
	elf->names[names->d_size] = '\0';
	elf->names_bytes = names->d_size + 1;
	for (size_t i = 0; i < names->d_size; i += strlen(elf->names + i) + 1)
		fkt_sanitize(elf->names + i);
	for (size_t i = 0; i < count && gelf_getsym(data, (int)i, &symbol); i++) {
		const int type = GELF_ST_TYPE(symbol.st_info);

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_name >= names->d_size || !elf->names[symbol.st_name])
			continue;
		elf->function[elf->functions++] = (struct function){
			.address = symbol.st_value,
			.bytes = symbol.st_size,
			.name = symbol.st_name,
			.rank = rank_of(&symbol, elf->names + symbol.st_name),
		};
	}
	qsort(elf->function, elf->functions, sizeof(*elf->function), compare_functions);
	for (size_t i = 0; i < elf->functions; i++)
		if (!kept || elf->function[i].address != elf->function[kept - 1].address)
			elf->function[kept++] = elf->function[i];
	elf->functions = kept;
	function = realloc(elf->function, (kept + 1) * sizeof(*function));
	if (function)
		elf->function = function;
	return kept;
}

static void drop_functions(struct fkt_elf *elf)
{
	free(elf->function);
	free(elf->names);
	elf->function = NULL;
	elf->names = NULL;
	elf->names_bytes = 0;
	elf->functions = 0;
}

/* The functions that a file has in its table of this type; there is one. */
static bool take_functions(struct fkt_elf *elf, Elf *file, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header = { .sh_type = SHT_NULL };

	while ((section = elf_nextscn(file, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == type)
			break;
	if (section && take_table(elf, file, section, &header))
		return true;
	drop_functions(elf);
	return false;
}

static void take_segments(struct fkt_elf *elf, Elf *file)
{
	size_t count = 0;
	GElf_Phdr header;

	elf_getphdrnum(file, &count);
	for (size_t i = 0; i < count && gelf_getphdr(file, (int)i, &header); i++)
		if (header.p_type == PT_LOAD && elf->segments < SEGMENTS_MAX)
			elf->segment[elf->segments++] = (struct segment){ header.p_offset,
									  header.p_filesz,
									  header.p_vaddr };
}

/* ---- files ---- */

/* Open a regular file; opening what is none may have effects, or wait. -1: it is none. */
static int open_file(const char *path)
{
	struct stat st;
	int fd;

	if (*path != '/' || stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The file, if it has that build id. The descriptor is to be closed after it. */
static Elf *begin_same(const char *path, const char *build_id, int *fd)
{
	char text[FKT_BUILD_ID_TEXT];
	Elf *file;

	*fd = open_file(path);
	file = *fd < 0 ? NULL : begin(*fd);
	if (file && build_id_of(file, text) && !strcmp(text, build_id))
		return file;
	elf_end(file);
	if (*fd >= 0)
		close(*fd);
	return NULL;
}

/* The table of a separate file, if it is of the same build. */
static bool take_from(struct fkt_elf *elf, const char *path, const char *build_id)
{
	bool taken;
	Elf *file;
	int fd;

	file = begin_same(path, build_id, &fd);
	if (!file)
		return false;
	taken = take_functions(elf, file, SHT_SYMTAB);
	elf_end(file);
	close(fd);
	return taken;
}

/* The name of the separate file that a file says it has; NULL: none. */
static const char *debug_link(Elf *file)
{
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;
	Elf_Data *data;
	size_t strings;

	if (elf_getshdrstrndx(file, &strings))
		return NULL;
	while ((section = elf_nextscn(file, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    header.sh_size > PATH_MAX ||
		    !(name = elf_strptr(file, strings, header.sh_name)) ||
		    strcmp(name, ".gnu_debuglink"))
			continue;
		data = elf_getdata(section, NULL);
		if (!data || !data->d_buf || !memchr(data->d_buf, '\0', data->d_size))
			return NULL;
		name = data->d_buf;
		/* It is a name, and no way to somewhere else. */
		return *name && !strchr(name, '/') ? name : NULL;
	}
	return NULL;
}

/*
 * The functions of a file that has been stripped: by its build id, or else in a file that it names,
 * beside it, or below.
 */
static bool take_debug_file(struct fkt_elf *elf, Elf *file, const char *path, const char *build_id)
{
	const int folder = (int)(strrchr(path, '/') - path);
	const char *name = debug_link(file);
	char other[PATH_MAX];

	snprintf(other, sizeof(other), DEBUG_FILES "/%.2s/%s.debug", build_id, build_id + 2);
	if (take_from(elf, other, build_id))
		return true;
	if (!name)
		return false;
	/* A path that is too long is another one, and of no file that has the same build id. */
	snprintf(other, sizeof(other), "%.*s/%s", folder, path, name);
	if (take_from(elf, other, build_id))
		return true;
	snprintf(other, sizeof(other), "%.*s/.debug/%s", folder, path, name);
	if (take_from(elf, other, build_id))
		return true;
	snprintf(other, sizeof(other), DEBUG_DIR "%.*s/%s", folder, path, name);
	return take_from(elf, other, build_id);
}

/* What a path is made of must be hex digits. */
static bool is_build_id(const char *text)
{
	const size_t length = strlen(text);

	return length >= 4 && length < FKT_BUILD_ID_TEXT &&
	       strspn(text, "0123456789abcdef") == length;
}

struct fkt_elf *fkt_elf_new(const char *path, const char *build_id)
{
	struct fkt_elf *elf;
	Elf *file;
	int fd;

	if (!is_build_id(build_id))
		return NULL;
	file = begin_same(path, build_id, &fd);
	if (!file)
		return NULL;
	elf = calloc(1, sizeof(*elf));
	if (elf) {
		take_segments(elf, file);
		if (!take_functions(elf, file, SHT_SYMTAB) &&
		    !take_debug_file(elf, file, path, build_id))
			take_functions(elf, file, SHT_DYNSYM);
	}
	elf_end(file);
	close(fd);
	return elf;
}

void fkt_elf_free(struct fkt_elf *elf)
{
	if (!elf)
		return;
	drop_functions(elf);
	free(elf);
}

size_t fkt_elf_bytes(const struct fkt_elf *elf)
{
	return sizeof(*elf) + elf->functions * sizeof(*elf->function) + elf->names_bytes;
}

bool fkt_elf_function(const struct fkt_elf *elf, uint64_t offset, const char **name, uint64_t *into)
{
	const struct function *function;
	size_t low = 0, high = elf->functions, middle;
	uint64_t address;
	unsigned int i;

	for (i = 0; i < elf->segments; i++)
		if (offset - elf->segment[i].offset < elf->segment[i].bytes)
			break;
	if (i == elf->segments)
		return false;
	address = offset - elf->segment[i].offset + elf->segment[i].address;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (elf->function[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	function = &elf->function[low - 1];
	*into = address - function->address;
	*name = elf->names + function->name;
	return !function->bytes || *into < function->bytes;
}
