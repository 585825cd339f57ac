# SPDX-License-Identifier: GPL-2.0-only
#
# The modules of tests/vm/sample, built for each kernel as a user would: by their own Makefile, against an FKT that
# make install has put under build/installed.

sample_sources := $(wildcard tests/vm/sample/*)
installed_from := $(wildcard kmod/*.[ch] kmod/probes/* include/fkt/*.h) kmod/Kbuild Makefile

# $(call sample_rule,kernel)
define sample_rule
test-modules-$(1): $(B)/tests/vm/sample/$(1)/fkt_sample.ko

$(B)/tests/vm/sample/$(1)/fkt_sample.ko: $(sample_sources) $(installed_from) | tools module-$(1)
	$$(call say,SAMPLE,$$(@D))
	$$(Q)rm -rf $$(B)/installed/$(1) && mkdir -p $$(@D) && kdir=$$$$(scripts/kernels --kdir $(1)) && \
	$$(MAKE) -s install DESTDIR=$$(CURDIR)/$$(B)/installed/$(1) PREFIX=/usr KDIR=$$$$kdir SERIES=$(1) && \
	cp --remove-destination $(sample_sources) $$(@D)/ && \
	scripts/kernels --run $(1) $$(MAKE) -s -C $$(@D) RELEASE=$$$$(scripts/kernels --release $(1)) KDIR=$$$$kdir \
		FKT=$$(CURDIR)/$$(B)/installed/$(1)/usr CONFIG_DEBUG_INFO_BTF_MODULES= && \
	ln -sfn $(1) $$(B)/tests/vm/sample/$$$$(scripts/kernels --release $(1)) && touch $$@
endef
$(foreach k,$(all_kernels),$(eval $(call sample_rule,$(k))))

# A 32-bit program needs neither headers nor a library for 32 bits when it uses none of them.

tests: $(B)/tests/vm/ia32

$(B)/tests/vm/ia32: tests/vm/ia32.S
	$(call say,AS,$@)
	$(Q)mkdir -p $(@D) && $(CC) -m32 -nostdlib -static -o $@ $<

# app_events as if it had been built with another version of fkt/user.h.
tests: $(B)/tests/vm/other_events

$(B)/tests/vm/other_events: tests/vm/app_events.c include/fkt/user.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)/other/fkt && sed 's/^\(#define FKT_USER_VERSION\) .*/\1 99/' include/fkt/user.h >$(@D)/other/fkt/user.h && \
		$(CC) -I$(@D)/other $(fkt_cflags) $(CPPFLAGS) $(CFLAGS) -pthread -o $@ $<

# fkt.ko with a counter of cycles that a sleep sets back, as that of a machine that is not emulated; and with a warning when
# something is recorded with preemption on.
define checked_rule
test-modules-$(1): checked@$(1)
checked@$(1): FORCE
	$$(call kbuild,$$$$(scripts/kernels --kdir $(1)),kmod,tests/vm/checked,KCFLAGS=-DFKT_TEST modules,$(1))
endef
$(foreach k,$(all_kernels),$(eval $(call checked_rule,$(k))))

# They attach BPF programs.
$(B)/tests/vm/fexit $(B)/tests/vm/hold $(B)/tests/vm/deny: LDLIBS += -lbpf

# Traced by LTTng, and by FKT.
$(B)/tests/vm/ust_calls: LDLIBS += -llttng-ust -ldl

# Who has called is known by frame pointers.
$(OBJ)/tests/vm/ustack.o $(OBJ)/tests/vm/hot.o: private fkt_cflags += -fno-omit-frame-pointer -fno-optimize-sibling-calls
