// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What can be traced in a program or library: its functions, by libelf, and its own probes
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation), with where they are in the
 * file. Files are checked by libelf and by what is done here: they may be anything.
 */
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/elf.h"
#include "arch.h"
#include "program_file.h"

#define SEGMENTS_MAX  64
#define DEBUG_FILES   "/usr/lib/debug/.build-id"
#define NOTE_OWNER    "stapsdt"
#define NOTE_TYPE     3
#define FUNCTIONS_MAX (1u << 22)
#define POINTS_MAX    (1u << 16)

/* Programs whose code goes back through its callers by what is on the stack. */
#define WHY_EXCEPTIONS                                                                             \
	"exceptions of C++ and panics of Rust do not get past a return that is traced"
#define WHY_GO "Go looks at return addresses, and stops at one that it does not know"

struct segment {
	uint64_t offset, bytes, address;
	bool code;
};

/**
 * struct reading - a file that is being read
 * @file: what is found
 * @elf: it
 * @segment: what of it is loaded
 * @segments: how many
 * @points_base: where the section .stapsdt.base is, 0: there is none
 */
struct reading {
	struct program_file *file;
	Elf *elf;
	struct segment segment[SEGMENTS_MAX];
	size_t segments;
	uint64_t points_base;
};

/*
 * What is no function that is called and returns, or looks at its own return address, or keeps it
 * for later: the kernel must not put another one in its place.
 */
static const char *const entry_only[] = {
	/* jumped to, or begun without a return address */
	"_start",
	"__restore_rt",
	"_dl_start",
	"_dl_start_user",
	"_dl_runtime_*",
	"__start_context",
	"__morestack*",
	/* kept, to return once more */
	"setjmp",
	"_setjmp",
	"__setjmp",
	"sigsetjmp",
	"__sigsetjmp",
	"longjmp",
	"_longjmp",
	"siglongjmp",
	"__longjmp*",
	"__libc_*longjmp",
	"vfork",
	"__vfork",
	"__libc_vfork",
	"getcontext",
	"setcontext",
	"swapcontext",
	"makecontext",
	"__getcontext",
	"clone",
	"__clone*",
	"clone3",
	/* looked for on the stack */
	"_Unwind_*",
	"__cxa_throw",
	"__cxa_rethrow",
	"mcount",
	"_mcount",
	"__fentry__",
	"_dl_tlsdesc*",
	/* call others back, which may leave them by an exception: std::call_once() does */
	"qsort",
	"qsort_r",
	"__qsort_r",
	"msort_with_tmp*",
	"bsearch",
	"lfind",
	"lsearch",
	"tsearch",
	"__tsearch",
	"tfind",
	"__tfind",
	"tdelete",
	"__tdelete",
	"twalk",
	"twalk_r",
	"__twalk*",
	"tdestroy",
	"__tdestroy",
	"trecurse*",
	"pthread_once",
	"__pthread_once*",
	"call_once",
	"ftw",
	"ftw64",
	"nftw",
	"nftw64",
	"scandir",
	"scandir64",
	"scandirat",
	"scandirat64",
	"glob",
	"glob64",
	"dl_iterate_phdr",
	"__dl_iterate_phdr",
	/* never */
	"_exit",
	"exit",
	"_Exit",
	"quick_exit",
	"abort",
	"__libc_start_main*",
	"__libc_start_call_main",
	"pthread_exit",
	"__pthread_exit",
	"__assert_fail*",
	"__stack_chk_fail*",
	"__chk_fail",
	"__fortify_fail*",
	"start_thread",
};

static enum program_how how(const struct program_file *file, const char *name)
{
	if (file->why_no_returns)
		return PROGRAM_ENTRY;
	for (size_t i = 0; i < sizeof(entry_only) / sizeof(entry_only[0]); i++)
		if (!fnmatch(entry_only[i], name, 0))
			return PROGRAM_ENTRY;
	return PROGRAM_PAIR;
}

void *program_grow(void *array, size_t count, size_t bytes)
{
	if (count & (count - 1))
		return array;
	array = reallocarray(array, count ? 2 * count : 1, bytes);
	if (!array)
		err(EXIT_FAILURE, "no memory for the functions of programs");
	return array;
}

static char *keep(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		err(EXIT_FAILURE, "no memory for the functions of programs");
	return copy;
}

/* Where in the file an address is that the program has it at; 0: in none that is loaded from it. */
static uint64_t offset_of(const struct reading *reading, uint64_t address, bool code)
{
	for (size_t i = 0; i < reading->segments; i++) {
		const struct segment *segment = &reading->segment[i];

		if (segment->code == code && address - segment->address < segment->bytes)
			return address - segment->address + segment->offset;
	}
	return 0;
}

static bool read_segments(struct reading *reading)
{
	size_t count = 0;
	GElf_Phdr header;

	elf_getphdrnum(reading->elf, &count);
	for (size_t i = 0; i < count && reading->segments < SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(reading->elf, (int)i, &header))
			return false;
		if (header.p_type != PT_LOAD)
			continue;
		reading->segment[reading->segments++] = (struct segment){
			.offset = header.p_offset,
			.bytes = header.p_filesz,
			.address = header.p_vaddr,
			.code = header.p_flags & PF_X,
		};
	}
	return reading->segments;
}

/* ---- functions ---- */

static void add_function(struct reading *reading, const char *name, uint64_t offset,
			 uint64_t address, enum program_how how)
{
	struct program_file *file = reading->file;
	size_t length = strcspn(name, "@");
	struct program_function *function;

	/* What follows is a version; and these are pieces of functions, which nobody calls. */
	if (!length || strstr(name, ".cold") || file->functions == FUNCTIONS_MAX)
		return;
	file->function = program_grow(file->function, file->functions, sizeof(*function));
	function = &file->function[file->functions++];
	*function = (struct program_function){ strndup(name, length), offset, address, how };
	if (!function->name)
		err(EXIT_FAILURE, "no memory for the functions of programs");
}

/* A routine that is called for exceptions, so that there are some. */
static bool is_personality(const char *name)
{
	return !strncmp(name, "__gxx_personality", strlen("__gxx_personality")) ||
	       !strcmp(name, "rust_eh_personality");
}

static void read_symbols(struct reading *reading, Elf *elf, Elf_Scn *section,
			 const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < count && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
		const unsigned int type = GELF_ST_TYPE(symbol.st_info);
		uint64_t offset;

		if (!name || !*name)
			continue;
		if (is_personality(name))
			reading->file->why_no_returns = WHY_EXCEPTIONS;
		/* Where it is undefined, its value is in the procedure linkage table, if any. */
		if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC))
			continue;
		offset = offset_of(reading, symbol.st_value, true);
		if (offset && type == STT_FUNC)
			add_function(reading, name, offset, symbol.st_value, PROGRAM_PAIR);
		else if (offset)
			add_function(reading, name, 0, 0, PROGRAM_INDIRECT);
	}
}

/* ---- a program's own probes ---- */

static uint64_t word_of(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* A note: three addresses, and three strings. */
static void add_point(struct reading *reading, const char *note, size_t bytes)
{
	const size_t words = 3 * sizeof(uint64_t);
	const char *provider = note + words, *end = note + bytes, *name, *args;
	struct program_file *file = reading->file;
	struct program_point point = { 0 };
	uint64_t moved, semaphore;

	if (bytes <= words || end[-1] || file->points == POINTS_MAX)
		return;
	name = provider + strlen(provider) + 1;
	args = name < end ? name + strlen(name) + 1 : end;
	if (args >= end || !*provider || !*name)
		return;
	/* Where it has been moved to since the program was compiled (prelink). */
	moved = reading->points_base ? reading->points_base - word_of(note + 8) : 0;
	semaphore = word_of(note + 16);
	point.offset = offset_of(reading, word_of(note) + moved, true);
	if (semaphore)
		point.semaphore = offset_of(reading, semaphore + moved, false);
	if (!point.offset || (semaphore && !point.semaphore))
		return;
	point.provider = keep(provider);
	point.name = keep(name);
	point.args = keep(args);
	file->point = program_grow(file->point, file->points, sizeof(point));
	file->point[file->points++] = point;
}

static void read_notes(struct reading *reading, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &desc)))
		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof(NOTE_OWNER) &&
		    !memcmp((char *)data->d_buf + name, NOTE_OWNER, sizeof(NOTE_OWNER)))
			add_point(reading, (char *)data->d_buf + desc, note.n_descsz);
}

/* ---- the file ---- */

/* What is not loaded is in other sections, or in a file of its own. */
static void read_sections(struct reading *reading, Elf *elf, bool own)
{
	Elf_Scn *section = NULL;
	size_t names = 0;
	GElf_Shdr header;
	const char *name;

	elf_getshdrstrndx(elf, &names);
	while (own && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name) ?: "";
		if (!strcmp(name, ".stapsdt.base"))
			reading->points_base = header.sh_addr;
		if (!strcmp(name, ".gopclntab") || !strcmp(name, ".go.buildinfo"))
			reading->file->why_no_returns = WHY_GO;
	}
	section = NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB || (own && header.sh_type == SHT_DYNSYM))
			read_symbols(reading, elf, section, &header);
		else if (own && header.sh_type == SHT_NOTE)
			read_notes(reading, section);
	}
}

int program_debug_file(const struct program_file *file)
{
	char id[FKT_BUILD_ID_TEXT], path[sizeof(DEBUG_FILES) + sizeof(id) + 16];

	if (!fkt_elf_build_id(file->fd, id) || strlen(id) < 3)
		return -1;
	snprintf(path, sizeof(path), DEBUG_FILES "/%.2s/%s.debug", id, id + 2);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The symbols that were taken out of it, where somebody has installed them. */
static void read_debug_file(struct reading *reading)
{
	int fd = program_debug_file(reading->file);
	Elf *elf;

	if (fd < 0)
		return;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		read_sections(reading, elf, false);
	elf_end(elf);
	close(fd);
}

/*
 * Which of several implementations an indirect function is, the dynamic linker has decided in this
 * process as it does in each, if we have the same library.
 */
static int resolve_in(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct reading *reading = arg;
	struct program_file *file = reading->file;
	struct stat ours, theirs;
	void *library;

	(void)size;
	if (!info->dlpi_name || !*info->dlpi_name || stat(info->dlpi_name, &ours) ||
	    fstat(file->fd, &theirs) || ours.st_dev != theirs.st_dev ||
	    ours.st_ino != theirs.st_ino)
		return 0;
	library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	for (size_t i = 0; library && i < file->functions; i++) {
		struct program_function *function = &file->function[i];
		uintptr_t address;

		if (function->how != PROGRAM_INDIRECT)
			continue;
		address = (uintptr_t)dlsym(library, function->name);
		if (!address)
			continue;
		function->address = address - info->dlpi_addr;
		function->offset = offset_of(reading, function->address, true);
	}
	if (library)
		dlclose(library);
	return 1;
}

static int compare_functions(const void *a, const void *b)
{
	const struct program_function *one = a, *other = b;
	int order = strcmp(one->name, other->name);

	return order ?: (one->offset > other->offset) - (one->offset < other->offset);
}

/* Sort them, and take out what is there twice: most of .dynsym is in .symtab as well. */
static void sort_functions(struct program_file *file)
{
	size_t kept = 0;

	if (!file->functions)
		return;
	qsort(file->function, file->functions, sizeof(*file->function), compare_functions);
	for (size_t i = 0; i < file->functions; i++) {
		if (kept && !compare_functions(&file->function[kept - 1], &file->function[i])) {
			free(file->function[i].name);
			continue;
		}
		file->function[kept++] = file->function[i];
	}
	file->functions = kept;
	for (size_t i = 0; i < kept; i++) {
		struct program_function *function = &file->function[i];

		if (function->how != PROGRAM_INDIRECT || function->offset)
			function->how = how(file, function->name);
	}
}

static const char *read_file(struct reading *reading)
{
	GElf_Ehdr header;

	if (elf_kind(reading->elf) != ELF_K_ELF || !gelf_getehdr(reading->elf, &header))
		return "it is no program and no library";
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return "it is no program and no library, but an object file";
	if (header.e_machine != arch.elf_machine || header.e_ident[EI_CLASS] != ELFCLASS64)
		return "it is for another machine, or for 32 bits";
	if (!read_segments(reading))
		return "nothing of it would be loaded";
	read_sections(reading, reading->elf, true);
	read_debug_file(reading);
	dl_iterate_phdr(resolve_in, reading);
	sort_functions(reading->file);
	return NULL;
}

static struct program_file *read_program(const char *path, const char **why)
{
	struct program_file *file = calloc(1, sizeof(*file));
	struct reading reading = { .file = file };
	struct stat status;

	if (!file)
		err(EXIT_FAILURE, "no memory for the functions of programs");
	/* A pipe would make us wait. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &status)) {
		*why = strerror(errno);
		goto fail;
	}
	if (!S_ISREG(status.st_mode)) {
		*why = "it is no file";
		goto fail;
	}
	file->path = keep(path);
	file->label = strrchr(file->path, '/') ? strrchr(file->path, '/') + 1 : file->path;
	elf_version(EV_CURRENT);
	reading.elf = elf_begin(file->fd, ELF_C_READ, NULL);
	*why = reading.elf ? read_file(&reading) : "it is no program and no library";
	elf_end(reading.elf);
	if (!*why)
		return file;
fail:
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file);
	return NULL;
}

const struct program_file *program_open(const char *path, const char **why)
{
	static struct program_file **files;
	static size_t count;
	struct program_file *file;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(files[i]->path, path))
			return files[i];
	file = read_program(path, why);
	if (!file)
		return NULL;
	files = program_grow(files, count, sizeof(*files));
	files[count++] = file;
	return file;
}
