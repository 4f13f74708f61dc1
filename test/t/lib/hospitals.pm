# Three hospitals with a server each, their federation, and a coordinator in a database of its own, without rows; and what the tests
# ask them.
package hospitals;
use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use servers qw(start_psql);

our @EXPORT = qw(@names %node %key $hub $servers $train start_hospitals parties at create_federation error_of all_charges
    announced session ask finish);

our @names = qw(charite lmu ukb);
our (%node, %key, $hub);
our $servers = '{"charite": "charite", "lmu": "lmu", "ukb": "ukb"}';
our $train = "SELECT dpboost_train_across('los', 'cardio', 'los', epsilon => 1)";

# People whose stay grows with age; each hospital has its own.
my $people = q{
    CREATE EXTENSION dpboost;
    CREATE TABLE visits (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 100), ward text,
                         los float8 CHECK (los BETWEEN 0 AND 60));
    INSERT INTO visits SELECT i, i * 37 % 101, 'w' || i % 3, i * 37 % 101 / 2.0 FROM generate_series(1, %d) i;
    SELECT dpboost_set_domain('visits', 'ward', ARRAY['w0', 'w1', 'w2']);
    SELECT dpboost_protect('visits', 100, 1e-5, privacy_unit => %s);
    CREATE ROLE study LOGIN PASSWORD 'secret';
    SELECT dpboost_set_budget('visits', 'study', 20, 1e-5);
    CREATE ROLE stranger LOGIN PASSWORD 'secret';
};

sub parties { my %keys = (%key, @_); return '{' . join(', ', map {qq{"$_": "$keys{$_}"}} sort keys %keys) . '}' }

sub at { my ($name, $sql) = @_; return $node{$name}->safe_psql('postgres', $sql) }

sub create_federation
{
    my ($name, $parties, $more) = @_;
    return "SELECT dpboost_create_federation('cardio', '$parties', relation => 'visits', myself => '$name'" . ($more || '') . ')';
}

# What went wrong, with its SQLSTATE.
sub error_of
{
    my ($node, $database, $sql) = @_;
    my ($status, $out, $err) = $node->psql($database, "\\set VERBOSITY verbose\n$sql");
    return $err;
}

sub charges { my ($name) = @_; return at($name, "SELECT count(*) FROM dpboost_ledger WHERE federation IS NOT NULL") }
sub all_charges { return join(' ', map { charges($_) } @names) }

# ---- steps of a coordinator by hand -----------------------------------------------------------------------------------

# The call and the plan of the last release, from a party's log.
sub announced
{
    my $log = slurp_file($node{ukb}->logfile);
    my @found = $log =~ /dpboost_party\.open[^\n]*\n[^\n]*[Pp]arameters: \$1 = 'cardio', \$2 = '(\\x[0-9a-f]+)', \$3 = '(\\x[0-9a-f]+)'/g;
    die 'no announcement in the log' unless @found >= 2;
    return @found[ -2, -1 ];
}

sub session { my ($name) = @_; return start_psql($node{$name}, "SET ROLE study;\nBEGIN ISOLATION LEVEL REPEATABLE READ;\n") }

# What a statement gives, or its error.
sub ask
{
    my ($session, $sql) = @_;
    $session->{out} = $session->{err} = '';
    $session->{in} .= "$sql;\n\\echo done\n";
    $session->{run}->pump until $session->{out} =~ /done\n/;
    $session->{run}->pump_nb;
    my $out = $session->{out};
    $out =~ s/done\n.*//s;
    chomp $out;
    return $session->{err} ne '' ? $session->{err} : $out;
}

sub finish { for my $session (@_) { $session->{in} .= "\\q\n"; $session->{run}->finish } }

sub start_hospitals
{
    for my $name (@names)
    {
        my $node = PostgreSQL::Test::Cluster->new($name);
        $node->init;
        $node->append_conf('postgresql.conf', "fsync = off\nlog_statement = all\nlog_parameter_max_length = -1\nrestart_after_crash = on\n");
        my $hba = $node->data_dir . '/pg_hba.conf';
        my $rules = slurp_file($hba);
        open my $file, '>', $hba or die $!;
        print $file "local all study,stranger scram-sha-256\n$rules";
        close $file;
        $node->start;
        $node->safe_psql('postgres', sprintf($people, $name eq 'charite' ? (3000, 'NULL') : $name eq 'lmu' ? (1500, q('id')) : (1500, 'NULL')));
        $node{$name} = $node;
        $key{$name} = $node->safe_psql('postgres', 'SELECT dpboost_party_key()');
    }
    at($_, create_federation($_, parties())) for @names;

    # The coordinator: a database of its own, without rows.
    $hub = $node{charite};
    $hub->safe_psql('postgres', 'CREATE DATABASE hub');
    $hub->safe_psql('hub', 'CREATE EXTENSION dpboost; CREATE EXTENSION postgres_fdw; CREATE ROLE ana LOGIN;');
    for my $name (@names)
    {
        my ($host, $port) = ($node{$name}->host, $node{$name}->port);
        $hub->safe_psql('hub', qq{
            CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
            GRANT USAGE ON FOREIGN SERVER $name TO ana;
            CREATE USER MAPPING FOR ana SERVER $name OPTIONS (user 'study', password 'secret');
            CREATE USER MAPPING FOR postgres SERVER $name OPTIONS (user 'study', password 'secret');});
    }
    $hub->safe_psql('hub', "SELECT dpboost_create_federation('cardio', '" . parties() . "', servers => '$servers')");
}

1;
