// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the numbers in events mean: codes, system calls, IRQs, errors, states.
 *
 * What the trace says of itself comes first; what it does not say is looked up in the tables that
 * this library was built with.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "internal.h"

#define X(NAME, bit, name, about) static const char layer_##NAME[] __attribute__((unused)) = name;
FKT_LAYERS(X)
#undef X

static const struct fkt_code_row known_codes[] = {
#define X(NAME, code, count, KIND, pair, LAYER, name, spec)                                        \
	{ code, count, FKT_KIND_##KIND, pair, layer_##LAYER, name, spec },
	FKT_CODES(X)
#undef X
};

static const char *const kinds[] = {
#define X(NAME, name) [FKT_KIND_##NAME] = name,
	FKT_KINDS(X)
#undef X
};

static const char *const softirqs[] = {
#define X(number, name) [number] = #name,
	FKT_SOFTIRQS(X)
#undef X
};

/* clang-format off */
/*
 * Linux's errors, as x86 and most others have them, whatever the numbers are on the machine that
 * reads.
 */
static const char *const errors[] = {
	[1] = "EPERM", "ENOENT", "ESRCH", "EINTR", "EIO", "ENXIO", "E2BIG", "ENOEXEC", "EBADF",
	"ECHILD", "EAGAIN", "ENOMEM", "EACCES", "EFAULT", "ENOTBLK", "EBUSY", "EEXIST", "EXDEV",
	"ENODEV", "ENOTDIR", "EISDIR", "EINVAL", "ENFILE", "EMFILE", "ENOTTY", "ETXTBSY", "EFBIG",
	"ENOSPC", "ESPIPE", "EROFS", "EMLINK", "EPIPE", "EDOM", "ERANGE", "EDEADLK",
	"ENAMETOOLONG", "ENOLCK", "ENOSYS", "ENOTEMPTY", "ELOOP", NULL, "ENOMSG", "EIDRM",
	"ECHRNG", "EL2NSYNC", "EL3HLT", "EL3RST", "ELNRNG", "EUNATCH", "ENOCSI", "EL2HLT", "EBADE",
	"EBADR", "EXFULL", "ENOANO", "EBADRQC", "EBADSLT", NULL, "EBFONT", "ENOSTR", "ENODATA",
	"ETIME", "ENOSR", "ENONET", "ENOPKG", "EREMOTE", "ENOLINK", "EADV", "ESRMNT", "ECOMM",
	"EPROTO", "EMULTIHOP", "EDOTDOT", "EBADMSG", "EOVERFLOW", "ENOTUNIQ", "EBADFD", "EREMCHG",
	"ELIBACC", "ELIBBAD", "ELIBSCN", "ELIBMAX", "ELIBEXEC", "EILSEQ", "ERESTART", "ESTRPIPE",
	"EUSERS", "ENOTSOCK", "EDESTADDRREQ", "EMSGSIZE", "EPROTOTYPE", "ENOPROTOOPT",
	"EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EOPNOTSUPP", "EPFNOSUPPORT", "EAFNOSUPPORT",
	"EADDRINUSE", "EADDRNOTAVAIL", "ENETDOWN", "ENETUNREACH", "ENETRESET", "ECONNABORTED",
	"ECONNRESET", "ENOBUFS", "EISCONN", "ENOTCONN", "ESHUTDOWN", "ETOOMANYREFS", "ETIMEDOUT",
	"ECONNREFUSED", "EHOSTDOWN", "EHOSTUNREACH", "EALREADY", "EINPROGRESS", "ESTALE",
	"EUCLEAN", "ENOTNAM", "ENAVAIL", "EISNAM", "EREMOTEIO", "EDQUOT", "ENOMEDIUM",
	"EMEDIUMTYPE", "ECANCELED", "ENOKEY", "EKEYEXPIRED", "EKEYREVOKED", "EKEYREJECTED",
	"EOWNERDEAD", "ENOTRECOVERABLE", "ERFKILL", "EHWPOISON",
	/* the kernel's own, which a probe may see before user space gets another one */
	[512] = "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ENOIOCTLCMD",
	"ERESTART_RESTARTBLOCK", "EPROBE_DEFER", "EOPENSTALE", "ENOPARAM",
	[524] = "ENOTSUPP", "ETOOSMALL", "ESERVERFAULT", "EBADTYPE", "EJUKEBOX", "EIOCBQUEUED",
	"ERECALLCONFLICT", "ENOGRACE",
};
/* clang-format on */

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define LOOK_UP(array, i) ((size_t)(i) < ARRAY_SIZE(array) ? (array)[i] : NULL)

static const struct fkt_arch *const archs[] = {
#define X(name) &fkt_arch_##name,
	FKT_ARCHS(X)
#undef X
};

/* A machine that this library does not know: its numbers have no names. */
static const struct fkt_arch unknown_arch = { .abi = "",
					      .compat_abi = "",
					      .compat_prefix = "compat_" };

/* ---- lines and words ---- */

/* Bytes of the UTF-8 character at @text, 0 when it is none, or a control character. */
static unsigned int utf8_length(const unsigned char *text)
{
	uint32_t value;
	unsigned int length;

	if (text[0] < 0x80)
		return text[0] >= ' ' && text[0] != 0x7f;
	if (text[0] >= 0xc2 && text[0] < 0xe0)
		length = 2;
	else if ((text[0] & 0xf0) == 0xe0)
		length = 3;
	else if (text[0] >= 0xf0 && text[0] < 0xf5)
		length = 4;
	else
		return 0;
	value = text[0] & (0x7f >> length);
	for (unsigned int i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (text[i] & 0x3f);
	}
	if (value < 0xa0 || (length == 3 && value < 0x800) || (length == 4 && value < 0x10000) ||
	    value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	/* Line and paragraph separators, and what turns the direction of writing round. */
	if ((value >= 0x2028 && value <= 0x202e) || (value >= 0x2066 && value <= 0x2069))
		return 0;
	return length;
}

void fkt_sanitize(char *text)
{
	unsigned int length;

	while (*text) {
		/* Nearly all that there is. */
		if (*text >= ' ' && *text < 0x7f) {
			text++;
			continue;
		}
		length = utf8_length((unsigned char *)text);
		if (!length) {
			*text = '?';
			length = 1;
		}
		text += length;
	}
}

char *fkt_next_line(char **text)
{
	char *line = *text, *end;

	if (!line || !*line)
		return NULL;
	end = strchrnul(line, '\n');
	*text = end + !!*end;
	*end = '\0';
	for (char *tab = line; (tab = strchr(tab, '\t')); tab++)
		*tab = ' ';
	fkt_sanitize(line);
	return line;
}

char *fkt_next_word(char **line)
{
	char *word = *line, *end;

	while (*word == ' ')
		word++;
	if (!*word)
		return NULL;
	end = strchrnul(word, ' ');
	*line = end + !!*end;
	*end = '\0';
	return word;
}

bool fkt_parse_u64(const char *word, uint64_t *value)
{
	char *end;

	if (!word || *word < '0' || *word > '9')
		return false;
	errno = 0;
	*value = strtoull(word, &end, 0);
	return !errno && !*end;
}

bool fkt_parse_u32(const char *word, uint32_t *value)
{
	uint64_t wide;

	if (!fkt_parse_u64(word, &wide) || wide > UINT32_MAX)
		return false;
	*value = (uint32_t)wide;
	return true;
}

/* Room for one more entry in an array whose size doubles; NULL without memory. */
static void *grow(void *array, size_t count, size_t bytes)
{
	if (count & (count - 1) || (count && count < 16))
		return array;
	return realloc(array, (count ? count * 2 : 16) * bytes);
}

/* ---- tables from the trace ---- */

static int compare_codes(const void *a, const void *b)
{
	const struct fkt_code_row *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static int read_codes(struct fkt_trace *trace)
{
	char *text = trace->code_lines.text, *line, *kind;
	struct fkt_code_row code, *larger;
	size_t kept = 0;

	while ((line = fkt_next_line(&text))) {
		if (!fkt_parse_u32(fkt_next_word(&line), &code.first) ||
		    !fkt_parse_u32(fkt_next_word(&line), &code.count) ||
		    !(kind = fkt_next_word(&line)) ||
		    !fkt_parse_u32(fkt_next_word(&line), &code.pair) ||
		    !(code.layer = fkt_next_word(&line)) || !(code.name = fkt_next_word(&line)))
			continue;
		if (code.first >= FKT_SLOT_CODES || !code.count ||
		    code.count > FKT_SLOT_CODES - code.first)
			continue;
		code.spec = line;
		code.kind = FKT_KIND_POINT;
		for (uint32_t i = 0; i < ARRAY_SIZE(kinds); i++)
			if (!strcmp(kind, kinds[i]))
				code.kind = i;
		larger = grow(trace->codes, trace->n_codes, sizeof(code));
		if (!larger)
			return -ENOMEM;
		trace->codes = larger;
		trace->codes[trace->n_codes++] = code;
	}
	if (!trace->n_codes)
		return 0;

	/* Of rows that overlap, the first one holds. */
	qsort(trace->codes, trace->n_codes, sizeof(code), compare_codes);
	for (size_t i = 1; i < trace->n_codes; i++) {
		const struct fkt_code_row *last = &trace->codes[kept];

		if (trace->codes[i].first - last->first >= last->count)
			trace->codes[++kept] = trace->codes[i];
	}
	trace->n_codes = kept + 1;
	return 0;
}

static int compare_syscalls(const void *a, const void *b)
{
	const struct fkt_syscall_entry *x = a, *y = b;

	if (x->compat != y->compat)
		return x->compat ? 1 : -1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static int read_syscalls(struct fkt_trace *trace)
{
	char *text = trace->syscall_lines.text, *line, *abi;
	struct fkt_syscall_entry entry, *larger;

	while ((line = fkt_next_line(&text))) {
		abi = fkt_next_word(&line);
		if (!abi || !fkt_parse_u32(fkt_next_word(&line), &entry.nr))
			continue;
		entry.compat = !strcmp(abi, trace->arch->compat_abi);
		entry.call.name = fkt_next_word(&line);
		entry.call.args = fkt_next_word(&line) ?: "";
		if (!entry.call.name || (!entry.compat && strcmp(abi, trace->arch->abi)))
			continue;
		larger = grow(trace->syscalls, trace->n_syscalls, sizeof(entry));
		if (!larger)
			return -ENOMEM;
		trace->syscalls = larger;
		trace->syscalls[trace->n_syscalls++] = entry;
	}
	if (trace->n_syscalls)
		qsort(trace->syscalls, trace->n_syscalls, sizeof(entry), compare_syscalls);
	return 0;
}

static int compare_irqs(const void *a, const void *b)
{
	const struct fkt_irq *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int read_irqs(struct fkt_trace *trace)
{
	char *text = trace->irq_lines.text, *line;
	struct fkt_irq irq, *larger;

	while ((line = fkt_next_line(&text))) {
		if (!fkt_parse_u32(fkt_next_word(&line), &irq.number) || !*line)
			continue;
		irq.name = line;
		larger = grow(trace->irqs, trace->n_irqs, sizeof(irq));
		if (!larger)
			return -ENOMEM;
		trace->irqs = larger;
		trace->irqs[trace->n_irqs++] = irq;
	}
	if (trace->n_irqs)
		qsort(trace->irqs, trace->n_irqs, sizeof(irq), compare_irqs);
	return 0;
}

/* A trace that does not say where it comes from is one of x86, as all were at first. */
static const struct fkt_arch *find_arch(const struct fkt_trace *trace)
{
	const char *machine = fkt_info(trace, "machine");

	if (!machine)
		return &fkt_arch_x86;
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		for (size_t j = 0; j < FKT_ARCH_MACHINES_MAX && archs[i]->machine[j]; j++)
			if (!strcmp(machine, archs[i]->machine[j]))
				return archs[i];
	return &unknown_arch;
}

int fkt_index_names(struct fkt_trace *trace)
{
	trace->names_indexed = true;
	trace->arch = find_arch(trace);
	return read_codes(trace) ?: read_syscalls(trace) ?: read_irqs(trace);
}

void fkt_free_names(struct fkt_trace *trace)
{
	free(trace->codes);
	free(trace->code_lines.text);
	free(trace->syscalls);
	free(trace->syscall_lines.text);
	free(trace->irqs);
	free(trace->irq_lines.text);
}

/* ---- looking up ---- */

static const struct fkt_code_row *find_code(const struct fkt_code_row *codes, size_t count,
					    uint32_t code)
{
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (code < codes[middle].first)
			high = middle;
		else if (code - codes[middle].first >= codes[middle].count)
			low = middle + 1;
		else
			return &codes[middle];
	}
	return NULL;
}

const struct fkt_code_row *fkt_code_row(const struct fkt_trace *trace, uint32_t code)
{
	return find_code(trace->codes, trace->n_codes, code)
		       ?: find_code(known_codes, ARRAY_SIZE(known_codes), code);
}

const struct fkt_syscall *fkt_syscall(const struct fkt_trace *trace, bool compat, uint32_t nr)
{
	struct fkt_syscall_entry key = { .nr = nr, .compat = compat }, *entry = NULL;
	const struct fkt_syscall *call;

	if (trace->n_syscalls)
		entry = bsearch(&key, trace->syscalls, trace->n_syscalls, sizeof(key),
				compare_syscalls);
	if (entry)
		return &entry->call;
	if (nr >= (compat ? trace->arch->compat_syscalls : trace->arch->syscalls))
		return NULL;
	call = compat ? &trace->arch->compat_syscall[nr] : &trace->arch->syscall[nr];
	return call->name ? call : NULL;
}

const char *fkt_irq_name(const struct fkt_trace *trace, uint32_t number)
{
	struct fkt_irq key = { .number = number }, *irq = NULL;

	if (trace->n_irqs)
		irq = bsearch(&key, trace->irqs, trace->n_irqs, sizeof(key), compare_irqs);
	return irq ? irq->name : NULL;
}

const char *fkt_errno_name(int number)
{
	return number < 0 ? NULL : LOOK_UP(errors, number);
}

const char *fkt_softirq_name(uint32_t number)
{
	return LOOK_UP(softirqs, number);
}

const char *fkt_trap_name(const struct fkt_trace *trace, uint32_t number)
{
	return number < trace->arch->traps ? trace->arch->trap[number] : NULL;
}

const char *fkt_trigger_name(const struct fkt_trace *trace, uint32_t number)
{
	char key[32];

	snprintf(key, sizeof(key), "trigger_%u", number);
	return fkt_info(trace, key);
}

const char *fkt_vector_name(const struct fkt_trace *trace, uint32_t index)
{
	return index < trace->arch->vectors ? trace->arch->vector[index] : NULL;
}

/* Whether codes of a row are system calls, and whether of the 32-bit table. */
static bool is_syscall(const struct fkt_code_row *row, bool *compat)
{
	*compat = !strncmp(row->spec, "#compat", 7);
	return *compat || !strncmp(row->spec, "#sysnr", 6);
}

const struct fkt_syscall *fkt_code_syscall(const struct fkt_trace *trace, uint32_t code)
{
	const struct fkt_code_row *row = fkt_code_row(trace, code);
	bool compat;

	return row && is_syscall(row, &compat) ? fkt_syscall(trace, compat, code - row->first)
					       : NULL;
}

void fkt_code_name(const struct fkt_trace *trace, uint32_t code, char name[FKT_NAME_BYTES])
{
	const struct fkt_code_row *row = fkt_code_row(trace, code);
	const struct fkt_syscall *call;
	const char *prefix;
	uint32_t index;
	bool exit, compat;

	if (!row) {
		snprintf(name, FKT_NAME_BYTES, "code_%u", code);
		return;
	}
	index = code - row->first;
	exit = row->kind == FKT_KIND_EXIT || row->kind == FKT_KIND_CPU_EXIT;
	if (is_syscall(row, &compat)) {
		call = fkt_syscall(trace, compat, index);
		prefix = compat ? trace->arch->compat_prefix : "";
		if (call)
			snprintf(name, FKT_NAME_BYTES, "%ssys_%s", prefix, call->name);
		else
			snprintf(name, FKT_NAME_BYTES, "%ssys_%u", prefix, index);
	} else if (!strncmp(row->spec, "#vector", 7) && fkt_vector_name(trace, index)) {
		snprintf(name, FKT_NAME_BYTES, "%s%s", fkt_vector_name(trace, index),
			 exit ? "_exit" : "");
	} else if (row->count > 1) {
		snprintf(name, FKT_NAME_BYTES, "%s_%u", row->name, index);
	} else {
		snprintf(name, FKT_NAME_BYTES, "%s", row->name);
	}
	/* A name that was cut in the middle of a character. */
	fkt_sanitize(name);
}

bool fkt_is_called(const char *comm, const char *wanted)
{
	return !strcmp(comm, wanted) || (strpbrk(wanted, "*?") && !fnmatch(wanted, comm, 0));
}

/* Bits of a Linux task's state; the first seven are reported as they are. */
#define STATE_REPORTED	  0x007fu
#define STATE_BLOCKED	  0x0002u
#define STATE_EXITED	  0x0010u
#define STATE_DEAD	  0x0080u
#define STATE_IDLE	  0x0402u /* sleeps uninterruptibly, and is no load */
#define STATE_RTLOCK_WAIT 0x1000u
#define STATE_FROZEN	  0x8000u

/* As __task_state_index() of the kernel does. */
uint32_t fkt_state_reported(uint32_t state)
{
	const uint32_t bits = state & STATE_REPORTED;

	if ((state & STATE_IDLE) == STATE_IDLE)
		return FKT_STATE_REPORTED_IDLE;
	/* Whatever else is set: on an RT kernel a zombie still waits for locks. */
	if (state & (STATE_RTLOCK_WAIT | STATE_FROZEN))
		return STATE_BLOCKED;
	if (bits)
		return 1u << (31 - __builtin_clz(bits));
	return state & STATE_DEAD ? STATE_EXITED : 0;
}

void fkt_state_letters(uint32_t state, char letters[FKT_STATE_BYTES])
{
	static const char names[] = "SDTtXZPI";
	const uint32_t bit = fkt_state_reported(state);

	letters[0] = bit ? names[__builtin_ctz(bit)] : state ? '?' : 'R';
	letters[1] = '\0';
}
