/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of page/, which page.S has taken in. */
#ifndef FKT_VIEW_PAGE_H
#define FKT_VIEW_PAGE_H

extern const char page_html[], page_html_end[];
extern const char page_js[], page_js_end[];
extern const char page_css[], page_css_end[];
extern const char page_icon[], page_icon_end[];

#endif
