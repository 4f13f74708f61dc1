# Servers that train together train again: coordinator and party keep their ledger workers for half a second after a training, so
# that the next one of the same session starts none. Kept, a worker holds nothing; each release is charged once and to the
# role that asked for it; whatever becomes of the worker, the next training has its charge; and it leaves with its session.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;

my $node = start_server('kept_worker', "max_worker_processes = 16\nlog_min_messages = debug1\nlog_statement = all\nlog_parameter_max_length = -1\nfsync = off\nautovacuum = off\n", q{
    CREATE TABLE visits (age int CHECK (age BETWEEN 0 AND 99), los float8 CHECK (los BETWEEN 0 AND 50));
    INSERT INTO visits SELECT i % 100, i % 100 / 2.0 FROM generate_series(1, 2000) i;
    SELECT dpboost_protect('visits', 10, 1e-4);
    CREATE DATABASE hub;
});

# One party, which is reached from another database of the same server.
my $key = $node->safe_psql('postgres', 'SELECT dpboost_party_key()');
$node->safe_psql('postgres', qq{SELECT dpboost_create_federation('f', '{"one": "$key"}', relation => 'visits', myself => 'one', max_colluding => 0)});
my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('hub', qq{
    CREATE EXTENSION dpboost; CREATE EXTENSION postgres_fdw; CREATE ROLE ana;
    CREATE SERVER one FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
    GRANT USAGE ON FOREIGN SERVER one TO ana;
    CREATE USER MAPPING FOR PUBLIC SERVER one OPTIONS (user 'postgres', password_required 'false');
    SELECT dpboost_create_federation('f', '{"one": "$key"}', servers => '{"one": "one"}', max_colluding => 0);});

sub train { my ($epsilon) = @_; return "SELECT dpboost_train_across('m', 'f', 'los', epsilon => " . ($epsilon || '0.1') . ") ->> 'version';\n" }
sub hub { return $node->safe_psql('hub', shift) }

sub ledgers
{
    return join ', ', map { $node->safe_psql($_, 'SELECT count(*) FROM dpboost_ledger') } qw(postgres hub);
}

# How many workers were started by what is done in one session at the hub.
sub starts
{
    my ($sql) = @_;
    my $from = -s $node->logfile;
    hub($sql);
    my $log = substr(slurp_file($node->logfile), $from);
    return scalar(() = $log =~ /starting background worker process "dpboost ledger"/g);
}

# Runs until a machine that stands still for half a second has not spoilt it.
sub until_seen
{
    my ($wanted, $run) = @_;
    my $seen;
    for (1 .. 10) { $seen = $run->(); last if $seen eq $wanted; }
    return $seen;
}

my $workers = "FROM pg_stat_activity WHERE backend_type = 'dpboost ledger'";

subtest 'trainings in a row' => sub {
    is(until_seen(2, sub { starts(train() x 5) }), 2, 'one start at the party and one at the coordinator, for five trainings');
    my ($party, $hub) = split /, /, ledgers();
    is($party % 5, 0, 'each charged');
    is($hub, $party, 'once, and at the coordinator');
    is(hub('SELECT count(*) FILTER (WHERE NOT delivered) FROM dpboost_ledger'), '0', 'and delivered');
};

subtest 'an estimate' => sub {
    is(starts("SELECT dpboost_estimate_across('f', 'los', epsilon => 0.1);\n"), 0, 'starts none');
};

subtest 'while it is kept it is in no transaction' => sub {
    my $look = "SELECT string_agg(a.datname || ' ' || (SELECT count(*) FROM pg_locks l WHERE l.pid = a.pid AND l.locktype <> 'virtualxid') || ' locks, '
        || coalesce(a.backend_xmin::text, 'no snapshot') || ', ' || coalesce(a.backend_xid::text, 'no transaction') || ', ' || query, '; ' ORDER BY datname)
        FROM pg_stat_activity a WHERE backend_type = 'dpboost ledger'";
    my $idle = '0 locks, no snapshot, no transaction, waiting for a charge';
    is(until_seen("hub $idle; postgres $idle", sub { hub(train() . "SELECT pg_sleep(0.05); $look") =~ s/^.*\n//sr }),
        "hub $idle; postgres $idle", 'at the coordinator and at the party');
};

subtest 'the session ends' => sub {
    hub(train());
    ok($node->poll_query_until('postgres', "SELECT count(*) = 0 $workers"), 'they leave');
};

subtest 'another role in the same session' => sub {
    hub("SET ROLE ana;\n" . train() . "RESET ROLE;\n" . train());
    is(hub("SELECT string_agg(role, ' ') FROM (SELECT role FROM dpboost_ledger ORDER BY release_id DESC LIMIT 2) AS r"), 'postgres ana', 'is charged as itself');
};

subtest 'a charge that is refused' => sub {
    my ($party) = split /, /, ledgers();
    my ($status, $out, $err) = $node->psql('hub', train() . "\\set ON_ERROR_STOP 0\n" . train(50) . train(), on_error_stop => 0);
    like($err, qr/privacy budget of table "visits" does not allow/, 'at the party');
    is((split /, /, ledgers())[0], $party + 2, 'leaves its session able to charge');
};

subtest 'the worker is ended' => sub {
    my ($party, $hub) = split /, /, ledgers();
    my $end = "SELECT count(pg_terminate_backend(pid, 60000)) $workers;\n";
    hub(train() . $end . "SELECT pg_sleep(0.2);\n" . train());
    is(ledgers(), join(', ', $party + 2, $hub + 2), 'another one charges, once');
};

# A database may be coordinator of one federation and party of another, also in one transaction: the worker that was kept for the
# party's charge is given up meanwhile for another one.
subtest 'a party that coordinates between its steps' => sub {
    my $own = hub(q{CREATE TABLE stays (age int CHECK (age BETWEEN 0 AND 99), los float8 CHECK (los BETWEEN 0 AND 50));
        INSERT INTO stays SELECT i % 100, i % 100 / 2.0 FROM generate_series(1, 2000) i;
        SELECT dpboost_party_key();});
    hub(qq{SELECT dpboost_protect('stays', 10, 1e-4), dpboost_create_federation('g', '{"two": "$own"}', relation => 'stays', myself => 'two', max_colluding => 0)});
    $node->safe_psql('postgres', qq{
        CREATE EXTENSION postgres_fdw;
        CREATE SERVER two FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'hub');
        CREATE USER MAPPING FOR PUBLIC SERVER two OPTIONS (user 'postgres', password_required 'false');
        SELECT dpboost_create_federation('g', '{"two": "$own"}', servers => '{"two": "two"}', max_colluding => 0);
        SELECT dpboost_train_across('m', 'g', 'los', epsilon => 0.1);});
    my ($call, $plan) = slurp_file($node->logfile) =~ /dpboost_party\.open[^\n]*\n[^\n]*[Pp]arameters: \$1 = 'g', \$2 = '(\\x[0-9a-f]+)', \$3 = '(\\x[0-9a-f]+)'/;
    my $charged = sub { hub(q{SELECT count(*) FROM dpboost_ledger WHERE relations = ARRAY['public.stays']}) };
    my $before = $charged->();
    for my $wait ('0', '1.5')    # the kept worker is there, or has left
    {
        my ($status, $out, $err) = $node->psql('hub', qq{BEGIN ISOLATION LEVEL REPEATABLE READ;
            SELECT dpboost_party.open('g', '$call', '$plan') AS opening \\gset
            SELECT 'joined', dpboost_party.join(ARRAY[:'opening'::bytea]);
            SELECT pg_sleep($wait);} . train() . "SELECT pg_sleep($wait);\n" . train() . q{SELECT 'charged ' || dpboost_party.charge();
            SELECT 'answered ' || length(dpboost_party.round(1, NULL));
            COMMIT;});
        is($err, '', 'no error');
        like($out, qr/joined.*charged \d+\nanswered \d+/s, "charged and answered after $wait s");
        is($charged->(), ++$before, 'once');
    }
};

$node->stop;

done_testing();
