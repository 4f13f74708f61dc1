# The worker of a charge waits a moment for the delivery: one start instead of two where that is quick. While it waits it
# holds nothing; it leaves when it is not needed, when its slot is, or when its caller has gone; and whatever becomes of
# it, the model comes by another one. The worker of an evaluation starts while rows are read, and waits for the charge likewise.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers qw(start_server start_psql);
use Time::HiRes qw(sleep);

my $setup = q{
    CREATE TABLE people (age int CHECK (age BETWEEN 0 AND 99), ill boolean);
    INSERT INTO people SELECT i % 100, i % 7 = 0 FROM generate_series(1, 20000) i;
    SELECT dpboost_protect('people', 100, 1e-4);
    CREATE FUNCTION train(model text, trees int) RETURNS text LANGUAGE sql AS
        $$SELECT 'version ' || (dpboost_train_on(model, 'people', 'ill', 0.5, options => jsonb_build_object(
            'method', 'sbdt', 'trees', trees, 'depth', 5, 'subsample', 1, 'leaf_clip', 0.05)) ->> 'version')$$;
};
my $long = 20000;    # trees: trains for seconds
my $idle = "FROM pg_stat_activity WHERE backend_type = 'dpboost ledger' AND state = 'idle'";

my $node = start_server('delivery_worker', "restart_after_crash = on\nmax_worker_processes = 8\nlog_min_messages = debug1\nfsync = off\nautovacuum = off\n", $setup);

sub sql { return $node->safe_psql('postgres', shift) }

sub ledger_of
{
    return sql(qq{SELECT count(*) || ' charged, ' || count(*) FILTER (WHERE delivered) || ' delivered, '
        || (SELECT count(*) FROM dpboost_models WHERE model = '$_[0]') || ' models' FROM dpboost_ledger WHERE model = '$_[0]'});
}

# How many ledger workers were started by what `$run` does.
sub starts
{
    my ($server, $run) = @_;
    my $from = -s $server->logfile;
    $run->();
    my $log = substr(slurp_file($server->logfile), $from);
    return scalar(() = $log =~ /starting background worker process "dpboost ledger"/g);
}

# The same of the quickest of some runs: a machine that stands still for half a second makes the worker leave.
sub fewest_starts
{
    my ($server, $run) = @_;
    my $fewest = starts($server, $run);
    for (1 .. 9) { last if $fewest == 1; my $again = starts($server, $run); $fewest = $again if $again < $fewest; }
    return $fewest;
}

# A training in the background, and what is found and done about its worker at the moment when that one waits, and `$more`.
sub while_waiting
{
    my ($model, $trees, $found, $more) = @_;
    return while_waiting_in("SELECT train('$model', $trees)", $found, $more);
}

sub while_waiting_in
{
    my ($call, $found, $more) = @_;
    $more ||= 'true';
    my $session = start_psql($node, "SELECT 'pid ' || pg_backend_pid();\n");
    $session->{run}->pump until $session->{out} =~ /^pid (\d+)\n/m;
    $session->{pid} = $1;
    my $watcher = start_psql($node, qq{DO \$\$ BEGIN
        WHILE NOT (EXISTS (SELECT $idle) AND $more) LOOP PERFORM pg_sleep(0.001), pg_stat_clear_snapshot(); END LOOP; END \$\$;
        SELECT 'found ' || ($found);\n});
    $watcher->{run}->pump_nb while length $watcher->{in};
    $node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'DO %'") or die;
    $session->{in} .= "$call;\n";
    $session->{run}->pump_nb while length $session->{in};
    $watcher->{run}->pump until $watcher->{out} =~ /^found (.*)\n/m;
    my $answer = $1;
    $watcher->{in} .= "\\q\n";
    $watcher->{run}->finish;
    return ($session, $answer);
}

sub finish { my ($session) = @_; $session->{in} .= "\\q\n"; $session->{run}->finish; return $session->{out} . $session->{err} }

subtest 'one start for charge and delivery' => sub {
    sql(q{SELECT train('warm', 1)});
    is(fewest_starts($node, sub { sql(q{SELECT train('quick', 1)}) }), 1, 'of a quick training');
    is(fewest_starts($node, sub { sql(q{SELECT dpboost_evaluate('quick', 'people', 'ill', 0.1)}) }), 1, 'of an evaluation');
    is(starts($node, sub { sql(qq{SELECT train('slow', $long)}) }), 2, 'two where the training takes longer than the worker waits');
    like(ledger_of('quick'), qr/^(\d+) charged, \1 delivered/, 'delivered');
    is(ledger_of('slow'), '1 charged, 1 delivered, 1 models', 'delivered');
};

subtest 'while it waits it is in no transaction' => sub {
    my ($session, $answer) = while_waiting('locks', $long, "SELECT (SELECT count(*) FROM pg_locks l WHERE l.pid = a.pid AND l.locktype <> 'virtualxid')
        || ' locks, ' || coalesce(a.backend_xmin::text, 'no snapshot') || ', ' || coalesce(a.backend_xid::text, 'no transaction')
        || ', ' || (SELECT count(*) FROM dpboost_ledger WHERE model = 'locks' AND NOT delivered) || ' charged' FROM pg_stat_activity a WHERE a.pid = (SELECT pid $idle)");
    is($answer, '0 locks, no snapshot, no transaction, 1 charged', 'and the charge is committed');
    like(finish($session), qr/^version 1$/m, 'the training goes on');
};

subtest 'ended while it waits: another one delivers' => sub {
    my ($session, $answer) = while_waiting('ended', 4000, "SELECT pg_terminate_backend((SELECT pid $idle), 10000)");
    is($answer, 'true', 'ended');
    like(finish($session), qr/^version 1$/m, 'has its model');
    is(ledger_of('ended'), '1 charged, 1 delivered, 1 models', 'delivered once');
};

subtest 'its caller is canceled: it leaves at once, and nothing is delivered' => sub {
    # the worker is seen to wait before its caller has read that he has paid, and trains
    my ($session, $answer) = while_waiting('canceled', $long, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT train(%'",
        'EXISTS (SELECT FROM dpboost_progress WHERE rounds_done > 0)');
    like(finish($session), qr/57014.*CONTEXT:  training charged as release \d+/s, 'canceled');
    $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dpboost ledger'") or die;
    is(ledger_of('canceled'), '1 charged, 0 delivered, 0 models', 'charged, not delivered');
};

subtest 'its caller is killed: charged, not delivered, and the server comes back' => sub {
    my ($session, $answer) = while_waiting('killed', $long, "SELECT count(*) $idle");
    kill 'KILL', $session->{pid};
    eval { $session->{run}->finish };
    $node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
    is(ledger_of('killed'), '1 charged, 0 delivered, 0 models', 'charged, not delivered');
};
# ---- one that stands by for a charge ----

# An evaluation whose rows cannot be read yet, and what is found and done while its worker stands by.
sub while_reading
{
    my ($found) = @_;
    my $holder = start_psql($node, "BEGIN; LOCK TABLE young IN ACCESS EXCLUSIVE MODE; SELECT 'held';\n");
    $holder->{run}->pump until $holder->{out} =~ /held/;
    my ($session, $answer) = while_waiting_in("SELECT 'evaluated ' || (dpboost_evaluate('quick', 'everyone', 'ill', 0.1) ->> 'epsilon')", $found);
    return ($holder, $session, $answer);
}

sub let_read { my ($holder, $session) = @_; $holder->{in} .= "ROLLBACK;\n\\q\n"; $holder->{run}->finish; return finish($session) }

sub evaluations { return sql(q{SELECT count(*) FROM dpboost_ledger WHERE relations = ARRAY['public.everyone']}) }

sql(q{CREATE TABLE everyone (LIKE people INCLUDING CONSTRAINTS); CREATE TABLE young () INHERITS (everyone);
      INSERT INTO young SELECT * FROM people LIMIT 1000; SELECT dpboost_protect('everyone', 100, 1e-4), dpboost_protect('young', 100, 1e-4);});

subtest 'it stands by while rows are read, in no transaction, and charges' => sub {
    my ($holder, $session, $answer) = while_reading("SELECT (SELECT count(*) FROM pg_locks l WHERE l.pid = a.pid AND l.locktype <> 'virtualxid')
        || ' locks, ' || coalesce(a.backend_xmin::text, 'no snapshot') || ', ' || coalesce(a.backend_xid::text, 'no transaction')
        || ', ' || a.query FROM pg_stat_activity a WHERE a.pid = (SELECT pid $idle)");
    is($answer, '0 locks, no snapshot, no transaction, waiting for a charge', 'it holds nothing');
    is(evaluations(), '0', 'and nothing is charged');
    like(let_read($holder, $session), qr/^evaluated 0\.1$/m, 'the evaluation goes on');
    is(evaluations(), '1', 'charged once');
};

subtest 'ended or gone while rows are read: another one charges' => sub {
    my ($holder, $session, $answer) = while_reading("SELECT pg_terminate_backend((SELECT pid $idle), 10000)");
    is($answer, 'true', 'ended');
    like(let_read($holder, $session), qr/^evaluated 0\.1$/m, 'has its figures');
    ($holder, $session) = while_reading("SELECT count(*) $idle");
    $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dpboost ledger'") or die;
    is(evaluations(), '2', 'it leaves by itself, and has charged nothing');
    like(let_read($holder, $session), qr/^evaluated 0\.1$/m, 'has its figures as well');
    is(evaluations(), '3', 'charged once each');
};

subtest 'canceled while rows are read: it leaves, and nothing is charged' => sub {
    my ($holder, $session) = while_reading("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT ''evaluated %'");
    $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dpboost ledger'") or die;
    like(let_read($holder, $session), qr/57014: (?!.*charged)/s, 'canceled');
    is(evaluations(), '3', 'not charged');
};

subtest 'slots are scarce: it does not wait' => sub {
    my $scarce = start_server('scarce', "max_worker_processes = 2\nlog_min_messages = debug1\nfsync = off\nautovacuum = off\n", $setup);
    $scarce->safe_psql('postgres', q{SELECT train('warm', 1)});
    is(starts($scarce, sub { $scarce->safe_psql('postgres', q{SELECT train('some', 100)}) }), 2, 'two starts of what takes some hundredths of a second');
    is(fewest_starts($node, sub { sql(q{SELECT train('some', 100)}) }), 1, 'and one where there are enough');
    $scarce->stop;
};

$node->stop;

done_testing();
