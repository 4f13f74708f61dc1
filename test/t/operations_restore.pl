# pg_dump and restore of what an owner's every day is made of: populations come back with their tables and with all that
# was ever charged to them, and a database that comes back without one refuses; the history of limits, alerts and windows
# of budgets that renew come back as they were, and stay append-only.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers qw(start_databases sql error_of);

my $node = start_databases('operations_restore');

sub train
{
    my ($role, $relation, $epsilon) = @_;
    return qq{SET ROLE $role; SELECT dpboost_train_on('m', '$relation', 'cost', epsilon => $epsilon, features => '{age}',
        options => '{"method": "sbdt", "trees": 2, "subsample": 1}') ->> 'version';};
}

sql('postgres', q{CREATE ROLE owner; CREATE ROLE ana; CREATE DATABASE old OWNER owner;});
sql('old', q{
    CREATE EXTENSION dpboost;
    GRANT CREATE ON SCHEMA public TO owner;
    SET ROLE owner;
    CREATE TABLE visits (id int PRIMARY KEY, person int, age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
    INSERT INTO visits SELECT i, i % 50, i % 100, i FROM generate_series(1, 200) i;
    CREATE TABLE labs (LIKE visits INCLUDING ALL);
    CREATE TABLE gone (LIKE visits INCLUDING ALL);
    CREATE TABLE left_it (LIKE visits INCLUDING ALL);
    SELECT dpboost_create_population('patients', 1);
    SELECT dpboost_protect(t, population => 'patients', privacy_unit => 'person')
    FROM unnest('{visits,labs,gone,left_it}'::regclass[]) t;
    SELECT dpboost_set_budget('visits', 'ana', 5), dpboost_set_budget('labs', 'ana', 5, renew => '1 month');
    SELECT dpboost_set_alert(population => 'patients', part_remaining => 0.9);
    SELECT dpboost_set_alert('visits', 0.5, grantee => 'ana');});
my ($status, $heard, $notice) = $node->psql('old', 'LISTEN dpboost_budget; ' . train('ana', 'visits', 0.4) . 'SELECT pg_sleep(0.1);');
like($heard, qr/Asynchronous notification "dpboost_budget" received from/, 'whoever listens is told');
unlike($heard, qr/with payload/, 'and not what');
like($notice, qr/less than 90 % of the privacy budget of population "patients" is left/, 'whoever trains is told what');
sql('old', train('owner', 'gone', 0.4));
sql('old', train('owner', 'left_it', 0.4));
sql('old', q{SET ROLE owner; DROP TABLE gone; SELECT dpboost_unprotect('left_it'); ALTER TABLE visits RENAME TO "Odd visits";});
my $budgets = q{SELECT relation, population, grantee, epsilon, releases, epsilon_spent, privacy_unit FROM dpboost_budgets
    ORDER BY population, relation::text NULLS FIRST, grantee::text};
my $tables = q{SELECT population, owner, relation, privacy_unit, belongs FROM dpboost_populations ORDER BY relation};
my $history = q{SELECT change_id, changed_at, role, change, relation, population, grantee, epsilon, renew FROM dpboost_limit_history ORDER BY change_id};
my $alerts = q{SELECT relation, population, grantee, part_remaining, raised_at, release_id, times FROM dpboost_alerts ORDER BY population, grantee};
my $renewal = q{SELECT renew, renew_from FROM dpboost.allowance ORDER BY allowance_id};
my %kept = map { $_ => sql('old', $_) } $history, $alerts, $renewal;
like($kept{$alerts}, qr/^\|patients\|\|0\.9\|2.*\|1\|1$/m, 'the first release raised an alert, once');
my $before = sql('old', $budgets);
my $tables_before = sql('old', $tables);
like($before, qr/^\|patients\|\|1\|3\|/m, 'three releases count, of a table that was dropped and of one that left as well');

my $dump = $node->backup_dir . '.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('old') ], 'pg_dump');

subtest 'restored completely' => sub {
    sql('postgres', 'CREATE DATABASE new OWNER owner');
    sql('new', 'CREATE TABLE filler_1 (); CREATE TABLE filler_2 ();');
    $node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr('new'), $dump ], 'pg_restore');
    is(sql('new', $budgets), $before, 'dpboost_budgets');
    is(sql('new', $tables), $tables_before, 'dpboost_populations');
    is(sql('new', $_), $kept{$_}, $_) for $history, $alerts, $renewal;
    like(error_of('new', 'DELETE FROM dpboost.limit_history'), qr/cannot be changed/, 'the history is append-only');
    like(error_of('new', 'TRUNCATE dpboost.alert_raised'), qr/cannot be changed/, 'what was raised as well');
    sql('new', q{SELECT dpboost_alter_population('patients', 1)});
    is(sql('new', q{SELECT count(*) = count(DISTINCT limit_history_id) AND max(limit_history_id) = count(*) FROM dpboost.limit_history}), 't', 'and goes on');
    like(error_of('new', train('ana', 'labs', 0.9)), qr/population "patients"/, 'the cap holds over what was spent before the dump');
    is(sql('new', train('ana', 'labs', 0.2)), '2', 'what fits is trained');
    is(sql('new', q{SET ROLE owner; SELECT releases FROM dpboost_budgets WHERE population = 'patients' AND relation IS NULL}), '4', 'and counts');
    is(sql('new', q{SELECT dpboost_verify() ->> 'ok'}), 'true', 'totals agree with the ledger');
};

subtest 'without the owner of the population' => sub {
    sql('postgres', 'CREATE DATABASE alone');
    my $list = $node->backup_dir . '.alone.sql';
    $node->command_ok([ 'pg_restore', '-f', $list, $dump ], 'as a script');
    sql('old', q{REASSIGN OWNED BY owner TO postgres; DROP OWNED BY owner;});
    sql('new', q{REASSIGN OWNED BY owner TO postgres; DROP OWNED BY owner;});
    sql('postgres', 'ALTER DATABASE old OWNER TO postgres; ALTER DATABASE new OWNER TO postgres; DROP ROLE owner;');
    $node->psql('alone', "\\i $list", on_error_stop => 0);
    is(sql('alone', q{SELECT population, releases FROM dpboost_budgets WHERE relation IS NULL}), 'patients|3', 'its cap is there');
    like(error_of('alone', q{SET ROLE ana; SELECT dpboost_alter_population('patients', 100)}), qr/must be owner/, 'nobody raises it');
    like(error_of('alone', train('postgres', '"Odd visits"', 0.9)), qr/population "patients"/, 'and it holds');
};

subtest 'a population that is lost sets nothing free' => sub {
    sql('new', q{DELETE FROM dpboost.population});
    like(error_of('new', train('postgres', 'labs', 0.01)), qr/not in dpboost's catalog/, 'trainings are refused');
};

$node->stop;
done_testing();
