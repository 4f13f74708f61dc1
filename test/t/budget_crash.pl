# Crashes and races: backends killed at every step of a training, a server that stops on the spot, eight sessions that
# fight for one budget, a standby. The ledger holds a charge for every model, says of every charge whether it brought one, and
# never holds more than the limit.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers qw(start_server start_psql);

# fsync stays off: after the crash of a process the kernel still has what was written.
my $node = start_server('budget_crash', "max_worker_processes = 8\nfsync = off\nrestart_after_crash = on\nautovacuum = off\n", q{
    CREATE TABLE visits (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
    INSERT INTO visits SELECT i, i % 100, i FROM generate_series(1, 500) i;
    SELECT dpboost_protect('visits', 100, 1e-6);
    CREATE TABLE prize (LIKE visits INCLUDING ALL);
    CREATE TABLE big (LIKE visits INCLUDING ALL);  -- trains for seconds
    INSERT INTO big SELECT i, i % 100, i % 1000 FROM generate_series(1, 50000) i;
    CREATE FUNCTION train(model text, relation regclass, epsilon float8, trees int) RETURNS text LANGUAGE sql AS
        $$SELECT dpboost_train_on(model, relation, 'cost', epsilon => epsilon,
            options => jsonb_build_object('method', 'sbdt', 'trees', trees, 'subsample', 1)) ->> 'version'$$;
    CREATE FUNCTION attempt(model text) RETURNS boolean LANGUAGE plpgsql AS
        $$BEGIN PERFORM train(model, 'prize', 0.1, 1); RETURN true;
          EXCEPTION WHEN configuration_limit_exceeded THEN RETURN false; END$$;
}, allows_streaming => 1);

sub sql { return $node->safe_psql('postgres', shift) }

# Models without a charge, and charges that are said to be delivered where there is no model, or the other way round.
sub wrong
{
    return sql('SELECT count(*) FROM dpboost.ledger l FULL JOIN dpboost.model m USING (release_id) FULL JOIN dpboost.delivery d USING (release_id)
        WHERE l.model IS NULL OR (m.name IS NULL) <> (d.release_id IS NULL)
           OR NOT EXISTS (SELECT FROM dpboost.charge c WHERE c.release_id = l.release_id)');
}

sub ledger_of
{
    my ($models) = @_;
    return sql("SELECT count(*) || ' charged, ' || count(*) FILTER (WHERE delivered) || ' delivered' FROM dpboost_ledger WHERE model LIKE '$models'");
}

sub start_session
{
    my ($statements) = @_;
    my $session = start_psql($node, "SELECT pg_backend_pid();\n" . $statements);
    $session->{run}->pump until $session->{out} =~ /^(\d+)\n/;
    $session->{pid} = $1;
    return $session;
}

sub wait_until_up
{
    $node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
}

subtest 'kill -9 of the backend at every step: before the charge nothing, after it charged and not delivered' => sub {
    my $locked = q{count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'dpboost ledger' AND wait_event_type = 'Lock'};
    my @steps = (
        # the worker waits, and nothing is drawn
        [ 'charging', 'visits', 2, 'dpboost.charge_lock', $locked, '0 charged, 0 delivered' ],
        # the core draws
        [ 'training', 'big', 10000, '', q{count(*) > 0 FROM dpboost_progress WHERE rounds_done > 0}, '1 charged, 0 delivered' ],
        # a worker starts, checks, writes, commits
        map { [ "after_$_", 'visits', 2, '', $_, qr/^(0 charged, 0|1 charged, [01]) delivered$/ ] } (5, 12, 20, 30));
    for my $step (@steps)
    {
        my ($name, $relation, $trees, $lock, $moment, $outcome) = @$step;
        my $holder = $lock ? start_session("BEGIN; LOCK TABLE $lock;\n") : undef;
        my $victim = start_session("SELECT train('$name', '$relation', 0.1, $trees);\n\\q\n");
        if ($moment =~ /^\d+$/) { select undef, undef, undef, $moment / 1000 }
        else                    { $node->poll_query_until('postgres', "SELECT $moment") or die "$name: does not get there" }
        kill 'KILL', $victim->{pid};
        eval { $_->{run}->finish } for grep { defined } ($victim, $holder);
        wait_until_up();
        ref $outcome ? like(ledger_of($name), $outcome, $name) : is(ledger_of($name), $outcome, $name);
        is(wrong(), '0', "$name: the ledger is right");
    }
};

subtest 'kill -9 of the ledger worker: nothing charged; while it stores the model: charged and not delivered' => sub {
    my $waits = q{FROM pg_stat_activity WHERE backend_type = 'dpboost ledger' AND wait_event_type = 'Lock'};
    my $holder = start_session("BEGIN; LOCK TABLE dpboost.charge_lock;\n");
    my $victim = start_session("SELECT train('unpaid', 'visits', 0.1, 2);\n\\q\n");
    $node->poll_query_until('postgres', "SELECT count(*) > 0 $waits") or die 'no worker';
    kill 'KILL', sql("SELECT pid $waits");
    eval { $_->{run}->finish } for ($victim, $holder);
    wait_until_up();
    is(ledger_of('unpaid'), '0 charged, 0 delivered', 'at the charge');

    $victim = start_session("SELECT train('paid', 'big', 0.1, 10000);\n\\q\n");
    $node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM dpboost_progress WHERE rounds_done > 0') or die 'does not train';
    kill 'STOP', $victim->{pid};
    $holder = start_session("BEGIN; LOCK TABLE dpboost.delivery IN SHARE MODE; SELECT 'locked';\n");
    $holder->{run}->pump until $holder->{out} =~ /locked/;
    kill 'CONT', $victim->{pid};
    $node->poll_query_until('postgres', "SELECT count(*) > 0 $waits") or die 'no worker';
    kill 'KILL', sql("SELECT pid $waits");
    eval { $_->{run}->finish } for ($victim, $holder);
    wait_until_up();
    is(ledger_of('paid'), '1 charged, 0 delivered', 'at the delivery');
    is(wrong(), '0', 'the ledger is right');
};

subtest 'immediate shutdown and crash recovery: what was answered is there' => sub {
    my $version = sql(q{SELECT train('i', 'visits', 0.1, 2)});
    my $victim  = start_session(q{DO $$BEGIN FOR n IN 1..1000 LOOP PERFORM train('j', 'visits', 0.001, 1); END LOOP; END$$;} . "\n\\q\n");
    select undef, undef, undef, 0.3;
    $node->stop('immediate');
    eval { $victim->{run}->finish };
    $node->start;
    is(sql(q{SELECT max(version) FROM dpboost.model WHERE name = 'i'}), $version, 'the model');
    is(sql(q{SELECT max(version) FROM dpboost.ledger WHERE model = 'i'}), $version, 'its charge');
    is(sql(q{SELECT delivered FROM dpboost_ledger WHERE model = 'i'}), 't', 'which says that it was delivered');
    is(wrong(), '0', 'the ledger is right about all others');
};

subtest '8 sessions, 1,000 attempts, one budget: spent to the last training, never beyond' => sub {
    sql(q{SELECT dpboost_protect('prize', 0.75, 1e-6)});
    is(sql(q{SELECT attempt('race_first')}), 't', 'there is room');
    my $share = sql(q{SELECT 1 - part_remaining FROM dpboost_budgets WHERE relation = 'prize'::regclass});
    my $room  = int(1 / $share);
    my $script = PostgreSQL::Test::Utils::tempdir() . '/attempt.sql';
    append_to_file($script, "SELECT attempt('race_:client_id');\n");
    my ($out, $err);
    ok(IPC::Run::run([ 'pgbench', '-n', '-c', 8, '-j', 2, '-t', 125, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ],
            '>', \$out, '2>', \$err), 'no attempt failed otherwise')
      or diag $err;
    my $granted = sql(q{SELECT count(*) FROM dpboost.ledger WHERE model LIKE 'race%'});
    is($granted, $room, "all $room trainings that fit were granted, and no other");
    is(ledger_of('race%'), "$granted charged, $granted delivered", 'each was delivered: the losers have drawn nothing');
    is(sql(q{SELECT count(*) FROM dpboost.model WHERE name LIKE 'race%'}), $granted, 'each has its model');
    is(sql(q{SELECT attempt('race_last')}), 'f', 'there is no room for another');
    is(wrong(), '0', 'the ledger is right');
    is(sql(q{SELECT dpboost_verify() -> 'ok'}), 'true', 'and so are its running totals');
};

subtest 'hot standby: refused, and the ledger is there' => sub {
    $node->backup('base');
    my $standby = PostgreSQL::Test::Cluster->new('budget_standby');
    $standby->init_from_backup($node, 'base', has_streaming => 1);
    $standby->start;
    $node->wait_for_catchup($standby);
    my ($status, $out, $err) = $standby->psql('postgres', "\\set VERBOSITY verbose\nSELECT train('s', 'visits', 0.1, 1);");
    like($err, qr/25006: cannot train during recovery/, 'refused');
    # So does whatever would write, by its own name and with a way out, before a statement of ours fails.
    my @writes = (
        q{dpboost_protect('visits', 1)}, q{dpboost_unprotect('visits')}, q{dpboost_set_budget('visits', 'pg_monitor', 1)},
        q{dpboost_revoke_budget('visits', 'pg_monitor')}, q{dpboost_set_domain('visits', 'age', 0, 1)},
        q{dpboost_set_domain('visits', 'age', '{a}'::text[])}, q{dpboost_drop_domain('visits', 'age')},
        q{dpboost_create_population('p', 1)}, q{dpboost_alter_population('p', 1)}, q{dpboost_drop_population('p')},
        q{dpboost_set_alert('visits', 0.5)}, q{dpboost_drop_alert('visits')}, q{dpboost_share('s', 'pg_monitor')},
        q{dpboost_unshare('s', 'pg_monitor')}, q{dpboost_drop_model('s')}, q{dpboost_deploy('s', 1)},
        q{dpboost_set_owner('s', 'pg_monitor')}, q{dpboost_describe('s', 'words')}, q{dpboost_import('s', '\\x00')},
        q{dpboost_forget_unit('visits', '1')}, q{dpboost_merge_units('visits', '1', '2')}, q{dpboost_create_federation('f', '{}')},
        q{dpboost_drop_federation('f')}, q{dpboost_publish('s')}, q{dpboost_party_key()});
    for my $call (@writes) {
        my ($name) = $call =~ /^(\w+)/;
        (undef, undef, $err) = $standby->psql('postgres', "\\set VERBOSITY verbose\nSELECT $call;");
        like($err, qr/25006: cannot execute \Q$name\E\(\) during recovery\nHINT:  This server is a standby/, "$name on a standby");
    }
    is($standby->safe_psql('postgres', q{SELECT releases FROM dpboost_budgets WHERE relation = 'prize'::regclass}),
        sql(q{SELECT releases FROM dpboost_budgets WHERE relation = 'prize'::regclass}), 'shows what is spent');
    $standby->stop('immediate');
};

$node->stop('immediate');
done_testing();
