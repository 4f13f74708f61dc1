# A library that the server has loaded at its start (shared_preload_libraries) does all that it does otherwise: nothing of it is shared
# between processes that should not be, above all no random numbers and no worker that is kept.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers;

my $node = start_server('preloaded', "shared_preload_libraries = 'dpboost'\nfsync = off\ndpboost.ledger_timeout = '31s'\n", q{
    CREATE TABLE visits (age int CHECK (age BETWEEN 0 AND 99), los float8 CHECK (los BETWEEN 0 AND 50));
    INSERT INTO visits SELECT i % 100, i % 100 / 2.0 FROM generate_series(1, 2000) i;
    SELECT dpboost_protect('visits', 10, 1e-4);
    CREATE ROLE ana;
    SELECT dpboost_set_budget('visits', 'ana', 1, 1e-6);
});

is($node->safe_psql('postgres', 'SHOW dpboost.ledger_timeout'), '31s', 'settings are known from the start');

my $train = "SELECT dpboost_train_on('m', 'visits', 'los', epsilon => 0.1) ->> 'version';\n";

subtest 'trainings' => sub {
    is($node->safe_psql('postgres', "SET ROLE ana;\n" . $train x 2), "1\n2", 'of one session');
    is($node->safe_psql('postgres', "SET ROLE ana;\n$train"), '3', 'of another');
    is($node->safe_psql('postgres', "SET ROLE ana; SELECT dpboost_evaluate('m', 'visits', 'los', epsilon => 0.1) ? 'rmse'"), 't', 'and an evaluation');
    is($node->safe_psql('postgres', 'SELECT count(*), count(*) FILTER (WHERE delivered) FROM dpboost_ledger'), '4|4', 'each charged and delivered');
    is($node->safe_psql('postgres', 'SELECT count(DISTINCT content) FROM dpboost.model'), '3', 'each with noise of its own');
    my ($status, $out, $err) = $node->psql('postgres', "SET ROLE ana;\nSELECT dpboost_train_on('m', 'visits', 'los', epsilon => 2)");
    like($err, qr/privacy budget of/, 'and a limit holds');
};

# Keys are made from random numbers of the process that is asked.
subtest 'keys' => sub {
    my %keys;
    for my $database (qw(one two three))
    {
        $node->safe_psql('postgres', "CREATE DATABASE $database");
        $keys{ $node->safe_psql($database, 'CREATE EXTENSION dpboost; SELECT dpboost_party_key()') } = 1;
    }
    is(scalar keys %keys, 3, 'differ');
};

subtest 'a database can be dropped at once' => sub {
    $node->safe_psql('postgres', 'CREATE DATABASE gone');
    $node->safe_psql('gone', q{CREATE EXTENSION dpboost; CREATE TABLE t (x float8 CHECK (x BETWEEN 0 AND 1), y float8 CHECK (y BETWEEN 0 AND 1));});
    $node->safe_psql('gone', q{SELECT dpboost_train_on('m', 't', 'y', epsilon => 1)});
    is($node->safe_psql('postgres', 'DROP DATABASE gone; SELECT 1'), '1', 'after a training');
};

$node->stop;

done_testing();
