# SPDX-License-Identifier: GPL-2.0-only
#
# lane_bench compiles lane.h and lane.c as they are, with the stress test's surroundings.

lane_bench_objects := $(OBJ)/tests/bench/lane_bench.o $(OBJ)/tests/bench/lane.o
objects += $(OBJ)/tests/bench/lane.o

$(lane_bench_objects): private CPPFLAGS += -Ikmod -Itests/stress

$(OBJ)/tests/bench/lane.o: kmod/lane.c $(OBJ)/flags
	$(call say,CC,'$< (lane_bench)')
	$(Q)mkdir -p $(@D) && $(CC) $(fkt_cflags) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(B)/tests/bench/lane_bench: $(OBJ)/tests/bench/lane.o

# A trace made as the unit tests make theirs.
$(OBJ)/tests/bench/many_threads.o: private CPPFLAGS += -Itests/unit
$(B)/tests/bench/many_threads: $(OBJ)/tests/unit/build_trace.o
$(B)/tests/bench/many_threads: LDLIBS += -lzstd

# Its stack is known by frame pointers.
$(OBJ)/tests/bench/deep_write.o: private fkt_cflags += -fno-omit-frame-pointer -fno-optimize-sibling-calls

# Beside FKT's events of programs, LTTng-UST's.
$(OBJ)/tests/bench/user_loop.o: private CPPFLAGS += -Itests/bench
$(B)/tests/bench/user_loop: LDLIBS += -llttng-ust -ldl
