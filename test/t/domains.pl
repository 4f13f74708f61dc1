# Declared domains belong to columns, not to names: they survive a rename, and pg_dump and restore, where the numbers of
# columns change because dropped ones are not dumped.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers ();

my $node = PostgreSQL::Test::Cluster->new('domains');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;

$node->safe_psql('postgres', 'CREATE DATABASE old');
$node->safe_psql('old', q{
    CREATE EXTENSION dpboost;
    CREATE SCHEMA "odd schema";
    CREATE TABLE "odd schema"."odd.table" (gone int, age int, also_gone text, "branch.no" int, seen date, lost int, y boolean);
    SELECT dpboost_set_domain('"odd schema"."odd.table"', 'age', 0, 120, 'log');
    SELECT dpboost_set_domain('"odd schema"."odd.table"', 'branch.no', ARRAY[7, 8]);
    SELECT dpboost_set_domain('"odd schema"."odd.table"', 'seen', '2020-01-01', '2020-12-31');
    SELECT dpboost_set_domain('"odd schema"."odd.table"', 'lost', 0, 1);
    ALTER TABLE "odd schema"."odd.table" DROP COLUMN gone, DROP COLUMN also_gone, DROP COLUMN lost;
    ALTER TABLE "odd schema"."odd.table" RENAME COLUMN age TO "Years";
    ALTER TABLE "odd schema"."odd.table" ADD COLUMN age int;
    ALTER TABLE "odd schema"."odd.table" RENAME TO visits;});
my $columns = q{SELECT column_name, domain FROM dpboost_columns('"odd schema".visits') WHERE column_name <> 'y' ORDER BY 1};
my $expected = join("\n", 'Years|[0, 120, "log"]', 'age|', 'branch.no|["7", "8"]', 'seen|["2020-01-01", "2020-12-31"]');
is($node->safe_psql('old', $columns), $expected, 'domains follow their columns through new names');

my $dump = $node->backup_dir . '/dump.sql';
mkdir $node->backup_dir;
for my $format ('plain', 'custom')
{
    $node->command_ok([ 'pg_dump', '-d', $node->connstr('old'), "--format=$format", '-f', $dump ], "pg_dump, $format");
    $node->safe_psql('postgres', "CREATE DATABASE new_$format");
    if ($format eq 'plain') { $node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr("new_$format"), '-f', $dump ], 'restore'); }
    else { $node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr("new_$format"), $dump ], 'restore'); }
    is($node->safe_psql("new_$format", $columns), $expected, "and through a dump ($format) in which columns get other numbers");
    is($node->safe_psql("new_$format", q{SELECT count(*) FROM dpboost.column_domain WHERE described::text = '!"odd schema".visits.lost'
                                         OR described::text = '!"odd schema"."odd.table".lost'}), '1', 'one whose column is gone describes nothing');
}
$node->stop('immediate');
done_testing();
