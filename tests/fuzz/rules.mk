# SPDX-License-Identifier: GPL-2.0-only
#
# make fuzz		feeds the reader, fkt_print and fkt_extract damaged traces until it is stopped, or
#			for FUZZ_SECONDS; what it finds is in build/fuzz. FUZZ=view: what fkt_view answers with
# "make tests-long" has a short run of it, build/tests/unit/test_fuzz. It takes clang; without it the run
# is skipped.

FUZZ_CC	     ?= $(firstword $(shell command -v clang clang-19 clang-16 clang-15 clang-14))
FUZZ_SECONDS ?= 0
FUZZ	     ?= trace
FUZZ_JOBS    ?= $(shell nproc)
fuzz_flags   := -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
fuzz_no_link := $(fuzz_flags:%fuzzer,address,undefined=%fuzzer-no-link,address,undefined)
fuzz_sources := tests/fuzz/fuzz_trace.c $(wildcard lib/*/*.c tools/common/*.c tools/fkt_print/*.c)
fuzz_objects := $(fuzz_sources:%.c=$(B)/fuzz/obj/%.o)

# Of fkt_view, the server with sanitizers, and what it answers with, fed.
fuzz_view_sources := $(wildcard lib/*/*.c tools/common/*.c) $(filter-out %/fkt_view.c %/server.c %/tables.c %/screen.c,$(wildcard tools/fkt_view/*.c))
fuzz_view_objects := $(fuzz_view_sources:%.c=$(B)/fuzz/obj/%.o)
fuzz_server_objects := $(fuzz_view_objects) $(patsubst %,$(B)/fuzz/obj/tools/fkt_view/%.o,server tables screen view_main)

.PHONY: fuzz

tests-long: $(B)/tests/unit/test_fuzz

$(B)/fuzz/obj/%.o: %.c $(OBJ)/flags
	$(call say,FUZZCC,$<)
	$(Q)mkdir -p $(@D) && $(FUZZ_CC) $(fkt_cflags) -Itests/unit $(fuzz_flags) \
		$(if $(filter tools/%,$<),-Dmain=fkt_print_main) -c -o $@ $<

$(B)/fuzz/fuzz_trace: $(fuzz_objects)
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) $(fuzz_flags) -o $@ $^ $(fkt_ldlibs)

$(B)/fuzz/fuzz_view: $(B)/fuzz/obj/tests/fuzz/fuzz_view.o $(fuzz_view_objects)
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) $(fuzz_flags) -o $@ $^ $(fkt_ldlibs)

# It has the main() of a program.
$(B)/fuzz/obj/tools/fkt_view/view_main.o: tools/fkt_view/fkt_view.c $(OBJ)/flags
	$(call say,FUZZCC,$<)
	$(Q)mkdir -p $(@D) && $(FUZZ_CC) $(fkt_cflags) $(fuzz_no_link) -c -o $@ $<

$(B)/fuzz/bin/fkt_view: $(fuzz_server_objects) $(OBJ)/tools/fkt_view/page.o | $(B)/bin/fkt_print $(B)/bin/fkt_extract $(B)/bin/fkt_query
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(FUZZ_CC) $(fuzz_no_link) -o $@ $^ -lmicrohttpd -lncursesw -ltinfo $(fkt_ldlibs) && \
	for tool in fkt_print fkt_extract fkt_query; do ln -sf ../../bin/$$tool $(@D)/$$tool; done

# Requests before each of the seeds.
$(B)/fuzz/view_seeds: $(B)/fuzz/seeds
	$(Q)mkdir -p $@ && n=0; for trace in $(B)/fuzz/seeds/*; do \
		for request in 'picture?from=0&to=9000&width=50&tids=7,8,50' 'picture?from=100&to=200&width=8000' \
			'moment?from=500&tids=7' 'calls?from=0&to=9000&width=100&tids=7' 'next?from=0&text=sys' 'next?from=5000&text=*&back=1&tids=8'; do \
			n=$$((n + 1)); { printf '/%s\n' "$$request"; cat "$$trace"; } >$@/$$n; \
		done; \
	done && printf '{"trace":"00ff","stamp":5,"at_ns":5,"tid":null,"text":"a\\u00e4\\n\\"b"}\n' >$@/note && touch $@

$(OBJ)/tests/fuzz/make_corpus.o: private CPPFLAGS += -Itests/unit
objects += $(OBJ)/tests/fuzz/make_corpus.o

$(B)/fuzz/make_corpus: $(OBJ)/tests/fuzz/make_corpus.o $(OBJ)/tests/unit/build_trace.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(fkt_ldlibs)

$(B)/fuzz/seeds: $(B)/fuzz/make_corpus
	$(Q)$< $@ && touch $@

ifneq ($(FUZZ_CC),)
$(B)/tests/unit/test_fuzz: $(B)/fuzz/fuzz_trace
$(B)/tests/unit/test_fuzz_view: $(B)/fuzz/fuzz_view
$(B)/tests/unit/test_view_sanitized: $(B)/fuzz/bin/fkt_view
endif
$(B)/tests/unit/test_fuzz: tests/fuzz/short $(B)/fuzz/seeds
	$(Q)mkdir -p $(@D) && cp $< $@

tests-long: $(B)/tests/unit/test_fuzz_view $(B)/tests/unit/test_view_sanitized

$(B)/tests/unit/test_fuzz_view: tests/fuzz/short_view $(B)/fuzz/view_seeds
	$(Q)mkdir -p $(@D) && cp $< $@

$(B)/tests/unit/test_view_sanitized: tests/fuzz/sanitized_view | $(B)/tests/unit/test_view $(B)/tests/unit/test_view_tui
	$(Q)mkdir -p $(@D) && cp $< $@

fuzz: $(B)/fuzz/fuzz_trace $(B)/fuzz/fuzz_view $(B)/fuzz/seeds $(B)/fuzz/view_seeds
	$(Q)mkdir -p $(B)/fuzz/corpus$(FUZZ:trace=) && cd $(B)/fuzz && \
	exec ./fuzz_$(FUZZ) -fork=$(FUZZ_JOBS) -max_total_time=$(FUZZ_SECONDS) -timeout=20 \
		-rss_limit_mb=1024 -close_fd_mask=3 -artifact_prefix=found- corpus$(FUZZ:trace=) $(if $(filter view,$(FUZZ)),view_)seeds

-include $(sort $(fuzz_objects:.o=.d) $(fuzz_server_objects:.o=.d) $(B)/fuzz/obj/tests/fuzz/fuzz_view.d)
