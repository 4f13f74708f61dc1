# An owner who moves a limit together with what it depends on, while a charge is under way: a table is given away, whose name leads to the
# limit of another one, which gets a limit of its own. The ledger worker is stopped before it looks for either.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;

my $node = start_server('moved_owner', "fsync = off\nautovacuum = off\n", q{
    CREATE ROLE other;
    CREATE TABLE rows AS SELECT i % 100 AS age, i % 100 / 2.0::float8 AS los FROM generate_series(1, 500) i;
    ALTER TABLE rows ADD CHECK (age BETWEEN 0 AND 99), ADD CHECK (los BETWEEN 0 AND 50);
});

sub sql { return $node->safe_psql('postgres', shift) }

# A table that has no number of its own so far: its name leads to the one of a table that had it before, and to that one's cap.
sub make_table
{
    sql(q{
        DROP TABLE IF EXISTS visits, visits_before;
        CREATE TABLE visits (LIKE rows INCLUDING ALL);
        SELECT dpboost_protect('visits', 10);
        ALTER TABLE visits RENAME TO visits_before;
        CREATE TABLE visits (LIKE rows INCLUDING ALL);
        INSERT INTO visits SELECT * FROM rows;
    });
}

sub wait_for_worker
{
    my ($locked) = @_;
    $node->poll_query_until('postgres',
        "SELECT count(*) > 0 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND backend_type = 'dpboost ledger' AND relation = '$locked'::regclass")
      or die "the ledger worker does not wait for $locked";
}

# What a training of epsilon 1 says while the cap is lowered to 0.1 before the charge, and moved during it.
sub train_meanwhile
{
    my $holder = start_session($node, "BEGIN; LOCK TABLE dpboost.charge_lock; SELECT 'locked';\n");
    $holder->{run}->pump until $holder->{out} =~ /locked/;
    my $training = start_session($node, "SELECT 'trained ' || (dpboost_train_on('m', 'visits', 'los', epsilon => 1) ->> 'version');\n\\echo ended\n");
    wait_for_worker('dpboost.charge_lock');
    sql(q{SELECT dpboost_protect('visits_before', 0.1)});
    my $owner = start_session($node, "BEGIN; REINDEX INDEX dpboost.relation_name_oid; SELECT 'locked';\n");
    $owner->{run}->pump until $owner->{out} =~ /locked/;
    # The worker waits a second at the most, so this begins before it does.
    $owner->{in} .= q{
        DO $$ BEGIN
            WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'dpboost.relation_name_oid'::regclass) LOOP
                PERFORM pg_sleep(0.002);
            END LOOP;
        END $$;
        ALTER TABLE visits_before OWNER TO other;
        SELECT dpboost_protect('visits', 0.1);
        COMMIT;
        \q
    };
    $holder->{in} .= "ROLLBACK;\n\\q\n";
    $holder->{run}->finish;
    $owner->{run}->finish;
    $training->{run}->pump until $training->{out} =~ /ended/;
    $training->{in} .= "\\q\n";
    $training->{run}->finish;
    return $training->{out} . $training->{err};
}

my $said;
for (1 .. 10)    # a machine that stands still makes the worker give up
{
    make_table();
    $said = train_meanwhile();
    last if $said !~ /could not lock the privacy ledger/;
}
like($said, qr/privacy budget of table "visits" does not allow epsilon 1/, 'the cap holds while it is moved');
is(sql(q{SELECT count(*) FROM dpboost.ledger}), '0', 'and nothing was charged');
done_testing();
