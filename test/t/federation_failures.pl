# Three hospitals train one model together, and somebody fails: what is charged, who is told, and that nobody goes on.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use hospitals;
use servers qw(start_psql);

start_hospitals();

my $long = q{SELECT dpboost_train_across('long', 'cardio', 'los', epsilon => 0.01, options => '{"method": "sbdt", "trees": 5000, "depth": 2}')};

# Whether all parties have ended what a coordinator began.
sub parties_idle
{
    for my $name (@names)
    {
        $node{$name}->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'dpboost' AND datname = 'postgres'")
            or return 0;
    }
    return 1;
}

# Starts a long training and waits until all parties have charged for it: then they answer rounds.
sub start_long
{
    my ($settings) = @_;
    my @before = split / /, all_charges();
    my $session = start_psql($hub, "\\c hub\n" . ($settings || '') . "SELECT 'pid', pg_backend_pid();\n$long;\n");
    $session->{run}->pump until $session->{out} =~ /pid\|(\d+)/;
    $session->{pid} = $1;
    for my $i (0 .. $#names)
    {
        $node{ $names[$i] }->poll_query_until('postgres', "SELECT count(*) > $before[$i] FROM dpboost_ledger WHERE federation IS NOT NULL") or die 'no charge';
    }
    return $session;
}

sub end_of { my ($session) = @_; $session->{in} .= "\\q\n"; eval { $session->{run}->finish }; return $session->{err} }

sub backend_at { my ($name) = @_; return at($name, "SELECT pid FROM pg_stat_activity WHERE application_name = 'dpboost' AND datname = 'postgres'") }

sub models { return $hub->safe_psql('hub', 'SELECT count(*) FROM dpboost_models') }

subtest 'after the charge: cancel, timeout, crashes' => sub {
    my $models = models();
    my @charged = split / /, all_charges();
    my $again = sub { my ($what) = @_; $_++ for @charged; is(all_charges(), "@charged", "$what: charged once everywhere"); is(models(), $models, "$what: no model"); ok(parties_idle(), "$what: nobody goes on") };

    my $session = start_long();
    $hub->safe_psql('postgres', "SELECT pg_cancel_backend($session->{pid})");
    like(end_of($session), qr/57014/, 'cancel');
    $again->('cancel');

    $session = start_long("SET dpboost.federation_timeout = '6s';\n");
    my $stopped = backend_at('ukb');
    kill 'STOP', $stopped;
    like(end_of($session), qr/08006: got no answer in time from party "ukb"/, 'a party that has stopped');
    kill 'CONT', $stopped;
    $again->('timeout');

    $session = start_long();
    at('ukb', 'SELECT pg_terminate_backend(' . backend_at('ukb') . ')');
    like(end_of($session), qr/57P01|08006/, 'a party that is terminated');
    $again->('terminated party');

    $session = start_long();
    kill 'KILL', backend_at('ukb');
    like(end_of($session), qr/08006|57P0|server closed the connection/, 'a party that crashes');
    $node{ukb}->poll_query_until('postgres', 'SELECT true');
    $again->('crashed party');

    $session = start_long();
    $hub->safe_psql('postgres', "SELECT pg_terminate_backend($session->{pid})");
    end_of($session);
    $again->('terminated coordinator');

    $session = start_long();
    kill 'KILL', $session->{pid};
    end_of($session);
    $hub->poll_query_until('postgres', 'SELECT true');
    $again->('crashed coordinator');
};

subtest 'before the charge: whoever fails, nothing is charged' => sub {
    my $before = all_charges();
    my $locker = start_psql($node{ukb}, "BEGIN; LOCK visits;\n\\echo locked\n");
    $locker->{run}->pump until $locker->{out} =~ /locked/;
    my $session = start_psql($hub, "\\c hub\nSET dpboost.federation_timeout = '5s';\n$train;\n");
    like(end_of($session), qr/08006: got no answer in time from party "ukb"/, 'a party that waits for a lock');
    $session = start_psql($hub, "\\c hub\n$train;\n");
    $session->{run}->pump_nb;
    $node{ukb}->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'dpboost' AND wait_event_type = 'Lock'");
    at('ukb', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dpboost'");
    like(end_of($session), qr/57P01|08006/, 'a party that is terminated');
    finish($locker);
    $node{lmu}->stop('immediate');
    like(error_of($hub, 'hub', $train), qr/08001: could not connect to party "lmu"/, 'a party that is down');
    $node{lmu}->start;
    ok(parties_idle(), 'nobody goes on');
    is(all_charges(), $before, 'nothing was charged');
};

# Until a party's session, or a ledger worker, waits for the lock that somebody holds there.
sub wait_for_lock
{
    my ($there) = @_;
    $there->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE (application_name = 'dpboost' OR backend_type = 'dpboost ledger') AND wait_event_type = 'Lock'")
        or die 'nobody waits';
}

# A step is held up by a lock at party ukb, or in the coordinator's own database; then somebody dies. How many of the parties
# are charged by then, and whether there is a model if it is the party that dies.
my @steps = (
    [ 'describe', 'ukb', 'visits',                         0, 0 ],
    [ 'open',     'ukb', 'dpboost.party_key',              0, 0 ],
    [ 'join',     'hub', 'dpboost.charge_lock',            0, 0 ],
    [ 'charge',   'ukb', 'dpboost.charge_lock',            2, 0 ],
    [ 'delivery', 'hub', 'dpboost.model IN SHARE MODE',    3, 1 ]);
for my $step (@steps)
{
    my ($name, $where, $lock, $paid, $delivered) = @$step;
    subtest "kill -9 of a party or of the coordinator at $name" => sub {
        for my $victim (qw(party coordinator))
        {
            my $versions = $hub->safe_psql('hub', q{SELECT count(*) FROM dpboost.model});
            my @charged = split / /, all_charges();
            my $there = $where eq 'hub' ? $hub : $node{ukb};
            my ($session, $coordinator);
            if ($delivered)  # what holds up the delivery would hold up the coordinator's own row
            {
                $session = start_long();
                $coordinator = $session->{pid};
            }
            my $locker = start_psql($there, ($where eq 'hub' ? "\\c hub\n" : '') . "BEGIN; LOCK $lock;\n\\echo locked\n");
            $locker->{run}->pump until $locker->{out} =~ /locked/;
            if (!$delivered)
            {
                $session = start_psql($hub, "\\c hub\nSELECT 'pid', pg_backend_pid();\n$train;\n");
                $session->{run}->pump until $session->{out} =~ /pid\|(\d+)/;
                $coordinator = $1;
            }
            wait_for_lock($there);
            $charged[$_]++ for 0 .. $paid - 1;
            for (0 .. $paid - 1)
            {
                $node{ $names[$_] }->poll_query_until('postgres', "SELECT count(*) = $charged[$_] FROM dpboost_ledger WHERE federation IS NOT NULL") or die 'no charge';
            }
            my $dies = $victim eq 'party' ? backend_at('ukb') : $coordinator;
            kill 'KILL', $dies;
            select(undef, undef, undef, 0.01) while kill 0, $dies;    # on a busy machine it lives for a while, and its connection too
            finish($locker) if $where eq 'hub' && $victim eq 'party';
            my $error = end_of($session);
            my $told = qr/08006|57P0|server closed|lost the connection/;
            $victim eq 'party' && !$delivered ? like($error, $told, "$victim: the coordinator is told") : unlike($error, $victim eq 'party' ? qr/./ : qr/"parties"/, "$victim: as it should end");
            ($victim eq 'party' ? $node{ukb} : $hub)->poll_query_until('postgres', 'SELECT true');
            ok(parties_idle(), "$victim: nobody goes on") unless $victim eq 'party' && $delivered;
            eval { finish($locker) } unless $where eq 'hub' && $victim eq 'party';
            is(all_charges(), "@charged", "$victim: whom the charge has reached is charged once, the others are not");
            is($hub->safe_psql('hub', q{SELECT count(*) FROM dpboost.model}), $versions + ($victim eq 'party' ? $delivered : 0), "$victim: " . ($victim eq 'party' && $delivered ? 'a model, which needs nobody any more' : 'no model'));
        }
    };
}

subtest 'and then it works again' => sub {
    my @charged = split / /, all_charges();
    like($hub->safe_psql('hub', "BEGIN; $train; ROLLBACK;"), qr/"parties"/, 'a training');
    $_++ for @charged;
    is(all_charges(), "@charged", 'charged once at each party, whatever becomes of the transaction');
    is($hub->safe_psql('hub', "SELECT count(*) FROM dpboost_models WHERE model = 'los' AND version = (SELECT max(version) FROM dpboost_ledger WHERE model = 'los')"), '1', 'and there is its model');
};

done_testing();
