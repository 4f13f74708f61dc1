# Tables that differ in one person look alike: a few of the random trainings of test/run/neighbours, and what the progress of
# a long one shows.
use strict;
use warnings;

use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers ();

my $node = PostgreSQL::Test::Cluster->new('neighbours');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\n");
$node->start;

my ($out, $err) = ('', '');
IPC::Run::run(
    [ 'psql', '-Xq', '-v', 'trainings=100', '-v', 'seed=0.3', '-d', $node->connstr('postgres'),
      '-f', "$FindBin::Bin/../neighbours/neighbours.sql" ], '>', \$out, '2>', \$err, IPC::Run::timeout(600));
is($err, '', 'nothing is said but the result');
like($out, qr/^25 pairs, \d+ trained, 0 told apart$/m, 'random trainings') or diag($out);
cmp_ok($out =~ /(\d+) trained/ ? $1 : 0, '>', 3, 'some of which train');  # 58 of 100 do

# Starts a long training on a table, and returns what its progress shows of it.
sub progress
{
    my ($table) = @_;
    my ($in, $seen, $notices) = ("SELECT dpboost_train_on('long', 'near.$table', 'died', 0.1, features => '{age}',
        options => '{\"method\": \"sbdt\", \"trees\": 100000, \"depth\": 7, \"leaf_clip\": 0.05, \"subsample\": 1}');\n", '', '');
    my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SET ROLE near_ana', '-c', $in ],
        '>', \$seen, '2>', \$notices, IPC::Run::timeout(300));
    $session->pump_nb;
    my $shown = "relation = 'near.$table'::regclass, rounds_total FROM dpboost_progress WHERE rounds_done BETWEEN 1 AND rounds_total";
    $node->poll_query_until('postgres', "SELECT count(*) = 1 FROM (SELECT $shown) s") or die 'the training does not run';
    my $progress = $node->safe_psql('postgres', "SELECT $shown");
    $node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM dpboost_progress');
    $session->finish;
    return $progress;
}
$node->safe_psql('postgres', "TRUNCATE near.people_a, near.people_b; SELECT near.add_rows('near.people_b', 1, 1)");
my ($a, $b) = (progress('people_a'), progress('people_b'));
is($a, 't|100000', 'progress of an empty table');
is($b, $a, 'progress with one person');

$node->stop;
done_testing();
