# Persons' accounts outlive what can go wrong: a crash between charge and model leaves what was reserved, a ROLLBACK takes
# nothing back, a dump and restore keep what everybody has spent, and accounts that changed behind a training's back stop it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;

my $node = start_server('unit_accounts', "fsync = off\nmax_worker_processes = 20\n", q{
    CREATE TABLE visits (patient_id int, age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
    INSERT INTO visits SELECT i, i % 100, i % 1000 FROM generate_series(1, 12000) i;
    SELECT dpboost_protect('visits', 1, privacy_unit => 'patient_id', accounting => 'unit');});

sub sql { return $node->safe_psql($_[1] || 'postgres', $_[0]); }

sub spent
{
    my ($unit, $database) = @_;
    return sql("SELECT (dpboost_unit_budget('visits', '$unit') ->> 'part_spent')::float8", $database);
}

sub train
{
    my ($epsilon, $options) = @_;
    $options ||= '{}';
    return qq{SELECT dpboost_train_on('m', 'visits', 'cost', epsilon => $epsilon, options => '$options') ->> 'task';};
}

# ---- rolled back ----
sql('BEGIN;' . train(0.1) . 'ROLLBACK;');
my $first = spent(1);
cmp_ok($first, '>', 0, 'a ROLLBACK takes no charge back');
is(spent(12000), $first, 'everybody was charged alike');
is(spent(12001), 0, 'who has no rows was not');

# ---- settled, and not ----
my $sbdt = '{"method": "sbdt", "trees": 20, "depth": 3}';
sql(train(0.2, $sbdt));
my $settled = spent(1) - $first;
cmp_ok($settled, '>', 0, 'rounds are charged');

# A server that dies after the charge and before the model: as if everybody had lost the most.
my $long = '{"method": "sbdt", "trees": 20000, "depth": 8, "subsample": 1, "learning_rate": 0.0001}';
my $before = spent(1);
my $running = start_session($node, train(0.2, $long) . "\n");
my $charged = $node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM dpboost_progress WHERE rounds_done > 0});
ok($charged, 'a long training runs');
# Another one on the same persons waits for it, as long as it may.
my $releases = sql('SELECT count(*) FROM dpboost_ledger');
my (undef, undef, $waited) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET lock_timeout = '200ms';" . train(0.1));
like($waited, qr/55P03/, 'a second training on the same persons waits');
is(sql('SELECT count(*) FROM dpboost_ledger'), $releases, 'and nobody is charged while it does');
$node->stop('immediate');
eval { $running->{run}->finish };
$node->start;
my $reserved = spent(1) - $before;
cmp_ok($reserved, '>', $settled, 'a crash leaves what was reserved');
is(sql('SELECT count(*) FROM dpboost_ledger WHERE NOT delivered'), 1, 'and the ledger says so');
cmp_ok(spent(1), '<=', 1, 'nobody has spent more than all');
is(sql(train(0.1)), 'regression', 'and trainings go on');

# ---- what is written, and when ----
# Sizes are seen by everybody, committed or not. So accounts are written last, when nothing can refuse the charge any more.
sub wal_since { return sql("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$_[0]')"); }
sub ledger_waits
{
    my ($condition) = @_;
    return $node->poll_query_until('postgres',
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'dpboost ledger' AND $condition");
}
my $ledger = start_session($node, "BEGIN; LOCK TABLE dpboost.charge_lock IN EXCLUSIVE MODE; SELECT 'locked';\n");
$ledger->{run}->pump until $ledger->{out} =~ /locked/;
my ($whole, $rows) = (spent(1), sql('SELECT count(*) FROM dpboost_ledger'));
my $written = sql('SELECT pg_current_wal_insert_lsn()');
my $refused = start_session($node, train(0.1) . "\n");
ok(ledger_waits("wait_event_type = 'Lock'"), 'a charge waits for the ledger');
cmp_ok(wal_since($written), '<', 12000 * 15, 'and has written no accounts');
sql(q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%dpboost_train_on%' AND pid <> pg_backend_pid()});
$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%dpboost_train_on%' AND pid <> pg_backend_pid()});
$ledger->{in} = "COMMIT;\n\\q\n";
$refused->{in} = "\\q\n";
eval { $_->{run}->finish } for $ledger, $refused;
is(spent(1), $whole, 'who gives up then has paid nothing');

# Charges wait at one of two gates: when they are in the ledger, and when all accounts are written but the last.
sql(q{CREATE TABLE gate (place text);
    CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
        WHILE EXISTS (SELECT FROM public.gate WHERE place = TG_ARGV[0]) LOOP PERFORM pg_sleep(0.02); END LOOP;
        RETURN NULL; END$$;
    CREATE TRIGGER linger AFTER INSERT ON dpboost.ledger FOR EACH ROW EXECUTE FUNCTION linger('ledger');
    CREATE TRIGGER linger AFTER INSERT OR UPDATE ON dpboost.unit_bucket FOR EACH ROW WHEN (NEW.bucket >= 3)
        EXECUTE FUNCTION linger('accounts');});
sub charge_at
{
    my ($gate, $statement) = @_;
    sql("INSERT INTO gate VALUES ('$gate')");
    $written = sql('SELECT pg_current_wal_insert_lsn()');
    my $session = start_session($node, "$statement\n\\q\n");
    ok(ledger_waits("wait_event = 'PgSleep'"), "a charge waits at the gate of the $gate");
    return $session;
}

# Who gives up while accounts are written has paid: what he saw of sizes was not for nothing.
my $gone = charge_at('accounts', "SET dpboost.ledger_timeout = '3s';" . train(0.1));
cmp_ok(wal_since($written), '>', 12000 * 15, 'and has written accounts');
eval { $gone->{run}->finish };
like($gone->{err}, qr/could not confirm the charge/, 'its caller does not know whether he has paid');
sql('DELETE FROM gate');
ok($node->poll_query_until('postgres', "SELECT count(*) = $rows + 1 FROM dpboost_ledger"), 'but he has');
cmp_ok(spent(1), '>', $whole, 'and so has everybody');

# A server that dies just then: the commit is of accounts and ledger, so nobody was charged.
($whole, $rows) = (spent(1), $rows + 1);
for my $gate ('ledger', 'accounts')
{
    my $torn = charge_at($gate, train(0.1));
    cmp_ok(wal_since($written), $gate eq 'ledger' ? '<' : '>', 12000 * 15, 'what is written last are accounts');
    $node->stop('immediate');
    eval { $torn->{run}->finish };
    $node->start;
    sql('DELETE FROM gate');
    is(spent(1), $whole, 'a crash between accounts and commit charges nobody');
    is(sql('SELECT count(*) FROM dpboost_ledger'), $rows, 'and the ledger knows nothing of it');
}
sql('DROP FUNCTION linger() CASCADE; DROP TABLE gate');
is(sql(train(0.1)), 'regression', 'trainings go on');

# Where WAL is compressed, that of accounts is not: it would tell how full their buckets are, which is no noisy count.
sql(q{CREATE TABLE seen (compression text);
    CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
        INSERT INTO public.seen VALUES (current_setting('wal_compression')); RETURN NULL; END$$;
    CREATE TRIGGER look AFTER INSERT OR UPDATE ON dpboost.unit_bucket FOR EACH ROW EXECUTE FUNCTION look();
    ALTER DATABASE postgres SET wal_compression = on;});
isnt(sql('SHOW wal_compression'), 'off', 'WAL is compressed');
sql(train(0.01, $sbdt));
sql("SELECT dpboost_forget_unit('visits', '11999')");
is(sql('SELECT string_agg(DISTINCT compression, \',\') FROM seen'), 'off', 'but not that of accounts');
sql('ALTER DATABASE postgres RESET wal_compression; DROP FUNCTION look() CASCADE; DROP TABLE seen');

# ---- what EXPLAIN counts ----
# Reading accounts tidies up their pages once these are full, a WAL record each: so many that they tell how many there are.
# What a training reads of other tables, which the ledger's worker has changed, is a page or two.
sql(q{CREATE TABLE many AS SELECT i AS id, i % 100 AS x, i % 7 AS y FROM generate_series(1, 150000) i;
    SELECT dpboost_set_domain('many', 'x', 0, 100), dpboost_set_domain('many', 'y', 0, 7);
    SELECT dpboost_protect('many', 1, privacy_unit => 'id', accounting => 'unit');
    ALTER TABLE dpboost.unit_bucket SET (autovacuum_enabled = false);});
sql('SELECT count(*) FROM many');  # with checksums, as 18 has them, the first who reads a page logs it
my $explained = sql(join('', map { q{EXPLAIN (ANALYZE, WAL, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT dpboost_train_on('many', 'many', 'y', 0.001,
    options => '{"method": "sbdt", "trees": 2, "depth": 1}');} } 1 .. 8));
unlike($explained, qr/WAL: records=(?:[3-9]|\d\d)/, 'EXPLAIN counts no WAL of accounts');

# ---- changed meanwhile ----
# The row of the state is locked and then changed by somebody who does not ask for the lock of trainings.
my $rival = start_session($node, "BEGIN; UPDATE dpboost.unit_state SET generation = generation + 1; SELECT 'locked';\n");
$rival->{run}->pump until $rival->{out} =~ /locked/;
my $now  = spent(1);
my $late = start_session($node, train(0.1) . "\n\\q\n");
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity
    WHERE backend_type = 'dpboost ledger' AND wait_event_type = 'Lock'});
$rival->{in} = "COMMIT;\n\\q\n";
$rival->{run}->finish;
$late->{run}->finish;
like($late->{err}, qr/40001/, 'a training whose accounts have changed is refused');
is(spent(1), $now, 'and nothing was charged');
is(sql(train(0.1)), 'regression', 'the next one is not');

# ---- dump and restore ----
sql("SELECT dpboost_forget_unit('visits', '7')");
my @units = (1, 7, 500, 12000, 12001);
my %kept  = map { $_ => spent($_) } @units;
my $dump  = "$PostgreSQL::Test::Utils::tmp_check/units.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'dump');
sql('CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], 'restore');
is(spent($_, 'restored'), $kept{$_}, "unit $_ comes back as spent") for @units;
is(sql(train(0.1), 'restored'), 'regression', 'a training goes on there');
is(spent(7, 'restored'), 1, 'who was forgotten stays so');
unlike(slurp_file($dump), qr/COPY dpboost\.unit_bucket[^;]*;\n[^\\]*\t12000\t/, 'no number of a patient stands in the accounts');

# Accounts that did not come back: nobody is charged, nothing is trained.
sql('DELETE FROM dpboost.unit_bucket WHERE bucket = 0', 'restored');
my ($status, $out, $err) = $node->psql('restored', "\\set VERBOSITY verbose\n" . train(0.1));
like($err, qr/XX001.*damaged or missing/s, 'lost accounts refuse');

$node->stop;
done_testing();
