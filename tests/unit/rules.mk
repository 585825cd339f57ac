# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of files of a tool.

$(B)/tests/unit/test_signature: $(OBJ)/tools/fkt_record/arch/x86/abi.o $(OBJ)/tools/fkt_record/signature.o
$(B)/tests/unit/test_signature: LDLIBS += -lbpf

$(B)/tests/unit/test_diff: $(OBJ)/tools/fkt_diff/chance.o | $(B)/bin/fkt_diff $(B)/bin/fkt_print
$(B)/tests/unit/test_diff: LDLIBS += -lm

# The reader, with ThreadSanitizer.
tsan_sources := tests/unit/test_threads.c $(unit_helpers:$(OBJ)/%.o=%.c) $(wildcard lib/*/*.c)
tsan_objects := $(tsan_sources:%.c=$(OBJ)/tsan/%.o)
objects += $(tsan_objects)
tests: $(B)/tests/unit/test_threads_tsan

$(tsan_objects): $(OBJ)/tsan/%.o: %.c $(OBJ)/flags
	$(call say,CC,'$< (tsan)')
	$(Q)mkdir -p $(@D) && $(CC) $(fkt_cflags) $(CPPFLAGS) $(CFLAGS) -fsanitize=thread -c -o $@ $<

$(B)/tests/unit/test_threads_tsan: $(tsan_objects)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=thread -o $@ $^ -lcmocka $(fkt_ldlibs)

# Damaged traces through all tools.
tests: $(B)/tests/unit/test_hostile

$(B)/tests/unit/test_hostile: tests/unit/hostile $(B)/fuzz/make_corpus | $(bins) $(B)/lib/libfkt.so $(bt2_plugin) \
			      $(B)/tests/unit/test_print $(B)/tests/unit/test_stack $(B)/tests/unit/test_profile
	$(Q)mkdir -p $(@D) && cp $< $@

# What the module knows of machine code.
$(OBJ)/tests/unit/test_ftrace_code.o: private fkt_cflags += -Ikmod

# Its allocations fail when it says so.
$(B)/tests/unit/test_memory: LDLIBS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free

# What is said of the sources themselves.
tests: $(B)/tests/unit/test_licences

$(B)/tests/unit/test_licences: tests/unit/licences
	$(Q)mkdir -p $(@D) && cp $< $@

tests: $(B)/tests/unit/test_style

$(B)/tests/unit/test_style: tests/unit/style
	$(Q)mkdir -p $(@D) && cp $< $@

# What is wrong with a guest's kernel.
tests: $(B)/tests/unit/test_complaints

$(B)/tests/unit/test_complaints: tests/unit/complaints
	$(Q)mkdir -p $(@D) && cp $< $@

# What the packages call.
tests: $(B)/tests/unit/test_packaging

$(B)/tests/unit/test_packaging: tests/unit/packaging packaging/udev/apply-settings packaging/dkms/replace-module
	$(Q)mkdir -p $(@D) && cp $< $@

tests: $(B)/tests/unit/test_options

$(B)/tests/unit/test_options: tests/unit/options
	$(Q)mkdir -p $(@D) && cp $< $@

# The views' numbers, made once more.
tests: $(B)/tests/unit/test_answers

$(B)/tests/unit/test_answers: tests/unit/answers | $(B)/tests/unit/test_print
	$(Q)mkdir -p $(@D) && cp $< $@

# libfkt as programs find it that have nothing but what make install-lib installs.
tests: $(B)/tests/unit/test_libfkt

$(B)/tests/unit/test_libfkt: tests/unit/libfkt $(B)/lib/libfkt.a $(B)/lib/libfkt.so lib/fkt.pc.in \
			     $(wildcard include/fkt/*.h include/fkt/*/*.h docs/man/*.3) | $(B)/tests/unit/test_print
	$(call say,INSTALL,libfkt)
	$(Q)rm -rf $(B)/installed/libfkt && \
	$(MAKE) -s install-lib DESTDIR=$(CURDIR)/$(B)/installed/libfkt PREFIX=/opt/fkt && \
	mkdir -p $(@D) && cp $< $@

# The module's own lanes, in memory that is taken for a machine's.
$(B)/tests/unit/test_recover: $(OBJ)/recover/kmod/lane.o $(B)/bin/fkt_recover $(B)/bin/fkt_print
$(OBJ)/tests/unit/test_recover.o $(OBJ)/recover/kmod/lane.o: private fkt_cflags += -Ikmod -Itests/stress
objects += $(OBJ)/recover/kmod/lane.o

$(OBJ)/recover/kmod/lane.o: kmod/lane.c $(OBJ)/flags
	$(call say,CC,'$< (recover)')
	$(Q)mkdir -p $(@D) && $(CC) $(fkt_cflags) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# What other tools read of what fkt_export writes.
tests: $(B)/tests/unit/test_export

$(B)/tests/unit/test_export: tests/unit/export $(B)/fuzz/make_corpus | $(B)/tests/unit/test_print $(B)/tests/unit/test_stack $(B)/tests/unit/test_profile
	$(Q)mkdir -p $(@D) && cp $< $@

# CTF is read by babeltrace2, which also has the plugin.
tests: $(B)/tests/unit/test_ctf

$(B)/tests/unit/test_ctf: tests/unit/ctf $(B)/fuzz/make_corpus | $(B)/tests/unit/test_print $(B)/tests/unit/test_stack $(B)/tests/unit/test_profile \
			 $(B)/tests/unit/test_user_stack $(bt2_plugin)
	$(Q)mkdir -p $(@D) && cp $< $@

# trace.dat is read by trace-cmd.
tests: $(B)/tests/unit/test_trace_dat

$(B)/tests/unit/test_trace_dat: tests/unit/trace_dat $(B)/fuzz/make_corpus | $(B)/tests/unit/test_print $(B)/tests/unit/test_stack
	$(Q)mkdir -p $(@D) && cp $< $@

# Flame graphs, and how pages were filled and fared.
tests: $(B)/tests/unit/test_pictures

$(B)/tests/unit/test_pictures: tests/unit/pictures | $(B)/tests/unit/test_print
	$(Q)mkdir -p $(@D) && cp $< $@

# SQL against the views.
tests: $(B)/tests/unit/test_query

$(B)/tests/unit/test_query: tests/unit/query $(B)/bin/fkt_query | $(B)/tests/unit/test_print $(B)/tests/unit/test_profile \
				$(B)/fuzz/make_corpus
	$(Q)mkdir -p $(@D) && cp $< $@

# Python against the views.
tests: $(B)/tests/unit/test_python

$(B)/tests/unit/test_python: tests/unit/python $(B)/lib/libfkt.so $(B)/fuzz/make_corpus | $(B)/tests/unit/test_print $(B)/bin/fkt_print
	$(Q)mkdir -p $(@D) && cp $< $@

# The same answers by fkt_print, SQL, Python, CTF and Perfetto.
tests: $(B)/tests/unit/test_one_truth

$(B)/tests/unit/test_one_truth: tests/unit/one_truth $(B)/lib/libfkt.so | $(B)/tests/unit/test_diff $(B)/bin/fkt_print \
				$(B)/bin/fkt_query $(B)/bin/fkt_export $(bt2_plugin)
	$(Q)mkdir -p $(@D) && cp $< $@

# Read by babeltrace2, with the plugin.
$(B)/tests/unit/test_babeltrace2: | $(bt2_plugin) $(B)/bin/fkt_export

# All tools by one name.
tests: $(B)/tests/unit/test_fkt

$(B)/tests/unit/test_fkt: tests/unit/fkt | $(bins)
	$(Q)mkdir -p $(@D) && cp $< $@

# Options from files.
tests: $(B)/tests/unit/test_config

$(B)/tests/unit/test_config: tests/unit/config | $(bins) $(sets) $(B)/tests/unit/test_print
	$(Q)mkdir -p $(@D) && cp $< $@

# What shells complete.
tests: $(B)/tests/unit/test_completion

$(B)/tests/unit/test_completion: tests/unit/completion | $(bins)
	$(Q)mkdir -p $(@D) && cp $< $@

# What services may do.
tests: $(B)/tests/unit/test_units

$(B)/tests/unit/test_units: tests/unit/units
	$(Q)mkdir -p $(@D) && cp $< $@

# What fkt_view draws, and who may see it.
$(B)/tests/unit/test_collect: $(OBJ)/tools/fkt_view/collect.o $(OBJ)/tools/fkt_view/names.o | $(B)/lib/common.a
$(B)/tests/unit/test_collect: LDLIBS += $(B)/lib/common.a $(B)/lib/libfkt.a $(fkt_ldlibs)

tests: $(B)/tests/unit/test_view

$(B)/tests/unit/test_view: tests/unit/view $(B)/fuzz/seeds | $(B)/tests/unit/test_print $(B)/tests/unit/test_collect \
			   $(B)/tests/bench/multiply_trace $(B)/bin/fkt_view $(B)/bin/fkt_print $(B)/bin/fkt_extract $(B)/bin/fkt_query
	$(Q)mkdir -p $(@D) && cp $< $@

# The same in the terminal.
tests: $(B)/tests/unit/test_view_tui

$(B)/tests/unit/test_view_tui: tests/unit/view_tui $(B)/fuzz/seeds | $(B)/tests/unit/test_collect $(B)/tests/bench/multiply_trace \
			       $(B)/bin/fkt_view $(B)/bin/fkt_print
	$(Q)mkdir -p $(@D) && cp $< $@

# The page, in a browser. Without npm, or a network, that test is skipped.
PLAYWRIGHT := 1.65.1
tests: $(B)/tests/unit/test_view_page

$(B)/node/$(PLAYWRIGHT):
	$(call say,NPM,playwright-core)
	$(Q)mkdir -p $(@D) && if npm install --silent --no-audit --no-fund --prefix $(@D) playwright-core@$(PLAYWRIGHT); then touch $@; \
		else echo 'playwright-core could not be had: a test is skipped' >&2; fi

$(B)/tests/unit/test_view_page: tests/unit/view_page tests/unit/view_page.js | $(B)/node/$(PLAYWRIGHT) $(B)/tests/unit/test_collect \
				$(B)/bin/fkt_view $(B)/bin/fkt_print $(B)/bin/fkt_extract $(B)/bin/fkt_query
	$(Q)mkdir -p $(@D) && cp $< $@

# fkt_top against fkt_print.
tests: $(B)/tests/unit/test_top

$(B)/tests/unit/test_top: tests/unit/top | $(B)/tests/unit/test_print $(B)/tests/unit/test_stack $(B)/tests/unit/test_collect \
			  $(B)/tests/unit/test_began $(B)/bin/fkt_top $(B)/bin/fkt_print
	$(Q)mkdir -p $(@D) && cp $< $@

# Interrupts, calls and who waits, made once more.
tests: $(B)/tests/unit/test_queues

$(B)/tests/unit/test_queues: tests/unit/queues | $(B)/tests/unit/test_print $(B)/tests/unit/test_stack $(B)/bin/fkt_print
	$(Q)mkdir -p $(@D) && cp $< $@

# Broken debug information of programs.
tests: $(B)/tests/unit/test_dwarf

$(B)/tests/unit/test_dwarf: tests/unit/dwarf | $(B)/bin/fkt_record $(B)/tests/vm/user_fields
	$(Q)mkdir -p $(@D) && cp $< $@
