// SPDX-License-Identifier: GPL-2.0-only
/* Numbers to names, and events to lines. */
#include "test.h"

#include "read_trace.h"

static struct build build;
static uint64_t stamp;

static int begin(void **state)
{
	(void)state;
	build_begin(&build, 1, false);
	stamp = 1000;
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
	build_slot(&build, 0, 0, stamp++, code, imm, words, n);
}

static void expect_lines(const char *const *lines)
{
	struct reading *reading;

	build_end(&build, 0, 0, 0);
	reading = read_trace(&build, READ_FILE);
	for (unsigned int i = 0; lines[i]; i++)
		assert_string_equal(read_line(reading, i), lines[i]);
	read_free(reading);
}

#define EXPECT(...) expect_lines((const char *const[]){ __VA_ARGS__, NULL })

static void test_results(void **state)
{
	const uint64_t values[] = { 0x7fff12345000, (uint64_t)-40000, 100000 };

	(void)state;
	build_pages(&build);
	event(0x400, 3, NULL, 0);
	event(0x400 + 257, (uint16_t)-2, NULL, 0);
	event(0x400 + 9, 0, &values[0], 1);
	event(0x400, 0, &values[1], 1);
	event(0x400, 0, &values[2], 1);
	event(0x400, (uint16_t)-512, NULL, 0);
	event(0xc00 + 20, 77, NULL, 0);
	EXPECT("0400  sys_read                 = 3", "0501  sys_openat               = -2 ENOENT",
	       "0409  sys_mmap                 = 0x7fff12345000",
	       "0400  sys_read                 = -40000", "0400  sys_read                 = 100000",
	       "0400  sys_read                 = -512 ERESTARTSYS",
	       "0c14  ia32_sys_getpid          = 77");
}

static void test_arguments(void **state)
{
	const uint64_t args[6] = { 3, 0x7ffe12340000, 4096, (uint64_t)-1, 0xffffff9c, 65536 };

	(void)state;
	build_pages(&build);
	event(0, 0, args, 3);
	event(0, 0, args, 1);
	event(0, 0, NULL, 0);
	event(9, 0, args, 6);
	event(1000, 0, args, 2);
	EXPECT("0000  sys_read                 fd=3 buf=0x7ffe12340000 count=4096",
	       "0000  sys_read                 fd=3", "0000  sys_read",
	       "0009  sys_mmap                 addr=3 len=0x7ffe12340000 prot=4096 flags=-1 fd=-100 "
	       "off=0x10000",
	       "03e8  sys_1000                 arg0=3 arg1=0x7ffe12340000");
}

static void test_interrupts(void **state)
{
	(void)state;
	build_text(&build, FKT_SECTION_IRQS, "1 i8042\n14 ide0,ide1\n");
	build_pages(&build);
	event(FKT_CODE_IRQ_ENTRY, 14, NULL, 0);
	event(FKT_CODE_IRQ_EXIT, 15, NULL, 0);
	event(FKT_CODE_SOFTIRQ_ENTRY, 4, NULL, 0);
	event(FKT_CODE_SOFTIRQ_RAISE, 77, NULL, 0);
	event(FKT_CODE_VECTOR_ENTRY, 0, NULL, 0);
	event(FKT_CODE_VECTOR_EXIT + 1, 0, NULL, 0);
	event(FKT_CODE_VECTOR_ENTRY + 60, 0, NULL, 0);
	EXPECT("1000  irq                      14 ide0,ide1", "1001  irq_exit                 15",
	       "1002  softirq                  4 BLOCK", "1004  softirq_raise            77",
	       "1080  local_timer", "10c1  reschedule_exit", "10bc  vector_60");
}

static void test_exceptions(void **state)
{
	const uint64_t words[2] = { (uint64_t)-5, 0x401000 };
	const uint64_t fault[2] = { 0, 0xffffffff81000010 };

	(void)state;
	build_text(&build, FKT_SECTION_SYMBOLS, "ffffffff81000000 T _text\n");
	build_pages(&build);
	event(FKT_CODE_EXCEPTION, 13, words, 2);
	event(FKT_CODE_PAGE_FAULT_USER, 7, fault, 2);
	event(FKT_CODE_PAGE_FAULT_KERNEL, 65535, fault, 2);
	EXPECT("1007  exception                13 general_protection error=-5 ip=0x401000",
	       "1005  page_fault_user          error=7 address=0x0 ip=0xffffffff81000010",
	       "1006  page_fault_kernel        error=65535 address=0x0 ip=_text+0x10");
}

static void test_switches(void **state)
{
	(void)state;
	build_text(&build, FKT_SECTION_PROCESSES, "7 7 1 seven\n8 8 1 name with spaces\n");
	build_pages(&build);
	build.lane[0].pid = 7;
	build_switch(&build, 0, stamp++, 1, 7, 8);
	build_switch(&build, 0, stamp++, 0, 8, 0);
	build_switch(&build, 0, stamp++, 0, 0, 9);
	build_switch(&build, 0, stamp++, 0x402, 9, 7);
	build_switch(&build, 0, stamp++, 0x102, 7, 8);
	build_switch(&build, 0, stamp++, 0x80, 8, 7);
	EXPECT("1100  switch_to                seven[7] S ==> name with spaces[8]",
	       "1100  switch_to                name with spaces[8] R ==> idle",
	       "1100  switch_to                idle R ==> ?[9]",
	       "1100  switch_to                ?[9] I ==> seven[7]",
	       "1100  switch_to                seven[7] D ==> name with spaces[8]",
	       "1100  switch_to                name with spaces[8] X ==> seven[7]");
}

/* The trace's own table comes first, and its specs may hold anything. */
static void test_own_codes(void **state)
{
	const uint64_t words[3] = { 0x8899aabbfffffffe, 0x000000000000fedc, 0 };
	const uint64_t strings[3] = { 'x', 0x656d616e /* "name" */, 0x612f /* "/a" */ };
	uint64_t text[2];

	(void)state;
	memcpy(text, "a\tb\x1b[31m\xc3\xa9\xff!!", 13);
	text[1] &= htole64(0xffffffffffull);
	text[0] = le64toh(text[0]);
	text[1] = le64toh(text[1]);
	build_text(&build, FKT_SECTION_CODES,
		   "0x5000 1 point 0 own numbers a:s32 b:x16 c:u64 @d:s16\n"
		   "0x5001 1 point 0 own text @n:u8 s:str\n"
		   "0x5002 1 point 0 own odd a:u32 b:nonsense c:u32\n"
		   "0x5003 3 point 0 own row a:u8 b:u8 c:u16 d:s8\n"
		   "0x5003 1 point 0 own overlaps a:u8\n"
		   "0x5008 999999999 point 0 own toolarge a:u8\n"
		   "nonsense\n0x5009\n"
		   "0x500a 1 point 0 own none\n"
		   "0x500b 1 point 0 own strings c:char a:string8 b:string\n"
		   "0x500c 1 point 0 own badstring a:string12 b:u8\n"
		   "0x1000 1 cpu_entry 0x1001 system my_irq @irq:u16\n");
	build_pages(&build);
	event(0x5000, (uint16_t)-3, words, 2);
	event(0x5001, 5, text, 2);
	event(0x5002, 0, words, 2);
	event(0x5005, 0, words, 1);
	event(0x5008, 0, words, 1);
	event(0x500a, 0, words, 1);
	event(0x500b, 0, strings, 3);
	event(0x500b, 0, strings, 2);
	event(0x500c, 0, strings, 2);
	event(0x1000, 14, NULL, 0);
	event(0x5000, 0, NULL, 0);
	EXPECT("5000  numbers                  a=-2 b=0xaabb c=65244 d=-3",
	       "5001  text                     n=5 a?b?[31m\xc3\xa9?!!",
	       "5002  odd                      a=4294967294",
	       "5005  row_2                    a=254 b=255 c=65535 d=-69",
	       "5008  code_20488               arg0=0x8899aabbfffffffe", "500a  none",
	       "500b  strings                  c='x' a=\"name\" b=\"/a\"",
	       "500b  strings                  c='x' a=\"name\" b=\"\"", "500c  badstring",
	       "1000  my_irq                   irq=14", "5000  numbers");
}

/* Modules' probes: each argument has a word of its own. Functions: named by their address. */
static void test_module_codes(void **state)
{
	const uint64_t words[4] = { 7, 0xfffffffffffffffd, 0xffffffff81000000, 0xffffffff81000000 };

	(void)state;
	build_text(&build, FKT_SECTION_SYMBOLS,
		   "ffffffff81000000 T main\nffffffff81000800 t body\t[mod]\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x70000 1 entry 0x70001 modules in #words a:u32 b:s8 c:func d:sym\n"
		   "0x70001 1 exit 0x70000 modules in_exit #words ret:ret\n"
		   "0x70002 1 point 0 modules none #words \n");
	build_pages(&build);
	event(0x70000, 0, words, 4);
	event(0x70001, 0, words + 1, 1);
	event(0x70002, 0, NULL, 0);
	event(FKT_CODE_GCC_ENTRY, 0, (uint64_t[]){ 0xffffffff81000800, 0xffffffff81000010 }, 2);
	event(FKT_CODE_GCC_EXIT, 0, (uint64_t[]){ 0xffffffff81000801 }, 1);
	EXPECT("70000  in                       a=7 b=-3 main d=main+0x0",
	       "70001  in_exit                  = -3 ESRCH", "70002  none",
	       "1300  gcc                      body [mod] caller=main+0x10",
	       "1301  gcc_exit                 body+0x1 [mod]");
}

static void test_processes_in_lines(void **state)
{
	(void)state;
	build_text(&build, FKT_SECTION_PROCESSES, "7 7 1 seven\n");
	build_pages(&build);
	build_fork(&build, 0, stamp++, 8, 7);
	build_name(&build, 0, stamp++, FKT_CODE_EXEC, 8, "l\x1bs");
	build_name(&build, 0, stamp++, FKT_CODE_RENAME, 8, "exactly16letters");
	EXPECT("1103  fork                     child=seven[8] tgid=8 parent=seven[7] parent_tgid=7",
	       "1104  exec                     l?s[8] old_pid=8 l?s",
	       "1107  rename                   exactly16letters[8] tgid=8 exactly16letters");
}

static void test_tables(void **state)
{
	char letters[FKT_STATE_BYTES];

	(void)state;
	assert_string_equal(fkt_errno_name(2), "ENOENT");
	assert_string_equal(fkt_errno_name(11), "EAGAIN");
	assert_string_equal(fkt_errno_name(38), "ENOSYS");
	assert_string_equal(fkt_errno_name(75), "EOVERFLOW");
	assert_string_equal(fkt_errno_name(110), "ETIMEDOUT");
	assert_string_equal(fkt_errno_name(133), "EHWPOISON");
	assert_string_equal(fkt_errno_name(516), "ERESTART_RESTARTBLOCK");
	assert_null(fkt_errno_name(0));
	assert_null(fkt_errno_name(41));
	assert_null(fkt_errno_name(134));
	assert_null(fkt_errno_name(-1));
	assert_null(fkt_errno_name(100000));
	assert_null(fkt_softirq_name(10));
	fkt_state_letters(0, letters);
	assert_string_equal(letters, "R");
	fkt_state_letters(8, letters);
	assert_string_equal(letters, "t");
	/* Of several the kernel reports the highest: EXIT_TRACE is both X and Z. */
	fkt_state_letters(0x7f, letters);
	assert_string_equal(letters, "P");
	fkt_state_letters(0x30, letters);
	assert_string_equal(letters, "Z");
	fkt_state_letters(0x80, letters);
	assert_string_equal(letters, "X");
	fkt_state_letters(0x402, letters);
	assert_string_equal(letters, "I");
	/* A zombie that waits for a lock of an RT kernel, and a task in the freezer. */
	fkt_state_letters(0x1020, letters);
	assert_string_equal(letters, "D");
	fkt_state_letters(0x8000, letters);
	assert_string_equal(letters, "D");
	fkt_state_letters(0x4000, letters);
	assert_string_equal(letters, "?");
	assert_int_equal(fkt_state_reported(0x1020), 2);
	assert_int_equal(fkt_state_reported(0x80), 0x10);
	assert_int_equal(fkt_state_reported(0x402), FKT_STATE_REPORTED_IDLE);
	assert_int_equal(fkt_state_reported(0x4000), 0);
}

/* Events whose numbers have names, on a machine that the trace names; NULL: it does not. */
static void machine_events(const char *info)
{
	const uint64_t fault[] = { 0, 0x401000 };

	if (info)
		build_section(&build, FKT_SECTION_INFO, info, strlen(info) + 1, false);
	build_text(&build, FKT_SECTION_SYSCALLS, "x86_64 1000 newcall first\ni386 1001 oldcall\n");
	build_pages(&build);
	event(FKT_CODE_EXCEPTION, 13, fault, 2);
	event(FKT_CODE_EXCEPTION, 15, fault, 2);
	event(FKT_CODE_VECTOR_ENTRY + 4, 0, NULL, 0);
	event(FKT_CODE_VECTOR_EXIT + 11, 0, NULL, 0);
	event(FKT_CODE_SYSCALL_ENTRY + 39, 0, NULL, 0);
	event(FKT_CODE_SYSCALL_ENTRY + 1000, 0, NULL, 0);
	event(FKT_CODE_COMPAT_ENTRY + 20, 0, NULL, 0);
	event(FKT_CODE_COMPAT_ENTRY + 1001, 0, NULL, 0);
}

static void expect_x86(void)
{
	EXPECT("1007  exception                13 general_protection error=0 ip=0x401000",
	       "1007  exception                15 error=0 ip=0x401000", "1084  irq_work",
	       "10cb  vector_exit_11", "0027  sys_getpid", "03e8  sys_newcall",
	       "0814  ia32_sys_getpid", "0be9  ia32_sys_oldcall");
}

static void test_machine(void **state)
{
	(void)state;
	machine_events("machine=x86_64");
	expect_x86();
}

/* All traces were of x86 once. */
static void test_no_machine(void **state)
{
	(void)state;
	machine_events(NULL);
	expect_x86();
}

/* Its numbers are not taken for x86's. */
static void test_unknown_machine(void **state)
{
	(void)state;
	machine_events("machine=pdp11");
	EXPECT("1007  exception                13 error=0 ip=0x401000",
	       "1007  exception                15 error=0 ip=0x401000", "1084  vector_4",
	       "10cb  vector_exit_11", "0027  sys_39", "03e8  sys_1000", "0814  compat_sys_20",
	       "0be9  compat_sys_1001");
}

static void check_sanitized(const char *text, const char *expected)
{
	char copy[64];

	strcpy(copy, text);
	fkt_sanitize(copy);
	assert_string_equal(copy, expected);
}

static void test_sanitize(void **state)
{
	(void)state;
	check_sanitized("", "");
	check_sanitized("plain text", "plain text");
	check_sanitized("\x1b]0;title\x07", "?]0;title?");
	check_sanitized("\x7f\n\t", "???");
	check_sanitized("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\xa7",
			"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\xa7");
	check_sanitized("\xc2\x9b"
			"31m",
			"??31m");
	check_sanitized("\xc0\xaf \xe0\x80\xaf \xed\xa0\x80", "?? ??? ???");
	check_sanitized("\xc3", "?");
	check_sanitized("\xe2\x82", "??");
	check_sanitized("\xf5\x80\x80\x80", "????");
	check_sanitized("\xe2\x80\xae", "???");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_results, begin, end),
		cmocka_unit_test_setup_teardown(test_arguments, begin, end),
		cmocka_unit_test_setup_teardown(test_interrupts, begin, end),
		cmocka_unit_test_setup_teardown(test_exceptions, begin, end),
		cmocka_unit_test_setup_teardown(test_switches, begin, end),
		cmocka_unit_test_setup_teardown(test_module_codes, begin, end),
		cmocka_unit_test_setup_teardown(test_own_codes, begin, end),
		cmocka_unit_test_setup_teardown(test_processes_in_lines, begin, end),
		cmocka_unit_test_setup_teardown(test_machine, begin, end),
		cmocka_unit_test_setup_teardown(test_no_machine, begin, end),
		cmocka_unit_test_setup_teardown(test_unknown_machine, begin, end),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_sanitize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
