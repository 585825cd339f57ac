#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# exported.pl FORMAT FILE: whether what fkt_export wrote is what the format's readers insist on; perfetto's as protoc
# decodes it. Prints what is counted: of perfetto the events of each kind, of chrome the whole calls of each name, of
# callgrind and folded the time of each function itself.

use strict;
use warnings;
use JSON::PP;

my ($format, $file) = @ARGV;
my (%count, $bad);

open(my $in, '<', $file) or die "$file: $!\n";

sub bad {
	print "FAILED: $file: $_[0]\n" if $bad++ < 10;
}

# What Perfetto's views need of events.
my %needed = (
	sched_switch => 'prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio', sched_waking => 'comm pid prio target_cpu',
	sched_wakeup_new => 'comm pid prio target_cpu', softirq_entry => 'vec', softirq_exit => 'vec', softirq_raise => 'vec',
	irq_handler_entry => 'irq name', irq_handler_exit => 'irq', sys_enter => 'id', sys_exit => 'id ret', task_newtask => 'pid comm clone_flags',
	task_rename => 'pid newcomm', sched_process_exit => 'pid', sched_process_free => 'pid', funcgraph_entry => 'func', funcgraph_exit => 'func');

# A packet as lines of protoc: what has a name is one value, or a list of those that are messages.
sub message {
	my %message;

	while (my $line = <$in>) {
		return \%message if $line =~ /^\s*}$/;
		if ($line =~ /^\s*(\w+) \{$/) {
			push @{$message{$1}}, message();
		} elsif ($line =~ /^\s*(\w+): (.*)$/) {
			# Of several, all.
			$message{$1} = exists $message{$1} ? [ref $message{$1} ? @{$message{$1}} : $message{$1}, $2] : $2;
		}
	}
	return \%message;
}

sub perfetto {
	my (%symbol, %name, %track, $packets, %last, %machine, %function, %path, %mapping, %frame, %callstack);

	while (my $line = <$in>) {
		bad("not a packet: $line") if $line !~ /^packet \{$/;
		my $packet = message();
		bad('a packet without its sequence') if ($packet->{trusted_packet_sequence_id} // 0) != 1;
		bad('flags of a packet') if $packet->{sequence_flags} != ($packets++ ? 2 : 1);
		bad('no clocks first') if $packets == 1 && !$packet->{clock_snapshot};
		for my $data (@{$packet->{interned_data} // []}) {
			for (@{$data->{kernel_symbols} // []}) {
				bad("symbol $_->{iid} twice") if $symbol{$_->{iid}}++;
			}
			for (@{$data->{event_names} // []}) {
				bad("name $_->{iid} twice") if $name{$_->{iid}}++;
			}
			$function{$_->{iid}} = $_->{str} =~ s/"//gr for @{$data->{function_names} // []};
			$path{$_->{iid}}++ for @{$data->{mapping_paths} // []};
			for (@{$data->{mappings} // []}) {
				bad("a mapping without its path") if !$path{$_->{path_string_ids}};
				$mapping{$_->{iid}}++;
			}
			for (@{$data->{frames} // []}) {
				bad("frame $_->{iid} twice") if $frame{$_->{iid}};
				bad("frame $_->{iid}: its function or its mapping is not told before")
					if !$mapping{$_->{mapping_id}} || !exists $function{$_->{function_name_id}};
				$frame{$_->{iid}} = $function{$_->{function_name_id}};
			}
			for (@{$data->{callstacks} // []}) {
				my @ids = ref $_->{frame_ids} ? @{$_->{frame_ids}} : $_->{frame_ids};
				bad("callstack $_->{iid} twice") if $callstack{$_->{iid}};
				bad("callstack $_->{iid}: a frame is not told before") if grep { !exists $frame{$_} } @ids;
				$callstack{$_->{iid}} = join ';', map { $frame{$_} } @ids;
			}
		}
		for (@{$packet->{perf_sample} // []}) {
			bad('a sample without a time') if !$packet->{timestamp};
			bad("callstack $_->{callstack_iid} is not told before") if !$callstack{$_->{callstack_iid}};
			$count{sample}++;
			$count{"sample:$callstack{$_->{callstack_iid}}" =~ s/ /_/gr}++;
		}
		$machine{$_->{utsname}[0]{machine} // ''}++ for @{$packet->{system_info} // []};
		$track{$_->{uuid}}++ for @{$packet->{track_descriptor} // []};
		for (@{$packet->{track_event} // []}) {
			bad('an instant without a time') if !$packet->{timestamp};
			bad("track $_->{track_uuid} is not described") if !$track{$_->{track_uuid}};
			bad("name $_->{name_iid} is not told before") if $_->{name_iid} && !$name{$_->{name_iid}};
			bad('an instant without a name') if !$_->{name_iid} && !$_->{name};
			$count{instant}++;
		}
		for my $bundle (@{$packet->{ftrace_events} // []}) {
			bad('a bundle without a CPU') if !exists $bundle->{cpu};
			for my $event (@{$bundle->{event} // []}) {
				my @kind = grep { ref $event->{$_} } keys %$event;

				bad('an event is of ' . @kind . ' kinds') if @kind != 1;
				bad('an event without time or thread') if !$event->{timestamp} || !exists $event->{pid};
				bad("time runs backwards on CPU $bundle->{cpu}")
					if $event->{timestamp} < ($last{$bundle->{cpu}} // 0);
				$last{$bundle->{cpu}} = $event->{timestamp};
				$count{$kind[0]}++;
				exists $event->{$kind[0]}[0]{$_} or bad("$kind[0] without $_") for split / /, $needed{$kind[0]} // '';
				bad("$kind[0] is nothing that the views know") if !$needed{$kind[0]};
				my $func = $event->{$kind[0]}[0]{func};
				bad("function $func is not told before") if $kind[0] =~ /^funcgraph/ && !$symbol{$func};
			}
		}
	}
	bad('nothing is there') if !$packets;
	bad('no machine') if keys %machine != 1;
	bad('without a machine, system calls have no names') if $count{sys_enter} && $machine{''};
}

sub chrome {
	my $trace = decode_json(join '', <$in>);

	for (@{$trace->{traceEvents}}) {
		bad("an event without its members") if grep({ !defined } @{$_}{qw(name ph ts pid tid)});
		bad("$_->{ph}: a kind") if $_->{ph} !~ /^[XiM]$/;
		bad("$_->{name}: a slice without a duration") if $_->{ph} eq 'X' && ($_->{dur} // -1) < 0;
		$count{$_->{name} =~ s/ /_/gr}++ if $_->{ph} eq 'X' && $_->{pid} != 5000000 && !$_->{args}{partial};
	}
}

sub folded {
	while (<$in>) {
		my ($name, $ns) = /^(?:[^;]+;)*([^;]+) ([0-9]+)$/;

		$name or bad("a line: $_"), next;
		$count{$name =~ s/ /_/gr} += $ns;
	}
}

sub callgrind {
	my (%name, $function, $total, $sum, $called);

	while (<$in>) {
		if (/^c?fn=\((\d+)\) (.*)$/) {
			bad("function $1 has two names") if ($name{$1} //= $2) ne $2;
		}
		$total = $1 if /^summary: (\d+)$/;
		$function = $2 if /^fn=\((\d+)\) (.*)$/;
		if (/^calls=(\d+) 0$/) {
			bad('calls that nobody makes') if !$function;
			$called = 1;
		} elsif (my ($cost) = /^0 (\d+)$/) {
			$called or ($count{$function =~ s/ /_/gr} += $cost, $sum += $cost);
			$called = 0;
		}
	}
	# Each is rounded.
	bad("$sum is not the sum, $total") if abs($sum - $total) > keys %name;
}

sub speedscope {
	my $file = decode_json(join '', <$in>);
	my $frames = @{$file->{shared}{frames}};

	bad('no profile') if !@{$file->{profiles}};
	for my $profile (@{$file->{profiles}}) {
		my (@open, $at);

		$at = $profile->{startValue};
		for (@{$profile->{events}}) {
			bad("$profile->{name}: time runs backwards") if $_->{at} < $at;
			$at = $_->{at};
			bad("$profile->{name}: frame $_->{frame}") if $_->{frame} >= $frames;
			if ($_->{type} eq 'O') {
				push @open, $_->{frame};
			} else {
				bad("$profile->{name}: frame $_->{frame} is closed, another is open")
					if !@open || pop(@open) != $_->{frame};
			}
		}
		bad("$profile->{name}: frames stay open") if @open;
		bad("$profile->{name}: goes beyond its end") if $at > $profile->{endValue};
	}
}

my %formats = (perfetto => \&perfetto, chrome => \&chrome, folded => \&folded, offcpu => \&folded,
	       callgrind => \&callgrind, speedscope => \&speedscope);
$formats{$format}->();
print "$_ $count{$_}\n" for sort keys %count;
exit !!$bad;
