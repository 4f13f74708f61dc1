# From the charge to the model. Nothing is drawn before the charge is committed; a training that is paid waits for worker
# slots and locks as long as its caller does; and whatever stops it leaves a charge that says it has brought nothing.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers qw(start_server start_psql);
use Time::HiRes qw(sleep);

# One worker slot is the logical replication launcher's, which leaves one for the ledger.
my $node = start_server('delivery', "max_worker_processes = 2\nfsync = off\nrestart_after_crash = off\n", q{
    CREATE ROLE ana LOGIN;
    CREATE ROLE bea LOGIN;
    CREATE ROLE crew;
    GRANT crew TO ana;
    CREATE TABLE people (age int CHECK (age BETWEEN 0 AND 99), ill boolean);
    INSERT INTO people SELECT i % 100, i % 7 = 0 FROM generate_series(1, 20000) i;
    SELECT dpboost_protect('people', 100, 1e-4), dpboost_set_budget('people', 'ana', 50, 1e-4),
           dpboost_set_budget('people', 'bea', 50, 1e-4);
    CREATE FUNCTION train(model text, trees int) RETURNS text LANGUAGE sql AS
        $$SELECT 'version ' || (dpboost_train_on(model, 'people', 'ill', 0.5, options => jsonb_build_object(
            'method', 'sbdt', 'trees', trees, 'depth', 5, 'subsample', 1, 'leaf_clip', 0.05)) ->> 'version')$$;
}, allows_streaming => 1);
my $long = 4000;    # trees: trains for about a second
my $patience = 2;   # seconds of ledger_timeout: enough for a charge on a busy machine
my $stopped = 0;    # the postmaster, while it stands still
END { kill 'CONT', $stopped if $stopped }
my $worker = "FROM pg_stat_activity WHERE backend_type = 'dpboost ledger'";

sub sql { return $node->safe_psql('postgres', shift) }

sub wait_until
{
    my ($condition) = @_;
    $node->poll_query_until('postgres', "SELECT $condition") or die "does not happen: $condition";
}

# What the ledger says about a model, by its name with or without its owner.
sub ledger_of
{
    my $model = $_[0] =~ s/^crew\.//r;
    return sql(qq{SELECT count(*) || ' charged, ' || count(*) FILTER (WHERE delivered) || ' delivered, '
        || (SELECT count(*) FROM dpboost_models WHERE model = '$model') || ' models' FROM dpboost_ledger WHERE model = '$model'});
}

# A session in the background that has said its process id, and then gets statements.
sub start_session
{
    my ($role, $statements) = @_;
    my $session = start_psql($node, "SELECT 'pid ' || pg_backend_pid();\n", role => $role);
    $session->{run}->pump until $session->{out} =~ /^pid (\d+)\n/m;
    $session->{pid} = $1;
    say_to($session, $statements);
    return $session;
}

sub say_to
{
    my ($session, $statements) = @_;
    $session->{in} .= $statements;
    $session->{run}->pump_nb while length $session->{in};
}

# All that a session has said when it is over.
sub finish { my ($session) = @_; say_to($session, "\\q\n"); $session->{run}->finish; return $session->{out} . $session->{err} }

# A training that has paid and draws, and stands still until it is resumed: progress shows what is paid for only.
sub paused_training
{
    my ($model, $setup) = @_;
    my $session = start_session('ana', ($setup || '') . "SELECT train('$model', $long);\n");
    wait_until("count(*) = 1 FROM dpboost_progress WHERE pid = $session->{pid} AND rounds_done > 0");
    kill 'STOP', $session->{pid};
    is(ledger_of($model), '1 charged, 0 delivered, 0 models', 'paid, and not yet delivered');
    return $session;
}

sub resume { my ($session) = @_; kill 'CONT', $session->{pid} }

# Keeps a lock until it is released.
sub hold
{
    my ($lock) = @_;
    my $holder = start_session('postgres', "BEGIN; LOCK TABLE $lock; SELECT 'locked';\n");
    $holder->{run}->pump until $holder->{out} =~ /locked/;
    return $holder;
}

sub release { my ($holder) = @_; say_to($holder, "ROLLBACK;\n"); finish($holder) }

subtest 'the charge comes first: until it is committed nothing runs, and a cancel is free' => sub {
    my $holder  = hold('dpboost.charge_lock');
    my $session = start_session('ana', "SELECT train('first', $long);\n");
    wait_until("count(*) = 1 $worker AND wait_event_type = 'Lock'");
    is(sql('SELECT count(*) FROM dpboost_progress'), '0', 'nothing is drawn');
    sql("SELECT pg_cancel_backend($session->{pid})");
    like(finish($session), qr/ERROR:  57014: canceling statement due to user request(?!.*CONTEXT)/s, 'canceled');
    release($holder);
    wait_until("count(*) = 0 $worker");
    is(ledger_of('first'), '0 charged, 0 delivered, 0 models', 'nothing charged');
};

subtest 'all worker slots taken after the charge: it waits longer than ledger_timeout, then delivers' => sub {
    my $paid   = paused_training('slot', "SET dpboost.ledger_timeout = '$patience s';\n");
    my $holder = hold('dpboost.charge_lock');
    my $other  = start_session('bea', "SELECT train('other', 1);\n");
    wait_until("count(*) = 1 $worker AND wait_event_type = 'Lock'");
    resume($paid);
    wait_until("wait_event = 'Extension' FROM pg_stat_activity WHERE pid = $paid->{pid}");
    sleep($patience + 0.5);
    is(sql("SELECT state FROM pg_stat_activity WHERE pid = $paid->{pid}"), 'active', 'waits for a slot');
    is(ledger_of('slot'), '1 charged, 0 delivered, 0 models', 'not yet delivered');
    release($holder);
    like(finish($_), qr/^version 1$/m, 'has its model') for ($other, $paid);
    is(ledger_of('slot'), '1 charged, 1 delivered, 1 models', 'delivered');
};

subtest 'the tables locked after the charge: one worker after the other tries, then it is delivered' => sub {
    my $paid   = paused_training('lock', "SET dpboost.ledger_timeout = '$patience s';\n");
    my $holder = hold('dpboost.delivery IN SHARE MODE');
    resume($paid);
    wait_until("count(*) = 1 $worker AND wait_event_type = 'Lock'");
    my $first = sql("SELECT pid $worker");
    wait_until("count(*) = 1 $worker AND wait_event_type = 'Lock' AND pid <> $first");
    release($holder);
    like(finish($paid), qr/^version 1$/m, 'has its model');
    is(ledger_of('lock'), '1 charged, 1 delivered, 1 models', 'delivered');
};

subtest 'the worker of a delivery is ended: another one comes, but not for ever' => sub {
    my %ends = ('ended once' => 1, 'ended always' => 5);
    for my $model (sort keys %ends)
    {
        my $paid   = paused_training($model);
        my $holder = hold('dpboost.delivery IN SHARE MODE');
        resume($paid);
        my $last = 0;
        for (1 .. $ends{$model})
        {
            wait_until("count(*) = 1 $worker AND wait_event_type = 'Lock' AND pid <> $last");
            $last = sql("SELECT pid $worker");
            sql("SELECT pg_terminate_backend($last)");
        }
        my $delivers = $ends{$model} == 1;
        wait_until("count(*) = 1 $worker AND wait_event_type = 'Lock' AND pid <> $last") if $delivers;
        release($holder) if $delivers;
        like(finish($paid),
            $delivers ? qr/^version 1$/m : qr/ERROR:  08006: could not store the model.*CONTEXT:  training charged as release \d+/s, $model);
        release($holder) unless $delivers;
        is(ledger_of($model), $delivers ? '1 charged, 1 delivered, 1 models' : '1 charged, 0 delivered, 0 models', 'the ledger');
    }
};

subtest 'canceled or terminated while it waits to deliver: charged, and no model comes later' => sub {
    my %stops = (
        cancel    => [ 'pg_cancel_backend(%d)',           qr/57014: canceling statement due to user request/ ],
        terminate => [ 'pg_terminate_backend(%d, 10000)', qr/57P01: terminating connection/ ]);
    for my $how (sort keys %stops)
    {
        my ($call, $error) = @{ $stops{$how} };
        my $paid   = paused_training($how);
        my $holder = hold('dpboost.delivery IN SHARE MODE');
        resume($paid);
        wait_until("count(*) = 1 $worker AND wait_event_type = 'Lock'");
        sql('SELECT ' . sprintf($call, $paid->{pid}));
        $paid->{run}->pump until $paid->{err} =~ /^CONTEXT.*\n/m;
        like($paid->{err}, qr/$error.*CONTEXT:  training charged as release \d+/s, "$how: says that it is charged");
        release($holder);
        wait_until("count(*) = 0 $worker");
        is(ledger_of($how), '1 charged, 0 delivered, 0 models', "$how: charged, not delivered");
        is($node->safe_psql('postgres', "SELECT train('$how', 1)", extra_params => [ '-U', 'ana' ]),
            'version 2', "$how: its version is not used again");
    }
};

subtest 'what the delivery waits for waits for the training: found, charged, not delivered' => sub {
    my $paid = paused_training('circle', "BEGIN; SELECT count(*) FROM dpboost_models;\n");
    my $ddl  = start_session('postgres', "BEGIN; LOCK TABLE dpboost.model IN ACCESS EXCLUSIVE MODE; SELECT 'locked';\n");
    wait_until("wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $ddl->{pid}");
    resume($paid);
    like(finish($paid), qr/ERROR:  40P01: could not store the model.*CONTEXT:  training charged as release \d+/s, 'refused');
    $ddl->{run}->pump until $ddl->{out} =~ /locked/;
    release($ddl);
    is(ledger_of('circle'), '1 charged, 0 delivered, 0 models', 'the ledger');
};

subtest 'what was checked at the charge binds: budget, limit and membership taken away meanwhile' => sub {
    my $paid = paused_training('crew.bound');
    sql(q{SELECT dpboost_revoke_budget('people', 'ana'); SELECT dpboost_protect('people', 0.01, 1e-4); REVOKE crew FROM ana;});
    resume($paid);
    like(finish($paid), qr/^version 1$/m, 'has its model');
    is(ledger_of('crew.bound'), '1 charged, 1 delivered, 1 models', 'delivered');
    is($node->safe_psql('postgres', q{SELECT count(*) FROM dpboost_models WHERE model = 'bound'}, extra_params => [ '-U', 'ana' ]), '0', 'to its owner');
    sql(q{SELECT dpboost_protect('people', 100, 1e-4), dpboost_set_budget('people', 'ana', 50, 1e-4)});
};

# A standby that never answers keeps a commit from ending: it is there already, but the worker cannot say so.
sub standby
{
    my ($names) = @_;
    sql("SET synchronous_commit = off; ALTER SYSTEM SET synchronous_standby_names = '$names'");
    sql('SELECT pg_reload_conf()');
    wait_until("setting = '$names' FROM pg_settings WHERE name = 'synchronous_standby_names'");
}

subtest 'the answer to the charge is uncertain: nothing is drawn' => sub {
    standby('nobody');
    my $late = start_session('ana', "SET dpboost.ledger_timeout = '4s'; SELECT train('late', $long);\n");
    like(finish($late), qr/ERROR:  08007: could not confirm the charge.*did not answer in time. The training may be charged; nothing was released/s, 'late');
    sql("SELECT pg_terminate_backend(pid, 10000) $worker");
    my $dead = start_session('ana', "SELECT train('dead', $long);\n");
    wait_until("count(*) = 1 $worker AND wait_event = 'SyncRep'");
    sql("SELECT pg_cancel_backend(pid) $worker");
    is(sql("SELECT wait_event $worker"), 'SyncRep', 'a cancel of the worker does not pass for an answer');
    sql("SELECT pg_terminate_backend(pid) $worker");
    like(finish($dead), qr/ERROR:  08007: could not confirm the charge.*has ended. The training may be charged; nothing was released/s, 'ended');
    standby('');
    is(ledger_of($_), '1 charged, 0 delivered, 0 models', "$_: it is charged") for ('late', 'dead');
};

subtest 'the answer to the delivery is uncertain: another worker finds it done' => sub {
    my $paid = paused_training('sync');
    standby('nobody');
    resume($paid);
    wait_until("count(*) = 1 $worker AND wait_event = 'SyncRep'");
    sql("SELECT pg_terminate_backend(pid) $worker");
    like(finish($paid), qr/^version 1$/m, 'has its model');
    standby('');
    is(ledger_of('sync'), '1 charged, 1 delivered, 1 models', 'delivered once');
};

subtest 'the caller has gone before its worker came: nothing charged, and the slot is free again' => sub {
    my ($watcher, $victim) = map { start_session('postgres', '') } 1 .. 2;
    my $postmaster = $node->{_pid};
    $stopped = $postmaster;
    kill 'STOP', $postmaster;
    say_to($victim, "SELECT train('gone', 1);\n");
    my $now = '';
    until ($now eq 'Extension')
    {
        say_to($watcher, "SELECT 'now ' || coalesce(wait_event, '-') FROM pg_stat_activity WHERE pid = $victim->{pid};\n");
        $watcher->{run}->pump until $watcher->{out} =~ s/^now (.*)\n//m;
        $now = $1;
    }
    say_to($watcher, "SELECT pg_cancel_backend($victim->{pid});\n");
    $victim->{run}->pump until $victim->{err} =~ /57014/;
    kill 'CONT', $postmaster;
    finish($_) for ($watcher, $victim);
    is(sql("SELECT train('gone', 1)"), 'version 1', 'the next one gets the slot, and the first version');
    is(ledger_of('gone'), '1 charged, 1 delivered, 1 models', 'only that is charged');
};

is(sql('SELECT count(*) FROM dpboost.model m LEFT JOIN dpboost.ledger l USING (release_id) LEFT JOIN dpboost.charge c USING (release_id)
        LEFT JOIN dpboost.delivery d USING (release_id) WHERE l.release_id IS NULL OR c.release_id IS NULL OR d.release_id IS NULL'),
    '0', 'no model without its charge');
$node->stop;
done_testing();
