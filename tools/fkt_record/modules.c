// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the trace must know of the kernel's modules: the codes that they have registered (probe.h),
 * and functions that /proc/kallsyms lacks, from the modules' files (paper, §7).
 *
 * Modules come while a recording runs: what the head does not know of them yet is in the tail.
 */
#include <dirent.h>
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record.h"
#include "sections.h"
#include "symbols.h"

#define HOLDERS	   "/sys/module/fkt/holders"
#define BUILD_ID   ".note.gnu.build-id"
#define NAME_BYTES 64

/* ---- codes ---- */

static void list_codes(int device, struct sections *lines)
{
	struct fkt_code_lines list = { .size = sizeof(list) };

	for (;;) {
		lines->bytes = 0;
		list.text_ptr = (uintptr_t)sections_reserve(lines, list.bytes + 1);
		list.room = list.bytes;
		if (ioctl(device, FKT_LIST_CODES, &list)) {
			warn(FKT_DEVICE ": modules' codes will have no names");
			return;
		}
		if (list.bytes <= list.room)
			break;
	}
	lines->bytes = list.bytes;
}

void modules_add_codes(struct sections *head, struct recording *recording)
{
	list_codes(recording->device, &recording->module_codes);
	sections_add(head, recording->module_codes.data, recording->module_codes.bytes);
}

/* Whether a line, with its newline, is among those of the head. */
static bool has_line(const struct sections *lines, const char *line, size_t length)
{
	return lines->bytes && memmem(lines->data, lines->bytes, line, length);
}

static void add_late_codes(struct sections *tail, const struct recording *recording)
{
	struct sections now = { 0 };
	const char *line, *newline;
	bool begun = false;

	list_codes(recording->device, &now);
	for (line = now.data; now.bytes; line = newline + 1) {
		newline = memchr(line, '\n', now.bytes);
		if (!newline)
			break;
		now.bytes -= (size_t)(newline + 1 - line);
		if (has_line(&recording->module_codes, line, (size_t)(newline + 1 - line)))
			continue;
		if (!begun)
			sections_begin(tail, FKT_SECTION_CODES);
		begun = true;
		sections_add(tail, line, (size_t)(newline + 1 - line));
	}
	if (begun)
		sections_end_compressed(tail);
	free(now.data);
}

/* ---- functions ---- */

/* In the kernel's names of modules there is no '-'. */
static void normalize(char *name)
{
	for (; *name; name++)
		if (*name == '-')
			*name = '_';
}

/* "…/some-name.ko.xz" has the module some_name. */
static void name_of_file(const char *file, char name[NAME_BYTES])
{
	const char *base = strrchr(file, '/');

	base = base ? base + 1 : file;
	snprintf(name, NAME_BYTES, "%.*s", (int)strcspn(base, "."), base);
	normalize(name);
}

/*
 * The file of an installed module, from /lib/modules/RELEASE/modules.dep; NULL when it is not
 * there.
 */
static char *find_file(const char *module)
{
	char *path = NULL, *line = NULL, name[NAME_BYTES], directory[128];
	struct utsname uts;
	size_t room = 0;
	FILE *list;

	uname(&uts);
	snprintf(directory, sizeof(directory), "/lib/modules/%s", uts.release);
	if (asprintf(&path, "%s/modules.dep", directory) < 0)
		return NULL;
	list = fopen(path, "re");
	free(path);
	path = NULL;
	while (list && !path && getline(&line, &room, list) > 0) {
		line[strcspn(line, ":\n")] = '\0';
		name_of_file(line, name);
		if (!strcmp(name, module) && asprintf(&path, "%s/%s", directory, line) < 0)
			path = NULL;
	}
	if (list)
		fclose(list);
	free(line);
	return path;
}

/* Where a section of a loaded module is; false when the module has none of that name. */
static bool section_address(const char *module, const char *section, uint64_t *address)
{
	char *path, text[32];
	FILE *file;

	if (asprintf(&path, "/sys/module/%s/sections/%s", module, section) < 0)
		return false;
	file = fopen(path, "re");
	free(path);
	if (!file)
		return false;
	*address = fgets(text, sizeof(text), file) ? strtoull(text, NULL, 16) : 0;
	fclose(file);
	return *address;
}

/**
 * struct file_module - a module's file, and what was found in it
 * @name: of the file
 * @module: of the module
 * @known: its functions in /proc/kallsyms, sorted
 * @late: it came while the recording ran
 * @foreign: it has another build id than the loaded module
 * @functions: seen in the file
 * @incoherent: of them, those which are elsewhere in the loaded module
 * @added: lines of those that kallsyms lacks
 * @added_count: how many
 */
struct file_module {
	const char *name;
	const char *module;
	struct symbols known;
	bool late;
	bool foreign;
	size_t functions;
	size_t incoherent;
	struct sections added;
	size_t added_count;
};

static void take_function(struct file_module *file, const char *name, uint64_t address, bool global)
{
	struct symbol symbol = { .name = name, .length = strlen(name) };
	const struct symbol *known = symbols_find(&file->known, &symbol);

	file->functions++;
	if (!known) {
		sections_printf(&file->added, "%016" PRIx64 " %c %s\t[%s]\n", address,
				global ? 'T' : 't', name, file->module);
		file->added_count++;
	} else if (!symbols_is_at(&file->known, known, address)) {
		file->incoherent++;
	}
}

static void take_table(struct file_module *file, Elf *elf, Elf_Scn *table, size_t names)
{
	Elf_Data *data = elf_getdata(table, NULL);
	GElf_Shdr table_header, header;
	GElf_Sym symbol;

	if (!data || !gelf_getshdr(table, &table_header))
		return;
	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, table_header.sh_link, symbol.st_name);
		const char *section;
		uint64_t address;

		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_shndx >= SHN_LORESERVE || !name || !*name ||
		    !gelf_getshdr(elf_getscn(elf, symbol.st_shndx), &header))
			continue;
		section = elf_strptr(elf, names, header.sh_name);
		/*
		 * The memory of what ran when the module came is another one's by now. It was its
		 * own while this recording ran, if the module came meanwhile.
		 */
		if (!section || (!strncmp(section, ".init", strlen(".init")) && !file->late))
			continue;
		if (section_address(file->module, section, &address))
			take_function(file, name, address + symbol.st_value,
				      GELF_ST_BIND(symbol.st_info) == STB_GLOBAL);
	}
}

/* The linker's build id, which strip leaves as it is; there may be none. */
static void check_build_id(struct file_module *file, Elf_Scn *section)
{
	Elf_Data *note = elf_getdata(section, NULL);
	char loaded[256], *path;
	ssize_t bytes = -1;
	int fd;

	if (asprintf(&path, "/sys/module/%s/notes/" BUILD_ID, file->module) < 0)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return;
	bytes = read(fd, loaded, sizeof(loaded));
	close(fd);
	file->foreign =
		note && bytes > 0 &&
		((size_t)bytes != note->d_size || memcmp(loaded, note->d_buf, note->d_size));
}

/* Return: 0, or -1 when this is no object file. */
static int read_file(struct file_module *file)
{
	int fd = open(file->name, O_RDONLY | O_CLOEXEC), ret = -1;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;
	Elf *elf;

	if (fd < 0)
		return -1;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getshdrstrndx(elf, &names)) {
		ret = 0;
		while ((section = elf_nextscn(elf, section))) {
			const char *name;

			if (!gelf_getshdr(section, &header))
				continue;
			name = elf_strptr(elf, names, header.sh_name);
			if (header.sh_type == SHT_SYMTAB)
				take_table(file, elf, section, names);
			else if (name && !strcmp(name, BUILD_ID))
				check_build_id(file, section);
		}
	}
	if (elf)
		elf_end(elf);
	close(fd);
	return ret;
}

/* Append to @text the functions of one module that are not among @all, the lines of kallsyms. */
static void add_module(struct sections *text, const struct sections *all, const char *module,
		       const char *name, bool late)
{
	struct file_module file = { .name = name, .module = module, .late = late };

	symbols_parse(&file.known, all->data, all->bytes, module);
	symbols_sort(&file.known);
	if (read_file(&file)) {
		warnx("%s: no object file; unpack it first if it is compressed", name);
	} else if (file.foreign) {
		warnx("%s: not used; the loaded module %s is of another build", name, module);
	} else if (file.incoherent) {
		warnx("%s: %zu of %zu functions are elsewhere in the loaded module %s; "
		      "not used, for it is not the file that was loaded",
		      name, file.incoherent, file.functions, module);
	} else if (file.added_count) {
		sections_add(text, file.added.data, file.added.bytes);
		warnx("%s: %zu functions added that /proc/kallsyms lacks", name, file.added_count);
	}
	free(file.added.data);
	free(file.known.symbol);
}

/* The file that -M names for a module, or NULL. */
static const char *given_file(const struct options *options, const char *module)
{
	char name[NAME_BYTES];

	for (size_t i = 0; i < options->module_files_count; i++) {
		name_of_file(options->module_files[i], name);
		if (!strcmp(name, module))
			return options->module_files[i];
	}
	return NULL;
}

/* A module that uses FKT, so maybe by gcc's instrumentation. */
static bool is_holder(const char *module)
{
	char path[sizeof(HOLDERS) + 1 + NAME_BYTES];

	snprintf(path, sizeof(path), HOLDERS "/%s", module);
	return !access(path, F_OK);
}

static void add_one(struct sections *text, const struct sections *all, const char *module,
		    const struct options *options, bool late)
{
	const char *given = given_file(options, module);
	char *found = NULL;

	if (!given && is_holder(module))
		found = find_file(module);
	/* A compressed file that nobody asked for: kallsyms will do. */
	if (found && strcmp(found + strlen(found) - strlen(".ko"), ".ko")) {
		free(found);
		found = NULL;
	}
	if (given || found)
		add_module(text, all, module, given ? given : found, late);
	free(found);
}

/**
 * struct loaded - a line of /proc/modules
 * @name: of the module
 * @address: where it is
 */
struct loaded {
	char name[NAME_BYTES];
	uint64_t address;
};

static bool next_loaded(FILE *modules, struct loaded *module)
{
	/* name, size, references, dependents, state, address */
	return modules && fscanf(modules, "%63s %*s %*s %*s %*s %" SCNx64 "%*[^\n]", module->name,
				 &module->address) == 2;
}

static bool was_loaded(const struct recording *recording, const struct loaded *module)
{
	for (size_t i = 0; i < recording->loaded_count; i++)
		if (recording->loaded[i].address == module->address &&
		    !strcmp(recording->loaded[i].name, module->name))
			return true;
	return false;
}

static void remember_loaded(struct recording *recording, const struct loaded *module)
{
	recording->loaded = reallocarray(recording->loaded, recording->loaded_count + 1,
					 sizeof(*recording->loaded));
	if (!recording->loaded)
		err(EXIT_FAILURE, "no memory for the list of modules");
	recording->loaded[recording->loaded_count++] = *module;
}

void modules_add_symbols(struct sections *head, size_t begin, struct recording *recording)
{
	FILE *modules = fopen("/proc/modules", "re");
	struct sections all = { 0 };
	struct loaded module;

	sections_add(&all, head->data + begin, head->bytes - begin);
	while (next_loaded(modules, &module)) {
		remember_loaded(recording, &module);
		add_one(head, &all, module.name, &recording->options, false);
	}
	if (modules)
		fclose(modules);
	free(all.data);
}

/* Append the lines of one module's functions. */
static void copy_lines(struct sections *text, const struct sections *all, const char *module)
{
	struct symbols symbols = { 0 };

	symbols_parse(&symbols, all->data, all->bytes, module);
	for (size_t i = 0; i < symbols.count; i++)
		sections_printf(text, "%016" PRIx64 " %c %.*s\t[%s]\n", symbols.symbol[i].address,
				symbols.symbol[i].type, (int)symbols.symbol[i].length,
				symbols.symbol[i].name, module);
	free(symbols.symbol);
}

static void add_late_symbols(struct sections *tail, const struct recording *recording)
{
	FILE *modules = fopen("/proc/modules", "re");
	struct sections all = { 0 };
	struct loaded module;
	bool begun = false;

	while (next_loaded(modules, &module)) {
		if (was_loaded(recording, &module))
			continue;
		if (!begun) {
			if (symbols_read(&all, "/proc/kallsyms"))
				break;
			sections_begin(tail, FKT_SECTION_SYMBOLS);
			begun = true;
		}
		copy_lines(tail, &all, module.name);
		add_one(tail, &all, module.name, &recording->options, true);
	}
	if (begun)
		sections_end_compressed(tail);
	if (modules)
		fclose(modules);
	free(all.data);
}

/* Say which modules of -M never were there. */
static void check_files(const struct recording *recording)
{
	const struct options *options = &recording->options;

	for (size_t i = 0; i < options->module_files_count; i++) {
		struct loaded module;
		bool found = false;
		FILE *modules = fopen("/proc/modules", "re");
		char name[NAME_BYTES];

		name_of_file(options->module_files[i], name);
		while (!found && next_loaded(modules, &module))
			found = !strcmp(module.name, name);
		if (modules)
			fclose(modules);
		for (size_t k = 0; !found && k < recording->loaded_count; k++)
			found = !strcmp(recording->loaded[k].name, name);
		if (!found)
			warnx("%s: no module %s was loaded", options->module_files[i], name);
	}
}

void modules_add_late(struct sections *tail, const struct recording *recording)
{
	add_late_codes(tail, recording);
	add_late_symbols(tail, recording);
	check_files(recording);
}
