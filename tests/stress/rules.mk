# SPDX-License-Identifier: GPL-2.0-only
#
# The stress tests of lane.h and lane.c, and of user.h: as they are, and under the sanitizers; and lanes that overwrite.

, := ,
stress_sources := tests/stress/lane_stress.c kmod/lane.c
stress_tests   := $(addprefix $(B)/tests/stress/,lane_stress lane_stress_tsan lane_stress_asan lane_ring \
		    user_stress user_stress_tsan user_stress_asan)
tests: $(stress_tests)

# $(call stress_rules,program,flags)
define stress_rules
stress_objects_$(1) := $$(stress_sources:%.c=$$(OBJ)/$(1)/%.o)
objects += $$(stress_objects_$(1))

$$(stress_objects_$(1)): $$(OBJ)/$(1)/%.o: %.c $$(OBJ)/flags
	$$(call say,CC,'$$< ($(1))')
	$$(Q)mkdir -p $$(@D) && $$(CC) $$(fkt_cflags) -Ikmod -Itests/stress \
		$$(CPPFLAGS) $$(CFLAGS) $(2) -c -o $$@ $$<

$$(B)/tests/stress/$(1): $$(stress_objects_$(1))
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D) && $$(CC) $$(CFLAGS) $$(LDFLAGS) $(2) -pthread -o $$@ $$^
endef

$(eval $(call stress_rules,lane_stress,-DFKT_STRESS))
$(eval $(call stress_rules,lane_stress_tsan,-DFKT_STRESS -fsanitize=thread))
$(eval $(call stress_rules,lane_stress_asan,-DFKT_STRESS -fsanitize=address$(,)undefined -fno-sanitize-recover=all))

stress_sources := tests/stress/lane_ring.c kmod/lane.c
$(eval $(call stress_rules,lane_ring,-fsanitize=address$(,)undefined -fno-sanitize-recover=all))

stress_sources := tests/stress/user_stress.c
$(eval $(call stress_rules,user_stress,))
$(eval $(call stress_rules,user_stress_tsan,-fsanitize=thread))
$(eval $(call stress_rules,user_stress_asan,-fsanitize=address$(,)undefined -fno-sanitize-recover=all))
