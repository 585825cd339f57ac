# SPDX-License-Identifier: GPL-2.0-only
# limit: 120 s
#
# The ioctls with wrong values and at wrong moments, from one thread and from several at once; never a word in the log. See
# ioctl.c. And with memory that is not there before somebody else likes it to be: see stall.c.

. "$TOP/tests/vm/lib.sh"

dmesg -C
ioctl wrong
check 'wrong values and moments' [ $? = 0 ]
check 'idle in the end' wait_until 10 idle
dmesg
check 'the log is silent' [ -z "$(dmesg | grep -i fkt)" ]

# Registered codes make a list of them.
insmod "$TOP/build/tests/vm/sample/$(uname -r)/fkt_sample.ko"
check 'who makes FKT wait for memory makes nobody else wait' stall
rmmod fkt_sample

ioctl hammer 8
check 'a hammer of random ioctls' [ $? = 0 ]
check 'idle in the end' wait_until 10 idle
# A pause (on_full) is worth a warning, and only that.
check 'the log has nothing else to say' [ -z "$(dmesg | grep -i fkt | grep -v 'recording paused')" ]
expect 0 fkt_record -o t calls 1000
check 'fkt_record works as before' [ "$(count t 006e)" = 1000 ]
