# What the TAP tests share: a server with the extension, and sessions that go on in the background.
package servers;
use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils; # which forgets PGUSER, so it comes first

# Whoever runs the tests: every server's superuser is "postgres", and who connects without a name.
$ENV{PGUSER} = 'postgres';
{
    no warnings 'redefine';
    my $init = \&PostgreSQL::Test::Cluster::init;
    *PostgreSQL::Test::Cluster::init = sub {
        my ($node, %options) = @_;
        $init->($node, %options, extra => [ @{ $options{extra} // [] }, '-U', 'postgres' ]);
    };
    # While a server starts again psql may be gone before it was handed its statement, which IPC::Run takes for the test's end.
    my $poll = \&PostgreSQL::Test::Cluster::poll_query_until;
    *PostgreSQL::Test::Cluster::poll_query_until = sub {
        my @arguments = @_;
        for (1 .. 1800)
        {
            my $seen = eval { $poll->(@arguments) };
            return $seen if !$@;
            die $@       if $@ !~ /Broken pipe/;
            select(undef, undef, undef, 0.1);
        }
        return 0;
    };
}

our @EXPORT = qw(start_server start_psql start_session);
our @EXPORT_OK = qw(start_databases sql error_of);

# start_server(NAME, SETTINGS, SQL, OPTIONS of init): a new server that runs, with the extension and what the statements make.
sub start_server
{
    my ($name, $settings, $statements, %options) = @_;
    my $node = PostgreSQL::Test::Cluster->new($name);
    $node->init(%options);
    $node->append_conf('postgresql.conf', $settings);
    $node->start;
    $node->safe_psql('postgres', "CREATE EXTENSION dpboost;\n$statements");
    return $node;
}

# start_databases(NAME): an empty server for tests with several databases. sql(DATABASE, STATEMENTS) tells what they gave there, and
# error_of(DATABASE, STATEMENTS) what went wrong, with its SQLSTATE.
my $server;

sub start_databases
{
    my ($name) = @_;
    $server = PostgreSQL::Test::Cluster->new($name);
    $server->init;
    $server->append_conf('postgresql.conf', "fsync = off\n");
    $server->start;
    return $server;
}

sub sql
{
    my ($database, $statements) = @_;
    return $server->safe_psql($database, $statements);
}

sub error_of
{
    my ($database, $statements) = @_;
    my ($status, $out, $err) = $server->psql($database, "\\set VERBOSITY verbose\n" . $statements);
    return $err;
}

# start_psql(NODE, STATEMENTS, role => NAME, timeout => SECONDS): a session with `in`, `out`, `err` and its process `run`,
# which gets the statements when it is pumped.
sub start_psql
{
    my ($node, $statements, %options) = @_;
    my %session = (out => '', err => '', in => $statements);
    my $user = $options{role} ? " user=$options{role}" : '';
    $session{run} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres') . $user ],
        '<', \$session{in}, '>', \$session{out}, '2>', \$session{err}, IPC::Run::timeout($options{timeout} || 300));
    return \%session;
}

# The same, after it has got the statements.
sub start_session
{
    my $session = start_psql(@_);
    $session->{run}->pump while length $session->{in};
    return $session;
}

1;
