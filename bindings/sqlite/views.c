// SPDX-License-Identifier: LGPL-2.1-or-later
/* Views: what one asks most. Times are in nanoseconds, as in the tables. */
#include <stddef.h>

#include "fkt_sqlite.h"

const char *const fkt_view_names[] = {
	"processes",  "slowest_calls", "failed_calls", "off_cpu",
	"interrupts", "wakeups",       "samples",      NULL,
};

const char *const fkt_views[] = {
	/* Threads with the same first one; what is not known of it is known of none. */
	"CREATE VIEW \"%w\".processes AS SELECT leader AS id, pid,"
	" max(CASE WHEN id = leader THEN process END) AS process, count(*) AS threads,"
	" sum(on_cpu) AS on_cpu, sum(user) AS user, sum(in_kernel) AS in_kernel,"
	" sum(interrupts) AS interrupts, sum(ready) AS ready,"
	" sum(sleep_s + sleep_d + sleep_i + sleep_other) AS asleep, sum(switches) AS switches"
	" FROM threads GROUP BY leader ORDER BY on_cpu DESC",

	"CREATE VIEW \"%w\".slowest_calls AS SELECT elapsed, on_cpu, begin, \"end\", cpu, tid,"
	" process, name, result, errno, args FROM calls WHERE NOT interrupt AND whole"
	" ORDER BY elapsed DESC",

	"CREATE VIEW \"%w\".failed_calls AS SELECT name, errno, count(*) AS count,"
	" sum(elapsed) AS elapsed, group_concat(DISTINCT process) AS processes FROM calls"
	" WHERE errno IS NOT NULL GROUP BY name, errno ORDER BY count DESC",

	"CREATE VIEW \"%w\".off_cpu AS SELECT pid, process, state, in_call, waker,"
	" count(*) AS count, sum(asleep) AS asleep, sum(ready) AS ready, max(elapsed) AS longest"
	" FROM waits GROUP BY pid, process, state, in_call, waker ORDER BY asleep DESC",

	/* On PREEMPT_RT softirqs are calls of the threads that run them. */
	"CREATE VIEW \"%w\".interrupts AS SELECT cpu, name, count(*) AS count,"
	" sum(on_cpu) AS on_cpu, max(elapsed) AS longest FROM calls"
	" WHERE interrupt OR name GLOB 'softirq *'"
	" GROUP BY cpu, name ORDER BY cpu, on_cpu DESC",

	"CREATE VIEW \"%w\".wakeups AS SELECT id, time, cpu, tid, process, name,"
	" args ->> 'pid' AS woken_tid, args ->> 'pid_name' AS woken, args ->> 'prio' AS prio"
	" FROM events WHERE name IN ('wakeup', 'wakeup_new')",

	/* Who was there, in which function: an address where nobody knows its name. */
	"CREATE VIEW \"%w\".samples AS SELECT id, time, cpu, args ->> 'pid' AS tid,"
	" args ->> 'pid_name' AS process, CASE args ->> 'user' WHEN 0 THEN 'kernel' ELSE 'user' END"
	" AS mode, coalesce(args ->> 'ip_name', args ->> 'ip') AS ip, args ->> 'late' AS late, stack"
	" FROM events WHERE name = 'sample'",
	NULL,
};
