# What a training on somebody else's rows leaves in modules that watch statements, and whose settings it is read under when
# the connection or the analyst's role chooses some.
use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers ();

my $node = PostgreSQL::Test::Cluster->new('reading');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'pg_stat_statements, auto_explain'
pg_stat_statements.track = 'all'
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
auto_explain.log_analyze = on
track_functions = 'all'
datestyle = 'ISO, YMD'
});
$node->start;
$node->safe_psql('postgres', q{
    CREATE EXTENSION dpboost;
    CREATE EXTENSION pg_stat_statements;
    CREATE ROLE owner LOGIN;
    CREATE ROLE ana LOGIN;
    CREATE SCHEMA ward AUTHORIZATION owner;
    GRANT USAGE ON SCHEMA ward TO ana;
    SET ROLE owner;
    CREATE TABLE ward.people (age int CHECK (age BETWEEN 0 AND 99), born text, ill boolean);
    INSERT INTO ward.people SELECT i % 100, format('%s/%s/1950', i % 28 + 1, i % 12 + 1), i % 7 = 0 FROM generate_series(1, 301) i;
    CREATE TABLE ward.units (k int);
    INSERT INTO ward.units VALUES (1), (1);
    GRANT SELECT ON ward.units TO ana;
    CREATE FUNCTION ward.lookup(x int) RETURNS int LANGUAGE plpgsql AS
        $$DECLARE found_k int; BEGIN SELECT k INTO found_k FROM ward.units; RETURN x * found_k; END$$;
    CREATE FUNCTION ward.slow(x int) RETURNS int LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(60); RETURN x; END$$;
    CREATE VIEW ward.seen AS SELECT ward.lookup(age) AS age, extract(day FROM born::date)::int AS day, ill FROM ward.people;
    CREATE VIEW ward.sleepy AS SELECT ward.slow(age) AS age, ill FROM ward.people;
    SELECT dpboost_set_domain('ward.seen', 'age', 0, 99), dpboost_set_domain('ward.seen', 'day', 1, 31),
           dpboost_set_domain('ward.sleepy', 'age', 0, 99),
           dpboost_set_budget('ward.seen', 'ana', 10, 1e-6), dpboost_set_budget('ward.sleepy', 'ana', 10, 1e-6);
});
my $train = q{SELECT dpboost_train_on('m', 'ward.seen', 'ill', 0.1, options => '{"method": "sbdt", "trees": 2, "subsample": 1}') ->> 'model'};

# As ana; settings of her connection in $options. Returns what she hears on both channels.
sub as_ana
{
    my ($sql, $options) = @_;
    local $ENV{PGOPTIONS} = $options || '';
    my ($status, $out, $err) = $node->psql('postgres', $sql, extra_params => [ '-U', 'ana' ], on_error_stop => 0);
    return $out . $err;
}

# The server's own value is in postgresql.conf, or stronger in ALTER SYSTEM's file, or stronger with the database.
like(as_ana($train), qr/could not read view "seen"/, 'the view fails under the server\'s setting');
$node->safe_psql('postgres', q{ALTER SYSTEM SET datestyle = 'ISO, DMY'});
$node->reload;
is(as_ana($train), 'm', 'and works under the one that the server gets');
for my $options ('-c datestyle=ISO,MDY', '-c plpgsql.extra_errors=too_many_rows', '-c enable_seqscan=off -c work_mem=64kB')
{
    is(as_ana($train, $options), 'm', "the connection chooses $options");
}
is(as_ana("SET datestyle = 'ISO, MDY'; $train; SHOW datestyle"), "m\nISO, MDY", 'the session does');
$node->safe_psql('postgres', q{ALTER ROLE ana SET datestyle = 'ISO, MDY'; ALTER ROLE ana IN DATABASE postgres SET plpgsql.extra_errors = 'all'});
is(as_ana("$train; SHOW datestyle; SHOW plpgsql.extra_errors"), "m\nISO, MDY\nall", 'her role does');
$node->safe_psql('postgres', q{ALTER DATABASE postgres SET datestyle = 'ISO, YMD'});
like(as_ana($train), qr/could not read view "seen"/, 'but not the database');
$node->safe_psql('postgres', q{ALTER ROLE owner SET datestyle = 'ISO, DMY'});
is(as_ana($train), 'm', 'unless the owner\'s role knows better');

subtest 'modules that watch statements' => sub {
    $node->safe_psql('postgres', 'SELECT pg_stat_statements_reset(); SELECT pg_stat_reset()');
    my $heard = as_ana("SET client_min_messages = log; $train");
    like($heard, qr/Query Text: SELECT dpboost_train_on/, 'auto_explain shows her own statement');
    $heard =~ s/Query Parameters:.*//g;  # since 16, and of our own look at the schema: names of relations
    unlike($heard, qr/\bpeople\b|\bunits\b|rows of a training|rows=301/, 'and nothing of the reading');
    my $counted = $node->safe_psql('postgres', q{
        SELECT query, calls, rows FROM pg_stat_statements WHERE query LIKE '%ward.units%' OR query LIKE '%rows of a training%'
        UNION ALL SELECT query, calls, rows FROM pg_stat_statements WHERE calls >= 100 OR rows >= 100});
    is($counted, '', 'pg_stat_statements counts neither calls nor rows');
    is($node->safe_psql('postgres', q{SELECT funcname, calls FROM pg_stat_user_functions WHERE schemaname = 'ward'}),
        '', 'nor does PostgreSQL count calls of functions');
    is($node->safe_psql('postgres', q{SELECT sum(seq_scan + seq_tup_read + n_live_tup) FROM pg_stat_user_tables WHERE schemaname = 'ward'}),
        '0', 'nor rows');
};

subtest 'a terminated reading says so' => sub {
    my ($in, $out, $err) = ("SELECT dpboost_train_on('m', 'ward.sleepy', 'ill', 0.1);\n", '', '');
    my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' user=ana' ],
        '<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout(300));
    $session->pump_nb;
    my $sleeps = q{FROM pg_stat_activity WHERE usename = 'ana' AND wait_event = 'PgSleep'};
    $node->poll_query_until('postgres', "SELECT count(*) = 1 $sleeps") or die 'the reading does not run';
    $node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $sleeps");
    $session->finish;
    like($err, qr/FATAL:  terminating connection due to administrator command/, 'the message arrives');
};

$node->stop;
done_testing();
