# A training that runs: what others see of it, and that stopping it releases nothing: before the charge it is free, and once
# there is progress to be seen it is charged.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;

my $node = start_server('training', "restart_after_crash = off\n", q{
    CREATE ROLE ana LOGIN;
    CREATE ROLE eve LOGIN;
    CREATE ROLE watcher LOGIN IN ROLE pg_read_all_stats;
    CREATE TABLE people (age int CHECK (age BETWEEN 0 AND 99), ill boolean);
    INSERT INTO people SELECT i % 100, i % 7 = 0 FROM generate_series(1, 20000) i;
    SELECT dpboost_protect('people', 10, 1e-4);
    SELECT dpboost_set_budget('people', 'ana', 5, 1e-4);
});

my $long = q{dpboost_train_on('long', 'people', 'ill', 1,
    options => '{"trees": 100000, "leaf_clip": 0.05, "depth": 7, "subsample": 1}')};

# Starts a session of ana that says its process id, trains for a long time, and then shows that it is usable.
sub start_training
{
    my ($setup) = @_;
    my $session = start_psql($node,
        ($setup || '') . "SELECT pg_backend_pid();\nSELECT $long;\nROLLBACK;\nSELECT 'usable';\n\\q\n", role => 'ana');
    $session->{run}->pump until $session->{out} =~ /^(\d+)\n/m;
    $session->{pid} = $1;
    $node->poll_query_until('postgres',
        "SELECT count(*) = 1 FROM dpboost_progress WHERE pid = $session->{pid} AND rounds_done > 0")
      or die 'the training does not run';
    return $session;
}

# Charges, those of them that were delivered, and models.
sub released
{
    return $node->safe_psql('postgres',
        'SELECT count(*), count(*) FILTER (WHERE delivered), (SELECT count(*) FROM dpboost_models) FROM dpboost_ledger');
}

subtest 'progress shows rounds to those who may see the session, and a cancel ends it' => sub {
    my $session = start_training();
    my $seen    = "SELECT role, relation, rounds_done BETWEEN 1 AND rounds_total, rounds_total FROM dpboost_progress";
    my %sees    = (ana => 'ana|people|t|100000', watcher => 'ana|people|t|100000', eve => '');
    for my $role (sort keys %sees)
    {
        is($node->safe_psql('postgres', $seen, extra_params => [ '-U', $role ]), $sees{$role}, "as $role sees it");
    }
    is( $node->safe_psql('postgres',
            'SELECT (SELECT count(*) FROM pg_stat_progress_create_index) + (SELECT count(*) FROM pg_stat_progress_copy)
                  + (SELECT count(*) FROM pg_stat_progress_vacuum)'),
        '0', 'it is no command of PostgreSQL');
    $node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{pid})");
    $session->{run}->finish;
    like($session->{err}, qr/ERROR:  57014: canceling statement due to user request/, 'SQLSTATE and message');
    like($session->{out}, qr/^usable$/m, 'the session goes on');
    like($session->{err}, qr/CONTEXT:  training charged as release 1;/, 'it says that it is charged');
    is($node->safe_psql('postgres', 'SELECT count(*) FROM dpboost_progress'), '0', 'and its progress is gone');
    is(released(), '1|0|0', 'charged, and nothing delivered');
};

subtest 'a terminated session releases nothing' => sub {
    my $session = start_training();
    $node->safe_psql('postgres', "SELECT pg_terminate_backend($session->{pid}, 10000)");
    $session->{run}->finish;
    unlike($session->{out}, qr/usable/, 'the session is over');
    is($node->safe_psql('postgres', 'SELECT count(*) FROM dpboost_progress'), '0', 'its progress is gone');
    is(released(), '2|0|0', 'charged, and nothing delivered');
};

subtest 'statement_timeout, also while rows are read' => sub {
    my $session = start_training("SET statement_timeout = '4s';\n");
    $session->{run}->finish;
    like($session->{err}, qr/ERROR:  57014: canceling statement due to statement timeout/, 'in the rounds');
    is(released(), '3|0|0', 'charged, and nothing delivered');
    my ($status, $out, $err) = $node->psql('postgres', q{
        SET statement_timeout = '300ms';
        SELECT dpboost_train('read', '{"epsilon": 1, "bounds": [0, 1]}', true, 0.5) FROM generate_series(1, 1000000000);});
    like($err, qr/canceling statement due to statement timeout/, 'while reading');
    is(released(), '3|0|0', 'nothing drawn, nothing charged');
};

subtest 'a training without interruption is charged once' => sub {
    is( $node->safe_psql('postgres', q{SELECT dpboost_train_on('short', 'people', 'ill', 1, options => '{"trees": 10}') ->> 'version'},
            extra_params => [ '-U', 'ana' ]),
        '1', 'trains');
    is(released(), '4|1|1', 'one more charge, one model');
    is($node->safe_psql('postgres', q{SELECT string_agg(model || '@' || version || ' ' || delivered, ', ' ORDER BY release_id) FROM dpboost_ledger},
            extra_params => [ '-U', 'ana' ]),
        'long@1 false, long@2 false, long@3 false, short@1 true', 'ana sees what she paid for, and what she got');
};

# What differs between two tables that differ in one person must come from noise alone: not the shape of a result, of a
# model's description, or its length in bytes; and values of any kind never raise.
subtest 'nothing but noise depends on rows' => sub {
    $node->safe_psql('postgres', q{
        CREATE TABLE odd (v float8 CHECK (v BETWEEN 0 AND 1), n numeric, t text, ill boolean);
        ALTER TABLE odd DROP CONSTRAINT odd_v_check;
        SELECT dpboost_set_domain('odd', 'v', 0, 1), dpboost_set_domain('odd', 'n', 0, 1);
        INSERT INTO odd SELECT 0.5, 0.5, 'x', i % 2 = 0 FROM generate_series(1, 50) i;});
    my $shape = q{
        WITH r AS MATERIALIZED (SELECT dpboost_train_on('odd', 'odd', 'ill', 1, options => '{"method": "sbdt", "trees": 20}') AS r)
        SELECT r - '{version,release_id,base_rate}'::text[], r ? 'base_rate' FROM r;
        SELECT features, (SELECT octet_length(content) FROM dpboost.model WHERE name = 'odd' ORDER BY version DESC LIMIT 1)
        FROM dpboost_models WHERE model = 'odd' ORDER BY version DESC LIMIT 1;};
    my $before = $node->safe_psql('postgres', $shape);
    for my $person (
        q{('NaN', 'NaN', NULL, NULL)}, q{('Infinity', '-Infinity', '', true)}, q{(1e308, 1e300, repeat('y', 100000), false)},
        q{(NULL, '1e100000', E'\\u0001', true)})
    {
        is($node->safe_psql('postgres', "INSERT INTO odd VALUES $person; $shape"), $before, "the same shape with $person");
    }
    is($node->safe_psql('postgres', "DELETE FROM odd; $shape"), $before, 'and with no one at all');
};

$node->stop;
done_testing();
