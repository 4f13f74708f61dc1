# An administrator's slip: a trigger on the totals, and a row of theirs that somebody changes while a charge is under way. The charge
# fails, and the server lives.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;

my $node = start_server('hindered_total', "fsync = off\nautovacuum = off\n", q{
    CREATE TABLE visits AS SELECT i % 100 AS age, i % 100 / 2.0::float8 AS los FROM generate_series(1, 500) i;
    ALTER TABLE visits ADD CHECK (age BETWEEN 0 AND 99), ADD CHECK (los BETWEEN 0 AND 50);
    SELECT dpboost_protect('visits', 10);
    SELECT dpboost_train_on('m', 'visits', 'los', epsilon => 0.1);
    CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
    CREATE TRIGGER pass BEFORE UPDATE ON dpboost.total FOR EACH ROW EXECUTE FUNCTION pass();
});

sub sql { return $node->safe_psql('postgres', shift) }

my $said;
for (1 .. 10)    # a machine that stands still makes the worker give up
{
    my $holder = start_session($node, "BEGIN; SET LOCAL session_replication_role = replica; UPDATE dpboost.total SET spent = spent; SELECT 'locked';\n");
    $holder->{run}->pump until $holder->{out} =~ /locked/;
    $holder->{in} .= q{
        DO $$ BEGIN
            WHILE NOT EXISTS (SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND backend_type = 'dpboost ledger') LOOP
                PERFORM pg_sleep(0.002);
            END LOOP;
        END $$;
        COMMIT;
        \q
    };
    my $training = start_session($node, "SELECT 'trained ' || (dpboost_train_on('m', 'visits', 'los', epsilon => 0.1) ->> 'version');\n\\echo ended\n\\q\n");
    eval { $_->{run}->finish } for $holder, $training;
    $said = $training->{out} . $training->{err};
    last if $said !~ /could not lock the privacy ledger/;
}
unlike($said, qr/trained/, 'a line that was changed meanwhile is not counted on');
unlike($said, qr/terminated|closed the connection/, 'the session lives');
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/terminated by signal/, 'and so does the server');
is(sql('SELECT count(*) FROM dpboost.ledger'), '1', 'nothing was charged');
like(sql(q{SELECT dpboost_train_on('m', 'visits', 'los', epsilon => 0.1) ->> 'version'}), qr/^2$/, 'the next one is');

done_testing();
