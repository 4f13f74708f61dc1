# An administrator who rewrites a table of the catalog, or an upgrade that does, while a charge is under way. PostgreSQL shows a
# table that was rewritten by ALTER TABLE as empty to who looks at it as of a moment before: no charge may.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;

my $node = start_server('rewritten_tables', "fsync = off\nautovacuum = off\n", q{
    CREATE TABLE visits AS SELECT i % 100 AS age, i % 100 / 2.0::float8 AS los FROM generate_series(1, 500) i;
    ALTER TABLE visits ADD CHECK (age BETWEEN 0 AND 99), ADD CHECK (los BETWEEN 0 AND 50);
});

sub sql { return $node->safe_psql('postgres', shift) }

sub wait_for_worker
{
    my ($locked) = @_;
    $node->poll_query_until('postgres',
        "SELECT count(*) > 0 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND backend_type = 'dpboost ledger' AND relation = '$locked'::regclass")
      or die "the ledger worker does not wait for $locked";
}

# What a training of epsilon 1 says while the cap is lowered to 0.1 before the charge, and a table rewritten during it.
sub train_meanwhile
{
    my ($table) = @_;
    my $holder = start_session($node, "BEGIN; LOCK TABLE dpboost.charge_lock; SELECT 'locked';\n");
    $holder->{run}->pump until $holder->{out} =~ /locked/;
    my $training = start_session($node, "SELECT 'trained ' || (dpboost_train_on('m', 'visits', 'los', epsilon => 1) ->> 'version');\n\\echo ended\n");
    wait_for_worker('dpboost.charge_lock');
    sql(q{SELECT dpboost_protect('visits', 0.1)});
    my $owner = start_session($node, "BEGIN; ALTER TABLE dpboost.$table ADD COLUMN note float8 DEFAULT random(); ALTER TABLE dpboost.$table DROP COLUMN note; SELECT 'locked';\n");
    $owner->{run}->pump until $owner->{out} =~ /locked/;
    # The worker waits a second at the most, so this begins before it does.
    $owner->{in} .= qq{
        DO \$\$ BEGIN
            WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'dpboost.$table'::regclass) LOOP
                PERFORM pg_sleep(0.002);
            END LOOP;
        END \$\$;
        COMMIT;
        \\q
    };
    $holder->{in} .= "ROLLBACK;\n\\q\n";
    $holder->{run}->finish;
    $owner->{run}->finish;
    $training->{run}->pump until $training->{out} =~ /ended/;
    $training->{in} .= "\\q\n";
    $training->{run}->finish;
    return $training->{out} . $training->{err};
}

for my $table ('protection', 'relation_name')
{
    my $said;
    for (1 .. 10)    # a machine that stands still makes the worker give up
    {
        sql(q{SELECT dpboost_protect('visits', 10)});
        $said = train_meanwhile($table);
        last if $said !~ /could not lock the privacy ledger/;
    }
    like($said, qr/privacy budget of table "visits" does not allow epsilon 1/, "the cap holds while $table is rewritten");
    is(sql(q{SELECT count(*) FROM dpboost.ledger}), '0', 'nothing was charged');
}

done_testing();
