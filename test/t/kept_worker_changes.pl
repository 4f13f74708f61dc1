# What changes while a session keeps its ledger workers (kept_worker.pl) holds for the next charge: limits, rights, the extension
# itself. What a transaction takes back, it does not take back of them; and nobody but a superuser ends one.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;

my $node = start_server('kept_worker_changes', "max_worker_processes = 16\nmax_prepared_transactions = 2\nlog_statement = all\nlog_parameter_max_length = -1\nfsync = off\nautovacuum = off\n", q{
    CREATE TABLE visits (age int CHECK (age BETWEEN 0 AND 99), los float8 CHECK (los BETWEEN 0 AND 50));
    INSERT INTO visits SELECT i % 100, i % 100 / 2.0 FROM generate_series(1, 2000) i;
    SELECT dpboost_protect('visits', 10, 1e-4);
    CREATE ROLE nurse LOGIN IN ROLE pg_read_all_stats;  -- sees workers
    CREATE ROLE ana LOGIN;
    CREATE ROLE bob LOGIN IN ROLE pg_signal_backend;
    CREATE DATABASE hub;
    CREATE EXTENSION dblink;
    GRANT EXECUTE ON FUNCTION dblink_connect_u(text, text) TO nurse;
});

# One party, which is reached from another database of the same server, as a role with an allowance.
my $key = $node->safe_psql('postgres', 'SELECT dpboost_party_key()');
$node->safe_psql('postgres', qq{SELECT dpboost_create_federation('f', '{"one": "$key"}', relation => 'visits', myself => 'one', max_colluding => 0)});
my ($host, $port) = ($node->host, $node->port);
my $federation = qq{SELECT dpboost_create_federation('f', '{"one": "$key"}', servers => '{"one": "one"}', max_colluding => 0);\n};
$node->safe_psql('hub', qq{
    CREATE EXTENSION dpboost; CREATE EXTENSION postgres_fdw;
    CREATE SERVER one FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
    GRANT USAGE ON FOREIGN SERVER one TO PUBLIC;
    CREATE USER MAPPING FOR PUBLIC SERVER one OPTIONS (user 'nurse', password_required 'false');
    $federation});
my $limits = "SELECT dpboost_protect('visits', 10, 1e-4), dpboost_set_budget('visits', 'nurse', 9, 1e-5, max_epsilon_per_train => 9)";
$node->safe_psql('postgres', $limits);

my $train = "SELECT 'trained ' || (dpboost_train_across('m', 'f', 'los', epsilon => 0.1) ->> 'version');\n";
my $pids = "SELECT string_agg(pid::text, ' ' ORDER BY pid) AS pids FROM pg_stat_get_activity(NULL) WHERE backend_type = 'dpboost ledger'";

# In the middle of a session at the party: what the owner does in one that is open already, which takes no time.
my $meet = "SELECT dblink_connect_u('owner', 'host=$host port=$port dbname=postgres user=postgres') AS met \\gset\n";
sub owner { my ($sql) = @_; return "SELECT count(*) AS done FROM dblink('owner', \$\$$sql\$\$) AS t (x text) \\gset\n" }

sub ledgers
{
    return join ', ', map { $node->safe_psql($_, 'SELECT count(*) FROM dpboost_ledger') } qw(postgres hub);
}

# What a session says, and by how much it has the ledgers of party and hub grow.
sub session
{
    my ($database, $sql, %options) = @_;
    my @before = split /, /, ledgers();
    my ($status, $out, $err) = $node->psql($database, $sql, on_error_stop => 0, %options);
    my @after = split /, /, ledgers();
    return ($out, $err, join ', ', map { $after[$_] - $before[$_] } 0, 1);
}

# The same, where the workers that have served $first are there until the end: on a machine that stands still for half a
# second others would serve the rest.
sub kept
{
    my ($database, $first, $rest, %options) = @_;
    for (1 .. 20)
    {
        $node->safe_psql('postgres', $limits);
        my @seen = session($database, "$first$pids \\gset first_\n$rest$pids \\gset last_\nSELECT 'kept' WHERE :'first_pids' = :'last_pids';", %options);
        return @seen if $seen[0] =~ /^kept$/m;
    }
    return ('', 'no worker was kept', '');
}

# The party's own steps, of which the first two know what is left, and the third has the worker charge.
subtest 'limits change between the steps of a training' => sub {
    $node->safe_psql('hub', $train);
    my ($call, $plan) = slurp_file($node->logfile) =~ /dpboost_party\.open[^\n]*\n[^\n]*[Pp]arameters: \$1 = 'f', \$2 = '(\\x[0-9a-f]+)', \$3 = '(\\x[0-9a-f]+)'/;
    my $join = qq{BEGIN ISOLATION LEVEL REPEATABLE READ;
        SELECT dpboost_party.open('f', '$call', '$plan') AS opening \\gset
        SELECT 'joined' FROM dpboost_party.join(ARRAY[:'opening'::bytea]);\n};
    my $charge = "SELECT 'charged' FROM dpboost_party.charge();\nROLLBACK;\n";
    my @as = (connstr => $node->connstr('postgres') . ' user=nurse');
    my ($out, $err, $grown) = kept('postgres', "$join$charge", "$join$charge", @as);
    is($err . $out, "joined\ncharged\njoined\ncharged\nkept", 'none does: two trainings');
    is($grown, '2, 0', 'are charged');
    for (['lowered', "SELECT dpboost_set_budget('visits', 'nurse', 0.001, 1e-5)", qr/privacy budget of role "nurse" on table "visits"/],
        ['lowered for all', "SELECT dpboost_protect('visits', 0.001, 1e-4)", qr/privacy budget of table "visits"/],
        ['for each training', "SELECT dpboost_set_budget('visits', 'nurse', 9, 1e-5, max_epsilon_per_train => 0.01)", qr/nurse/],
        ['taken away', "SELECT dpboost_revoke_budget('visits', 'nurse')", qr/has no privacy budget on "visits" any more/])
    {
        my ($what, $sql, $error) = @$_;
        ($out, $err, $grown) = kept('postgres', "$meet$join$charge", $join . owner($sql) . $charge, @as);
        like($err, $error, "$what: the worker refuses");
        is($out, "joined\ncharged\njoined\nkept", '... it and no other');
        is($grown, '1, 0', '... and charges nothing');
    }
};

subtest 'a subtransaction is rolled back' => sub {
    my ($out, $err, $grown) = kept('hub', $train, "BEGIN; SAVEPOINT s;\n${train}ROLLBACK TO s;\n${train}ROLLBACK;\n");
    is($err, '', 'no error');
    is($grown, '3, 3', 'what was released in it stays charged');
};

subtest 'a transaction is prepared' => sub {
    my ($out, $err, $grown) = kept('hub', $train, "BEGIN;\n${train}PREPARE TRANSACTION 'p';\n${train}ROLLBACK PREPARED 'p';\n");
    is($grown, '3, 3', 'what was released in it stays charged');
};

subtest 'the extension is another one' => sub {
    my $again = "DROP EXTENSION dpboost CASCADE;\nCREATE EXTENSION dpboost;\n$federation";
    my ($out, $err, $grown) = session('hub', "${train}SET dpboost.ledger_timeout = '400ms';\nBEGIN;\n$again${train}ROLLBACK;\n");
    like($err, qr/could not lock the privacy ledger|cannot train in the transaction that creates/, 'not committed: the worker sees the old one, which is locked');
    is((split /, /, $grown)[1], 1, '... and has the charge of before alone');
    ($out, $err) = kept('hub', $train, $again . $train);
    unlike($err, qr/ERROR/, 'committed: no error');
    like(ledgers(), qr/, 1$/, '... and the new ledger has the charge since');
};

subtest 'others' => sub {
    for my $role (qw(ana bob))
    {
        my ($out, $err, $grown) = kept('hub', $train, "SET ROLE $role;\nSELECT pg_terminate_backend(pid::int), pg_cancel_backend(pid::int) FROM unnest(string_to_array(:'first_pids', ' ')) AS pid;\nRESET ROLE;\n$train");
        like($err, qr/must be a (member|superuser)|permission denied/, "$role cannot end it");
        is($grown, '2, 2', '... and the next training is charged');
    }
};

$node->stop;

done_testing();
