# A server that stops between an evaluation's charge and its result, or after the result was committed and before the caller
# had it. The first costs the evaluation and says so; the second costs nothing more: the figures are there to be read. And a
# training and an evaluation that both have read their rows when the last epsilon is given away.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers qw(start_server start_psql);

# fsync stays off: after the crash of a process the kernel still has what was written.
my $node = start_server('evaluation_crash', "restart_after_crash = on\nmax_worker_processes = 8\nfsync = off\nautovacuum = off\n", q{
    CREATE ROLE ana LOGIN;
    CREATE TABLE people (age int CHECK (age BETWEEN 0 AND 99), ill boolean);
    INSERT INTO people SELECT i % 100, i % 100 > 60 FROM generate_series(1, 5000) i;
    SELECT dpboost_protect('people', 10, 1e-4), dpboost_set_budget('people', 'ana', 5, 1e-4);
    SET ROLE ana;
    SELECT dpboost_train_on('risk', 'people', 'ill', 1);
});

sub sql { return $node->safe_psql('postgres', shift) }
sub as_ana { return sql("SET ROLE ana; $_[0]") }

sub wait_until
{
    my ($condition) = @_;
    $node->poll_query_until('postgres', "SELECT $condition") or die "does not happen: $condition";
}

sub ledger
{
    return sql("SELECT count(*) || ' charged, ' || count(*) FILTER (WHERE delivered) || ' delivered, '
        || (SELECT count(*) FROM dpboost_evaluations) || ' results' FROM dpboost_ledger WHERE kind = 'evaluation'");
}

# What the limit of the table has left, to all digits.
sub left { return sql("SELECT part_remaining FROM dpboost_budgets WHERE grantee IS NULL") }

sub start_session
{
    my ($role, $statements) = @_;
    my $session = start_psql($node, "SELECT 'pid ' || pg_backend_pid();\n", role => $role);
    $session->{run}->pump until $session->{out} =~ /^pid (\d+)\n/m;
    $session->{pid} = $1;
    $session->{in} .= $statements;
    $session->{run}->pump_nb while length $session->{in};
    return $session;
}

# An evaluation that has paid, and whose result waits for one of the same number that is not committed yet.
sub paid_evaluation
{
    my $before = sql("SELECT count(*) FROM dpboost.ledger");
    my $holder = start_session('', "BEGIN; INSERT INTO dpboost.evaluation (release_id, model_id, result)
        SELECT last_value + is_called::int, 1, '{}' FROM dpboost.release_id_seq; SELECT 'held';\n");
    $holder->{run}->pump until $holder->{out} =~ /held/;
    my $session = start_session('ana', "SELECT 'auc ' || (dpboost_evaluate('risk', 'people', 'ill', 0.5) -> 'auc' ->> 0);\n");
    wait_until("(SELECT count(*) FROM dpboost.ledger) > $before AND EXISTS (SELECT FROM pg_locks WHERE NOT granted)");
    return ($holder, $session);
}

sub crash
{
    $node->stop('immediate');
    $_->{run}->kill_kill for @_;
    $node->start;
}

my $unspent = left();
my ($holder, $session) = paid_evaluation();
crash($holder, $session);
unlike($session->{out}, qr/auc/, 'nobody has a result');
is(ledger(), '1 charged, 0 delivered, 0 results', 'a crash between charge and result: charged, not delivered');
my $once = left();
cmp_ok($once, '<', $unspent, 'and counted');

($holder, $session) = paid_evaluation();
kill 'STOP', $session->{pid};
$holder->{in} .= "ROLLBACK;\n";
$holder->{run}->pump_nb while length $holder->{in};
wait_until("count(*) FILTER (WHERE delivered) = 1 FROM dpboost_ledger WHERE kind = 'evaluation'");
kill 'KILL', $session->{pid};
crash($holder, $session);
unlike($session->{out}, qr/auc/, 'again nobody had a result');
is(ledger(), '2 charged, 1 delivered, 1 results', 'but it was committed');
my $twice = left();
like(as_ana("SELECT metrics -> 'auc' ->> 0 FROM dpboost_evaluations"), qr/^0\.[5-9]|^1$/, 'so its figures can be read');
cmp_ok(as_ana("SELECT count(*) FROM dpboost_evaluation_bins('risk')"), '>=', 10, 'and its bins');
like(as_ana("SELECT dpboost_report('risk')"), qr/AUC/, 'and its report');
is(left(), $twice, 'for nothing');
is(ledger(), '2 charged, 1 delivered, 1 results', 'no further charge');

like(as_ana("SELECT dpboost_evaluate('risk', 'people', 'ill', 0.5) -> 'auc' ->> 0"), qr/^[01]/, 'the server evaluates as before');

# Both are at the ledger's door before either may pay, the first one first.
sub race
{
    my ($table, @calls) = @_;
    sql("CREATE TABLE $table (LIKE people INCLUDING CONSTRAINTS); INSERT INTO $table SELECT * FROM people;
        SELECT dpboost_protect('$table', 1, 1e-6);");
    my $holder = start_session('', "BEGIN; LOCK TABLE dpboost.charge_lock; SELECT 'held';\n");
    $holder->{run}->pump until $holder->{out} =~ /held/;
    my @sessions;
    for my $call (@calls)
    {
        push @sessions, start_session('', "SELECT 'got ' || ($call ->> 'epsilon'); SELECT 'end';\n");
        wait_until("count(*) = " . @sessions . " FROM pg_locks WHERE relation = 'dpboost.charge_lock'::regclass AND NOT granted");
    }
    $holder->{in} .= "ROLLBACK;\n\\q\n";
    $holder->{run}->finish;
    for my $session (@sessions)
    {
        $session->{run}->pump until $session->{out} =~ /end/;
        $session->{in} .= "\\q\n";
        $session->{run}->finish;
    }
    like($sessions[0]{out}, qr/got 0\.9/, "$table: one gets it");
    unlike($sessions[1]{out}, qr/got/, 'the other does not');
    like($sessions[1]{err}, qr/53400: privacy budget of table "$table" (is exhausted|does not allow)/, 'and is told why');
    return sql("SELECT string_agg(kind, ' ') FROM dpboost_ledger WHERE relations = ARRAY['public.$table']");
}

my $evaluate = "dpboost_evaluate('ana.risk', 'TABLE', 'ill', 0.9)";
my $train = "dpboost_train_on('raced', 'TABLE', 'ill', 0.9)";
is(race('race_one', map { s/TABLE/race_one/r } $evaluate, $train), 'evaluation', 'one charge');
is(race('race_two', map { s/TABLE/race_two/r } $train, $evaluate), 'training', 'the other way round as well');

done_testing();
