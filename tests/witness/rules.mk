# SPDX-License-Identifier: GPL-2.0-only

# Long: about two hours.
.PHONY: check-witness
check-witness: tools modules
	scripts/deps
	tests/witness/run
