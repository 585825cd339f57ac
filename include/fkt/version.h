/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The release that tools and module say they are; formats have versions of their own. */
#ifndef FKT_VERSION_H
#define FKT_VERSION_H

#define FKT_RELEASE "0.1.0"

#endif
