# The charge of a training against everything a caller can do with his transaction: roll it back, keep locks, open it
# read-only, create the extension in it, take all worker slots, cancel it before the charge. (After the charge: delivery.pl.)
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;

# One worker slot is the logical replication launcher's, which leaves one for the ledger.
my $node = start_server('budget_transactions', "max_worker_processes = 2\nmax_prepared_transactions = 2\nfsync = off\n", q{
    CREATE TABLE visits (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
    INSERT INTO visits SELECT i, i % 100, i FROM generate_series(1, 500) i;
    SELECT dpboost_protect('visits', 100, 1e-6);
    CREATE FUNCTION train(model text) RETURNS text LANGUAGE sql AS
        $$SELECT dpboost_train_on(model, 'visits', 'cost', epsilon => 0.1,
                                  options => '{"method": "sbdt", "trees": 2, "subsample": 1}') ->> 'version'$$;
});

sub sql { return $node->safe_psql('postgres', shift) }

sub state_of_ledger
{
    return sql(q{SELECT (SELECT count(*) FROM dpboost.ledger) || ' charges, ' || (SELECT count(*) FROM dpboost.model) || ' models'});
}

# Runs statements of which one may fail; returns its error, with SQLSTATE.
sub error_of
{
    my ($statements, @options) = @_;
    my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n" . $statements, @options);
    return $err;
}

sub wait_for_worker
{
    my ($activity) = @_;
    $node->poll_query_until('postgres',
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'dpboost ledger' AND $activity")
      or die 'the ledger worker does not come';
}

# Takes the lock that charges need, and keeps it until release.
sub hold_ledger
{
    my $holder = start_session($node, "BEGIN; LOCK TABLE dpboost.charge_lock; SELECT 'locked';\n");
    $holder->{run}->pump until $holder->{out} =~ /locked/;
    return $holder;
}

sub release_ledger
{
    my ($holder) = @_;
    $holder->{in} .= "ROLLBACK;\n\\q\n";
    $holder->{run}->finish;
}

subtest 'ROLLBACK after training: charge and model stay' => sub {
    sql(q{BEGIN; SELECT train('m'); ROLLBACK;});
    is(state_of_ledger(), '1 charges, 1 models');
};

subtest 'ROLLBACK TO SAVEPOINT: charge and model stay' => sub {
    sql(q{BEGIN; SAVEPOINT s; SELECT train('m'); ROLLBACK TO s; COMMIT;});
    is(state_of_ledger(), '2 charges, 2 models');
};

subtest 'a failed PL/pgSQL block: charge and model stay' => sub {
    sql(q{DO $$BEGIN PERFORM train('m'); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN END$$;});
    is(state_of_ledger(), '3 charges, 3 models');
};

subtest 'two-phase commit: charge and model stay' => sub {
    sql(q{BEGIN; SELECT train('m'); PREPARE TRANSACTION 'p';});
    is(state_of_ledger(), '4 charges, 4 models', 'prepared');
    sql(q{ROLLBACK PREPARED 'p'});
    is(state_of_ledger(), '4 charges, 4 models', 'rolled back');
};

subtest 'a statement that fails after training: charge and model stay' => sub {
    like(error_of(q{SELECT train('m'), 1 / (random() * 0)::int;}), qr/division by zero/);
    like(state_of_ledger(), qr/^([45]) charges, \1 models$/);
};

my $before = state_of_ledger();

# Lets the worker that waits for the ledger, if there is one still, go on to its end.
sub nothing_was_charged
{
    my ($holder) = @_;
    release_ledger($holder);
    $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dpboost ledger'");
    is(state_of_ledger(), $before);
}

subtest 'read-only transaction: refused' => sub {
    like(error_of(q{BEGIN READ ONLY; SELECT train('m');}), qr/25006: cannot train in a read-only transaction/);
    like(error_of(q{SET default_transaction_read_only = on; SELECT train('m');}), qr/25006/);
    is(state_of_ledger(), $before);
};

subtest 'the worker does not take over the read-only default, isolation or search_path of the database' => sub {
    sql(q{ALTER DATABASE postgres SET default_transaction_read_only = on});
    sql(q{BEGIN READ WRITE; ALTER DATABASE postgres SET default_transaction_isolation = 'serializable';
          ALTER DATABASE postgres SET search_path = 'nowhere';
          ALTER DATABASE postgres SET synchronous_commit = off; COMMIT;});
    like(sql(q{BEGIN READ WRITE; SET search_path = public; SELECT train('m');}), qr/^\d+$/m);
    sql(q{BEGIN READ WRITE; ALTER DATABASE postgres RESET ALL; COMMIT;});
    isnt(state_of_ledger(), $before);
    $before = state_of_ledger();
};

subtest 'extension created in the same transaction: refused' => sub {
    sql('CREATE DATABASE fresh');
    my ($status, $out, $err) = $node->psql('fresh', q{
        \set VERBOSITY verbose
        BEGIN;
        CREATE EXTENSION dpboost;
        CREATE TABLE t (x float8 CHECK (x BETWEEN 0 AND 1), y float8 CHECK (y BETWEEN 0 AND 1));
        SELECT dpboost_train_on('m', 't', 'y', epsilon => 1, options => '{"method": "sbdt", "trees": 1}');});
    like($err, qr/55000: cannot train in the transaction that creates the extension/);
};

subtest 'table created, protected and budgeted in the same transaction: charged under its name' => sub {
    sql(q{BEGIN;
          CREATE TABLE young (x float8 CHECK (x BETWEEN 0 AND 1), y float8 CHECK (y BETWEEN 0 AND 1));
          SELECT dpboost_train_on('young', 'young', 'y', epsilon => 0.9, options => '{"method": "sbdt", "trees": 1, "subsample": 1}');
          COMMIT;
          SELECT dpboost_protect('young', 1, 1e-6);});
    is(sql(q{SELECT releases FROM dpboost_budgets WHERE relation = 'young'::regclass}), '1', 'counted');
    like(error_of(q{BEGIN; SELECT dpboost_protect('young', 0.5, 1e-6);
          SELECT dpboost_train_on('young', 'young', 'y', epsilon => 0.1, options => '{"method": "sbdt", "trees": 1, "subsample": 1}');}),
        qr/53400: privacy budget of table "young" (is exhausted|does not allow)/, 'an uncommitted limit holds for who set it');
    $before = state_of_ledger();
};

subtest 'ledger locked by the caller: refused after a while, no deadlock' => sub {
    for my $table ('charge_lock', 'ledger', 'model', 'delivery', 'model_grant')
    {
        like(error_of(qq{SET dpboost.ledger_timeout = 2500; BEGIN; LOCK TABLE dpboost.$table IN ACCESS EXCLUSIVE MODE; SELECT train('m');}),
            qr/55P03: could not lock the privacy ledger.*Nothing was charged/s, "dpboost.$table");
    }
    is(state_of_ledger(), $before);
};

subtest 'all worker slots taken: refused after a while, granted when one is free' => sub {
    my $holder = hold_ledger();
    my $other  = start_session($node, "SELECT train('m');\n\\q\n");
    wait_for_worker("wait_event_type = 'Lock'");
    like(error_of(q{SET dpboost.ledger_timeout = 500; SELECT train('m');}),
        qr/53000: could not start the privacy ledger's background worker.*Nothing was charged/s, 'no slot');
    my $patient = start_session($node, "SELECT train('m');\n\\q\n");
    release_ledger($holder);
    $_->{run}->finish for ($other, $patient);
    is($other->{err} . $patient->{err}, '', 'both were charged in the end');
    isnt(state_of_ledger(), $before);
    $before = state_of_ledger();
};

subtest 'canceled while it waits for the ledger: nothing charged, nothing released' => sub {
    my $holder = hold_ledger();
    my $victim = start_session($node, "SET statement_timeout = 500; SELECT train('m');\n\\q\n");
    $victim->{run}->finish;
    like($victim->{err}, qr/57014: canceling statement due to statement timeout/);
    nothing_was_charged($holder);
};

subtest 'terminated while it waits for the ledger: nothing charged, nothing released' => sub {
    my $holder = hold_ledger();
    my $victim = start_session($node, "SELECT train('m');\n\\q\n");
    wait_for_worker("wait_event_type = 'Lock'");
    sql(q{SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE query LIKE 'SELECT train%'});
    $victim->{run}->finish;
    like($victim->{err}, qr/57P01/);
    nothing_was_charged($holder);
};

subtest 'the worker is terminated: refused, nothing charged' => sub {
    my $holder = hold_ledger();
    my $victim = start_session($node, "SELECT train('m');\n\\q\n");
    wait_for_worker("wait_event_type = 'Lock'");
    sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dpboost ledger'});
    $victim->{run}->finish;
    like($victim->{err}, qr/could not charge the privacy budget.*has ended. Nothing was charged/s);
    release_ledger($holder);
    is(state_of_ledger(), $before);
};

subtest 'the owner revokes the budget while the training waits: refused' => sub {
    sql(q{CREATE ROLE ana; SELECT dpboost_set_budget('visits', 'ana', 50, 1e-6);});
    my $holder = hold_ledger();
    my $victim = start_session($node, "SET ROLE ana; SELECT train('a');\n\\q\n");
    wait_for_worker("wait_event_type = 'Lock'");
    sql(q{SELECT dpboost_revoke_budget('visits', 'ana')});
    release_ledger($holder);
    $victim->{run}->finish;
    like($victim->{err}, qr/42501: role "ana" has no privacy budget on "visits" any more/);
    is(state_of_ledger(), $before);
};

subtest 'the owner declares a privacy unit while the training waits: refused' => sub {
    my $holder = hold_ledger();
    my $victim = start_session($node, "SELECT train('m');\n\\q\n");
    wait_for_worker("wait_event_type = 'Lock'");
    sql(q{SELECT dpboost_protect('visits', 100, 1e-6, 'id', accept_earlier => true)});
    release_ledger($holder);
    $victim->{run}->finish;
    like($victim->{err}, qr/55000: table "visits" protects all rows of one "id" together/);
    is(state_of_ledger(), $before);
};

is(sql('SELECT count(*) FROM dpboost.ledger l FULL JOIN dpboost.model m USING (release_id) FULL JOIN dpboost.delivery d USING (release_id)
        WHERE l.model IS NULL OR m.name IS NULL OR d.release_id IS NULL'),
    '0', 'every model has its charge, and every charge was delivered');
$node->stop;
done_testing();
