# pg_dump and restore: budgets come back as spent, with their tables and roles under the names they had when dumped, and
# what is missing at restore gives no right. Oids change on the way and must not matter.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers qw(start_databases sql error_of);

my $node = start_databases('budget_restore');

sub train
{
    my ($role, $model, $relation, $epsilon) = @_;
    return qq{SET ROLE $role; SELECT dpboost_train_on('$model', '$relation', 'cost', epsilon => $epsilon, features => '{age}',
        options => '{"method": "sbdt", "trees": 2, "subsample": 1}') ->> 'version';};
}

sql('postgres', q{CREATE ROLE owner; CREATE ROLE ana; CREATE ROLE carl; CREATE ROLE dora; CREATE DATABASE old OWNER owner;});
sql('old', q{
    CREATE EXTENSION dpboost;
    GRANT CREATE ON SCHEMA public TO owner;
    SET ROLE owner;
    CREATE TABLE visits (id int PRIMARY KEY, age int, cost float8 CHECK (cost BETWEEN 0 AND 1000));
    CREATE TABLE other (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));
    CREATE TABLE doomed (LIKE other INCLUDING ALL);
    INSERT INTO visits SELECT i, i % 100, i FROM generate_series(1, 500) i;
    SELECT dpboost_protect('visits', 1, 1e-6), dpboost_protect('other', 1, 1e-6), dpboost_protect('doomed', 1, 1e-6);
    SELECT dpboost_set_domain('visits', 'age', 0, 99);
    SELECT dpboost_set_budget('visits', r::regrole, 0.5, 1e-6), dpboost_set_budget('other', r::regrole, 0.5, 1e-6),
           dpboost_set_budget('doomed', r::regrole, 0.5, 1e-6)
    FROM unnest('{ana,carl,dora}'::text[]) r;});
sql('old', train('ana', 'a', 'visits', 0.4));
sql('old', train('carl', 'c', 'other', 0.4));
sql('old', train('ana', 'd', 'doomed', 0.4));
sql('old', q{SET ROLE ana; SELECT dpboost_share('a', 'carl');});
# A rename that dpboost has not seen before the dump, and a table that is gone and whose name another one took.
sql('old', q{SET ROLE owner; ALTER TABLE visits RENAME TO "Odd ""name"; DROP TABLE doomed;
             CREATE TABLE doomed (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));});
my $budgets = q{SELECT relation, grantee, epsilon, releases, epsilon_spent FROM dpboost_budgets ORDER BY relation::text, grantee::text};
my $before  = sql('old', $budgets);

# Tables of ours whose next number is taken already.
sub used_up
{
    my ($database) = @_;
    my @numbered = split /\n/, sql($database, q{
        SELECT format('SELECT max(%I) > (SELECT last_value FROM %s) FROM %s', attname, pg_get_serial_sequence(attrelid::regclass::text, attname), attrelid::regclass)
        FROM pg_attribute WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'dpboost'::regnamespace AND relkind = 'r')
        AND pg_get_serial_sequence(attrelid::regclass::text, attname) IS NOT NULL});
    die 'no numbered tables' if @numbered < 8;
    return join ', ', grep { sql($database, $_) eq 't' } @numbered;
}

my $dump = $node->backup_dir . '.dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('old') ], 'pg_dump');

subtest 'restored completely: the same budgets, as spent' => sub {
    # Other oids than in the old database.
    sql('postgres', 'CREATE DATABASE new OWNER owner');
    sql('new', 'CREATE TABLE filler_1 (); CREATE TABLE filler_2 ();');
    $node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr('new'), $dump ], 'pg_restore');
    is(sql('new', $budgets), $before, 'dpboost_budgets');
    is(used_up('new'), '', 'no number will be given twice');
    is(sql('new', q{SELECT count(*) || ' of ' || count(*) FILTER (WHERE delivered) FROM dpboost_ledger}), '3 of 3', 'what was delivered');
    is(sql('new', q{SELECT dpboost_verify() -> 'ok'}), 'true', 'running totals came with the ledger');
    is(sql('new', q{SELECT count(*) FROM dpboost.total}), sql('old', q{SELECT count(*) FROM dpboost.total}), 'all of them');
    like(error_of('new', train('ana', 'a', '"Odd ""name"', 0.4)), qr/53400: privacy budget of role "ana"/, 'spent is spent, under the new name');
    is(sql('new', train('ana', 'a', '"Odd ""name"', 0.1)), '2', 'and what is left can be used');
    is(sql('new', q{SET ROLE carl; SELECT dpboost_predict('a', 40) = dpboost_predict('ana.a', 40)}), 't', 'models, their owners and shares');
    is(sql('new', train('ana', 'fresh', '"Odd ""name"', 0.01)), '1', 'a new name');
    is(sql('new', q{SELECT lower || '-' || upper FROM dpboost.column_domain}), '0-99', 'domains');
    like(error_of('new', train('ana', 'd', 'doomed', 0.1)), qr/42501/, 'a table that took the name of a dropped one gives no right');
    is(sql('new', q{SELECT releases FROM dpboost_budgets WHERE relation = 'doomed'::regclass}), '1', 'but counts what was spent under its name');
};

subtest 'restored without the running totals: counted from the ledger, and made anew by the next charge' => sub {
    sql('postgres', 'CREATE DATABASE bare OWNER owner');
    my ($list) = run_command([ 'pg_restore', '-l', $dump ]);
    my $file = $node->backup_dir . '.bare';
    append_to_file($file, join("\n", grep { !/ TABLE DATA dpboost total / } split /\n/, $list) . "\n");
    $node->command_ok([ 'pg_restore', '-e', '-L', $file, '-d', $node->connstr('bare'), $dump ], 'pg_restore');
    is(sql('bare', q{SELECT count(*) FROM dpboost.total}), '0', 'no totals');
    is(sql('bare', $budgets), $before, 'dpboost_budgets');
    like(error_of('bare', train('ana', 'a', '"Odd ""name"', 0.4)), qr/53400: privacy budget of role "ana"/, 'spent is spent');
    is(sql('bare', train('ana', 'a', '"Odd ""name"', 0.1)), '2', 'what is left can be used');
    is(sql('bare', q{SELECT max(last_release_id) = (SELECT max(release_id) FROM dpboost.ledger) FROM dpboost.total}), 't', 'totals made anew');
    is(sql('bare', q{SELECT dpboost_verify() -> 'ok'}), 'true', 'which equal a full count');
};

subtest 'restored where a role and a table are missing: no budget there, the rest as it was' => sub {
    sql('postgres', 'CREATE DATABASE part OWNER owner; ');
    sql('old', 'REASSIGN OWNED BY carl TO owner; DROP OWNED BY carl');
    sql('new', 'DROP OWNED BY carl');
    sql('postgres', 'DROP ROLE carl');
    my ($list) = run_command([ 'pg_restore', '-l', $dump ]);
    my $file = $node->backup_dir . '.list';
    append_to_file($file, join("\n", grep { !/ other( |_)/ } split /\n/, $list) . "\n");
    $node->command_ok([ 'pg_restore', '-e', '-L', $file, '-d', $node->connstr('part'), $dump ], 'pg_restore');
    is(sql('part', q{SELECT count(*) FROM dpboost_budgets WHERE relation = '"Odd ""name"'::regclass}), '3', 'cap, ana and dora');
    like(error_of('part', train('ana', 'a', '"Odd ""name"', 0.4)), qr/53400/, 'spent is spent');
    is(sql('part', q{SELECT string_agg(DISTINCT full_name, ' ' ORDER BY full_name) FROM dpboost_models}), '!carl.c ana.a ana.d', 'a model whose owner is missing');
    is(sql('part', q{SELECT dpboost_predict('c', 40) = dpboost_predict('carl.c', 40) AND dpboost_predict('c', 40) = dpboost_predict('!carl.c@1', 40)}),
        't', 'superusers reach it');
    like(error_of('part', q{SET ROLE ana; SELECT dpboost_predict('carl.c', 40)}), qr/42501: permission denied for model "carl.c"/, 'others do not');
    # The table comes later, and another carl: neither has rights, both count what was spent.
    sql('part', q{CREATE ROLE carl; SET ROLE owner;
                  CREATE TABLE other (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000));});
    like(error_of('part', train('carl', 'x', 'other', 0.01)), qr/42501: permission denied to train/, 'carl has no right');
    like(error_of('part', train('dora', 'x', 'other', 0.01)), qr/42501: permission denied to train/, 'dora neither');
    like(error_of('part', train('carl', 'c', '"Odd ""name"', 0.01)), qr/42501/, 'nor has carl on a table that was restored');
    like(error_of('part', q{SET ROLE carl; SELECT dpboost_predict('c', 40);}), qr/42704: model "c" does not exist/, 'nor the models of the old carl');
    is(sql('part', q{SET ROLE carl; SELECT dpboost_train('c', '{"epsilon": 1, "bounds": [0, 1]}', true, 0.5) ->> 'version'}), '2', 'nor their versions');
    is(sql('part', q{SELECT epsilon || '|' || releases FROM dpboost_budgets WHERE relation = 'other'::regclass}), '1|1', 'the cap is there, as spent');
    sql('part', q{SET ROLE owner; SELECT dpboost_set_budget('other', 'carl', 0.5, 1e-6)});
    like(error_of('part', train('carl', 'x', 'other', 0.4)), qr/53400: privacy budget of role "carl"/, 'granted again: spent is spent');
    is(sql('part', q{SELECT dpboost_verify() -> 'ok'}), 'true', 'running totals equal a full count');
};

subtest 'dumped a second time: nothing is lost' => sub {
    $node->command_ok([ 'pg_dump', '-Fc', '-f', "$dump.2", '-d', $node->connstr('part') ], 'pg_dump');
    sql('postgres', 'CREATE DATABASE again OWNER owner');
    $node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr('again'), "$dump.2" ], 'pg_restore');
    is(sql('again', $budgets), sql('part', $budgets), 'dpboost_budgets');
};

subtest 'restored where the first owner of a table is missing: the name that it left gives no hold on it' => sub {
    sql('postgres', 'CREATE ROLE contractor; CREATE ROLE eve; CREATE DATABASE left_old OWNER owner; CREATE DATABASE left_new OWNER owner');
    my $table = q{(pid int, age int CHECK (age BETWEEN 0 AND 100), cost float8 CHECK (cost BETWEEN 0 AND 1000))};
    sql('left_old', qq{CREATE EXTENSION dpboost; GRANT ALL ON SCHEMA public TO PUBLIC;
        SET ROLE contractor;
        CREATE TABLE people $table; SELECT dpboost_protect('people', 1, 1e-6, 'pid');
        CREATE TABLE dead $table; SELECT dpboost_protect('dead', 1, 1e-6); DROP TABLE dead;
        RESET ROLE;
        REASSIGN OWNED BY contractor TO owner; DROP OWNED BY contractor;
        SET ROLE owner; ALTER TABLE people RENAME TO people_2025;});
    $node->command_ok([ 'pg_dump', '-Fc', '-f', "$dump.3", '-d', $node->connstr('left_old') ], 'pg_dump');
    sql('postgres', 'DROP ROLE contractor');
    $node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr('left_new'), "$dump.3" ], 'pg_restore');
    is(sql('left_new', q{SELECT count(*) FROM dpboost.relation_name WHERE owner::text = '!contractor'}) > 0, 1, 'the role is missing');
    sql('left_new', "SET ROLE eve; CREATE TABLE people $table; CREATE TABLE dead $table;");
    for my $name ('people', 'dead')
    {
        like(error_of('left_new', "SET ROLE eve; SELECT dpboost_unprotect('$name');"), qr/42704/, "$name: nothing to lift");
        is(sql('left_new', q{SET ROLE eve; SELECT count(*) FROM dpboost_budgets}), '0', "$name: nothing to see");
        sql('left_new', "SET ROLE eve; SELECT dpboost_protect('$name', 100, 1e-3); SELECT dpboost_unprotect('$name');");
    }
    is(sql('left_new', q{SET ROLE owner; SELECT relation, epsilon, privacy_unit FROM dpboost_budgets}), 'people_2025|1|pid', 'cap and unit hold');
    sql('left_new', "DROP TABLE dead; SET ROLE owner; CREATE TABLE dead $table;");
    is(sql('left_new', q{SELECT epsilon FROM dpboost_budgets WHERE relation = 'dead'::regclass}), '1', 'the owner of the database takes over what is dead');
};

$node->stop('immediate');
done_testing();
