#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# recompute.pl TRACE [N]: each view of fkt_print under each filter, and under every Nth pair of filters (default: 1; 0: none),
# against the same numbers made here from the trace's events alone, as JSON has them. Nothing of libfkt is in it: time is given to
# whoever was at work on a CPU, from one event there to the next. And whether windows add up to the whole.
#
# The trace has to be whole, without losses, recorded to its end.

use strict;
use warnings;

my ($trace, $every) = @ARGV;
my $print = $ENV{FKT_PRINT} // 'fkt_print';
my ($checks, $failures) = (0, 0);

$SIG{__DIE__} = sub { print "FAILED: $_[0]" };

sub output {
	my @command = ($print, '--no-pager', '--format', 'json', @_, $trace);

	open my $pipe, '-|', @command or die "$print: $!\n";
	my @lines = <$pipe>;
	close $pipe;
	return @lines;
}

# A line of JSON without nested objects but for the arguments, which are put beside the rest as "args.NAME".
sub parse {
	my ($line) = @_;
	my %row;

	$row{stack} = $1 if $line =~ s/,"stack":\[(.*?)\]//;
	$line =~ s/"args":\{(.*?)\}(?=[,}])//;
	my $args = $1 // '';
	while ($line =~ /"(\w+)":(?:"((?:[^"\\]|\\.)*)"|([^,}\]]+))/g) {
		$row{$1} = defined $2 ? $2 : $3 eq 'null' ? undef : $3;
	}
	while ($args =~ /"(\w+)":(?:"((?:[^"\\]|\\.)*)"|([^,}\]]+))/g) {
		$row{"args.$1"} = defined $2 ? $2 : $3 eq 'null' ? undef : $3;
	}
	return \%row;
}

sub tables {
	my %tables;

	for (output(@_)) {
		my $row = parse($_);
		push @{$tables{$row->{table}}}, $row;
	}
	return \%tables;
}

# ---- the events ----

my @events = map { parse($_) } output('--no-summary', '--stack');
my $stacks = grep { defined $_->{stack} } @events;
die "$trace: no events\n" unless @events;
my ($begin, $end) = ($events[0]{stamp}, $events[-1]{stamp});
my $rt;		# where a softirq is a call of the thread that runs it
{
	local $/;
	open my $file, '<', $trace or die "$trace: $!\n";
	my $bytes = <$file>;
	$begin = $1 if $bytes =~ /start_cycles=(\d+)/;
	$end = $1 if $bytes =~ /stop_cycles=(\d+)/;
	$rt = $bytes =~ /\bversion=[^\0]*PREEMPT_RT/;
}
my $per_ns = $events[-1]{time_ns} ? ($events[-1]{stamp} - $events[0]{stamp}) / $events[-1]{time_ns} : 1;

my $all = tables('-q');
my %kernel;	# those that have no user mode
for (@{$all->{processes}}) {
	$kernel{row_thread($_)} = 1 unless defined $_->{user_ns};
}
my $cpus = $all->{trace}[0]{cpus};
my %layer;	# by code
for (@{tables('--by', 'code,layer')->{by}}) {
	$layer{$_->{code}} = lc $_->{layer};
}

sub thread {
	my ($pid, $cpu) = @_;
	return $pid ? $pid : "-$cpu";
}

# The same of a row, where the name of an idle task has its CPU in it.
sub row_thread {
	my ($row) = @_;
	return '?' unless defined $row->{tid};
	return thread($row->{tid}, $row->{process} =~ m{/(\d+)$} ? $1 : 0);
}

for (@events) {
	my $code = hex $_->{code};

	$_->{id} = thread($_->{tid}, $_->{cpu});
	$_->{kind} = 'point';
	$_->{row} = $_->{name};
	if ($code < 0x400) {
		($_->{kind}, $_->{syscall_event}) = ('entry', 1);
	} elsif ($code < 0x800) {
		($_->{kind}, $_->{syscall_event}, $_->{pair}) = ('exit', 1, sprintf('%04x', $code - 0x400));
	} elsif ($code >= 0x1000 && $code < 0x1004) {
		$_->{kind} = $code & 1 ? 'irq_exit' : 'irq_entry';
		$_->{pair} = sprintf('%04x', $code & ~1);
		$_->{row} = $code < 0x1002 ? "irq $_->{'args.irq'}" . (defined $_->{'args.irq_name'} ? " $_->{'args.irq_name'}" : '')
					   : "softirq $_->{'args.vec_name'}";
	} elsif ($code >= 0x1080 && $code < 0x1100) {
		$_->{kind} = $code < 0x10c0 ? 'irq_entry' : 'irq_exit';
		$_->{pair} = sprintf('%04x', $code & ~0x40);
		$_->{row} =~ s/_exit$// if $code >= 0x10c0;
	} elsif ($code >= 0x10000) {
		$_->{kind} = $code & 1 ? 'exit' : 'entry';
		$_->{pair} = sprintf('%04x', $code & ~1);
	}
	if ($rt && $_->{row} =~ /^softirq / && $_->{kind} =~ s/^irq_//) {
		$_->{soft} = 1;
	}
	$_->{pair} //= $_->{code};
	$layer{$_->{code}} //= $layer{$_->{pair}};
}

# Woken on its way out of its CPU, a thread is ready and does not sleep: it runs again, and nobody has woken it since.
my (%running, %way_out, %off);
for (@events) {
	my $id = $_->{id};

	$running{$id} = 1 if !exists $off{"cpu $_->{cpu}"};
	$off{"cpu $_->{cpu}"} = 1;
	if ($_->{name} =~ /^wakeup/) {
		my $pid = $_->{'args.pid'};
		$running{$pid} ? ($way_out{$pid} = 1) : delete $off{$pid};
	} elsif ($_->{name} eq 'switch_to') {
		my $next = thread($_->{'args.next'}, $_->{cpu});
		delete $running{$id};
		$off{$id} = $_ if delete $way_out{$id};
		my $left = delete $off{$next};
		$left->{was_ready} = 1 if $left;
		$running{$next} = 1;
		delete $way_out{$next};
	}
}

# ---- filters ----

sub like {
	my ($pattern, $name) = @_;

	$pattern =~ s/([^\w*?])/\\$1/g;
	$pattern =~ s/\*/.*/g;
	$pattern =~ s/\?/./g;
	return $name =~ /^$pattern$/;
}

# A choice: any of those wanted, none of the others.
sub chosen {
	my ($list, $is) = @_;
	my ($any, $yes) = (0, 0);

	for my $one (@{$list // []}) {
		if ($one =~ /^!(.*)/) {
			return 0 if $is->($1);
		} else {
			$any = 1;
			$yes ||= $is->($one);
		}
	}
	return $yes || !$any;
}

sub is_process {
	my ($pattern, $id, $comm) = @_;

	return $pattern =~ /^\d+$/ ? $id eq $pattern : $comm eq $pattern;
}

sub cpu_passes {
	my ($f, $cpu) = @_;

	return chosen($f->{cpu}, sub { my ($list) = @_; grep { $_ == $cpu } split /,/, $list });
}

sub thread_passes {
	my ($f, $id, $comm) = @_;
	return chosen($f->{process}, sub { is_process($_[0], $id, $comm) });
}

sub code_passes {
	my ($f, $code, $name) = @_;

	return chosen($f->{code}, sub { like($_[0], $name) || lc $_[0] eq $code }) &&
	       chosen($f->{layer}, sub { grep { $_ eq lc $_[0] } split /,/, $layer{$code} // '' });
}

# ---- the machine, as the events tell it ----

sub percentile {
	my ($values, $percent) = @_;
	my @sorted = sort { $a <=> $b } @$values;
	my $rank = int($percent / 100 * @sorted);

	$rank++ if $rank < $percent / 100 * @sorted;
	return $sorted[$rank - 1];
}

# Everything at once under one filter.
sub run {
	my ($f) = @_;
	my %r = (listed => {}, own => {}, calls => {}, partial => {}, thread => {}, on_cpu => {}, by => {}, waits => {},
		 only => {}, graph => 0, noise => []);
	my (%thread, %cpu, %comm, %alive);
	# Where no event is left there is no noise, but a wait may be in a call of the one kind and in one of the other.
	my $none = $f->{code} && $f->{layer} && !grep { code_passes($f, $_->{code}, $_->{name}) } @events;
	my $picks = $f->{code} || $f->{layer} || $f->{function} || $f->{longer};
	my $from = defined $f->{from} ? $events[0]{stamp} + int($f->{from} * $per_ns) : undef;
	my $to = defined $f->{to} ? $events[0]{stamp} + int($f->{to} * $per_ns) : undef;
	my $on = !$f->{while} && !defined $from;
	my $on_since = $on ? $begin : 0;
	my $longer = $f->{longer} ? int($f->{longer} * $per_ns) : 0;
	my $duration = 0;

	# What timers tell that were late: $quiet up to when there was nothing else on a CPU.
	my %late;
	my $end_gap = sub {
		my ($l) = @_;

		push @{$r{noise}}, { %{$l->{gap}}, cycles => $l->{gap}{cycles} - $l->{stolen} }
			if $l->{gap} && $l->{gap}{cycles} > $l->{stolen};
		@{$l}{qw(gap stolen)} = (undef, 0);
	};
	my $least = sub { return $_[0] < $_[1] ? $_[0] : $_[1] };
	my $is_late = sub {
		my ($l, $e, $listed) = @_;
		my $since = $l->{quiet} > $l->{busy} ? $l->{quiet} : $l->{busy};
		my $gap = $least->($e->{'args.by_ns'} * $per_ns, $l->{came} > $since ? $l->{came} - $since : 0);
		my $stolen = $least->($e->{'args.stolen_ns'} * $per_ns, $e->{stamp} - $l->{busy});
		my %noise = (name => '', cpu => $e->{cpu}, begin => '', id => $e->{id}, by => '');

		$l->{stolen} += $stolen;
		return if !$listed || $e->{id} =~ /^-/;
		push @{$r{noise}}, { %noise, kind => 'stolen', cycles => $stolen } if $stolen;
		$l->{gap} = { %noise, kind => 'gap', cycles => $gap } if $gap > ($l->{gap} ? $l->{gap}{cycles} : 0);
	};

	my $get = sub {
		my ($id) = @_;
		return $thread{$id} //= { id => $id, known => $kernel{$id} ? 1 : 0, pending => 0, stack => [], comm => '?',
					  state => 'new', left_cpu => 0 };
	};
	my $base_row = sub {
		my ($t) = @_;
		return $t->{id} =~ /^-/ ? 'idle' : $kernel{$t->{id}} ? 'kernel threads' : 'user';
	};
	my $inside = sub {
		my ($t) = @_;
		return chosen($f->{function}, sub { $t->{inside}{$_[0]} });
	};
	my $settle = sub {	# what the thread did outside of all calls has come out
		my ($t, $row) = @_;
		my $cycles = $t->{pending};
		return 0 if $t->{known};
		$r{own}{$row} += $cycles;
		$t->{pending} = 0;
		$t->{slept} = 0;
		$t->{made} = undef;
		return $cycles;
	};
	my $pop = sub {
		my ($t, $stack, $stamp, $exit, $c) = @_;
		my $frame = pop @$stack;
		$end_gap->($late{$c}) if $frame->{irq} && $late{$c};
		my $parent = @$stack ? $stack->[-1] : undef;
		my $lit = $on && cpu_passes($f, $c) && thread_passes($f, $t->{id}, $t->{comm});
		my $whole = $exit && $lit && $frame->{begin} >= $on_since && !$frame->{dark};
		my $cycles = $frame->{own} + $frame->{child};
		# Of the time that was asked for, a call is as long as it is there.
		my $until = defined $to && $to < $stamp ? $to : $stamp;
		my $elapsed = $until > $frame->{begin} ? $until - $frame->{begin} : 0;
		# Of one that began before, it is not known.
		my $long = $elapsed >= $longer && !($longer && $frame->{before});

		$r{own}{$frame->{row}} += $frame->{own};
		$r{whole}{$frame->{row}} += $whole ? 1 : 0;
		$r{parts}{$frame->{row}}++ if !$whole && ($lit || $cycles);
		if ($parent) {
			$parent->{child} += $cycles;
			$parent->{dark} ||= $frame->{dark};
		}
		my $pick = $long && code_passes($f, $frame->{code}, $frame->{name}) && $inside->($t);
		if ($pick) {
			$r{calls}{$frame->{row}} += $whole ? 1 : 0;
			$r{partial}{$frame->{row}}++ if !$whole && ($lit || $cycles);
			$r{picked}{$frame->{row}} += $frame->{own};
			$r{thread_picked}{$t->{id}} += $frame->{own};
		}
		$frame->{net} = $cycles if $frame->{soft};
		if (($frame->{irq} || $frame->{soft}) && $pick && ($lit || $cycles) && $t->{id} !~ /^-/) {
			push @{$r{noise}}, { kind => $frame->{row} =~ /^softirq / ? 'softirq' : 'interrupt', name => $frame->{row}, cpu => $c,
					     begin => $frame->{before} ? '' : $frame->{begin}, id => $t->{id}, cycles => $frame->{net}, by => '' };
		}
		my $passes = $pick && $lit;
		if ($passes && $whole) {
			push @{$r{by}{$frame->{row}}}, $cycles;
			push @{$r{elapsed}{$frame->{row}}}, $elapsed;
			$r{only}{$frame->{row}} += $frame->{own};
		}
		for my $pattern (map { s/^!//r } @{$f->{function} // []}) {
			if (like($pattern, $frame->{row})) {
				$t->{inside}{$pattern}--;
				$t->{left}{$pattern} = 1;
			}
		}
		$t->{long} = 1 if $exit && $long;
	};
	my $wait_ends = sub {
		my ($t, $stamp, $back) = @_;
		my $first = $t->{left_at} && $t->{left_at} > $on_since ? $t->{left_at} : $on_since;
		my $lit = $on && cpu_passes($f, $t->{left_cpu}) && thread_passes($f, $t->{id}, $t->{comm});

		return if $t->{state} ne 'asleep' && $t->{state} ne 'ready';
		# The sums of the thread, since it came to this state.
		if ($lit) {
			my $since = $t->{since} > $on_since ? $t->{since} : $on_since;
			$r{state}{$t->{id}}{$t->{state} eq 'ready' ? 'waiting' : $t->{sleep}} += $stamp - $since if $stamp > $since;
		}
	};
	my $tell_wait = sub {
		my ($t, $stamp, $back) = @_;
		my $first;

		return if !$on || !$t->{left_at} || ($t->{state} ne 'asleep' && $t->{state} ne 'ready');
		$first = $t->{left_at} > $on_since ? $t->{left_at} : $on_since;
		return if !$back && $stamp <= $first;
		# What ended it in the time that was asked for has a stack, too.
		$r{stack}{$t->{woken_stack}} += $t->{woken_at} - $first
			if $t->{woken_stack} && $t->{woken_at} > $first && thread_passes($f, $t->{id}, $t->{comm});
		return unless cpu_passes($f, $t->{left_cpu}) && thread_passes($f, $t->{id}, $t->{comm});
		$r{stack}{$t->{left_stack}} += $stamp - $first
			if $t->{left_stack} && $inside->($t) && code_passes($f, '1100', 'switch_to');
		return unless $stamp - $t->{left_at} >= $longer && $inside->($t);
		if ($f->{code} || $f->{layer}) {
			my @in = grep { defined } $t->{outer}, $t->{inner};
			my ($yes, $no) = (0, 0);
			my $names = sub { my ($is) = @_; return grep { $is->($_) } @in };
			return unless chosen($f->{code}, sub { my $p = $_[0]; $names->(sub { like($p, $_[0]{name}) || lc $p eq $_[0]{code} }) });
			return unless chosen($f->{layer}, sub { my $p = lc $_[0]; $names->(sub { my $in = $_[0]; grep { $_ eq $p } split /,/, $layer{$in->{code}} // '' }) });
		}
		$r{waits}{$t->{id}}{count}++;
		$r{woken}{$t->{id}}++ if $t->{woken_at};
		# A new thread has never slept: it waits for a CPU from its first wake-up on.
		my $off_end = $t->{woken_at} && $t->{woken_at} < $stamp && !$t->{unslept} ? $t->{woken_at} : $stamp;
		$r{waits}{$t->{id}}{sum} += $off_end - $first if $off_end > $first;
		$r{waits}{$t->{id}}{whole} += $stamp - $first if $stamp > $first;
		if ($t->{state} eq 'ready' && !$t->{woken_at} && !$none) {
			push @{$r{noise}}, { kind => 'preempted', name => '', cpu => $t->{left_cpu}, begin => $t->{left_at}, id => $t->{id},
					     cycles => $stamp - $first, by => $t->{next} };
		}
	};
	my $give = sub {	# so much of a CPU's time to who is at work there
		my ($c, $delta) = @_;
		my $cpu = $cpu{$c};
		my ($t, $top, $lit);

		return if $delta <= 0;
		$t = $cpu->{thread};
		$lit = cpu_passes($f, $c) && thread_passes($f, $t->{id}, $t->{comm});
		$top = @{$cpu->{irq}} ? $cpu->{irq}[-1] : @{$t->{stack}} ? $t->{stack}[-1] : undef;
		if (!$lit) {
			$top->{dark} = 1 if $top;
			$r{left_out} += $delta;
			return;
		}
		$r{thread}{$t->{id}} += $delta;
		$r{interrupts}{$t->{id}} += $delta if @{$cpu->{irq}};
		$r{on_cpu}{"$t->{id} $c"} += $delta;
		# Of interrupts within each other, the time is the innermost one's.
		my ($interrupt) = grep { $_->{irq} } reverse @{$cpu->{irq}};
		$interrupt->{net} += $delta if $interrupt;
		if ($top) {
			$top->{own} += $delta;
		} elsif ($t->{known}) {
			$r{own}{$base_row->($t)} += $delta;
		} else {
			$t->{pending} += $delta;
		}
	};
	my $charge = sub {
		my ($c, $stamp) = @_;
		my $delta = $stamp - $cpu{$c}{last};

		return if $delta <= 0;
		$cpu{$c}{last} = $stamp;
		$give->($c, $delta) if $on;
	};
	my $turn = sub {	# whether time is charged, from now on
		my ($stamp, $now) = @_;

		return if !!$on == !!$now;
		$charge->($_, $stamp) for keys %cpu;
		if ($on) {
			for my $t (values %thread) {
				$wait_ends->($t, $stamp);
				$tell_wait->($t, $stamp, 0);
			}
			$duration += $stamp - $on_since;
		} else {
			$on_since = $stamp;
		}
		$on = $now;
	};

	my $lives = sub { return chosen($f->{while}, sub { $alive{$_[0]} }) };
	my ($begun, $stopped);
	for my $e (@events) {
		my $c = $e->{cpu};
		my $cpu = $cpu{$c};
		my $t = $get->($e->{id});
		my $stack;
		my $inside_now;

		# What comes after it says what was at work before it, and takes no time.
		if (defined $to && $e->{stamp} >= $to && !$stopped) {
			$turn->($to, 0);
			$stopped = $to;
		}
		if (defined $from && !$begun && !$stopped && $e->{stamp} >= $from) {
			$begun = 1;
			$turn->($from, $lives->());
		}
		$t->{long} = 0;
		$t->{left} = {};
		if (!$cpu) {
			$cpu = $cpu{$c} = { last => $begin, thread => $t, irq => [] };
			$cpu->{last} = $on_since if $on && $on_since > $begin;
			$t->{comm} = $e->{process} if $t->{comm} eq '?';
			if ($e->{kind} eq 'irq_exit') {
				# An interrupt that began before.
				push @{$cpu->{irq}}, { row => $e->{row}, code => $e->{pair}, name => $e->{row}, begin => $on_since - 1,
						       own => 0, child => 0, irq => 1, net => 0, before => 1 };
			}
			$give->($c, $duration);
			$t->{state} = 'running';
			$t->{on} = $c;
		}
		$charge->($c, $e->{stamp});
		my $l = $late{$c} //= { busy => $from // $e->{stamp}, last => 0, quiet => 0, came => 0, stolen => 0 };
		if ($cpu->{thread} != $t) {
			my @near = grep { $_->{cpu} == $c && abs($_->{stamp} - $e->{stamp}) < 5e6 } @events;
			print "FAILED: near it: ", join(', ', map { "$_->{stamp} $_->{id} $_->{name} " . ($_->{'args.next'} // '') } @near), "\n";
			die "$trace: CPU $c at $e->{stamp}: $e->{id} is current, and not $cpu->{thread}{id}\n";
		}
		$stack = @{$cpu->{irq}} ? $cpu->{irq} : $t->{stack};
		if ($e->{syscall_event} && @{$cpu->{irq}}) {
			$pop->($t, $cpu->{irq}, $e->{stamp}, 0, $c) while @{$cpu->{irq}};
			$stack = $t->{stack};
		}
		if ($e->{kind} eq 'entry' || $e->{kind} eq 'irq_entry') {
			$stack = $cpu->{irq} if $e->{kind} eq 'irq_entry';
			if ($e->{kind} eq 'irq_entry') {
				$end_gap->($l);
				$l->{came} = $e->{stamp};
				$l->{quiet} = @$stack ? $e->{stamp} : $l->{last};
			}
			if ($e->{syscall_event}) {
				$pop->($t, $stack, $e->{stamp}, 0, $c) while @$stack;
				$settle->($t, 'user');
				$t->{known} = 1;
			}
			push @$stack, { row => $e->{row}, code => $e->{code}, name => $e->{name}, begin => $e->{stamp}, own => 0,
					child => 0, irq => $e->{kind} eq 'irq_entry', net => 0, soft => $e->{soft} };
			for my $pattern (map { s/^!//r } @{$f->{function} // []}) {
				$t->{inside}{$pattern}++ if like($pattern, $e->{row});
			}
		} elsif ($e->{kind} eq 'exit' || $e->{kind} eq 'irq_exit') {
			$stack = $cpu->{irq} if $e->{kind} eq 'irq_exit';
			if (grep { $_->{row} eq $e->{row} } @$stack) {
				$pop->($t, $stack, $e->{stamp}, 0, $c) while $stack->[-1]{row} ne $e->{row};
				$pop->($t, $stack, $e->{stamp}, 1, $c);
			} else {
				my ($own, $lit) = (0, $on && cpu_passes($f, $c) && thread_passes($f, $t->{id}, $t->{comm}));
				if ($e->{syscall_event}) {
					$pop->($t, $stack, $e->{stamp}, 0, $c) while @$stack;
				}
				$own = $settle->($t, $e->{row}) if !@{$t->{stack}} && $stack == $t->{stack};
				$r{parts}{$e->{row}}++ if $lit || $own;
				# How long it took is not known; the thread is in it now.
				my $in = sub { $t->{inside}{$_[0]} || like($_[0], $e->{row}) };
				if (!$longer &&
				    code_passes($f, $e->{pair}, $e->{row} =~ /^(irq|softirq) / ? $1 : $e->{row}) && chosen($f->{function}, $in)) {
					$r{partial}{$e->{row}}++ if $own || $lit;
					$r{picked}{$e->{row}} += $own;
					$r{thread_picked}{$t->{id}} += $own;
				}
				for my $pattern (map { s/^!//r } @{$f->{function} // []}) {
					$t->{left}{$pattern} = 1 if like($pattern, $e->{row});
				}
				$t->{long} = 1 if !$longer;
			}
			$t->{known} = 1 if $e->{syscall_event};
		}
		# Whether it is listed.
		my $was = $lives->();
		if ($e->{name} eq 'exit') {
			delete $alive{$e->{'args.pid'}};
		} elsif ($e->{name} eq 'fork') {
			$alive{$e->{'args.child'}} = 1;
		}
		$comm{$e->{id}} = $e->{process};
		my %other = $e->{name} eq 'switch_to' ? (id => thread($e->{'args.next'}, $c), comm => $e->{'args.next_name'})
			  : $e->{name} =~ /^wakeup/ ? (id => $e->{'args.pid'}, comm => $e->{'args.pid_name'}) : ();
		# What leads to a thread that passes does, whoever it is by.
		my $by = thread_passes($f, $e->{id}, $e->{process}) || (%other && thread_passes($f, $other{id}, $other{comm}));
		my $listed = 0;
		my $in_call = chosen($f->{function}, sub { $t->{inside}{$_[0]} || $t->{left}{$_[0]} });
		my $in_time = (!defined $from || $e->{stamp} >= $from) && !$stopped;
		if ($in_time && ($was || $lives->()) && $by && $in_call && cpu_passes($f, $c) &&
		    code_passes($f, $e->{code}, $e->{name}) && (!$longer || $t->{long})) {
			$r{listed}{$e->{code}}++;
			$r{events}++;
			$r{stack_count}{"$e->{name} $e->{stack}"}++ if defined $e->{stack};
			$listed = 1;
		}
		$is_late->($l, $e, $listed) if $e->{code} eq '1008';
		$l->{busy} = $e->{stamp} if $e->{name} eq 'switch_to' && $e->{id} =~ /^-/ && $e->{stamp} > $l->{busy};
		$l->{last} = $e->{stamp};
		if ($e->{name} eq 'switch_to') {
			my $next = $get->(thread($e->{'args.next'}, $c));
			my $bits = $e->{'args.state'};

			$pop->($t, $cpu->{irq}, $e->{stamp}, 0, $c) while @{$cpu->{irq}};
			$t->{left_at} = $e->{stamp};
			$t->{left_cpu} = $c;
			$t->{next} = $e->{'args.next'};
			$t->{since} = $e->{stamp};
			$t->{woken_at} = 0;
			$t->{unslept} = 0;
			$t->{woken_stack} = undef;
			$t->{left_stack} = defined $e->{stack} ? "switch_to $e->{stack}" : undef;
			# A new one has yet to return from the call by which it was made.
			$t->{outer} = @{$t->{stack}} ? $t->{stack}[0] : $t->{known} ? undef : $t->{made};
			$t->{inner} = @{$t->{stack}} ? $t->{stack}[-1] : $t->{outer};
			if ($t->{id} =~ /^-/) {
				$t->{state} = 'new';
			} elsif ($e->{was_ready} && $bits !~ /[RXZ]/) {
				$t->{state} = 'ready';
				$t->{woken_at} = $t->{left_at};
				$t->{slept} = 1 if !@{$t->{stack}} && !$t->{known};
			} elsif ($bits eq 'R') {
				$t->{state} = 'ready';
			} elsif ($bits =~ /[XZ]/) {
				$t->{state} = 'gone';
				$pop->($t, $t->{stack}, $e->{stamp}, 0, $c) while @{$t->{stack}};
			} else {
				$t->{state} = 'asleep';
				$t->{sleep} = $bits =~ /^S/ ? 'sleep_s' : $bits =~ /^D/ ? 'sleep_d' : $bits =~ /^I/ ? 'sleep_i' : 'sleep_other';
				$t->{slept} = 1 if !@{$t->{stack}} && !$t->{known};
			}
			$cpu->{thread} = $next;
			$next->{comm} = $e->{'args.next_name'} if $next->{comm} eq '?';
			$next->{comm} = 'idle' if $next->{id} =~ /^-/;
			$r{switches}{$next->{id}}++ if $on && cpu_passes($f, $c) && thread_passes($f, $next->{id}, $next->{comm});
			$wait_ends->($next, $e->{stamp});
			$tell_wait->($next, $e->{stamp}, 1);
			$next->{state} = 'running';
		} elsif ($e->{name} =~ /^wakeup/) {
			my $woken = $get->($e->{'args.pid'});

			$woken->{comm} = $e->{'args.pid_name'} if $woken->{comm} eq '?';
			my $made = @{$t->{stack}} ? $t->{stack}[0] : $t->{known} ? undef : $t->{made};
			if ($e->{name} eq 'wakeup_new' && $woken->{state} ne 'ready' && !$woken->{known} && !@{$cpu->{irq}} && $made) {
				$woken->{made} = $made;
				$woken->{outer} = $woken->{inner} = $woken->{made} if $woken->{state} =~ /^(new|gone)$/;
			}
			if ($woken->{state} ne 'running' && $woken->{state} ne 'ready') {
				$wait_ends->($woken, $e->{stamp});
				$woken->{left_cpu} = $c if $woken->{state} eq 'new';
				$woken->{unslept} = $woken->{state} eq 'new' && $e->{name} eq 'wakeup_new';
				$woken->{left_at} = $e->{stamp} if $woken->{unslept};
				$woken->{state} = 'ready';
				$woken->{since} = $e->{stamp};
				$woken->{woken_at} = $e->{stamp};
				$woken->{woken_stack} = $listed && defined $e->{stack} ? "$e->{name} $e->{stack}" : undef;
			}
		} elsif ($e->{name} =~ /^(exec|rename)$/) {
			$get->($e->{'args.pid'})->{comm} = $e->{'args.comm'};
		} elsif ($e->{name} eq 'fork') {
			$get->($e->{'args.child'})->{comm} = $e->{'args.child_name'};
		}
		$turn->($e->{stamp}, $lives->()) if $f->{while} && $in_time;
	}
	# Behind the last event, and before the recording's end.
	if (defined $from && !$begun && $from < $end) {
		$turn->($from, $lives->());
	}
	if (defined $to && !$stopped && $to > $events[-1]{stamp} && $to < $end) {
		$turn->($to, 0);
		$stopped = $to;
	}
	my $last = $stopped // $end;
	if ($on) {
		$turn->($last, 0);
	}
	for my $c (keys %cpu) {
		my $t = $cpu{$c}{thread};
		$pop->($t, $cpu{$c}{irq}, $last, 0, $c) while @{$cpu{$c}{irq}};
	}
	for my $t (values %thread) {
		$pop->($t, $t->{stack}, $last, 0, $t->{on} // 0) while @{$t->{stack}};
		$settle->($t, $t->{slept} ? 'begun before' : 'user');
	}
	$r{duration} = $duration;
	$r{picks} = $picks;
	return \%r;
}

# ---- comparing ----

my @options;

sub same {
	my ($what, $got, $wanted, $tolerance) = @_;
	my %all = map { $_ => 1 } keys %$got, keys %$wanted;

	$checks++;
	for (sort keys %all) {
		my ($g, $w) = ($got->{$_} // 0, $wanted->{$_} // 0);
		next if abs($g - $w) <= ($tolerance // 0);
		print "FAILED: $what @options: $_: fkt_print says $g, the events $w\n";
		$failures++;
		return;
	}
}

sub column {
	my ($rows, $key, $value) = @_;
	my %column;

	$column{ref $key ? $key->($_) : $_->{$key}} += $_->{$value} // 0 for @{$rows // []};
	return \%column;
}

sub check {
	my ($f) = @_;
	my $r = run($f);
	my $slack = defined $f->{from} || defined $f->{to} ? 64 : 0;
	my $ns_slack = 2;
	my %ns;

	@options = map { my $kind = $_; map { "--$kind=$_" } ref $f->{$kind} ? @{$f->{$kind}} : "$f->{$kind}ns" }
		   grep { !/^(from|to|longer)$/ } sort keys %$f;
	push @options, "--from=$f->{from}ns" if defined $f->{from};
	push @options, "--to=$f->{to}ns" if defined $f->{to};
	push @options, "--longer-than=$f->{longer}ns" if defined $f->{longer};

	# The listing, which is of calls with --longer-than.
	my %listed;
	if (!defined $f->{longer}) {
		$listed{$_->{code}}++ for map { parse($_) } output('--no-summary', @options);
		same('listing', \%listed, $r->{listed});
	}

	# The summary.
	my $t = tables('-q', @options);
	my %counts;
	for (@{$t->{counts}}) {
		$counts{$_->{code}} += $_->{count};
	}
	my %entries = map { $_ => $r->{listed}{$_} } grep { exists $counts{$_} } keys %{$r->{listed}};
	same('counts', \%counts, \%entries);
	same('exits', { all => eval { my $n = 0; $n += ($_->{count} // 0) + ($_->{exits} // 0) for @{$t->{counts}}; $n } // 0 },
	     { all => $r->{events} // 0 });
	same('selected events', { all => $t->{trace}[0]{selected_events} }, { all => $r->{events} // 0 });
	my $own = $r->{picks} ? $r->{picked} : $r->{own};
	same('cycles of rows', column($t->{rows}, 'name', 'own_cycles'), { map { my $n = $_; ($n eq 'user' && !grep({ $_->{name} eq 'user' } @{$t->{rows}}) ? 'not traced' : $n) => $own->{$n} } keys %{$own // {}} }, $slack);
	same('calls', column($t->{rows}, 'name', 'calls'), $r->{picks} ? $r->{calls} : $r->{whole});
	same('partial calls', column($t->{rows}, 'name', 'partial'), $r->{picks} ? $r->{partial} : $r->{parts});
	my $pid = \&row_thread;
	same('cycles of threads', column($t->{processes}, $pid, 'on_cpu_cycles'), $r->{picks} ? $r->{thread_picked} : $r->{thread}, $slack);
	if (!$r->{picks}) {
		for my $state ('waiting', 'sleep_s', 'sleep_d', 'sleep_i', 'sleep_other') {
			same("$state of threads", column($t->{processes}, $pid, "${state}_ns"),
			     { map { $_ => ($r->{state}{$_}{$state} // 0) / $per_ns } keys %{$r->{state} // {}} }, 50 + $slack);
		}
		same('switches', column($t->{processes}, $pid, 'switches'), $r->{switches});
		my $c = tables('--cpus', @options);
		same('--cpus', column($c->{on_cpu}, sub { row_thread($_[0]) . " $_[0]{cpu}" }, 'on_cpu_cycles'), $r->{on_cpu}, $slack);
	}
	my $whole = 0;
	$whole += $_ for values %{$r->{thread}};
	$whole += $r->{left_out} // 0;
	my $share = 0;
	$share += $_ // 0 for values %{$own // {}};
	# Filters that leave no code at all are refused: then there are no tables.
	my ($total) = @{$t->{rows_total} // []};
	same('share of all', { all => $total->{percent_of_all} // 0 }, { all => $whole ? 100 * $share / $whole : 0 }, 0.001);

	# Calls.
	my $by = tables('--by', 'function', @options);
	my %calls = map { $_ => scalar @{$r->{by}{$_}} } keys %{$r->{by}};
	my @of_calls = grep { defined $_->{sum_ns} } @{$by->{by}};
	same('--by: count', column(\@of_calls, 'function', 'count'), \%calls);
	for (@of_calls) {
		my $values = $r->{by}{$_->{function}} or next;
		my $sum = 0;
		$sum += $_ for @$values;
		same("--by: sum of $_->{function}", { all => $_->{sum_ns} }, { all => $sum / $per_ns }, 2 + $sum / 1e9);
		my $p99 = percentile($values, 99) / $per_ns;
		same("--by: p99 of $_->{function}", { all => $_->{p99_ns} }, { all => $p99 }, 2 + $p99 / 15);
	}
	my $called = tables('--calls', @options);
	my @wholes = grep { $_->{name} eq $_->{function} && ($_->{percent} // 0) == 100 } @{$called->{calls}};
	my %only = map { ($_->{name} =~ s/ ONLY$//r) => $_->{sum_cycles} } grep { $_->{name} =~ / ONLY$/ } @{$called->{calls}};
	same('--calls: own cycles', \%only, $r->{only}, $slack);

	# Calls one by one.
	my $partial = $r->{picks} ? $r->{partial} : $r->{parts};
	for my $view ('spans', 'graph') {
		my (%whole, %part);
		$_->{whole} ? $whole{$_->{name}}++ : $part{$_->{name}}++ for @{tables("--$view", @options)->{$view} // []};
		same("--$view: calls", \%whole, \%calls);
		same("--$view: partial calls", \%part, $partial);
	}
	my @spans = grep { $_->{whole} } @{tables('--spans', @options)->{spans} // []};
	same('--spans: own cycles', column(\@spans, 'name', 'own_cycles'), $r->{only}, $slack);
	same('--spans: order', { all => scalar grep { $spans[$_]{begin_stamp} < $spans[$_ - 1]{begin_stamp} } 1 .. $#spans }, { all => 0 });

	# Waits.
	my $w = tables('--waits', @options);
	my $id = 'tid';
	same('--waits: count', column($w->{waits}, $id, 'count'), { map { $_ => $r->{waits}{$_}{count} } keys %{$r->{waits}} });
	my @by_somebody = grep { ($_->{waker} // '') ne '' } @{$w->{waits}};
	same('--waits: woken by', column(\@by_somebody, $id, 'count'), $r->{woken} // {});
	same('--waits: sum', column($w->{waits}, $id, 'sum_ns'),
	     { map { $_ => ($r->{waits}{$_}{sum} // 0) / $per_ns } keys %{$r->{waits}} }, 50 + $slack);
	# Both parts of the waits, as fkt_print(5) says that they add up.
	my (%whole, $most);
	for my $row (@{$w->{waits}}) {
		$whole{$row->{tid}} += $row->{sum_ns} + ($row->{ready_average_ns} // 0) * $row->{count};
		$most = $row->{count} if !$most || $row->{count} > $most;
	}
	same('--waits: both parts', \%whole, { map { $_ => ($r->{waits}{$_}{whole} // 0) / $per_ns } keys %{$r->{waits}} },
	     50 + $slack + 2 * ($most // 0));

	check_noise($r, $slack);
	check_stacks($r, $slack) if $stacks && !defined $f->{longer};
}

# How often, and for how long: off the CPU there, and waits that were ended there.
sub check_stacks {
	my ($r, $slack) = @_;
	my $s = tables('--by', 'stack', @options);
	my $key = sub { "$_[0]{event} " . join ',', map { "\"$_\"" } split /;/, $_[0]{stack} };

	same('--by stack: count', column($s->{stacks}, $key, 'count'), $r->{stack_count} // {});
	same('--by stack: time', column($s->{stacks}, $key, 'sum_ns'), { map { $_ => $r->{stack}{$_} / $per_ns } keys %{$r->{stack} // {}} }, 50 + $slack);
}

my %noise_columns = (interrupt => ['interrupts', 'interrupt'], softirq => ['softirqs', 'softirq'],
		     preempted => ['preemptions', 'preempted'], stolen => ['steals', 'stolen'], gap => ['gaps', 'gap']);

# What is told in ns, and not by stamps.
my %is_told = (stolen => 1, gap => 1);

sub check_noise {
	my ($r, $slack) = @_;
	my $n = tables('--noise', @options);
	my (%wanted, %powers);

	for my $kind (keys %noise_columns) {
		my ($number, $time) = @{$noise_columns{$kind}};
		my @of_kind = grep { $_->{kind} eq $kind } @{$r->{noise}};
		# Lengths in ns are as many cycles as the clock says, which is known here from the listing alone.
		my $slack = $is_told{$kind} ? $slack + 2 : $slack;
		my (%count, %sum, %max);

		for (@of_kind) {
			my $power = 0;

			$count{$_->{cpu}}++;
			$sum{$_->{cpu}} += $_->{cycles};
			$max{$_->{cpu}} = $_->{cycles} if $_->{cycles} > ($max{$_->{cpu}} // 0);
			$power = $power ? 2 * $power : 1 while ($power ? 2 * $power : 1) <= $_->{cycles};
			$powers{$power}++ if !$is_told{$kind};
		}
		same("--noise: $number", column($n->{noise}, 'cpu', $number), \%count);
		same("--noise: time of $number", column($n->{noise}, 'cpu', "${time}_cycles"), \%sum, $slack * (1 + @of_kind));
		same("--noise: longest of $number", column($n->{noise}, 'cpu', "${time}_max_cycles"), \%max, $slack);
		$wanted{$_} += $sum{$_} for $kind eq 'preempted' ? keys %sum : ();
	}
	for (keys %{$r->{on_cpu}}) {
		my ($id, $c) = split;
		$wanted{$c} += $r->{on_cpu}{$_} unless $id =~ /^-/;
	}
	same('--noise: of', column($n->{noise}, 'cpu', 'wanted_cycles'), $r->{picks} ? {} : \%wanted, $slack * (1 + @{$r->{noise}}));

	my @longest = sort { $b->{cycles} <=> $a->{cycles} } grep { !$is_told{$_->{kind}} } @{$r->{noise}};
	my @got = grep { !$is_told{$_->{kind}} } @{$n->{noise_longest} // []};
	my $most = 10 - (@{$n->{noise_longest} // []} - @got);
	my $last = $#longest < $most - 1 ? $#longest : $most - 1;
	same('--noise: longest', { map { $_ => $got[$_]{duration_cycles} } 0 .. $#got },
	     { map { $_ => $longest[$_]{cycles} } 0 .. $last }, $slack);
	# Where the window cuts, it depends on how its ends are rounded.
	return if $slack;
	$_->{count} -= $_->{steals} + $_->{gaps} for @{$n->{noise_histogram} // []};
	same('--noise: histogram', column($n->{noise_histogram}, 'from_cycles', 'count'), \%powers);
	my %all = map { $_ => 1 } map { join ' ', @{$_}{qw(kind name cpu begin id cycles by)} } @longest;
	my %known = map { (join ' ', $_->{kind}, $_->{name} // '', $_->{cpu}, $_->{begin_stamp} // '', $_->{tid}, $_->{duration_cycles},
			   $_->{by_tid} // '') => 1 } @got;
	delete @all{grep { !$known{$_} } keys %all};
	same('--noise: which they are', \%known, \%all);
}

# ---- which filters ----

# Something of this trace for each: the commonest process, code, function, layer, and times in which there is something.
my (%by_process, %by_code, %by_row, %forked);
for (@events) {
	$by_process{$_->{process}}++ if $_->{tid};
	$by_code{$_->{name}}++ if $_->{kind} =~ /entry/;
	$by_row{$_->{row}}++ if $_->{kind} eq 'entry';
	$forked{$_->{'args.child'}}++ if $_->{name} eq 'fork';
}
sub most { my ($h) = @_; return (sort { $h->{$b} <=> $h->{$a} || $a cmp $b } keys %$h)[0 .. 2] }
my ($process, $process2) = most(\%by_process);
my ($code, $code2) = most(\%by_code);
my ($row, $row2) = most(\%by_row);
my ($forked) = sort { $a <=> $b } keys %forked;
my ($layer) = grep { $_ } map { (split /,/)[0] } sort grep { defined } values %layer;
my $span = $events[-1]{time_ns};
# Between events, so that it does not matter how a time is rounded.
sub between_events {
	my ($ns) = @_;
	for my $i (0 .. $#events - 1) {
		my ($a, $b) = ($events[$i]{time_ns}, $events[$i + 1]{time_ns});
		return int(($a + $b) / 2) if $a >= $ns && $b - $a > 20;
	}
	return $ns;
}
my %filters = (
	cpu => { cpu => ['0'] },
	no_cpu => { cpu => ['!0'] },
	process => { process => [$process] },
	processes => { process => [$process, $process2 // 'none'] },
	no_process => { process => ["!$process"] },
	code => { code => [$code] },
	codes => { code => [$code, $code2 // 'none'] },
	no_code => { code => ["!$code"] },
	function => { function => [$row] },
	functions => { function => [$row, $row2 // $row] },
	no_function => { function => ["!$row"] },
	layer => { layer => [$layer] },
	range => { from => between_events($span / 4), to => between_events($span * 2 / 3) },
	early => { to => between_events($span / 8) },
	# When nothing happens any more.
	last => { from => int(($events[-1]{stamp} * 2 / 3 + $end / 3 - $events[0]{stamp}) / $per_ns) },
	late => { to => int((($events[-1]{stamp} + $end) / 2 - $events[0]{stamp}) / $per_ns) },
	longer => { longer => $span > 1000000 ? 50000 : int($span / 5) },
);
delete $filters{no_cpu} if $cpus == 1;
delete @filters{qw(last late)} if $end - $events[-1]{stamp} < 20 * $per_ns;
$filters{while} = { while => [$forked] } if defined $forked;
my @names = ('', sort keys %filters);
my $pairs = 0;

for my $i (0 .. $#names) {
	my %f = $names[$i] ? %{$filters{$names[$i]}} : ();
	check(\%f);
	next unless $names[$i];
	for my $j ($i + 1 .. $#names) {
		my %g = %{$filters{$names[$j]}};
		# Two of a kind are filters of their own above.
		next if grep { exists $f{$_} } keys %g;
		check({ %f, %g }) if ($every // 1) && $pairs++ % ($every // 1) == 0;
	}
}

# Windows, which together are all of it.
my @cuts = map { between_events($span * $_ / 5) } 1 .. 4;
my (%added, %whole);
for my $window ([], map({ [ $_ ? "--from=$cuts[$_ - 1]ns" : (), $_ < 4 ? "--to=$cuts[$_]ns" : () ] } 0 .. 4)) {
	my $sums = @$window ? \%added : \%whole;
	my $t = tables('-q', @$window);

	$sums->{events} += $t->{trace}[0]{selected_events};
	$sums->{"own of $_->{name}"} += $_->{own_cycles} for @{$t->{rows}};
	for my $p (@{$t->{processes}}) {
		$sums->{"$_ of " . row_thread($p)} += $p->{$_} // 0 for qw(on_cpu_cycles user_cycles kernel_cycles interrupts_cycles
								  switches);
		for my $state (qw(waiting sleep_s sleep_d sleep_i sleep_other)) {
			$sums->{"$state of " . row_thread($p)} += $p->{"${state}_cycles"} // 0;
		}
	}
	$sums->{"$_->{name}"} += $_->{count} + ($_->{exits} // 0) for @{$t->{counts}};
	$t = tables('--waits', @$window);
	$sums->{"waits of $_->{tid}"} += $_->{sum_ns} for @{$t->{waits}};
	$t = tables('--by', 'stack', @$window);
	for (@{$t->{stacks}}) {
		my $of = "$_->{event} $_->{stack}";
		$sums->{"number of $of"} += $_->{count};
		# Of a wait that goes on behind a window it is not known there who ends it.
		$sums->{"time of $of"} += $_->{sum_ns} // 0 if $_->{event} eq 'switch_to';
	}
	$t = tables('--noise', @$window);
	for my $c (@{$t->{noise}}) {
		# Of what is told when it is over, a window has what is in it, and the one before it nothing.
		$c->{noise_cycles} -= $c->{stolen_cycles} + $c->{gap_cycles};
		$sums->{"$_ on $c->{cpu}"} += $c->{$_} for qw(interrupt_cycles softirq_cycles preempted_cycles noise_cycles wanted_cycles);
	}
	$t = tables('--cpus', @$window);
	$sums->{row_thread($_) . " on $_->{cpu}"} += $_->{on_cpu_cycles} for @{$t->{on_cpu}};
}
@options = @cuts;
same('windows', \%added, \%whole, 100);

# However many threads make them.
for my $view ('-q', '--calls', '--by=function,process', '--waits', '--noise', '--cpus', '--spans') {
	@options = $view;
	same('by one thread and by three', { join('', output($view, '--threads=3')) => 1 }, { join('', output($view, '--threads=1')) => 1 });
}
print "$checks checks, $failures failed\n";
exit($failures ? 1 : 0);
