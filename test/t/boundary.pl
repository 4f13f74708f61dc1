# What another session can do to a training that is deep inside the core: cancel it, terminate it, or disturb it in ways
# that must not end it. In every case the server stays up. Needs the test-only extension dpboost_faults.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('boundary');
$node->init;
$node->append_conf('postgresql.conf', "restart_after_crash = off\n");
$node->start;
$node->safe_psql('postgres',
    'CREATE EXTENSION dpboost_faults CASCADE; CREATE TABLE many AS SELECT i FROM generate_series(1, 100000) i;');

# The checkpointer is restarted with the rest of the server after a crash, so its start says whether there was one.
my $start_of_server = "SELECT backend_start FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
my $started         = $node->safe_psql('postgres', $start_of_server);

# Starts a session that says its process id, runs the aggregate over 100,000 rows, and then shows that it is usable.
sub start_victim
{
    my ($kind, $setup) = @_;
    my $victim = start_psql($node, ($setup || '') . "SELECT pg_backend_pid();\n"
      . "SELECT 'served', dpboost_fault('$kind', 50000) > 0 FROM many;\nSELECT 'usable';\n\\q\n");
    $victim->{run}->pump until $victim->{out} =~ /^(\d+)\n/;
    $victim->{pid} = $1;
    $node->poll_query_until('postgres',
        "SELECT state = 'active' AND query LIKE '%dpboost_fault%' FROM pg_stat_activity WHERE pid = $victim->{pid}")
      or die 'the victim does not run';
    select undef, undef, undef, 0.2;    # let it reach row 50,000
    return $victim;
}

subtest 'pg_cancel_backend ends the statement, not the session' => sub {
    my $victim = start_victim('wait');
    $node->safe_psql('postgres', "SELECT pg_cancel_backend($victim->{pid})");
    $victim->{run}->finish;
    like($victim->{err}, qr/ERROR:  57014: canceling statement due to user request/, 'SQLSTATE and message');
    like($victim->{out}, qr/^usable$/m, 'the session goes on');
};

subtest 'pg_terminate_backend ends the session, not the server' => sub {
    my $victim = start_victim('wait');
    $node->safe_psql('postgres', "SELECT pg_terminate_backend($victim->{pid}, 10000)");
    $victim->{run}->finish;
    like($victim->{err}, qr/FATAL:  57P01: terminating connection due to administrator command/, 'SQLSTATE and message');
    unlike($victim->{out}, qr/usable/, 'the session is over');
    is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $victim->{pid}"),
        '0', 'the backend is gone');
};

subtest 'statement_timeout passes as PostgreSQL raised it' => sub {
    my ($status, $out, $err) = $node->psql('postgres',
        "SET statement_timeout = '100ms'; SELECT dpboost_fault('wait', 50000) FROM many;", on_error_stop => 0);
    like($err, qr/canceling statement due to statement timeout/, 'message');
};

subtest 'harmless interrupts do not end the work' => sub {
    my $victim = start_victim('work');
    $node->safe_psql('postgres', "SELECT pg_log_backend_memory_contexts($victim->{pid})");
    $node->safe_psql('postgres', 'SELECT pg_reload_conf()');
    # dropping a database waits until every backend has absorbed a barrier
    $node->safe_psql('postgres', 'CREATE DATABASE for_a_barrier');
    $node->safe_psql('postgres', 'DROP DATABASE for_a_barrier');
    $victim->{run}->finish;
    is($victim->{err}, '', 'no error');
    like($victim->{out}, qr/^served\|t$/m, 'the work was finished, and interrupts were served in its middle');
    like($victim->{out}, qr/^usable$/m, 'the session goes on');
    like(slurp_file($node->logfile), qr/logging memory contexts of PID $victim->{pid}/, 'the request was answered');
};

subtest 'a client that went away frees the backend' => sub {
    my $victim = start_victim('wait', "SET client_connection_check_interval = '100ms';\n");
    $victim->{run}->kill_kill;
    ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $victim->{pid}"),
        'the backend is gone');
};

subtest '1,000 cancels by timeout in one session leak nothing' => sub {
    my $canceled = "SELECT dpboost_fault('wait', 10) FROM many;\n";
    my ($status, $out, $err) = $node->psql('postgres',
        "SET statement_timeout = '1ms';\n"
          . $canceled x 50
          . "RESET statement_timeout; CREATE TEMP TABLE memory AS SELECT dpboost_fault_resident_memory() AS before;\n"
          . "SET statement_timeout = '1ms';\n"
          . $canceled x 1000
          . "RESET statement_timeout;\n"
          . 'SELECT dpboost_fault_resident_memory() - before < 1024 * 1024 FROM memory;',
        on_error_stop => 0);
    my $cancels = () = $err =~ /canceling statement due to statement timeout/g;
    cmp_ok($cancels, '>=', 1000, 'as many cancels');
    is($out, 't', 'less than 1 MB more');
};

# Options are the caller's, as large as he likes: reading them must neither take long nor be deaf to a cancel.
subtest 'options of any size end within the timeout' => sub {
    $node->safe_psql('postgres', q{
        CREATE ROLE eve LOGIN;
        CREATE TABLE options (name text, value jsonb);
        GRANT SELECT ON options TO eve;
        INSERT INTO options VALUES
            ('200,000 levels', jsonb_build_object('epsilon', 1, 'bounds', jsonb_build_array((SELECT jsonb_agg('l' || g) FROM generate_series(1, 200000) g)))),
            ('60,000 levels', jsonb_build_object('epsilon', 1, 'bounds', jsonb_build_array((SELECT jsonb_agg('l' || g) FROM generate_series(1, 60000) g)))),
            ('a key of 50 MB', jsonb_build_object('epsilon', 1, repeat('x', 50000000), 1)),
            ('levels of a table', jsonb_build_object('bounds', jsonb_build_object('x', (SELECT jsonb_agg('level ' || g ORDER BY g DESC) FROM generate_series(1, 65000) g)))),
            ('300,000 keys', jsonb_build_object('bounds', (SELECT jsonb_object_agg('k' || g, 1) FROM generate_series(1, 300000) g)));
        CREATE TABLE many_levels (x text, y boolean);
        SELECT dpboost_set_domain('many_levels', 'x', (SELECT array_agg('level ' || g) FROM generate_series(1, 65000) g));
        SELECT dpboost_protect('many_levels', 10, 1e-6);
        DO $$BEGIN EXECUTE (SELECT format('CREATE TABLE many_columns (%s, y boolean)', string_agg('c' || g || ' date', ', '))
                            FROM generate_series(1, 1500) g); END$$;
        GRANT SELECT ON many_levels, many_columns TO eve;
    });
    my %call = (
        '200,000 levels'    => q{dpboost_train('eves', value, true, 'a'::text)},
        '60,000 levels'     => q{dpboost_train('eves', value, true, 'a'::text)},
        'a key of 50 MB'    => q{dpboost_train('eves', value, true, 1)},
        'levels of a table' => q{dpboost_estimate('many_levels', 'y', 1, options => value)},
        '300,000 keys'      => q{dpboost_estimate('many_columns', 'y', 1, options => value)});
    for my $name (sort keys %call)
    {
        my $start = time;
        $node->psql('postgres', "SET statement_timeout = '2s'; SELECT $call{$name} FROM options WHERE name = '$name'",
            extra_params => [ '-U', 'eve' ]);
        cmp_ok(time - $start, '<', 8, $name);
    }
};

is($node->safe_psql('postgres', $start_of_server), $started, 'the server was never restarted');
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC|reinitializing/, 'nor did any process crash');

$node->stop;
done_testing();
