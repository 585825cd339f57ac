#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# What fkt_export --to ctf wrote, held against what its readers insist on, and against fkt_print.
#
#	ctf.pl packets DIRECTORY		the files byte by byte: metadata, packets. Prints how many events are discarded
#	ctf.pl events CSV TIMES LISTING		fkt_print's CSV and its lines with --time=abs, babeltrace2's listing with
#						--clock-date --clock-gmt --no-delta (TIMES is "-": --clock-cycles): event for event,
#						names, fields, times. Prints how many events, and how many exits of interrupts are
#						left out
#	ctf.pl stacks JSON LISTING		fkt_print's JSON with --stack, babeltrace2's listing: the same stacks of the same
#						events, by their frames' names. Prints how many of the kernel's and of programs'
#
# The names of LTTng's events stand here once more, so that they are compared with something.

use strict;
use warnings;
use JSON::PP;

my $bad = 0;

sub bad {
	print "FAILED: $_[0]\n" if $bad++ < 10;
}

# ---- packets ----

# By these Trace Compass takes a trace for a kernel's, and for whose; without the fields its views stay empty.
my @insisted = (
	'domain = "kernel";', 'tracer_name = "lttng-modules";', 'tracer_major = 2;', 'tracer_minor = 13;', 'byte_order = le;',
	'freq = 1000000000;', 'uint64_clock_monotonic_t timestamp_begin;', 'uint64_clock_monotonic_t timestamp_end;',
	'uint64_t content_size;', 'uint64_t packet_size;', 'uint64_t events_discarded;', 'uint32_t cpu_id;');
my %fields = (
	sched_switch => 'prev_comm prev_tid prev_prio prev_state next_comm next_tid next_prio',
	sched_waking => 'comm tid prio target_cpu', sched_wakeup_new => 'comm tid prio target_cpu',
	sched_process_fork => 'parent_tid child_comm child_tid child_pid', sched_process_exit => 'tid', sched_process_free => 'tid',
	sched_process_exec => 'filename tid', irq_handler_entry => 'irq name', irq_handler_exit => 'irq', irq_softirq_entry => 'vec',
	irq_softirq_exit => 'vec', irq_softirq_raise => 'vec', lttng_statedump_process_state => 'tid pid ppid name status cpu');

sub packets {
	my ($dir) = @_;
	my ($uuid, @id, $discarded);

	open(my $in, '<', "$dir/metadata") or die "$dir/metadata: $!\n";
	my $metadata = join '', <$in>;
	bad('the metadata do not begin as text') if $metadata !~ m{^/\* CTF 1\.8 \*/\n};
	index($metadata, $_) >= 0 or bad("the metadata do not say $_") for @insisted;
	($uuid) = $metadata =~ /\tuuid = "([0-9a-f-]{36})";/ or bad('no uuid');
	while ($metadata =~ /^event \{\n\tname = "((?:[^"\\]|\\.)*)";\n\tid = (\d+);\n\tstream_id = 0;\n\tfields := struct \{\n(.*?)^\t\};\n\};\n/gms) {
		my ($name, $id, $body) = ($1, $2, $3);

		bad("event $name has the number $id, and not " . @id) if $id != @id;
		push @id, $name;
		$body =~ /(?:^\t\tstring|\}) _$_;$/m or bad("event $name has no field $_") for split / /, $fields{$name} // '';
		$body =~ /^\t\tinteger \{[^}]*\} _ret;$/m or bad("$name has no ret") if $name =~ /syscall_exit_/;
	}
	bad('no events') if !@id;
	opendir(my $files, $dir) or die;
	for my $file (sort grep { !/^\./ && $_ ne 'metadata' } readdir $files) {
		my ($number) = $file =~ /^kernel_(\d+)$/ or bad("a file $file"), next;

		$discarded += stream("$dir/$file", $number, $uuid);
	}
	print "discarded ", $discarded // 0, "\n";
}

# Packets follow each other without a hole; time does not run backwards; one without an event, behind which Trace Compass
# reads no further, is only there as the first one.
sub stream {
	my ($path, $cpu, $uuid) = @_;
	my ($at, $last_end, $last_begin, $seq, $discarded) = (0, 0, 0, 0, 0);

	open(my $in, '<:raw', $path) or die "$path: $!\n";
	local $/;
	my $data = <$in>;
	while ($at < length $data) {
		bad("$path: a header that is cut off at $at"), return $discarded if length($data) - $at < 84;
		my ($magic, $id, $stream, $instance, $begin, $end, $content, $size, $number, $lost, $cpu_id) =
			unpack('V a16 V Q<7 V', substr($data, $at, 84));

		bad(sprintf('%s: magic %x at %d', $path, $magic, $at)), return $discarded if $magic != 0xc1fc1fc1;
		bad("$path: another trace's") if join('-', unpack('H8 H4 H4 H4 H12', $id)) ne $uuid;
		bad("$path: stream $stream") if $stream;
		bad("$path: of CPU $cpu_id") if $cpu_id != $cpu || $instance != $cpu;
		bad("$path: packet $number ends before it begins") if $begin > $end;
		bad("$path: packet $number begins before the last one ended") if $begin < $last_end;
		bad("$path: packet $number is not $seq") if $number != $seq++;
		bad("$path: fewer events are discarded in packet $number") if $lost < $discarded;
		bad("$path: packet $number is larger than its room") if $content > $size || $size % 8;
		bad("$path: packet $number is cut off") if $at + $size / 8 > length $data;
		bad("$path: packet $number is empty") if $content <= 84 * 8 && $at;
		bad("$path: the first packet has a loss, whose number is not known")
			if $lost && !$at && $content > 84 * 8;
		($at, $last_end, $discarded) = ($at + $size / 8, $end, $lost);
	}
	bad("$path is empty") if !$at;
	return $discarded;
}

# ---- events ----

my %names = (
	'1000' => 'irq_handler_entry', '1001' => 'irq_handler_exit', '1002' => 'irq_softirq_entry', '1003' => 'irq_softirq_exit',
	'1004' => 'irq_softirq_raise', '1005' => 'x86_exceptions_page_fault_user', '1006' => 'x86_exceptions_page_fault_kernel',
	'1100' => 'sched_switch', '1101' => 'sched_waking', '1102' => 'sched_wakeup_new', '1103' => 'sched_process_fork',
	'1104' => 'sched_process_exec', '1105' => 'sched_process_exit', '1106' => 'sched_process_free', '1107' => 'task_rename');
# What LTTng has under another name.
my %renamed = (
	sched_switch => { prev => 'prev_tid', prev_name => 'prev_comm', next => 'next_tid', next_name => 'next_comm' },
	sched_waking => { pid => 'tid', pid_name => 'comm' }, sched_wakeup_new => { pid => 'tid', pid_name => 'comm' },
	sched_process_fork => { child => 'child_tid', child_name => 'child_comm', tgid => 'child_pid', parent => 'parent_tid',
				parent_name => 'parent_comm', parent_tgid => 'parent_pid' },
	sched_process_exec => { pid => 'tid', pid_name => undef, old_pid => 'old_tid', comm => 'filename' },
	sched_process_exit => { pid => 'tid', pid_name => 'comm' },
	sched_process_free => { pid => 'tid', pid_name => 'comm', tgid => undef },
	task_rename => { pid => 'tid', pid_name => undef, tgid => 'pid', comm => 'newcomm' },
	irq_handler_entry => { irq_name => 'name' }, irq_handler_exit => { irq_name => undef },
	map({ $_ => { vec_name => undef } } qw(irq_softirq_entry irq_softirq_exit irq_softirq_raise)),
	map({ $_ => { error => 'error_code' } } qw(x86_exceptions_page_fault_user x86_exceptions_page_fault_kernel)));
my %states = (S => 1, D => 2, T => 4, t => 8, X => 16, Z => 32, P => 64);
my %escapes = (n => "\n", t => "\t", r => "\r", a => "\a", b => "\b", f => "\f", v => "\013");

# A field's value as babeltrace2 writes it, at the beginning of $_; taken away.
sub value {
	return $1 =~ s/\\(.)/$escapes{$1} \/\/ $1/ger if s/^"((?:[^"\\]|\\.)*)"//;
	return hex_of($1) if s/^0x([0-9A-Fa-f]+)//;
	return $1 if s/^(-?[0-9]+)//;
	if (s/^\[ //) {
		my @list;

		while (s/^\[[0-9]+\] = //) {
			push @list, value();
			s/^, //;
		}
		s/^ ?\]// or bad("an array: $_");
		return \@list;
	}
	s/^\[ ?\]// and return [];
	bad("a value: $_");
	return '';
}

sub hex_of {
	no warnings 'portable';
	return hex $_[0];
}

# { a = 1, b = "x" }
sub structure {
	my %fields;

	s/^\{ // or bad("no structure: $_");
	while (s/^([A-Za-z_0-9]+) = //) {
		$fields{$1} = value();
		s/^, //;
	}
	s/^ ?\}(?:, )?// or bad("no end of a structure: $_");
	return \%fields;
}

sub listed {
	my ($in) = @_;

	while (defined(my $line = <$in>)) {
		chomp $line;
		local $_ = $line;
		s/^\[([^\]]*)\] (?:\S+ )?([^ {}]+): // or bad("a line of babeltrace2's: $_"), next;
		my %event = (time => $1, name => $2, line => $line);
		next if $event{name} =~ /^lttng_statedump_/;
		@event{qw(cpu context fields)} = (structure(), structure(), structure());
		return \%event;
	}
	return undef;
}

# A line of CSV; the last column is in quotes.
sub printed {
	my ($csv, $times) = @_;

	while (defined(my $line = <$csv>)) {
		my ($time, %event);

		chomp $line;
		@event{qw(stamp ns cpu tid process code name syscall args)} = split /,/, $line, 9;
		while ($times && ($time // '') !~ /^\d{4}-/) {
			defined($time = <$times>) or bad('fewer times than events'), return undef;
		}
		next if $event{code} eq '1203';
		$event{time} = $times ? $time =~ s/^(\S+ \S+).*/$1/sr : sprintf('%020d', $event{ns});
		$event{args} =~ s/^"(.*)"$/$1/;
		$event{args} = decode_json($event{args} =~ s/""/"/gr);
		$event{line} = $line;
		return \%event;
	}
	return undef;
}

sub name_of {
	my ($event, $listed) = @_;
	my $code = $event->{code};

	return $names{$code} if $names{$code};
	if ($code =~ /^0[0-9a-f]{3}$/) {
		my $number = hex $code;
		return ($number & 0x800 ? 'compat_' : '') . 'syscall_' . ($number & 0x400 ? 'exit_' : 'entry_') .
		       ($event->{syscall} || ($number & 0x3ff));
	}
	if ($code =~ /^10[89ab]/) {
		my $name = 'x86_irq_vectors_' . ($event->{name} =~ s/^x86_platform_ipi/ipi/r) . '_entry';
		return $listed->{name} eq $event->{name} ? $event->{name} : $name;
	}
	if ($code =~ /^10[c-f]/) {
		return $listed->{name} eq $event->{name} ? $event->{name}
		       : 'x86_irq_vectors_' . ($event->{name} =~ s/^x86_platform_ipi/ipi/r);
	}
	return $listed->{name} if $listed->{name} =~ /^fkt_function_(entry|exit)$/ && $listed->{fields}{name} eq $event->{name};
	return $listed->{name} if ($listed->{name} =~ s/_(?:entry|exit)$//r) eq ($event->{name} =~ s/^[^:]*://r);
	return $event->{name} =~ s/^[^:]*://r;
}

sub same {
	my ($printed, $listed) = @_;

	return @$printed == @$listed && !grep({ !same($printed->[$_], $listed->[$_]) } 0 .. $#$printed) if ref $printed && ref $listed;
	return 0 if ref $printed || ref $listed;
	return $printed eq $listed || ($printed =~ /^0x([0-9a-f]+)$/ && hex_of($1) == $listed) || 0;
}

sub compare_field {
	my ($event, $listed, $key) = @_;
	my ($value, $name) = ($event->{args}{$key}, $listed->{name});
	my $to = exists $renamed{$name}{$key} ? $renamed{$name}{$key} : $key =~ s/[^A-Za-z0-9_]/_/gr;

	# An error's name stands in its number.
	return if !defined $to || $key eq 'ret_name';
	if ($name eq 'sched_switch' && $key eq 'state') {
		$to = 'prev_state';
		$value = $value =~ /^R/ ? 0 : $states{substr $value, -1} // ($value =~ /^I/ ? $listed->{fields}{prev_state} : -1);
		$listed->{fields}{prev_state} &= 0x7f if $event->{args}{state} !~ /^I/;
	}
	$value -= 100 if $name =~ /^sched_wak/ && $key eq 'prio';
	$value = "swapper/$event->{cpu}" if $to =~ /comm$/ && $value eq 'idle';
	exists $listed->{fields}{$to} or bad("no field $to of $key:\n$event->{line}\n$listed->{line}"), return;
	same($value, $listed->{fields}{$to}) or
		bad("$to is $listed->{fields}{$to} and not $value:\n$event->{line}\n$listed->{line}");
}

# The next event of a CPU: of the same moment on several CPUs, readers have any order.
my @moment;

sub next_listed {
	my ($listing, $cpu) = @_;
	my $event;

	while (@moment < 2 || $moment[-1]{time} eq $moment[0]{time}) {
		$event = listed($listing) or last;
		push @moment, $event;
	}
	for (0 .. $#moment) {
		last if $moment[$_]{time} ne $moment[0]{time};
		return splice(@moment, $_, 1) if $moment[$_]{cpu}{cpu_id} == $cpu;
	}
	return shift @moment;
}

sub events {
	my ($csv_path, $times_path, $listing_path) = @_;
	my ($count, $left_out, %class, %irqs) = (0, 0);

	open(my $csv, '<', $csv_path) or die "$csv_path: $!\n";
	my $times;
	$times_path eq '-' or open($times, '<', $times_path) or die "$times_path: $!\n";
	open(my $listing, '<', $listing_path) or die "$listing_path: $!\n";
	<$csv>;
	while (my $event = printed($csv, $times)) {
		my $listed = next_listed($listing, $event->{cpu});

		if ($event->{code} eq '1001' && (!$listed || $listed->{name} ne 'irq_handler_exit' || $listed->{time} ne $event->{time})) {
			$left_out++;
			unshift @moment, $listed if $listed;
			next;
		}
		$listed or bad("no more events: $event->{line}"), last;
		my $name = name_of($event, $listed);
		$name eq $listed->{name} or bad("$listed->{name} and not $name:\n$event->{line}\n$listed->{line}"), last;
		($class{$event->{code}} //= $name) eq $name or bad("$event->{code} is $name and $class{$event->{code}}");
		$listed->{time} eq $event->{time} or bad("at $listed->{time} and not $event->{time}:\n$listed->{line}");
		$listed->{cpu}{cpu_id} == $event->{cpu} or bad("another CPU:\n$event->{line}\n$listed->{line}");
		$listed->{context}{tid} eq ($event->{tid} eq '' ? -1 : $event->{tid}) or bad("another thread:\n$event->{line}\n$listed->{line}");
		$listed->{context}{procname} eq ($event->{process} eq 'idle' ? "swapper/$event->{cpu}" : $event->{process}) or
			bad("another name:\n$event->{line}\n$listed->{line}") if $event->{tid} ne '';
		compare_field($event, $listed, $_) for keys %{$event->{args}};
		# What Trace Compass loses track by.
		push @{$irqs{$event->{cpu}}}, $event->{args}{irq} if $name eq 'irq_handler_entry';
		bad("the exit from an interrupt whose entry is not there:\n$listed->{line}")
			if $name eq 'irq_handler_exit' && (pop @{$irqs{$event->{cpu}}} // -1) != $event->{args}{irq};
		$count++;
	}
	my $more = next_listed($listing, 0);
	bad("more events: $more->{line}") if $more && !$bad;
	print "events $count\nleft_out $left_out\n";
}

# ---- stacks ----

sub stacks {
	my ($json_path, $listing_path) = @_;
	my (%printed, %count);

	open(my $json, '<', $json_path) or die "$json_path: $!\n";
	while (<$json>) {
		my $row = decode_json($_);
		$printed{sprintf '%020d %d %s', $row->{time_ns}, $row->{cpu}, join(';', @{$row->{stack}})}++ if @{$row->{stack} // []};
	}
	open(my $listing, '<', $listing_path) or die "$listing_path: $!\n";
	while (my $event = listed($listing)) {
		my ($fields, @names) = ($event->{fields});

		for my $which (qw(kernel user)) {
			my ($length, $addresses, $names) = @{$fields}{map { "callstack_$which$_" } '_length', '', '_names'};

			defined $length or next;
			bad("$length frames: $event->{line}") if $length != @$addresses || $length != @$names;
			for (0 .. $#$names) {
				my $is_mark = $names->[$_] =~ /^(?:\.\.\.|\(stack not .*\))$/;
				my $address = $addresses->[$_] >= 0xffffffff << 32 ? 'kernel' : 'user';
				# All ones, where frames are missing, are neither.
				bad("frame $_ is no $which address: $event->{line}") if $address ne $which && !$is_mark;
				bad("frame $_ is a mark and an address: $event->{line}") if $is_mark && $addresses->[$_] != ~0;
			}
			push @names, @$names;
			$count{$which} += @$names;
		}
		# How the kernel calls tracepoints is no frame for people.
		shift @names while @names && $names[0] =~ /^__traceiter_/;
		my $stack = sprintf '%s %d %s', $event->{time}, $event->{cpu}{cpu_id}, join(';', @names);
		!@names || $printed{$stack}-- or bad("fkt_print has no stack '$stack'");
	}
	$printed{$_} > 0 and bad("the listing has no stack '$_'") for sort keys %printed;
	print "$_ ", $count{$_} // 0, "\n" for qw(kernel user);
}

my $what = shift // '';
$what eq 'packets' ? packets(@ARGV) : $what eq 'stacks' ? stacks(@ARGV) : events(@ARGV);
exit !!$bad;
