# A link that takes its time: passes on what comes over a socket to another one, after half of the given time, and the
# answers likewise. usage: perl relay.pl LISTEN_PATH TARGET_PATH MILLISECONDS_THERE_AND_BACK
use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use Socket qw(SOCK_STREAM);
use Time::HiRes qw(time);

my ($listen, $target, $milliseconds) = @ARGV;
my $delay = $milliseconds / 2000;
my $server = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => $listen, Listen => 10) or die "cannot listen: $!";
chmod 0777, $listen;
my $select = IO::Select->new($server);
my %other;     # by socket: where its bytes go
my @waiting;   # [when, socket, bytes]; no bytes: it has been closed. In the order of time

sub pass_on
{
    my ($when, $to, $bytes) = @{ shift @waiting };
    if (!defined $bytes) { $select->remove($to); delete $other{$to}; close $to; return }
    while (length $bytes) { my $sent = syswrite $to, $bytes; last unless defined $sent; substr $bytes, 0, $sent, '' }
}

$SIG{PIPE} = 'IGNORE';
$SIG{TERM} = sub { unlink $listen; exit 0 };
while (1)
{
    my $left = @waiting ? $waiting[0][0] - time : undef;
    if (defined $left && $left <= 0) { pass_on(); next }
    for my $socket ($select->can_read($left))
    {
        if ($socket == $server)
        {
            my $from = $server->accept or next;
            my $to = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $target) or do { close $from; next };
            $other{$from} = $to;
            $other{$to} = $from;
            $select->add($from, $to);
            next;
        }
        my $to = $other{$socket} or do { $select->remove($socket); next };
        my $read = sysread $socket, my $bytes, 1 << 20;
        $select->remove($socket) unless $read;
        push @waiting, [ time + $delay, $to, $read ? $bytes : undef ];
    }
}
