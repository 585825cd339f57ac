# SPDX-License-Identifier: GPL-2.0-only
#
# make              the tools, and fkt.ko for the running kernel (KDIR=… for another one)
# make modules      fkt.ko for the kernels of the guests, 6.1 and 6.12; module-SERIES for another one
#                   of scripts/kernels (such as 6.12-rt), modules-SERIES with the tests' modules
# make demo         records a command in a guest, and shows the trace
# make check        builds everything without a warning, and runs all tests
# make tests-long      the tests' programs with those that make check leaves out: short runs of the fuzzers
# make check-arch      compiles what is no architecture's own for arm64
# make check-newest    … on the newest kernel that Debian has (as root)
# make check-debug     … on kernels that watch over memory, locks and races; builds them first
# make check-all       all tests on all kernels; all three write docs/tested.md
# make check-packages  Debian's packages: installed, used and removed on Debian 12, 13 and sid (as root)
# make check-witness   the kernel's own selftests and stress-ng, without FKT and with it
# make fuzz         looks for traces that the tools can't bear, until it is stopped
# make bench        measures what recording costs, against its peers
# make install      DESTDIR=, PREFIX=/usr/local, LIBDIR=PREFIX/lib; make install-lib: libfkt alone
# make dist         the sources in one file
# make deb          Debian's packages
# make clean
#
# V=1 shows the commands. Everything is built under build/.

PREFIX	?= /usr/local
CFLAGS	?= -O2 -g
KDIR	?= /lib/modules/$(shell uname -r)/build

BINDIR	   ?= $(PREFIX)/bin
LIBDIR	   ?= $(PREFIX)/lib
MANDIR	   ?= $(PREFIX)/share/man
INCLUDEDIR ?= $(PREFIX)/include
# Where python3 looks for what is not Debian's own.
PYTHONDIR  ?= $(PREFIX)/lib/$(shell /usr/bin/python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])' \
		2>/dev/null || echo python3)/dist-packages
# For modules with probes: the symbols of fkt.ko, a directory for each kernel.
SYMVERSDIR ?= $(PREFIX)/lib/fkt

# Of the kernels that scripts/kernels knows: those whose guests take all tests, a few of them, and
# none but when they are asked for.
guest_kernels := 6.1 6.12
rt_kernels    := 6.1-rt 6.12-rt
debug_kernels := debug-kasan debug-kcsan
all_kernels   := $(guest_kernels) $(rt_kernels) newest $(debug_kernels)

B   := build
# Where objects go: make check compiles them with -Werror, apart from those in use.
OBJ ?= $(B)/obj

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n' $(1) $(2)
MAKEFLAGS += --no-print-directory
endif

fkt_cflags := -std=gnu11 -Wall -Wextra -D_GNU_SOURCE -Iinclude -Ilib -Itools -MMD -MP $(WERROR)
fkt_ldlibs := -lelf -lzstd -pthread

# One folder a tool, and what tools share in tools/common; some tools answer to more than one name.
tools	 := $(filter-out common,$(notdir $(patsubst %/,%,$(sort $(dir $(wildcard tools/*/*.c))))))
# Names of programs' arguments, where libdw (elfutils) is there.
libdw	 := $(shell pkg-config --silence-errors --libs libdw 2>/dev/null)
fkt_record_ldlibs := -lbpf $(libdw)
$(OBJ)/tools/fkt_record/program_types.o: private fkt_cflags += $(if $(libdw),-DHAVE_LIBDW)
fkt_recover_ldlibs := -lz
fkt_selection_ldlibs := -lncursesw -ltinfo
fkt_top_ldlibs := -lncursesw -ltinfo
# SQL is in the tool as it is in the extension for other programs.
sqlite_objs := $(patsubst %.c,$(OBJ)/%.o,$(wildcard bindings/sqlite/*.c))
fkt_query_sources := $(wildcard bindings/sqlite/*.c)
# And LTTng's names in the exports as in the plugin.
fkt_export_sources := bindings/babeltrace2/lttng.c
fkt_query_ldlibs := -lsqlite3 -lm
fkt_diff_ldlibs := -lm
fkt_view_ldlibs := -lmicrohttpd -lncursesw -ltinfo
# Its page is in the program.
fkt_view_objs := $(OBJ)/tools/fkt_view/page.o
# What the recorder asks of a machine is in tools/fkt_record/arch/NAME. A trace is read anywhere.
machine	 := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
arch	 := $(shell echo $(machine) | sed 's/x86_64/x86/; s/^i.86$$/x86/; s/aarch64/arm64/; s/riscv.*/riscv/')
arch_sources := $(wildcard tools/fkt_record/arch/$(arch)/*.c)
ifeq ($(arch_sources),)
tools	 := $(filter-out fkt_record,$(tools))
endif
aliases	 := fkt_enable:fkt_setmask fkt_disable:fkt_setmask
bins	 := $(tools:%=$(B)/bin/%) $(foreach a,$(aliases),$(B)/bin/$(firstword $(subst :, ,$(a))))
lib_objs    := $(patsubst %.c,$(OBJ)/%.o,$(wildcard lib/*/*.c))
common_objs := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tools/common/*.c))

# A test_*.c of tests/unit is a program together with the helpers there, a .c file of tests/vm
# and tests/bench is one alone. Their modules: see test_module_rule.
unit_tests   := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c))
unit_helpers := $(patsubst %.c,$(OBJ)/%.o,\
		  $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c)))
other_tests  := $(patsubst %.c,$(B)/%,$(wildcard tests/vm/*.c tests/bench/*.c))

# For babeltrace2, where it is there.
bt2_libs   := $(shell pkg-config --cflags --libs babeltrace2 2>/dev/null)
bt2_plugin := $(if $(bt2_libs),$(B)/lib/babeltrace2/babeltrace-plugin-fkt.so)
bt2_objs   := $(patsubst %.c,$(OBJ)/%.o,$(wildcard bindings/babeltrace2/*.c))

sources := $(wildcard lib/*/*.c tools/*/*.c bindings/sqlite/*.c) $(fkt_export_sources)
cross_objects := $(sources:%.c=$(OBJ)/%.o)
sources += $(arch_sources) $(if $(bt2_plugin),bindings/babeltrace2/plugin.c) $(wildcard tests/unit/*.c tests/vm/*.c tests/bench/*.c)
objects := $(sources:%.c=$(OBJ)/%.o)

.DELETE_ON_ERROR:
.PHONY: all tools libs tests tests-long objects cross-objects module modules demo check check-arch check-newest check-packages check-debug check-all \
	bench install install-lib dist deb clean FORCE

all: tools module

# Where tools look for what they share: beside the folder that they are in.
sets := $(B)/share/fkt/sets.conf

tools: libs $(bins) $(bt2_plugin) $(sets)

$(sets): packaging/config/sets.conf
	$(Q)mkdir -p $(@D) && cp $< $@

# More test programs, with flags of their own; they add to "tests", or to those that make check does not wait for.
-include $(wildcard tests/*/rules.mk)

tests: tools $(unit_tests) $(other_tests)
tests-long: tests

objects: $(objects)

# What no architecture has to itself.
cross-objects: $(cross_objects)

$(B)/lib/libfkt.a: $(lib_objs)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $(lib_objs)

# libfkt for other programs. Nothing is exported but what lib/libfkt.map says.
libs: $(B)/lib/libfkt.a $(B)/lib/libfkt.so $(B)/lib/fkt_sqlite.so

release := $(shell sed -n 's/^.define FKT_RELEASE "\(.*\)"/\1/p' include/fkt/version.h)
soname	:= libfkt.so.0

$(lib_objs) $(sqlite_objs): private fkt_cflags += -fPIC -fvisibility=hidden -fno-semantic-interposition

$(B)/lib/libfkt.so.$(release): $(lib_objs) lib/libfkt.map
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(soname) -Wl,--version-script,lib/libfkt.map \
		-Wl,-Bsymbolic-functions,--no-undefined -o $@ $(lib_objs) $(fkt_ldlibs)

# The names that the loader and the linker know it by.
$(B)/lib/libfkt.so: $(B)/lib/libfkt.so.$(release)
	$(Q)ln -sf libfkt.so.$(release) $(B)/lib/$(soname) && ln -sf $(soname) $@

# It has libfkt in it, and so is a file that can be put anywhere.
$(B)/lib/fkt_sqlite.so: $(sqlite_objs) $(B)/lib/libfkt.a
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,--exclude-libs,ALL,--no-undefined -o $@ $^ -lm $(fkt_ldlibs)

$(bt2_objs): private fkt_cflags += -fPIC

# Found by babeltrace2 in its folder of plugins, it finds libfkt in the folder above it.
BT2_RPATH ?= -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..'
$(bt2_plugin): $(bt2_objs) $(B)/lib/libfkt.so
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -shared $(BT2_RPATH) -Wl,--no-undefined \
		-o $@ $(bt2_objs) -L$(B)/lib -lfkt $(bt2_libs)

$(B)/lib/common.a: $(common_objs)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $(common_objs)

$(OBJ)/%.o: %.c $(OBJ)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(fkt_cflags) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# Other flags, another build.
$(OBJ)/flags: FORCE
	$(Q)mkdir -p $(@D); flags='$(CC) $(fkt_cflags) $(CPPFLAGS) $(CFLAGS)'; \
	[ "$$(cat $@ 2>/dev/null)" = "$$flags" ] || printf '%s\n' "$$flags" >$@

$(OBJ)/%.o: %.S $(OBJ)/flags
	$(call say,AS,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) -c -o $@ $<

$(fkt_view_objs): $(wildcard tools/fkt_view/page/*)

link = $(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^)

fkt_record_sources := $(arch_sources)

define tool_rule
$(B)/bin/$(1): $(patsubst %.c,$(OBJ)/%.o,$(wildcard tools/$(1)/*.c) $($(1)_sources)) $($(1)_objs) $(B)/lib/common.a $(B)/lib/libfkt.a
	$$(call say,LD,$$@)
	$$(link) $($(1)_ldlibs) $(fkt_ldlibs) $(LDLIBS)
endef
$(foreach t,$(tools),$(eval $(call tool_rule,$(t))))

define alias_rule
$(B)/bin/$(1): $(B)/bin/$(2)
	$$(call say,LN,$$@)
	$$(Q)ln -sf $(2) $$@
endef
$(foreach a,$(aliases),$(eval $(call alias_rule,$(firstword $(subst :, ,$(a))),$(lastword $(subst :, ,$(a))))))

$(unit_tests): $(B)/%: $(OBJ)/%.o $(unit_helpers) $(B)/lib/libfkt.a
	$(call say,LD,$@)
	$(link) -lcmocka $(fkt_ldlibs) $(LDLIBS)

$(other_tests): $(B)/%: $(OBJ)/%.o $(B)/lib/libfkt.a
	$(call say,LD,$@)
	$(link) -pthread $(fkt_ldlibs) $(LDLIBS)

-include $(objects:.o=.d)

# kbuild leaves its objects beside the sources: for each kernel they are linked into a directory of
# its own. $(call kbuild,KDIR,sources,directory under build,arguments of make,series of KDIR)
# Debian's kernel.release is not the kernel's name, and BTF for a module would need its vmlinux.
utsrelease := include/generated/utsrelease.h
define kbuild
	$(Q)+set -e; kdir=$(1); \
	release=$$(sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' "$$kdir/$(utsrelease)"); \
	out=$(CURDIR)/$(B)/$(3)/$$release; \
	mkdir -p "$$out"; \
	exec 9>"$$out/.lock"; flock 9; \
	find "$$out" -xtype l -delete; \
	cp -rs --remove-destination $(CURDIR)/$(2)/. "$$out/"; \
	$(if $(Q),printf '  %-7s %s\n' KBUILD "$${out#$(CURDIR)/}";) \
	$(if $(5),scripts/kernels --run $(5)) $(MAKE) $(if $(Q),-s) -C "$$kdir" M="$$out" FKT_INCLUDE=$(CURDIR)/include \
		CONFIG_DEBUG_INFO_BTF_MODULES= $(4) 9>&-
endef

ifneq ($(wildcard $(KDIR)/$(utsrelease)),)
module:
	$(call kbuild,$(KDIR),kmod,kmod,modules,$(SERIES))
else
module: modules
	@echo 'No headers in $(KDIR): fkt.ko was built for the kernels of the guests ($(guest_kernels)).'
	@echo 'For another one: make KDIR=/lib/modules/RELEASE/build'
endif

modules: $(guest_kernels:%=module-%)

# STRICT=1: with all warnings, as errors, and those of sparse, for which sid's packages lack a script.
strict = $(if $(STRICT),W=1 $(if $(filter newest,$*),,C=1 CF=-Wsparse-error) KCFLAGS=-Werror)

module-%: FORCE
	$(call kbuild,$$(scripts/kernels --kdir $*),kmod,kmod,$(strict) modules,$*)

# What is no architecture's own is compiled for another one as well, so that it stays so: the module without what
# kmod/arch.h asks for, libfkt, and the tools without tools/fkt_record/arch. Nothing is run.
check-arch:
	$(Q)$(MAKE) CC=aarch64-linux-gnu-gcc CFLAGS=-O1 OBJ=$(B)/check/arm64 WERROR=-Werror cross-objects
	$(call kbuild,$$(scripts/kernels --kdir 6.1-arm64),kmod,check/kmod,\
		ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- FKT_ARCH=none W=1 KCFLAGS=-Werror modules)

# Modules that the tests load besides fkt.ko: a folder with a Kbuild, built for each kernel.
define test_module_rule
test-modules-$(2): $(1)@$(2)
$(1)@$(2): FORCE
	$$(call kbuild,$$$$(scripts/kernels --kdir $(2)),$(1),$(1),modules,$(2))
endef
$(foreach m,$(patsubst %/Kbuild,%,$(wildcard tests/*/*/Kbuild)),\
	$(foreach k,$(all_kernels),$(eval $(call test_module_rule,$(m),$(k)))))
tests: $(guest_kernels:%=test-modules-%)

# All that the guests of a series load.
$(all_kernels:%=modules-%): modules-%: module-% test-modules-%

demo:
	scripts/deps
	$(Q)$(MAKE) tools module-6.1
	scripts/demo

check:
	scripts/deps
	$(Q)$(MAKE) -j$$(nproc) STRICT=1 OBJ=$(B)/check/obj WERROR=-Werror check-arch objects tools tests modules \
		$(foreach k,$(rt_kernels),module-$(k) checked@$(k))
	tests/run

# What needs more time, or moves under one's feet, gates nothing.
check-newest:
	scripts/deps
	$(Q)$(MAKE) -j$$(nproc) STRICT=1 tools tests modules-newest
	tests/run --record --kernels newest

check-packages:
	scripts/deps
	$(Q)$(MAKE) -j$$(nproc) tools module-6.1
	tests/run debian

check-debug:
	scripts/deps
	scripts/debug-kernel
	$(Q)$(MAKE) -j$$(nproc) tools tests $(debug_kernels:%=modules-%)
	tests/run --record --kernels "$(debug_kernels)"

check-all:
	scripts/deps
	scripts/debug-kernel
	$(Q)$(MAKE) -j$$(nproc) STRICT=1 OBJ=$(B)/check/obj WERROR=-Werror objects tools tests-long $(all_kernels:%=modules-%)
	tests/run --record --kernels "host $(all_kernels)"

bench:
	scripts/deps
	$(Q)$(MAKE) tools tests modules
	tests/bench/run

install: tools install-lib $(if $(wildcard $(KDIR)/$(utsrelease)),module)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man5
	install -m 755 $(tools:%=$(B)/bin/%) $(DESTDIR)$(BINDIR)
	$(foreach a,$(aliases),ln -sf $(lastword $(subst :, ,$(a))) \
		$(DESTDIR)$(BINDIR)/$(firstword $(subst :, ,$(a)));)
	$(if $(bt2_plugin),install -D -m 755 $(bt2_plugin) -t $(DESTDIR)$(LIBDIR)/babeltrace2/plugins)
	install -m 644 $(wildcard docs/man/*.1) $(DESTDIR)$(MANDIR)/man1
	install -D -m 644 $(sets) -t $(DESTDIR)$(PREFIX)/share/fkt
	install -d $(DESTDIR)$(LIBDIR)/fkt
	install -m 755 $(B)/lib/fkt_sqlite.so $(DESTDIR)$(LIBDIR)/fkt
	install -D -m 644 bindings/python/fkt.py -t $(DESTDIR)$(PYTHONDIR)
	install -m 644 $(wildcard docs/man/*.5) $(DESTDIR)$(MANDIR)/man5
ifneq ($(wildcard $(KDIR)/$(utsrelease)),)
	$(call kbuild,$(KDIR),kmod,kmod,$(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) \
		$(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=) modules_install,$(SERIES))
	release=$$(sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' $(KDIR)/$(utsrelease)) && \
	install -d "$(DESTDIR)$(SYMVERSDIR)/$$release" && \
	install -m 644 "$(B)/kmod/$$release/Module.symvers" "$(DESTDIR)$(SYMVERSDIR)/$$release/" && \
	$(if $(DESTDIR),:,depmod "$$release")
else
	@echo 'No headers in $(KDIR): fkt.ko was not installed.'
endif

# Each function has a man page by its name.
install-lib: libs
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/fkt $(DESTDIR)$(MANDIR)/man3
	install -m 644 $(B)/lib/libfkt.a $(DESTDIR)$(LIBDIR)
	install -m 755 $(B)/lib/libfkt.so.$(release) $(DESTDIR)$(LIBDIR)
	ln -sf libfkt.so.$(release) $(DESTDIR)$(LIBDIR)/$(soname)
	ln -sf $(soname) $(DESTDIR)$(LIBDIR)/libfkt.so
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@RELEASE@|$(release)|' \
		lib/fkt.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/fkt.pc
	install -m 644 $(wildcard include/fkt/*.h) $(DESTDIR)$(INCLUDEDIR)/fkt
	$(foreach a,$(notdir $(patsubst %/,%,$(wildcard include/fkt/*/))),install -d $(DESTDIR)$(INCLUDEDIR)/fkt/$(a) && \
		install -m 644 $(wildcard include/fkt/$(a)/*.h) $(DESTDIR)$(INCLUDEDIR)/fkt/$(a) &&) :
	install -m 644 $(wildcard docs/man/*.3) $(DESTDIR)$(MANDIR)/man3
	for name in $$(sed -n 's/^	\(fkt_[a-z0-9_]*\);.*/\1/p' lib/libfkt.map); do \
		echo '.so man3/fkt_trace.3' >$(DESTDIR)$(MANDIR)/man3/$$name.3 || exit; \
	done
	$(if $(DESTDIR),,[ "$$(id -u)" != 0 ] || ldconfig)

# What git knows of this tree, as it is now; made twice it is the same, byte for byte.
dist := fkt-$(release)

dist:
	$(Q)mkdir -p $(B)
	$(Q)git ls-files -z | tar --create --null --files-from=- --transform='flags=r;s|^|$(dist)/|' --sort=name --format=gnu \
		--mtime="@$$(git log -1 --format=%ct)" --owner=root:0 --group=root:0 --mode=u=rwX,go=rX | xz >$(B)/$(dist).tar.xz
	@echo $(B)/$(dist).tar.xz

# All packages are in build/deb. They need what debian/control says: scripts/deps, or apt-get build-dep .
deb: dist
	$(Q)if ! cmp -s $(B)/$(dist).tar.xz $(B)/deb/made-of; then \
		umask 022 && rm -rf $(B)/deb && mkdir -p $(B)/deb && tar -xJf $(B)/$(dist).tar.xz -C $(B)/deb && (cd $(B)/deb/$(dist) && \
		env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS dpkg-buildpackage --jobs=auto --unsigned-source --unsigned-changes) && \
		rm -rf $(B)/deb/$(dist) && cp $(B)/$(dist).tar.xz $(B)/deb/made-of; \
	fi
	@ls $(B)/deb/*.deb

# The downloaded kernels and trees stay.
clean:
	find $(B) -mindepth 1 -maxdepth 1 ! -name kernels ! -name debian -exec rm -rf {} +
