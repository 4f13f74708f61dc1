# What a training relied on is looked at again when it is charged: which tables are protected, and which view's owner
# vouches for what is behind it.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;

my $node = start_server('privacy_units', "fsync = off\n", q{
    CREATE DOMAIN share AS float8 CHECK (VALUE BETWEEN 0 AND 1);
    CREATE TABLE visits (id int PRIMARY KEY, patient int, doctor int, x share, y boolean);
    CREATE TABLE doctors (id int PRIMARY KEY, age int);
    CREATE VIEW joined AS SELECT v.patient, v.x, v.y FROM visits v JOIN doctors d ON d.id = v.doctor;
    CREATE VIEW totals AS SELECT patient, avg(x)::share AS x, bool_or(y) AS y FROM visits GROUP BY patient;
    SELECT dpboost_protect('visits', 100, 1e-6, 'patient'), dpboost_protect('totals', 100, 1e-6, 'patient');
});

sub sql { return $node->safe_psql('postgres', shift) }

# Trains while the ledger is locked, runs a statement in between, and returns what the training ended with.
sub train_meanwhile
{
    my ($relation, $statement) = @_;
    my $holder = start_session($node, "BEGIN; LOCK TABLE dpboost.charge_lock; SELECT 'locked';\n");
    $holder->{run}->pump until $holder->{out} =~ /locked/;
    my $training = start_session($node, qq{SELECT 'version ' || (dpboost_train_on('m', '$relation', 'y', epsilon => 0.1, features => '{x}',
        options => '{"method": "sbdt", "trees": 2, "subsample": 1}') ->> 'version');\n\\q\n});
    $node->poll_query_until('postgres',
        q{SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'dpboost ledger' AND wait_event_type = 'Lock'})
      or die 'the ledger worker does not come';
    sql($statement);
    $holder->{in} .= "ROLLBACK;\n\\q\n";
    $holder->{run}->finish;
    $training->{run}->finish;
    return $training->{out} . $training->{err};
}

like(train_meanwhile('joined', 'SELECT 1'), qr/version 1/, 'nothing changes: trained');
like(train_meanwhile('joined', q{SELECT dpboost_protect('doctors', 100, 1e-6, accept_earlier => true)}),
    qr/55000: table "doctors" is protected and not read row by row/, 'the joined table is protected meanwhile');
like(train_meanwhile('visits', q{SELECT dpboost_set_budget('doctors', 'postgres', 100, 1e-6)}), qr/version 2/, 'a table that is not read');
sql(q{SELECT dpboost_unprotect('doctors')});
like(train_meanwhile('joined', q{SELECT dpboost_set_budget('doctors', 'postgres', 100, 1e-6)}),
    qr/55000: table "doctors" is protected and not read row by row/, 'by a budget of the role that trains');
sql(q{SELECT dpboost_unprotect('doctors')});
like(train_meanwhile('totals', 'SELECT 1'), qr/version 3/, 'a view whose owner vouches for it');
like(train_meanwhile('totals', q{SELECT dpboost_unprotect('totals')}), qr/55000: table "visits" protects all rows of one "patient" together/,
    'he takes it back meanwhile');
sql(q{SELECT dpboost_protect('totals', 100, 1e-6, 'patient')});
like(train_meanwhile('visits', q{SELECT dpboost_protect('visits', 100, 1e-6, 'doctor', accept_earlier => true)}),
    qr/55000: table "visits" protects all rows of one "doctor" together/, 'another unit');
is(sql('SELECT count(*) FROM dpboost.ledger'), '3', 'what was refused was not charged');

$node->stop;
done_testing();
