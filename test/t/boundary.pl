# What another session can do to a training that is deep inside the core: cancel it, terminate it, or disturb it in ways
# that must not end it. In every case the server stays up. Needs the test-only extension dpboost_faults.
use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('boundary');
$node->init;
$node->append_conf('postgresql.conf', "restart_after_crash = off\n");
$node->start;
$node->safe_psql('postgres',
    'CREATE EXTENSION dpboost_faults; CREATE TABLE many AS SELECT i FROM generate_series(1, 100000) i;');

# The checkpointer is restarted with the rest of the server after a crash, so its start says whether there was one.
my $start_of_server = "SELECT backend_start FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
my $started         = $node->safe_psql('postgres', $start_of_server);

# Starts a session that says its process id, runs the aggregate over 100,000 rows, and then shows that it is usable.
sub start_victim
{
    my ($kind, $setup) = @_;
    my %victim = (out => '', err => '', in => '');
    $victim{run} = IPC::Run::start(
        [ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres') ],
        '<', \$victim{in}, '>', \$victim{out}, '2>', \$victim{err}, IPC::Run::timeout(60));
    $victim{in} = ($setup || '') . "SELECT pg_backend_pid();\n"
      . "SELECT 'served', dpboost_fault('$kind', 50000) > 0 FROM many;\nSELECT 'usable';\n\\q\n";
    $victim{run}->pump until $victim{out} =~ /^(\d+)\n/;
    $victim{pid} = $1;
    $node->poll_query_until('postgres',
        "SELECT state = 'active' AND query LIKE '%dpboost_fault%' FROM pg_stat_activity WHERE pid = $victim{pid}")
      or die 'the victim does not run';
    select undef, undef, undef, 0.2;    # let it reach row 50,000
    return \%victim;
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

is($node->safe_psql('postgres', $start_of_server), $started, 'the server was never restarted');
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC|reinitializing/, 'nor did any process crash');

$node->stop;
done_testing();
