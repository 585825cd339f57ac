#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
. "$(dirname "$(readlink -f "$0")")/lib.sh"

tell <<'TEXT'
## 10. A question that no view answers

`fkt_query` asks a trace in SQL, without an import. `cat` opens many files of a directory; which of them took longest to open, and for
how long did it sleep in each of these calls? The paths are events of the name `data`, which `--strings` records:
TEXT
echo 3 >/proc/sys/vm/drop_caches
show "fkt_record --strings --only-command sh -c 'cat /usr/include/linux/[f-h]*.h | wc -l'"
cat >slowest.sql <<'SQL'
SELECT (SELECT args->>'data' FROM events e
        WHERE e.name = 'data' AND e.tid = c.tid AND e.time BETWEEN c.begin AND c.end) AS file,
       c.elapsed / 1000 AS us, COUNT(w.begin) AS sleeps, SUM(w.asleep) / 1000 AS asleep_us
FROM calls c LEFT JOIN waits w ON w.tid = c.tid AND w.begin BETWEEN c.begin AND c.end
WHERE c.name = 'sys_openat' AND c.process = 'cat'
GROUP BY c.begin ORDER BY c.elapsed DESC LIMIT 5;
SQL
show "cat slowest.sql"
show "fkt_query trace_file <slowest.sql"
answer '/usr/include/linux/[a-z0-9_-]+\.h +[0-9]+ +[0-9]+'
tell <<'TEXT'
`fkt_query --tables` lists the tables and their columns. The same trace opens in Python (`import fkt`, [python.md](python.md)) and, by
`fkt_export`, in Perfetto, Trace Compass and others.
TEXT
