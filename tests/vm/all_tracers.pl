# SPDX-License-Identifier: GPL-2.0-only
#
# perl all_tracers.pl SECONDS SEED MODULE LIVEPATCH: everybody traces the same few functions at once. Tracers begin and end in
# random order, and readers of pipes come, sleep in these functions, and go: FKT, function_graph, kprobes and kretprobes,
# fprobes (where the kernel has them), BPF's fentry and fexit, a live patch, and FKT's module goes and comes again.
#
# Prints "ok: …" or "FAILED: …" for what it checks, and every step. MODULE is what to load FKT from.

use strict;
use warnings;
no warnings 'exec';
use Fcntl;
use POSIX ();
use Time::HiRes qw(time sleep);

my ($seconds, $seed, $module, $livepatch) = @ARGV;
my $tracing = '/sys/kernel/tracing';
my @wanted = qw(__x64_sys_read ksys_read vfs_read pipe_read new_sync_read rw_verify_area);
my $begin = time;
my ($serial, $failures, $steps) = (0, 0, 0);
my (%reader, %probe, %fprobe, %done, %times);
my ($graph, $fexit, $fexit_in, $patched, $loaded) = (0, 0, undef, '', 1);
my $patch_sysfs = '/sys/kernel/livepatch/fkt_livepatch';
# Readers that came before this may sleep where the stack can't be unwound.
my $unreliable = 0;
# The recorder: its process, whether it was seen to record, its functions, and whether somebody else had a function while it
# began.
my ($fkt, $recording, @recorded, $taken_from_it);

$| = 1;
srand $seed;
$SIG{PIPE} = 'IGNORE';
$SIG{ALRM} = sub { die "FAILED: it hangs\n" };
alarm $seconds + 150;

sub slurp {
	my ($path) = @_;
	open my $in, '<', $path or return '';
	local $/;
	return scalar(<$in>) // '';
}

# spew PATH TEXT: false, and the reason in $!, when the kernel does not want it.
sub spew {
	my ($path, $text, $append) = @_;
	sysopen my $out, $path, O_WRONLY | ($append ? O_APPEND : O_TRUNC) or return 0;
	return defined syswrite $out, $text;
}

sub step {
	$steps++;
	printf "%6.2f %s\n", time - $begin, join ' ', @_;
}

sub fail {
	print "FAILED: @_\n";
	$failures++;
	die "too many failures\n" if $failures > 10;
}

my %available = map { (split)[0] => 1 } split /\n/, slurp "$tracing/available_filter_functions";
my @functions = grep { $available{$_} } @wanted;

sub any {
	return $_[rand @_];
}

sub some {
	my @some = grep { rand 2 < 1 } @functions;
	return @some ? @some : any @functions;
}

# Up to $limit seconds for what $until waits for.
sub wait_for {
	my ($limit, $until) = @_;
	my $end = time + $limit;
	until ($until->()) {
		return 0 if time > $end;
		sleep 0.02;
	}
	return 1;
}

# run COMMAND…: its exit status, and what it says.
sub run {
	my $pid = open my $out, '-|';
	if (!$pid) {
		open STDERR, '>&', \*STDOUT;
		exec @_;
		POSIX::_exit(127);
	}
	local $/;
	my $said = <$out> // '';
	close $out;
	return ($? >> 8 || $? & 127, $said);
}

# A reader gets one byte after the other, and its last one tells it to go.
sub reader_comes {
	my $reads = 1 + int rand 3;
	my @bytes = map { chr 65 + rand 26 } 1 .. $reads;

	pipe my $in, my $out or die "pipe: $!";
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		close $out;
		$0 = 'reader';
		for my $byte (@bytes) {
			my $n = sysread $in, my $got, 1;
			POSIX::_exit(1) unless defined $n && $n == 1 && $got eq $byte;
		}
		POSIX::_exit(0);
	}
	close $in;
	$reader{$pid} = { out => $out, bytes => [@bytes], reads => $reads, begin => ++$serial, disturbed => !!$patched };
	return $pid;
}

sub asleep {
	my ($pid) = @_;
	return slurp("/proc/$pid/syscall") =~ /^0 / && slurp("/proc/$pid/stat") =~ /^\d+ \(reader\) S/;
}

# One byte for a reader, whom it finds asleep.
sub reader_reads {
	my ($pid) = @_;
	my $reader = $reader{$pid};

	wait_for(30, sub { asleep $pid }) or fail "reader $pid does not get to its read";
	syswrite $reader->{out}, shift @{$reader->{bytes}};
	return if @{$reader->{bytes}};
	my $ended = 0;
	if (!wait_for(30, sub { $ended = waitpid $pid, POSIX::WNOHANG; $ended == $pid })) {
		fail "reader $pid does not wake up: " . slurp "/proc/$pid/stack";
	} elsif ($?) {
		fail sprintf 'reader %d ended with status %#x', $pid, $?;
	}
	close $reader->{out};
	delete $reader{$pid};
	$reader->{end} = ++$serial;
	$done{$pid} = $reader;
}

sub read_one {
	my ($pid) = any keys %reader;
	reader_reads $pid if $pid;
}

# Whether so many calls are as many as a reader has made. A live patch that waits for too long sends signals, and a call that
# was interrupted by one begins anew.
sub as_many {
	my ($reader, $entries, $exits) = @_;
	return $entries == $exits && ($reader->{disturbed} ? $entries >= $reader->{reads} : $entries == $reader->{reads});
}

# Who was there all the time from $from until now, and what they read.
sub since {
	my ($from) = @_;
	return grep { $done{$_}{begin} > $from } keys %done;
}

# Whether FKT does without some of the functions, because somebody else has them.
sub left_out {
	return slurp('fkt.err') =~ /left out|could not be hooked/;
}

sub fkt_begins {
	my @some = some;
	my @arguments = map { ('-F', $_) } @some;

	push @arguments, '--args' if rand 3 < 1;
	# By other names than those of the functions' own events.
	push @arguments, '-P', "r:returned $_" for rand 3 < 1 ? any @functions : ();
	push @arguments, '-P', "p:called $_" for rand 4 < 1 ? any @functions : ();
	step 'fkt begins', @arguments;
	$fkt = fork // die;
	if (!$fkt) {
		open STDERR, '>', 'fkt.err';
		open STDOUT, '>', '/dev/null';
		exec 'fkt_record', '-n', '-o', 't', @arguments;
		POSIX::_exit(127);
	}
	@recorded = @some;
	$recording = 0;
	$taken_from_it = $fexit || $patched;
	$times{fkt}++;
	# Sometimes others begin at the same time.
	fkt_records() if rand 3 < 2;
}

sub fkt_records {
	return if $recording || !$fkt;
	my $ended = 0;
	wait_for(60, sub {
		$ended = waitpid $fkt, POSIX::WNOHANG;
		return $ended == $fkt || (run('fkt_enable', 'functions'))[0] == 0;
	}) or fail 'fkt_record does not begin';
	if ($ended == $fkt) {
		my ($status, $said) = ($?, slurp 'fkt.err');
		chomp $said;
		step 'fkt_record does not begin:', $said;
		# Only who had the function already may be the reason, also when that one has gone since.
		fail "fkt_record ended with status $status: $said"
			if $status != 256 || !$taken_from_it || $said !~ /^fkt_record: .*$/ || $said =~ /\n/;
		undef $fkt;
		$times{'fkt refused'}++;
		return;
	}
	$recording = ++$serial;
}

sub fkt_ends {
	fkt_records() if !$recording;
	return if !$fkt;
	step 'fkt ends';
	my @all = since $recording;
	kill INT => $fkt;
	read_one() if rand 2 < 1;
	my $ended = 0;
	if (!wait_for(60, sub { $ended = waitpid $fkt, POSIX::WNOHANG; $ended == $fkt })) {
		fail 'fkt_record does not end';
		kill KILL => $fkt;
		waitpid $fkt, 0;
	} elsif ($?) {
		fail sprintf 'fkt_record ended with status %#x: %s', $?, slurp 'fkt.err';
	}
	undef $fkt;
	my ($status, $said) = run('fkt_print', '--no-summary', '--time=cycles', 't');
	fail "the trace does not read back: $said" if $status;
	# A line's fields are cycles, CPU, pid, COMMAND, code, name, and "=" when it is an exit.
	my %count;
	while ($said =~ /^ *-?\d+ +\d+ +(\d+) .{16} [0-9a-f]{4,5}  (\w+) *(=?)/mg) {
		$count{$1}{$2}{$3}++;
	}
	return if slurp('fkt.err') !~ / 0 lost/;
	my $left_out = left_out();
	for my $pid (@all) {
		for my $function (grep { $_ ne 'rw_verify_area' } @recorded) {
			next if $left_out;
			my ($entries, $exits) = map { $count{$pid}{$function}{$_} // 0 } '', '=';
			$times{'fkt counts'}++;
			next if as_many $done{$pid}, $entries, $exits;
			fail "reader $pid: FKT has $entries entries and $exits exits of $function, not $done{$pid}{reads}";
		}
	}
}

sub module_goes {
	return if $fkt || !$loaded;
	step 'the module goes';
	my $said;
	my $from = time;
	wait_for(60, sub { (my $status, $said) = run('rmmod', 'fkt'); $status == 0 }) or fail "rmmod fkt: $said";
	printf "       after %.2f s\n", time - $from;
	$loaded = 0;
	$times{module}++;
}

sub module_comes {
	return if $loaded;
	step 'the module comes';
	my ($status, $said) = run('insmod', $module);
	fail "insmod: $said" if $status;
	$loaded = 1;
}

sub graph_begins {
	return if $patched;
	my @some = some;
	step 'function_graph begins', @some;
	spew("$tracing/set_ftrace_filter", "@some\n") or fail "set_ftrace_filter: $!";
	spew("$tracing/current_tracer", "function_graph\n") or fail "function_graph: $!";
	$graph = 1;
	$times{function_graph}++;
}

sub graph_ends {
	step 'function_graph ends';
	spew("$tracing/current_tracer", "nop\n") or fail "nop: $!";
	spew("$tracing/set_ftrace_filter", "\n") or fail "set_ftrace_filter: $!";
	spew("$tracing/trace", "\n");
	$graph = 0;
	$unreliable = ++$serial;
}

# Both ends of a function, each with how many hits each task had.
my $number = 0;

sub probe_begins {
	my ($all, $file, $entry, $return) = @_;
	my ($function, $name) = (any(@functions), 'n' . ++$number);

	step "$file begins $name", $function;
	spew("$tracing/$file", sprintf($_, $name, $function), 1) or return fail "$file: $name $function: $!"
		for $entry, $return;
	for my $event ("r$name", "p$name") {
		my $path = "$tracing/events/at/$event";
		spew("$path/trigger", "hist:keys=common_pid:size=4096\n") or fail "$event: hist: $!";
		spew("$path/enable", "1\n") or fail "$event: enable: $!";
	}
	$all->{$name} = { function => $function, begin => ++$serial };
	$times{$file eq 'kprobe_events' ? 'kretprobe' : 'fprobe'}++;
}

sub hits {
	my ($event) = @_;
	return slurp("$tracing/events/at/$event/hist") =~ /common_pid: +(\d+) *\} hitcount: +(\d+)/g;
}

sub probe_ends {
	my ($all, $file) = @_;
	my $name = any keys %$all;
	my $probe = delete $all->{$name};

	step "$file ends $name", $probe->{function};
	my @all = since $probe->{begin};
	my %entries = hits "p$name";
	my %returns = hits "r$name";
	# rw_verify_area() is called by readers as often, but by who starts a process as well.
	for my $pid (@all) {
		my ($entries, $returns) = ($entries{$pid} // 0, $returns{$pid} // 0);
		$times{'probe counts'}++;
		next if as_many $done{$pid}, $entries, $returns;
		fail "reader $pid: $file has $entries entries and $returns returns of $probe->{function}, " .
			"not $done{$pid}{reads}";
	}
	for my $event ("p$name", "r$name") {
		my $path = "$tracing/events/at/$event";
		spew("$path/enable", "0\n") or fail "$event: disable: $!";
		spew("$path/trigger", "!hist:keys=common_pid:size=4096\n") or fail "$event: !hist: $!";
		spew("$tracing/$file", "-:at/$event\n", 1) or fail "$event: delete: $!";
	}
}

sub fexit_begins {
	return if $patched;
	# Where BPF is, FKT can't be.
	my @some = any @functions;
	step 'fexit begins', @some;
	pipe my $in, $fexit_in or die;
	pipe my $said, my $say or die;
	$taken_from_it = 1;
	$fexit = fork // die;
	if (!$fexit) {
		close $fexit_in;
		open STDIN, '<&', $in;
		open STDOUT, '>&', $say;
		open STDERR, '>', 'fexit.err';
		exec 'fexit', @some;
		POSIX::_exit(127);
	}
	close $say;
	my $answer = <$said> // '';
	chomp $answer;
	print "       $answer\n", map { "       $_\n" } split /\n/, slurp 'fexit.err';
	fail 'fexit: ' . slurp 'fexit.err' if $answer !~ /^attached/;
	$times{fexit}++ if $answer !~ /^attached 0$/;
}

sub fexit_ends {
	step 'fexit ends';
	# Readers that came meanwhile have its standard input as well: closing it would not do.
	kill TERM => $fexit;
	waitpid $fexit, 0;
	close $fexit_in;
	$fexit = 0;
	$unreliable = ++$serial;
}

# Never a function that FKT records: one of the two is refused. The kernel cannot unwind a stack through one of BPF's
# trampolines, and at times not with function_graph, and a live patch then waits for whoever sleeps there, half a minute: not at
# the same time.
sub patch_begins {
	my $function = 'rw_verify_area';

	return if $fexit || $graph;
	for my $pid (grep { $reader{$_}{begin} < $unreliable } keys %reader) {
		reader_reads($pid) while $reader{$pid};
	}
	# What is asked for, and is not left out.
	fkt_records();
	my $taken = $fkt && grep { $_ eq $function } @recorded;
	step 'live patch begins', $function;
	$_->{disturbed} = 1 for values %reader;
	my ($status, $said) = run('insmod', $livepatch, "function=$function");
	if ($status) {
		chomp $said;
		print "       $said\n";
		$times{'patch refused'}++;
		return;
	}
	fail "a live patch of $function, which FKT records" if $taken && !left_out();
	$patched = $function;
	$times{patch}++;
}

# Whoever reads goes through the patch, when it has come through.
sub patch_works {
	my $calls = '/sys/module/fkt_livepatch/parameters/calls';

	return if !$patched || slurp("$patch_sysfs/transition") !~ /^0/;
	my $before = slurp $calls;
	fail "the live patch of $patched is not called" if slurp($calls) <= $before;
}

sub patch_ends {

	step 'live patch ends';
	# The transition waits for tasks that it cannot judge, and those who sleep get a signal.
	my $from = time;
	wait_for(60, sub { slurp("$patch_sysfs/transition") =~ /^0/ }) or fail 'the live patch does not get through';
	spew("$patch_sysfs/enabled", "0\n") or fail "livepatch: $!";
	wait_for(60, sub { !-e $patch_sysfs }) or fail 'the live patch does not go';
	printf "       after %.2f s\n", time - $from;
	my $said;
	wait_for(10, sub { (my $status, $said) = run('rmmod', 'fkt_livepatch'); $status == 0 }) or fail "rmmod: $said";
	$patched = '';
}

my @kprobe = (\%probe, 'kprobe_events', "p:at/p%s %s\n", "r64:at/r%s %s\n");
my $has_fprobes = slurp("$tracing/README") =~ /^\s*f\[/m;
# Those of 7.2 panic without FKT: fprobe_return() calls for who slept inside what has gone meanwhile.
if ($has_fprobes && (split /\./, (POSIX::uname())[2])[0] >= 7) {
	print "left out: fprobes, which this kernel itself does not bear\n";
	$has_fprobes = 0;
}
# How many may be inside at once is said, until kernels no longer take it.
my $returns = spew("$tracing/dynamic_events", "f64:at/try vfs_read%return\n", 1) ? 'f64' : 'f';
spew("$tracing/dynamic_events", "-:at/try\n", 1) if $returns eq 'f64';
my @fprobe = (\%fprobe, 'dynamic_events', "f:at/p%s %s\n", "$returns:at/r%s %s%%return\n");

# What may be done, and how often.
my @actions = (
	[10, sub { $fkt ? fkt_ends() : $loaded ? fkt_begins() : module_comes() }],
	[5, sub { $graph ? graph_ends() : graph_begins() }],
	[4, sub { keys %probe > 3 ? probe_ends(@kprobe) : probe_begins(@kprobe) }],
	[3, sub { probe_ends(@kprobe) if keys %probe }],
	[$has_fprobes ? 4 : 0, sub { keys %fprobe > 2 ? probe_ends(@fprobe) : probe_begins(@fprobe) }],
	[$has_fprobes ? 3 : 0, sub { probe_ends(@fprobe) if keys %fprobe }],
	[3, sub { $fexit ? fexit_ends() : fexit_begins() }],
	[-e $livepatch ? 2 : 0, sub { $patched ? patch_ends() : patch_begins() }],
	[4, sub { $loaded ? module_goes() : module_comes() }],
	[12, sub { reader_comes() for 1 .. 1 + rand 3 }],
	[18, sub { read_one() for 1 .. 1 + rand 5 }],
);
my $weights = 0;
$weights += $_->[0] for @actions;

print "seed $seed, functions @functions\n";
spew("$tracing/current_tracer", "nop\n");
reader_comes() for 1 .. 6;
while (time - $begin < $seconds && !$failures) {
	my $pick = rand $weights;
	for my $action (@actions) {
		$pick -= $action->[0];
		if ($pick < 0) {
			$action->[1]();
			last;
		}
	}
	patch_works();
	reader_comes() if keys %reader < 3;
	read_one() if keys %reader > 12;
}

# All go, and then those who slept all the time wake up.
fkt_ends() if $fkt;
patch_ends() if $patched;
graph_ends() if $graph;
probe_ends(@kprobe) while keys %probe;
probe_ends(@fprobe) while keys %fprobe;
fexit_ends() if $fexit;
module_goes();
while (my @pids = keys %reader) {
	reader_reads($_) for @pids;
}
module_comes();
print "$steps steps, ", scalar(keys %done), ' readers; ', join(', ', map { "$_: $times{$_}" } sort keys %times), "\n";
print "ok: all readers got what they were sent\n" unless $failures;
exit !!$failures;
