// SPDX-License-Identifier: GPL-2.0-only
/* The fields of events: their names and values, and what the formats for programs make of them. */
#include "test.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fkt/trace.h>

#include "build_trace.h"
#include "show/internal.h"
#include "show/table.h"

static struct build build;
static char path[] = "/tmp/test_fields.XXXXXX";
static char listing[65536];

static int begin(void **state)
{
	(void)state;
	build_begin(&build, 1, false);
	return 0;
}

static int end(void **state)
{
	(void)state;
	build_free(&build);
	return 0;
}

static void event(uint32_t code, uint16_t imm, const uint64_t *words, unsigned int n)
{
	static uint64_t stamp = 1000;

	build_slot(&build, 0, 0, stamp++, code, imm, words, n);
}

static struct fkt_trace *open_trace(void)
{
	char error[FKT_ERROR_BYTES];
	struct fkt_trace *trace;
	int fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	build_write(&build, path, build.bytes);
	trace = fkt_open(path, NULL, NULL, error);
	unlink(path);
	assert_non_null(trace);
	return trace;
}

/* What a format makes of the trace, without what stands before the code and the name. */
static void expect(const char *format, const char *const *lines)
{
	struct fkt_trace *trace = open_trace();
	struct fkt_processes *processes = fkt_processes_new(trace);
	struct fkt_reader *reader = fkt_reader_new(trace);
	int fd = memfd_create("listing", 0);
	struct fkt_text *text = fkt_text_new(trace, processes, fd, FKT_TIME_CYCLES);
	struct fkt_event event;
	ssize_t bytes;
	char *line;

	assert_true(fd >= 0 && processes && reader && text);
	fkt_text_set_format(text, fkt_format_find(format), false);
	while (fkt_next(reader, &event) == FKT_EVENT)
		fkt_text_event(text, &event);
	assert_int_equal(fkt_text_flush(text), 0);
	bytes = pread(fd, listing, sizeof(listing) - 1, 0);
	assert_true(bytes >= 0);
	listing[bytes] = '\0';
	line = strtok(listing, "\n");
	for (; *lines; lines++, line = strtok(NULL, "\n")) {
		assert_non_null(line);
		if (!strstr(line, *lines))
			print_error("%s\nnot %s\n", line, *lines);
		assert_non_null(strstr(line, *lines));
		assert_string_equal(strstr(line, *lines), *lines);
	}
	assert_null(line);
	fkt_text_free(text);
	fkt_reader_free(reader);
	fkt_processes_free(processes);
	fkt_close(trace);
	close(fd);
}

#define EXPECT(format, ...) expect(format, (const char *const[]){ __VA_ARGS__, NULL })

static void test_values(void **state)
{
	const uint64_t words[4] = { 0xfffffffe | 7ull << 32, 0xffff888012345678, 3,
				    0xffffffff81000010 };
	const uint64_t text[2] = { 0x2c225c226261 /* ab"\", */, 'x' };
	const char *const json[] = {
		"\"name\":\"numbers\",\"syscall\":null,\"args\":{\"a\":-2,\"b\":7,"
		"\"c\":\"0xffff888012345678\",\"d\":3}}",
		"\"args\":{\"a\":-2,\"b\":7}}",
		"\"args\":{}}",
		"\"args\":{\"n\":6,\"s\":\"ab\\\"\\\\\\\",\"}}",
		"\"args\":{\"c\":\"\\u0007\",\"v\":null}}",
		"\"args\":{\"ip\":\"0xffffffff81000010\",\"ip_name\":\"_te\\\"xt+0x10\"}}",
		"\"args\":{\"a\":1,\"a_2\":2,\"p\":3,\"p_name\":\"three\",\"p_name_2\":4}}",
		"\"args\":{\"n\":7,\"a\":[1,-2,3],\"p\":[\"0xffffffff81000010\"],"
		"\"c\":[\"a\",\"\\u0007\"]}}",
		"\"args\":{\"n\":7}}",
		"\"args\":{\"dev\":8388625,\"dev_name\":\"8:17\",\"d\":[8388625,0]}}",
		"\"args\":{\"ret\":-9,\"ret_name\":\"EBADF\"}}",
		"\"syscall\":null,\"args\":{\"arg0\":-7}}",
		NULL,
	};
	const char *const csv[] = {
		",numbers,,\"{\"\"a\"\":-2,\"\"b\"\":7,\"\"c\"\":\"\"0xffff888012345678\"\",\"\"d\"\":3}\"",
		",\"{\"\"a\"\":-2,\"\"b\"\":7}\"",
		",\"{}\"",
		",\"{\"\"n\"\":6,\"\"s\"\":\"\"ab\\\"\"\\\\\\\"\",\"\"}\"",
		",\"{\"\"c\"\":\"\"\\u0007\"\",\"\"v\"\":null}\"",
		",\"{\"\"ip\"\":\"\"0xffffffff81000010\"\",\"\"ip_name\"\":\"\"_te\\\"\"xt+0x10\"\"}\"",
		",\"{\"\"a\"\":1,\"\"a_2\"\":2,\"\"p\"\":3,\"\"p_name\"\":\"\"three\"\",\"\"p_name_2\"\":4}\"",
		",\"{\"\"n\"\":7,\"\"a\"\":[1,-2,3],\"\"p\"\":[\"\"0xffffffff81000010\"\"],"
		"\"\"c\"\":[\"\"a\"\",\"\"\\u0007\"\"]}\"",
		",\"{\"\"n\"\":7}\"",
		",\"{\"\"dev\"\":8388625,\"\"dev_name\"\":\"\"8:17\"\",\"\"d\"\":[8388625,0]}\"",
		",sys_read,read,\"{\"\"ret\"\":-9,\"\"ret_name\"\":\"\"EBADF\"\"}\"",
		",code_28671,,\"{\"\"arg0\"\":-7}\"",
		NULL,
	};
	const uint64_t names[2] = { 1 | 2ull << 32, 3 | 4ull << 32 };
	const uint64_t word = 0xfffffff9;
	const uint64_t devices[2] = { 0x800011ull << 32 | 0x800011, 0 };
	const uint64_t array[4] = { 7, 0x3fffe0001, 0xffffffff81000010, 0x0761 };

	(void)state;
	build_text(&build, FKT_SECTION_PROCESSES, "3 3 1 three\n");
	build_text(&build, FKT_SECTION_SYMBOLS, "ffffffff81000000 T _te\"xt\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x5000 1 point 0 own numbers a:s32 b:x32 c:x64 d:cycles\n"
		   "0x5001 1 point 0 own text @n:u8 s:string\n"
		   "0x5002 1 point 0 own odd c:char v:void\n"
		   "0x5003 1 point 0 own symbol ip:sym\n"
		   "0x5004 1 point 0 own names a:u32 a:u32 p:pid p_name:u32\n"
		   "0x5005 1 point 0 own array #words n:u8 a:s16[3] p:sym[1] c:char[2]\n"
		   "0x5006 1 point 0 own arrays n:u8 a:s16[61]\n"
		   "0x5007 1 point 0 own devices dev:dev d:dev[2]\n");
	build_pages(&build);
	event(0x5000, 0, words, 3);
	event(0x5000, 0, words, 1);
	event(0x5000, 0, NULL, 0);
	event(0x5001, 6, text, 1);
	event(0x5002, 0, (const uint64_t[]){ 7 }, 1);
	event(0x5003, 0, &words[3], 1);
	event(0x5004, 0, names, 2);
	event(0x5005, 0, array, 4);
	event(0x5006, 0, array, 4);
	event(0x5007, 0, devices, 2);
	event(0x400, (uint16_t)-9, NULL, 0);
	event(0x6fff, 0, &word, 1);
	build_end(&build, 0, 0, 0);
	expect("json", json);
	expect("csv", csv);
}

/* An immediate has 16 bits: what a string in it would read is behind the event. */
static void test_immediate_string(void **state)
{
	const uint64_t words[2] = { 0x6c616e7265746e69, 0 };

	(void)state;
	build_text(&build, FKT_SECTION_CODES,
		   "0x5000 1 point 0 own first @s:comm\n0x5001 1 point 0 own next\n");
	build_pages(&build);
	event(0x5000, 1, NULL, 0);
	event(0x5001, 1, words, 2);
	build_end(&build, 0, 0, 0);
	EXPECT("text", "5000  first", "5001  next");
}

static void test_device(void **state)
{
	const uint64_t words[2] = { 0x800011ull << 32 | 0x800011, UINT32_MAX };

	(void)state;
	build_text(&build, FKT_SECTION_CODES, "0x5000 1 point 0 own io dev:dev d:dev[2]\n");
	build_pages(&build);
	event(0x5000, 0, words, 2);
	build_end(&build, 0, 0, 0);
	EXPECT("text", "dev=8:17 d={8:17,4095:1048575}");
}

/* An enum's names stand in its type; what is none has its number. A wrong type ends the spec. */
static void test_enum(void **state)
{
	const uint64_t words[4] = { 1, 0xfffffffe, 7, 0x0201 };
	const uint64_t wide[1] = { 1ull << 40 };

	(void)state;
	build_text(
		&build, FKT_SECTION_CODES,
		"0x5000 1 point 0 own kinds #words a:enum32{OFF=0,ON=1,SAME=1} b:enum32{BOTH=-2} "
		"c:enum32{OFF=0,ON=1} d:enum8{TWO=2,ONE=1}\n"
		"0x5001 1 point 0 own wide a:enum64{TOP=1099511627776}\n"
		"0x5002 1 point 0 own odd #words a:enum16{,=,X,=1,ON=1=2,} b:u32 c:enum32{OFF=0\n"
		"0x5003 1 point 0 own none #words a:u32 b:enum32 c:u32\n"
		"0x5004 1 point 0 own none #words a:u32 b:u32{ON=1} c:u32\n"
		"0x5005 1 point 0 own many #words a:u32 b:enum32{ON=1,OFF=-2}[4] c:u8\n"
		"0x5006 1 point 0 own empty #words a:enum32{} @b:enum16{LOW=-1}\n"
		"0x5007 1 point 0 own shown #words a:enum32{\x1b[1m=1,\"q\"=7}\n"
		"0x5008 1 point 0 own small #words a:u32 b:enum8{ON=1}[2] c:u32\n"
		"0x5009 1 point 0 own large #words a:enum64{TOP=1099511627776}[2]\n");
	build_pages(&build);
	event(0x5000, 0, words, 4);
	event(0x5001, 0, wide, 1);
	event(0x5002, 0, words, 3);
	event(0x5003, 0, words, 3);
	event(0x5004, 0, words, 3);
	event(0x5005, 0, (const uint64_t[]){ 1, 0xfffffffe00000001, 7, 2 }, 4);
	event(0x5006, 0xffff, words, 1);
	event(0x5007, 0, words, 1);
	event(0x5008, 0, words, 3);
	event(0x5009, 0, (const uint64_t[]){ 1ull << 40, 1 }, 2);
	build_end(&build, 0, 0, 0);
	EXPECT("text", "a=ON b=BOTH c=7 d=ONE", "a=TOP", "a=ON b=4294967294",
	       "none                     a=1", "none                     a=1",
	       "many                     a=1 b={ON,OFF,7,0} c=2", "a=1 b=LOW", "a=?[1m",
	       "small                    a=1", "a={TOP,1}");
	EXPECT("json",
	       "\"args\":{\"a\":1,\"a_name\":\"ON\",\"b\":-2,\"b_name\":\"BOTH\",\"c\":7,"
	       "\"d\":1,\"d_name\":\"ONE\"}}",
	       "\"args\":{\"a\":1099511627776,\"a_name\":\"TOP\"}}",
	       "\"args\":{\"a\":1,\"a_name\":\"ON\",\"b\":4294967294}}", "\"args\":{\"a\":1}}",
	       "\"args\":{\"a\":1}}", "\"args\":{\"a\":1,\"b\":[1,-2,7,0],\"c\":2}}",
	       "\"args\":{\"a\":1,\"b\":-1,\"b_name\":\"LOW\"}}",
	       "\"args\":{\"a\":1,\"a_name\":\"?[1m\"}}", "\"args\":{\"a\":1}}",
	       "\"args\":{\"a\":[1099511627776,1]}}");
}

/* The longest line that a row of codes makes in a format, with names as long as they get. */
static size_t longest_line(const char *format, const char *spec, uint64_t word)
{
	static char symbols[640], irqs[160], codes[4096];
	struct fkt_trace *trace;
	struct fkt_processes *processes;
	struct fkt_reader *reader;
	struct fkt_text *text;
	struct fkt_event next;
	uint64_t words[FKT_SLOT_WORDS_MAX];
	int fd = memfd_create("listing", 0);
	off_t bytes;

	for (unsigned int i = 0; i < FKT_SLOT_WORDS_MAX; i++)
		words[i] = word;
	snprintf(symbols, sizeof(symbols), "1 T %0*d [%0*d]\n", 511, 0, 31, 0);
	snprintf(irqs, sizeof(irqs), "65535 %0*d\n", 127, 0);
	/* Quotes are what takes the most room where text is quoted. */
	for (char *c = symbols + 4; (c = strchr(c, '0'));)
		*c = '"';
	for (char *c = irqs; (c = strchr(c, '0'));)
		*c = '"';
	snprintf(codes, sizeof(codes), "0x5000 1 point 0 own %0*d %s\n", 79, 0, spec);
	build_free(&build);
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_IRQS, irqs);
	build_text(&build, FKT_SECTION_SYMBOLS, symbols);
	build_text(&build, FKT_SECTION_CODES, codes);
	build_pages(&build);
	event(0x5000, UINT16_MAX, words, FKT_SLOT_WORDS_MAX);
	build_end(&build, 0, 0, 0);
	trace = open_trace();
	processes = fkt_processes_new(trace);
	reader = fkt_reader_new(trace);
	text = fkt_text_new(trace, processes, fd, FKT_TIME_CYCLES);
	assert_true(fd >= 0 && processes && reader && text);
	fkt_text_set_format(text, fkt_format_find(format), false);
	while (fkt_next(reader, &next) == FKT_EVENT)
		fkt_text_event(text, &next);
	assert_int_equal(fkt_text_flush(text), 0);
	bytes = lseek(fd, 0, SEEK_END);
	fkt_text_free(text);
	fkt_reader_free(reader);
	fkt_processes_free(processes);
	fkt_close(trace);
	close(fd);
	return (size_t)bytes;
}

/* What stands before @n fields of a kind, with names that are as long as they get. */
static void add_fields(char *spec, unsigned int n, const char *at, const char *type)
{
	for (unsigned int i = 0; i < n; i++)
		sprintf(spec + strlen(spec), " %s%030u:%s", at, i, type);
}

/* No trace makes a line for which there is no room. */
#define LETTERS_63 "NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN"
static void test_long_lines(void **state)
{
	static const char *const formats[] = { "text", "json", "csv" };
	static const struct {
		unsigned int immediates;
		const char *immediate;
		unsigned int fields;
		const char *field;
	} rows[] = {
		{ 60, "sym", 0, "" },
		{ 60, "func", 0, "" },
		{ 45, "irq", 15, "sym" },
		{ 59, "irq", 1, "sym[15]" },
		{ 59, "irq", 1, "char[120]" },
		{ 60, "irq", 0, "" },
		{ 59, "irq", 1,
		  "enum32{N" LETTERS_63 LETTERS_63 "=16777217,O" LETTERS_63 LETTERS_63 "=0}[30]" },
	};
	char spec[3072];

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*spec = '\0';
		add_fields(spec, rows[i].immediates, "@", rows[i].immediate);
		add_fields(spec, rows[i].fields, "", rows[i].field);
		for (unsigned int j = 0; j < sizeof(formats) / sizeof(formats[0]); j++) {
			const struct fkt_format *format = fkt_format_find(formats[j]);
			size_t bytes = longest_line(formats[j], spec, 0x1000001);

			if (bytes > format->line_bytes)
				print_error("%s, %u %s, %u %s: %zu bytes, room for %zu\n",
					    formats[j], rows[i].immediates, rows[i].immediate,
					    rows[i].fields, rows[i].field, bytes,
					    format->line_bytes);
			assert_true(bytes <= format->line_bytes);
		}
	}
}

static void test_fields(void **state)
{
	const uint64_t words[2] = { 3, 0x656d616e };
	struct fkt_field fields[FKT_FIELDS_MAX];
	struct fkt_reader *reader;
	struct fkt_trace *trace;
	struct fkt_event event;
	struct fkt_value value;

	(void)state;
	build_text(&build, FKT_SECTION_CODES,
		   "0x5000 1 point 0 own numbers @i:s16 at:cycles s:str\n");
	build_pages(&build);
	build_slot(&build, 0, 0, 5, 0x5000, (uint16_t)-2, words, 2);
	build_slot(&build, 0, 0, 6, 0x5000, 0, NULL, 0);
	build_end(&build, 0, 0, 0);
	trace = open_trace();
	reader = fkt_reader_new(trace);
	assert_int_equal(fkt_fields(trace, 0x5000, fields), 3);
	assert_string_equal(fields[1].name, "at");
	assert_string_equal(fields[1].unit, "cycles");
	assert_int_equal(fkt_next(reader, &event), FKT_EVENT);
	assert_true(fkt_field_value(&fields[0], &event, &value));
	assert_int_equal(value.kind, FKT_VALUE_SIGNED);
	assert_int_equal((int64_t)value.number, -2);
	assert_true(fkt_field_value(&fields[1], &event, &value));
	assert_int_equal(value.number, 3);
	assert_true(fkt_field_value(&fields[2], &event, &value));
	assert_int_equal(value.kind, FKT_VALUE_TEXT);
	assert_int_equal(value.bytes, 4);
	assert_memory_equal(value.text, "name", 4);
	assert_int_equal(fkt_next(reader, &event), FKT_EVENT);
	assert_true(fkt_field_value(&fields[0], &event, &value));
	assert_false(fkt_field_value(&fields[1], &event, &value));
	assert_int_equal(fkt_fields(trace, FKT_CODE_SWITCH, fields), 3);
	assert_string_equal(fields[0].name, "state");
	fkt_reader_free(reader);
	fkt_close(trace);
}

/* A row whose text has @n quotes and a comma, in a format. */
static char *table_row(const char *format, size_t n)
{
	static const struct fkt_column columns[] = {
		{ "Text", "text", FKT_COLUMN_TEXT, 0 },
		{ "Number", "number", FKT_COLUMN_NUMBER, 0 },
		{ 0 },
	};
	char *text = malloc(n + 2), *row = NULL;
	struct fkt_output out = { .format = fkt_format_find(format) };
	size_t bytes;

	assert_non_null(text);
	memset(text, '"', n);
	strcpy(text + n, ",");
	out.file = open_memstream(&row, &bytes);
	fkt_table_row(&out, "rows", columns,
		      (const union fkt_cell[]){ { .text = text }, { .number = FKT_CELL_NONE } },
		      false);
	fclose(out.file);
	free(text);
	return row;
}

/* A bar for each share, in parts of a million; of what no share can be, as long a one as of all. */
static void test_bars(void **state)
{
	static const struct fkt_column columns[] = {
		{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
		{ "", "", FKT_COLUMN_BAR, 0 },
		{ 0 },
	};
	static const struct {
		uint64_t parts;
		size_t stars;
	} bars[] = { { 0, 0 },
		     { 24999, 0 },
		     { 25000, 1 },
		     { 500000, 20 },
		     { 1000000, 40 },
		     { 1100000, 40 },
		     { FKT_CELL_NONE - 1, 40 } };
	struct fkt_output out = { .format = fkt_format_find("text") };
	char *text = NULL, *line;
	size_t bytes;

	(void)state;
	out.file = open_memstream(&text, &bytes);
	fkt_table_begin(&out, columns);
	for (size_t i = 0; i < sizeof(bars) / sizeof(bars[0]); i++)
		fkt_table_row(&out, "rows", columns,
			      (const union fkt_cell[]){ { .number = bars[i].parts },
							{ .number = bars[i].parts } },
			      false);
	fkt_table_end(&out);
	fclose(out.file);
	line = strchr(text, '\n');
	for (size_t i = 0; i < sizeof(bars) / sizeof(bars[0]); i++) {
		assert_non_null(line);
		line = strchr(line + 1, '\n');
		assert_non_null(line);
		bytes = 0;
		while (line[-1 - (ptrdiff_t)bytes] == '*')
			bytes++;
		assert_int_equal(bytes, bars[i].stars);
	}
	free(text);
}

/* Longer than what is quoted at a time. */
static void test_table(void **state)
{
	char *csv = table_row("csv", 600), *json = table_row("json", 600), *at;

	(void)state;
	assert_int_equal(strlen(csv), 1 + 1200 + strlen(",\",\n"));
	assert_int_equal(strspn(csv, "\""), 1201);
	assert_string_equal(csv + 1201, ",\",\n");
	at = strstr(json, "\"text\":\"");
	assert_non_null(at);
	at += strlen("\"text\":\"");
	for (int i = 0; i < 600; i++, at += 2)
		assert_memory_equal(at, "\\\"", 2);
	assert_string_equal(at, ",\",\"number\":null}\n");
	free(csv);
	free(json);
}

static void test_formats(void **state)
{
	(void)state;
	assert_string_equal(fkt_format_name(fkt_format(0)), "text");
	assert_true(fkt_format_for_people(fkt_format(0)));
	assert_ptr_equal(fkt_format_find("text"), fkt_format(0));
	assert_false(fkt_format_for_people(fkt_format_find("csv")));
	assert_null(fkt_format_find("yaml"));
	assert_null(fkt_format(1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values, begin, end),
		cmocka_unit_test_setup_teardown(test_immediate_string, begin, end),
		cmocka_unit_test_setup_teardown(test_device, begin, end),
		cmocka_unit_test_setup_teardown(test_enum, begin, end),
		cmocka_unit_test_setup_teardown(test_long_lines, begin, end),
		cmocka_unit_test_setup_teardown(test_fields, begin, end),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
