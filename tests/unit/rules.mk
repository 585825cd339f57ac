# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of files of a tool.

$(B)/tests/unit/test_signature: $(OBJ)/tools/fkt_record/abi.o $(OBJ)/tools/fkt_record/signature.o
$(B)/tests/unit/test_signature: LDLIBS += -lbpf

# Its allocations fail when it says so.
$(B)/tests/unit/test_memory: LDLIBS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free

# What is said of the sources themselves.
tests: $(B)/tests/unit/test_licences

$(B)/tests/unit/test_licences: tests/unit/licences
	$(Q)mkdir -p $(@D) && cp $< $@
