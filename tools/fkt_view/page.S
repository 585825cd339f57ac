/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page, in the program. */
	.section .rodata

	.macro file name, path
	.globl \name, \name\()_end
\name:
	.incbin "\path"
\name\()_end:
	.endm

	file page_html, "tools/fkt_view/page/index.html"
	file page_js, "tools/fkt_view/page/view.js"
	file page_css, "tools/fkt_view/page/view.css"
	file page_icon, "tools/fkt_view/page/icon.svg"

	.section .note.GNU-stack, "", %progbits
