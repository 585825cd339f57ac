#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# fields.pl CPU|thread FKT.json: whether the events' fields have the values that ftrace's buffers have, which are read here
# as they are (per_cpu/cpu*/trace_pipe_raw), for each event on each CPU in the same order; or, with "thread", in each thread,
# for where a thread can come to another CPU between the two tracers. FKT began earlier and ended later. Prints what differs,
# and how many kinds of events and fields do not.

use strict;
use warnings;
no warnings 'portable';
use Fcntl;

my ($by, $fkt_name) = @ARGV;
my $tracing = '/sys/kernel/tracing';

# What FKT records under this name is the timer's, and what ftrace has is worked out from it.
my %otherwise = map { $_ => 1 } qw(timer:timer_start.flags);

my (%format, %fkt, %ftrace, %symbols);

# Of each kind by its number, and by its name, its fields: how one unpack() takes all of them, their names, and what they are.
for my $path (glob "$tracing/events/*/*/format") {
	my ($system, $name) = $path =~ m{([^/]+)/([^/]+)/format$};
	my $event = "$system:$name";
	my %kind = (name => $event, template => '', names => [], kinds => []);
	my $id;
	open my $in, '<', $path or next;
	while (<$in>) {
		$id = $1 if /^ID: (\d+)/;
		/^\tfield:(.*?)(\w+)(\[\d*\])?;\toffset:(\d+);\tsize:(\d+);\tsigned:(\d)/ or next;
		my ($type, $name, $array, $offset, $size) = ($1, $2, $3, $4, $5);
		next if $name =~ /^common_/;
		if ($type =~ /__data_loc char\[\]/) {
			$kind{template} .= "\@$offset L";
			push @{$kind{kinds}}, 'loc';
		} elsif (!$array) {
			my $letter = { 1 => 'C', 2 => 'S', 4 => 'L', 8 => 'Q' }->{$size} // next;
			$kind{template} .= "\@$offset $letter";
			push @{$kind{kinds}}, $size;
		} elsif ($type =~ /\bchar\b/) {
			$kind{template} .= "\@$offset Z$size";
			push @{$kind{kinds}}, 'text';
		} else {
			next;
		}
		push @{$kind{names}}, $name;
	}
	close $in;
	$kind{at} = { map { $kind{names}[$_] => $_ } 0 .. $#{$kind{names}} };
	$format{$id} = $format{$event} = \%kind;
}

# The values of all fields of an event of ftrace's.
sub values_of {
	my ($data, $format) = @_;
	my @values = unpack $format->{template}, $data;
	for (grep { $format->{kinds}[$_] eq 'loc' } 0 .. $#values) {
		$values[$_] = unpack 'Z*', substr $data, $values[$_] & 0xffff, $values[$_] >> 16;
	}
	return \@values;
}

# Where an event is: the CPU, and the thread. Each CPU has an idle one of its own.
sub places {
	my ($cpu, $thread) = @_;
	return ("CPU $cpu", 'thread ' . ($thread || "0 of CPU $cpu"));
}

sub take_page {
	my ($cpu, $page) = @_;
	my ($commit) = unpack 'x8Q', $page;
	my $end = 16 + ($commit & 0xfffff);
	for (my $at = 16; $at < $end;) {
		my $head = unpack 'L', substr $page, $at, 4;
		my ($type, $delta) = ($head & 31, $head >> 5);
		$at += 4;
		my $length;
		if ($type == 29) {
			last if !$delta;
			$length = unpack 'L', substr $page, $at, 4;
			$at += $length;
			next;
		}
		if ($type >= 30) {
			$at += 4;
			next;
		}
		if ($type) {
			$length = 4 * $type;
		} else {
			$length = unpack('L', substr $page, $at, 4) - 4;
			$at += 4;
		}
		my $data = substr $page, $at, $length;
		$at += ($length + 3) & ~3;
		my $format = $format{unpack 'S', $data} or next;
		my $values = values_of($data, $format);
		push @{$ftrace{$format->{name}}{$_}}, $values for places($cpu, unpack 'x4l', $data);
	}
}

for my $path (glob "$tracing/per_cpu/cpu*/trace_pipe_raw") {
	my ($cpu) = $path =~ /cpu(\d+)/;
	my $page;
	sysopen my $raw, $path, O_RDONLY | O_NONBLOCK or die "$path: $!\n";
	take_page($cpu, $page) while sysread $raw, $page, 4096;
	close $raw;
}

open my $in, '<', $fkt_name or die "$fkt_name: $!\n";
while (<$in>) {
	/"cpu":(\d+),"tid":(\d+|null),.*?"name":"(\w+:\w+)",.*?"args":\{(.*)\}\}/ or next;
	my ($cpu, $thread, $event, $args) = ($1, $2, $3, $4);
	next unless $ftrace{$event};
	my $at = $format{$event}{at};
	my $kinds = $format{$event}{kinds};
	my @args;
	while ($args =~ /"(\w+)":("(?:[^"\\]|\\.)*"|-?[\d.]+|null)/g) {
		my ($i, $value) = ($at->{$1} // next, $2);
		if ($kinds->[$i] !~ /^\d/ && $value =~ /^"(.*)"$/s) {
			$value = $1 =~ s/\\(.)/$1/gr;
		} elsif ($value =~ /^"(0x[0-9a-f]+)"$/) {
			$value = hex $1;
		} elsif ($value =~ /^"([^+ "]+)/) {
			# Where it is, if it is a symbol, comes below.
			$symbols{$1} //= [];
		}
		$args[$i] = $value;
	}
	push @{$fkt{$event}{$_}}, \@args for places($cpu, $thread);
}
close $in;

# "ffffffff81000000 T name", and of a module's a tab and its name: only those that were named.
open $in, '<', '/proc/kallsyms' or die "kallsyms: $!\n";
while (<$in>) {
	my $end = index $_, "\t", 19;
	my $name = substr $_, 19, $end < 0 ? -1 : $end - 19;
	push @{$symbols{$name}}, hex substr $_, 0, 16 if $symbols{$name};
}
close $in;

# Whether a value of FKT's is one of ftrace's, when it is not written in the same way.
sub is_same {
	my ($field, $ours, $value, $kind) = @_;
	if ($kind !~ /^\d/) {
		$value =~ s/[\x00-\x1f\x7f]/?/g;
		# A long one is cut.
		return length $ours < 24 ? $ours eq $value : index($value, $ours) == 0;
	}
	if ($ours =~ /^"/) {
		my ($name, $offset) = $ours =~ /^"([^+ ]+?)(?:\+(0x[0-9a-f]+).*|[ "].*)$/ or return 0;
		return !!grep { $_ + hex($offset // '0') == $value } @{$symbols{$name} // []};
	}
	return 0 if $ours eq 'null';
	# Where there is none, ftrace makes it 0.
	return 1 if $field eq 'sector' && $ours == ~0 && !$value;
	return ($ours & ~0 >> 64 - 8 * $kind) == $value;
}

# The first of these fields of an event that is not the same, by its place; -1 if they are, and what is behind all if there is none.
sub differs {
	my ($ours, $theirs, $format, $fields) = @_;
	return scalar @$theirs if !$ours;
	for (@$fields) {
		my $value = $ours->[$_] // 'null';
		return $_ if $value ne $theirs->[$_] && !is_same($format->{names}[$_], $value, $theirs->[$_], $format->{kinds}[$_]);
	}
	return -1;
}

# What is wrong with an event on the CPUs, or in the threads, empty if nothing is; and which fields were compared.
sub wrong {
	my ($event, $kind) = @_;
	my $format = $format{$event};
	my $wrong = '';
	my %compared;

	for my $place (sort grep { /^$kind / } keys %{$ftrace{$event}}) {
		my @theirs = @{$ftrace{$event}{$place}};
		my @ours = @{$fkt{$event}{$place} // []};
		next if !@ours && !$fkt{$event} && $event =~ /:(?:sys_|print|bprint|function)/;
		my @fields = grep { !$otherwise{"$event.$format->{names}[$_]"} && defined $ours[0][$_] } 0 .. $#{$ours[0] // []};
		my ($best, $where, $first) = (-1, -1, 0);
		for my $at (0 .. @ours - @theirs) {
			my $same = 0;
			my $differs = -1;
			my @taken;
			while ($same < @theirs) {
				# An interrupt between the two tracers, with events of the kind, changes the order.
				my $found;
				$found = $same if !$taken[$same] && differs($ours[$at + $same], $theirs[$same], $format, \@fields) < 0;
				for (defined $found ? () : ($same - 100 .. $same - 1, $same + 1 .. $same + 100)) {
					next if $_ < 0 || $at + $_ >= @ours || $taken[$_] ||
						differs($ours[$at + $_], $theirs[$same], $format, \@fields) >= 0;
					$found = $_;
					last;
				}
				$differs = differs($ours[$at + $same], $theirs[$same], $format, \@fields) if !defined $found;
				last if !defined $found || ($same < 2 && $found != $same);
				$taken[$found] = 1;
				$same++;
			}
			($best, $where, $first) = ($same, $differs, $at) if $same > $best;
			last if $same == @theirs;
		}
		$compared{$format->{names}[$_]} = 1 for @fields;
		next if $best == @theirs;
		$wrong .= sprintf "%s: %s: ftrace has %d, FKT %d; equal up to %d", $event, $place, scalar @theirs, scalar @ours, $best;
		if ($where >= 0 && $where < @{$theirs[$best]}) {
			my ($a, $b) = ($ours[$first + $best], $theirs[$best]);
			$wrong .= sprintf ", where %s is %s for FKT, %s for ftrace", $format->{names}[$where], $a->[$where] // 'missing', $b->[$where];
		}
		$wrong .= "\n";
	}
	return ($wrong, %compared);
}

my ($events, $fields, $failed, $all) = (0, 0, 0, 0);
for my $event (sort keys %ftrace) {
	my ($wrong, %compared) = wrong($event, 'CPU');
	($wrong, %compared) = wrong($event, 'thread') if $wrong && $by eq 'thread';
	print $wrong;
	$failed++ if $wrong;
	$all += @{$ftrace{$event}{$_}} for grep { /^CPU/ } keys %{$ftrace{$event}};
	$events++ if %compared;
	$fields += %compared;
	print "$event: @{[sort keys %compared]}\n" if $ENV{FIELDS_VERBOSE};
}
print "$events kinds of events, $fields fields, $all events; $failed differ\n";
exit($failed || $events < 100);
