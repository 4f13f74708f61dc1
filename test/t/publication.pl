# CREATE PUBLICATION ... FOR ALL TABLES publishes our tables too. PostgreSQL then refuses UPDATE and DELETE, even of no rows, on
# a table without a primary key; and what we write while somebody drops a table would keep everybody from dropping any.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers ();

my %nodes = map { $_ => PostgreSQL::Test::Cluster->new("publication_$_") } qw(replica logical subscriber);
$nodes{replica}->init;
$nodes{replica}->append_conf('postgresql.conf', "wal_level = replica\n");
$nodes{logical}->init(allows_streaming => 'logical');
$nodes{subscriber}->init(allows_streaming => 'logical');

my $tables = q{
    CREATE ROLE ana;
    CREATE ROLE app;
    CREATE TABLE people (id int PRIMARY KEY, age int, ill boolean);
    CREATE TABLE doomed (id int PRIMARY KEY, age int, ill boolean);};

# Every kind of write to our tables, each with the rights of the one who does it.
my @writes = (
    [ 'DROP TABLE of anybody',  'CREATE TABLE x (); DROP TABLE x' ],
    [ 'a temporary table',      'CREATE TEMP TABLE x (); DROP TABLE x; CREATE TEMP TABLE y () ON COMMIT DROP' ],
    [ 'DROP SCHEMA, DROP VIEW', 'SET client_min_messages = warning; CREATE SCHEMA s; CREATE VIEW s.v AS SELECT 1; CREATE VIEW w AS SELECT 1; DROP SCHEMA s CASCADE; DROP VIEW w' ],
    [ 'protect',                q{SET client_min_messages = warning; SELECT dpboost_protect('people', 50, 1e-6), dpboost_protect('people', 60, 1e-6)} ],
    [ 'set_domain',             q{SELECT dpboost_set_domain('people', 'age', 0, 9), dpboost_set_domain('people', 'age', 0, 99)} ],
    [ 'set_budget',             q{SET client_min_messages = warning; SELECT dpboost_set_budget('people', 'ana', 20, 1e-6), dpboost_set_budget('people', 'ana', 30, 1e-6)} ],
    [ 'the first training',     q{SET ROLE ana; SELECT dpboost_train_on('m', 'people', 'ill', 1)} ],
    [ 'the second',             q{SET ROLE ana; SELECT dpboost_train_on('m', 'people', 'ill', 1)} ],
    [ 'the aggregate',          q{SELECT dpboost_train('a', '{"epsilon": 1}', ill, age) FROM people} ],
    [ 'share',                  q{SET ROLE ana; SELECT dpboost_share('m', 'app'), dpboost_share('m', 'app')} ],
    [ 'prediction',             q{SET ROLE app; SELECT dpboost_predict('ana.m', 30)} ],
    [ 'unshare',                q{SET ROLE ana; SELECT dpboost_unshare('m', 'app')} ],
    [ 'drop of a version',      q{SET ROLE ana; SELECT dpboost_drop_model('m@1')} ],
    [ 'drop of a model',        q{SET ROLE ana; SELECT dpboost_drop_model('m')} ],
    [ 'revoke_budget',          q{SELECT dpboost_revoke_budget('people', 'ana')} ],
    [ 'unprotect',              q{SELECT dpboost_unprotect('people')} ],
    [ 'DROP TABLE with a cap',  q{SELECT dpboost_protect('doomed', 1, 1e-6), dpboost_set_budget('doomed', 'ana', 1, 1e-6); DROP TABLE doomed} ]);

sub write_all
{
    my ($node) = @_;
    for my $write (@writes)
    {
        my ($what, $sql) = @$write;
        my ($status, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 1);
        is("$status $err", '0 ', $what);
    }
    return;
}

my $contents = q{
    SELECT (SELECT string_agg(concat_ws('|', role_name, model, version, epsilon), ', ' ORDER BY release_id) FROM dpboost.ledger),
           (SELECT string_agg(concat_ws('|', owner, name), ', ' ORDER BY name_id) FROM dpboost.model_name),
           (SELECT string_agg(concat_ws('|', name_id, version, md5(content)), ', ' ORDER BY model_id) FROM dpboost.model),
           (SELECT string_agg(concat_ws('|', grantee, epsilon, revoked), ', ' ORDER BY allowance_id) FROM dpboost.allowance),
           (SELECT string_agg(concat_ws('|', described, lower, upper), ', ' ORDER BY column_domain_id) FROM dpboost.column_domain),
           (SELECT count(*) FROM dpboost.charge), (SELECT count(*) FROM dpboost.protection), (SELECT count(*) FROM dpboost.model_grant)};

for my $level (qw(replica logical))
{
    subtest "wal_level = $level" => sub {
        my $node = $nodes{$level};
        $node->start;
        $node->safe_psql('postgres', "CREATE EXTENSION dpboost; $tables;
            INSERT INTO people SELECT i, i % 100, i % 7 = 0 FROM generate_series(1, 100) i;
            CREATE PUBLICATION everything FOR ALL TABLES;");
        is($node->safe_psql('postgres', q{
                SELECT string_agg(relname, ', ') FROM pg_class c WHERE relnamespace = 'dpboost'::regnamespace AND relkind = 'r'
                AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary)}),
            '', 'every table of ours has a primary key');
        if ($level eq 'logical')
        {
            my $subscriber = $nodes{subscriber};
            $subscriber->start;
            $subscriber->safe_psql('postgres', "CREATE EXTENSION dpboost; $tables");
            $subscriber->safe_psql('postgres', sprintf(q{CREATE SUBSCRIPTION everything CONNECTION '%s dbname=postgres' PUBLICATION everything}, $node->connstr));
            $subscriber->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')})
              or die 'the tables are not copied';
        }
        write_all($node);
    };
}

subtest 'a subscriber gets every change' => sub {
    $nodes{logical}->wait_for_catchup('everything');
    my $expected = $nodes{logical}->safe_psql('postgres', $contents);
    like($expected, qr/^ana\|m\|1\|1, ana\|m\|2\|1, .*\|ana\|30\|t.*\|0$/, 'there is something to compare');
    is($nodes{subscriber}->safe_psql('postgres', $contents), $expected, 'the same rows');
};

$_->stop('immediate') for values %nodes;
done_testing();
