# What the TAP tests share: a server with the extension, and sessions that go on in the background.
package servers;
use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;

our @EXPORT = qw(start_server start_psql start_session);

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

# start_psql(NODE, STATEMENTS, role => NAME, timeout => SECONDS): a session with `in`, `out`, `err` and its process `run`,
# which gets the statements when it is pumped.
sub start_psql
{
    my ($node, $statements, %options) = @_;
    my %session = (out => '', err => '', in => $statements);
    my $user = $options{role} ? " user=$options{role}" : '';
    $session{run} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres') . $user ],
        '<', \$session{in}, '>', \$session{out}, '2>', \$session{err}, IPC::Run::timeout($options{timeout} || 60));
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
