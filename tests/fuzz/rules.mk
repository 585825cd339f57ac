# SPDX-License-Identifier: GPL-2.0-only
#
# make fuzz		feeds the reader, fkt_print and fkt_extract damaged traces until it is stopped, or
#			for FUZZ_SECONDS; what it finds is in build/fuzz
# The tests have a short run of it, build/tests/unit/test_fuzz. It takes clang; without it the run is
# skipped.

FUZZ_CC	     ?= $(firstword $(shell command -v clang clang-19 clang-16 clang-15 clang-14))
FUZZ_SECONDS ?= 0
FUZZ_JOBS    ?= $(shell nproc)
fuzz_flags   := -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
fuzz_sources := tests/fuzz/fuzz_trace.c $(wildcard lib/*/*.c tools/common/*.c tools/fkt_print/*.c)
fuzz_objects := $(fuzz_sources:%.c=$(B)/fuzz/obj/%.o)

.PHONY: fuzz

tests: $(B)/tests/unit/test_fuzz

$(B)/fuzz/obj/%.o: %.c $(OBJ)/flags
	$(call say,FUZZCC,$<)
	$(Q)mkdir -p $(@D) && $(FUZZ_CC) $(fkt_cflags) -Itests/unit $(fuzz_flags) \
		$(if $(filter tools/%,$<),-Dmain=fkt_print_main) -c -o $@ $<

$(B)/fuzz/fuzz_trace: $(fuzz_objects)
	$(call say,LD,$@)
	$(Q)$(FUZZ_CC) $(fuzz_flags) -o $@ $^ $(fkt_ldlibs)

$(OBJ)/tests/fuzz/make_corpus.o: private CPPFLAGS += -Itests/unit
objects += $(OBJ)/tests/fuzz/make_corpus.o

$(B)/fuzz/make_corpus: $(OBJ)/tests/fuzz/make_corpus.o $(OBJ)/tests/unit/build_trace.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(fkt_ldlibs)

$(B)/fuzz/seeds: $(B)/fuzz/make_corpus
	$(Q)$< $@ && touch $@

ifneq ($(FUZZ_CC),)
$(B)/tests/unit/test_fuzz: $(B)/fuzz/fuzz_trace
endif
$(B)/tests/unit/test_fuzz: tests/fuzz/short $(B)/fuzz/seeds
	$(Q)mkdir -p $(@D) && cp $< $@

fuzz: $(B)/fuzz/fuzz_trace $(B)/fuzz/seeds
	$(Q)mkdir -p $(B)/fuzz/corpus && cd $(B)/fuzz && \
	exec ./fuzz_trace -fork=$(FUZZ_JOBS) -max_total_time=$(FUZZ_SECONDS) -timeout=20 \
		-rss_limit_mb=1024 -close_fd_mask=3 -artifact_prefix=found- corpus seeds

-include $(fuzz_objects:.o=.d)
