# Three hospitals with a server each train one model together: what each ledger says, and what a coordinator cannot do.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use hospitals;

start_hospitals();

subtest 'a training' => sub {
    my $result = $hub->safe_psql('hub', "SET ROLE ana; $train");
    like($result, qr/"parties": \["charite", "lmu", "ukb"\]/, 'all parties took part');
    is(all_charges(), '1 1 1', 'each party is charged once');
    is(at($_, "SELECT role || ' ' || epsilon || ' ' || (federation ->> 'federation') FROM dpboost_ledger"), 'study 1 cardio', "ledger of $_")
        for @names;
    my %sessions = map { at($_, "SELECT federation ->> 'session' FROM dpboost_ledger") => 1 } @names;
    $sessions{ $hub->safe_psql('hub', "SELECT federation ->> 'session' FROM dpboost_ledger") } = 1;
    is(scalar(keys %sessions), 1, 'one session in all ledgers');
    my $rmse = $hub->safe_psql('hub', "SET ROLE ana; SELECT sqrt(avg((dpboost_predict('los', age, 'w0') - age / 2.0) ^ 2)) FROM generate_series(0, 100) age");
    cmp_ok($rmse, '<', 5, 'it predicts');
    note("RMSE $rmse");
};


# ---- a coordinator who is a party's enemy: steps by hand ----------------------------------------------------------------

my ($call, $plan) = announced();

sub open_at { my ($session, $c, $p) = @_; return ask($session, "SELECT dpboost_party.open('cardio', '" . ($c || $call) . "', '" . ($p || $plan) . "')") }
sub join_at { my ($session, @openings) = @_; return ask($session, "SELECT dpboost_party.join(ARRAY['" . join("', '", @openings) . "']::bytea[])") }

sub sums { my ($answer) = @_; return unpack('q<*', substr(pack('H*', substr($answer, 2)), 33)) }

sub added
{
    use integer;
    my @total;
    for my $answer (@_) { my @sums = sums($answer); $total[$_] += $sums[$_] for 0 .. $#sums }
    return @total;
}
sub bytes_of { return '\x' . unpack('H*', pack('q<*', @_)) }

subtest 'rounds by hand: once each, in order, and a lie about a total ends in noise' => sub {
    my $before = all_charges();
    my %s = map { $_ => session($_) } @names;
    is(ask($s{ukb}, "SELECT dpboost_party.round(1, NULL)") =~ /no federated training has begun/, 1, 'no round without an opening');
    finish($s{ukb});
    $s{ukb} = session('ukb');
    my @openings = map { open_at($s{$_}) } @names;
    like(ask($s{ukb}, 'SAVEPOINT s; SELECT dpboost_party.charge(); ROLLBACK TO s'), qr/out of order/, 'no charge before all have joined');
    like(ask($s{ukb}, 'SAVEPOINT s; SELECT dpboost_party.round(1, NULL); ROLLBACK TO s'), qr/out of order/, 'no answer before the charge');
    is(join_at($s{$_}, @openings), '', "$_ joins") for @names;
    like(ask($s{ukb}, 'SAVEPOINT s; SELECT dpboost_party.round(1, NULL); ROLLBACK TO s'), qr/out of order/, 'still none');
    is(all_charges(), $before, 'nothing is charged so far');
    ask($s{$_}, 'SELECT dpboost_party.charge()') for @names;
    is(all_charges(), join(' ', map { $_ + 1 } split / /, $before), 'charged before the first answer');
    like(ask($s{ukb}, 'SAVEPOINT s; SELECT dpboost_party.charge(); ROLLBACK TO s'), qr/out of order/, 'and once');
    my @first = map { ask($s{$_}, 'SELECT dpboost_party.round(1, NULL)') } @names;
    my @total = added(@first);
    ok((grep { abs($_) < 2**55 } @total) == @total, 'the sum of all answers is a sum');
    note(scalar(@total) . ' sums');
    # Of 13 uniform numbers of 64 bits each is that small once in 256: seven of them less than once in 10^13.
    for my $answers ([ @first[ 0, 1 ] ], [ @first[ 1, 2 ] ], [ $first[0] ])
    {
        my @part = added(@$answers);
        ok((grep { abs($_) >= 2**55 } @part) > 0.5 * @part, 'all but one say nothing');
    }
    like(ask($s{ukb}, 'SAVEPOINT s; SELECT dpboost_party.round(1, NULL); ROLLBACK TO s'), qr/Each event is answered once/, 'a round asked twice');
    like(ask($s{ukb}, "SAVEPOINT s; SELECT dpboost_party.round(3, '" . bytes_of(@total) . "'); ROLLBACK TO s"), qr/Each event is answered once/, 'a round left out');
    like(ask($s{ukb}, "SAVEPOINT s; SELECT dpboost_party.round(2, '\\x00'); ROLLBACK TO s"), qr/another number of sums/, 'a total of another size');
    my @lie = @total;
    $lie[0]++;
    my @second = map { ask($s{$_}, "SELECT dpboost_party.round(2, '" . bytes_of($_ eq 'ukb' ? @lie : @total) . "')") } @names;
    my @noise = added(@second);
    note(scalar(@noise) . ' sums');
    ok((grep { abs($_) >= 2**55 } @noise) > 0.5 * @noise, 'a total that is off by one for one party: from then on there is no sum');
    finish(values %s);
};

subtest 'openings: of exactly the parties, for one call, from this session' => sub {
    my $before = all_charges();
    my ($old) = map { my $s = session($_); my $opening = open_at($s); finish($s); $opening } 'lmu';
    my %s = map { $_ => session($_) } @names;
    my @openings = map { open_at($s{$_}) } @names;
    like(open_at($s{ukb}), qr/has begun in this transaction already/, 'one training in a transaction');
    finish($s{ukb});
    $s{ukb} = session('ukb');
    $openings[2] = open_at($s{ukb});
    like(join_at($s{ukb}, @openings[ 1, 2 ]), qr/"charite".*\n.*It has not opened/, 'a party left out');
    finish($s{ukb});
    $s{ukb} = session('ukb');
    $openings[2] = open_at($s{ukb});
    my $replayed = join_at($s{lmu}, $openings[0], $old, $openings[2]);
    like($replayed, qr/not the one that it made/, 'an opening of an earlier session');
    is(join_at($s{charite}, @openings), '', 'the others join');
    finish($s{lmu});
    $s{lmu} = session('lmu');
    my $other = open_at($s{lmu}, undef, $plan);
    is(join_at($s{ukb}, $openings[0], $other, $openings[2]), '', 'an opening of another transaction makes another session');
    finish(values %s);
    is(all_charges(), $before, 'nothing was charged');
};

subtest 'a coordinator who ends statements, savepoints and transactions' => sub {
    my $before = all_charges();
    my %s = map { $_ => session($_) } @names;
    my @openings = map { open_at($s{$_}) } @names;
    for my $set ("'$openings[0]', '$openings[1]', '$openings[2]', NULL", "'$openings[0]', '$openings[1]', '$openings[1]'", '')
    {
        my $own = session('ukb');
        my $mine = open_at($own);
        (my $with = $set) =~ s/\Q$openings[2]\E/$mine/;
        like(ask($own, "SELECT dpboost_party.join(ARRAY[$with]::bytea[])"), qr/ERROR/, 'openings with a hole, twice the same, or none');
        finish($own);
    }
    is(join_at($s{$_}, @openings), '', "$_ joins") for @names;
    ask($s{$_}, 'SAVEPOINT s; SELECT dpboost_party.charge(); ROLLBACK TO s') for @names;
    is(all_charges(), join(' ', map { $_ + 1 } split / /, $before), 'a charge outlives its savepoint');
    for my $never (-1, 0, '9223372036854775807')
    {
        like(ask($s{ukb}, "SAVEPOINT s; SELECT dpboost_party.round($never, NULL); ROLLBACK TO s"), qr/out of order/, "there is no event $never");
    }
    like(ask($s{ukb}, "SAVEPOINT s; SELECT dpboost_party.round(1, '\\x0000000000000000'); ROLLBACK TO s"), qr/no total before the first event/, 'nor a total before the first');
    # An answer that was made and lost is not made again.
    like(ask($s{ukb}, "SAVEPOINT s; SET LOCAL statement_timeout = '2s'; SELECT dpboost_party.round(1, NULL), pg_sleep(60); ROLLBACK TO s"), qr/statement timeout/, 'a round is cut off');
    my $again = ask($s{ukb}, 'SAVEPOINT s; SELECT dpboost_party.round(1, NULL); ROLLBACK TO s');
    like($again, qr/Each event is answered once/, 'and is not answered again');
    # Nor does anything of a session outlive its transaction.
    my $round = qr/no federated training has begun/;
    ask($s{lmu}, 'ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ');
    like(ask($s{lmu}, 'SELECT dpboost_party.round(1, NULL)'), $round, 'no round after a rollback');
    ask($s{charite}, 'COMMIT; BEGIN ISOLATION LEVEL REPEATABLE READ');
    like(ask($s{charite}, 'SELECT dpboost_party.round(1, NULL)'), $round, 'nor after a commit');
    finish(values %s);
    is(all_charges(), join(' ', map { $_ + 1 } split / /, $before), 'nothing more is charged');
    # Who ends it before the charge leaves nothing behind: no segment of shared memory, about which PostgreSQL would warn.
    for my $end ('COMMIT', 'ROLLBACK', 'SAVEPOINT s; ROLLBACK TO s; COMMIT')
    {
        %s = map { $_ => session($_) } @names;
        @openings = map { open_at($s{$_}) } @names;
        is(join_at($s{ukb}, @openings), '', 'joins');
        is(ask($s{ukb}, $end), '', "not charged: $end");
        is(ask($s{ukb}, 'BEGIN; SELECT 1; COMMIT'), '1', 'and the session goes on');
        finish(values %s);
    }
    is(all_charges(), join(' ', map { $_ + 1 } split / /, $before), 'nor without a charge');
};

subtest 'another call or plan than the others have' => sub {
    my $before = all_charges();
    $hub->safe_psql('hub', "SELECT dpboost_train_across('los', 'cardio', 'los', epsilon => 0.5)");
    my ($other_call, $other_plan) = announced();
    my %s = map { $_ => session($_) } @names;
    my @openings = (open_at($s{charite}), open_at($s{lmu}), open_at($s{ukb}, $other_call, $other_plan));
    like(join_at($s{charite}, @openings), qr/"ukb".*\n.*another roster, call, plan or version/, 'a swapped call');
    finish(values %s);
    my $s = session('ukb');
    like(open_at($s, $other_call, $plan), qr/noise does not suffice/, 'a plan with too little noise for its epsilon');
    finish($s);
    $s = session('ukb');
    like(open_at($s, $call, '\x00'), qr/ERROR/, 'bytes that are no plan');
    finish($s);
    $s = session('ukb');
    like(open_at($s, '\x00', $plan), qr/wrong shape/, 'bytes that are no call');
    finish($s);
    is(all_charges(), join(' ', map { $_ + 1 } split / /, $before), 'only the training was charged');
};

subtest 'what is not one transaction on one table' => sub {
    my $before = all_charges();
    my $s = session('ukb');
    ask($s, 'SAVEPOINT s');
    like(open_at($s), qr/cannot begin in a subtransaction/, 'a subtransaction');
    finish($s);
    my %s = map { $_ => session($_) } @names;
    my @openings = map { open_at($s{$_}) } @names;
    ask($s{ukb}, 'RESET ROLE; ALTER TABLE visits ALTER los TYPE numeric; SET ROLE study');
    like(join_at($s{ukb}, @openings), qr/has changed since it was opened/, 'a table that its owner alters in between');
    finish(values %s);
    is(all_charges(), $before, 'nothing is charged');
};

# ---- rights, budgets and keys ---------------------------------------------------------------------------------------------

# Runs a training that must fail, and says how; checks that it charged nobody.
sub refused
{
    my ($what, $expected) = @_;
    my $before = all_charges();
    like(error_of($hub, 'hub', $train), $expected, $what);
    is(all_charges(), $before, "$what: nothing is charged");
}

subtest 'rights, budgets and keys' => sub {
    at('ukb', "SELECT dpboost_set_budget('visits', 'study', 0.5, 1e-5)");
    refused('a budget used up at one party', qr/ERROR:  53400: .*budget.*CONTEXT:.*party "ukb"/s);
    at('ukb', "SELECT dpboost_set_budget('visits', 'study', 20, 1e-5)");

    $hub->safe_psql('hub', "ALTER USER MAPPING FOR postgres SERVER lmu OPTIONS (SET user 'stranger')");
    refused('a role without a budget', qr/ERROR:  42501: .*CONTEXT:.*party "lmu"/s);
    $hub->safe_psql('hub', "ALTER USER MAPPING FOR postgres SERVER lmu OPTIONS (SET user 'study')");

    my $forged = 'dpbk1:' . ('ab' x 32);
    at('lmu', "SELECT dpboost_drop_federation('cardio')");
    at('lmu', create_federation('lmu', parties(ukb => $forged)));
    refused('another key pinned at one party', qr/another roster, call, plan or version/);
    at('lmu', "SELECT dpboost_drop_federation('cardio')");
    at('lmu', create_federation('lmu', parties(), ', max_colluding => 2'));
    refused('another number of colluding parties', qr/another roster, call, plan or version/);
    at('lmu', "SELECT dpboost_drop_federation('cardio')");
    refused('a party without the federation', qr/federation "cardio" does not exist/);
    at('lmu', create_federation('lmu', parties()));

    $hub->safe_psql('hub', "SELECT dpboost_drop_federation('cardio')");
    $hub->safe_psql('hub', "SELECT dpboost_create_federation('cardio', '" . parties(zoo => $forged) . "',
        servers => '{\"charite\": \"charite\", \"lmu\": \"lmu\", \"ukb\": \"ukb\", \"zoo\": \"ukb\"}')");
    refused('a coordinator with one more party', qr/another roster, call, plan or version|opened twice|cannot train together/);
    $hub->safe_psql('hub', "SELECT dpboost_drop_federation('cardio')");
    $hub->safe_psql('hub', "SELECT dpboost_create_federation('cardio', '" . parties() . "', servers => '$servers')");

    like(error_of($hub, 'hub', "SET ROLE ana; SELECT dpboost_create_federation('mine', '" . parties() . "', servers => '$servers')"),
        qr/42501: must be owner of the database/, 'an analyst sets up no federation');
    like(error_of($node{ukb}, 'postgres', create_federation('lmu', parties())), qr/the key of party "lmu" is not this database's/, 'a party by another name');
    like(error_of($node{ukb}, 'postgres', 'SET ROLE study; TABLE dpboost.party_key'), qr/permission denied/, 'the secret half is for nobody');
    is($hub->safe_psql('hub', "SET ROLE ana; SELECT string_agg(party, ' ' ORDER BY party) FROM dpboost_federations WHERE max_colluding = 1"),
        'charite lmu ukb', 'the view');

    my $estimate = $hub->safe_psql('hub', "SELECT string_agg(key || ' ' || (value -> 'fits'), ', ' ORDER BY key) FROM jsonb_each(dpboost_estimate_across('cardio', 'los', epsilon => 1) -> 'parties')");
    is($estimate, 'charite true, lmu true, ukb true', 'an estimate');
    like(error_of($hub, 'hub', "SELECT dpboost_train_across('los', 'cardio', 'los', epsilon => 1, options => '{\"method\": \"dp_xgb\"}')"),
        qr/0A000: only Gaussian noise can be shared.*HINT:  Use method "auto"/s, 'a method whose noise cannot be shared');
};

subtest 'methods' => sub {
    my @charged = split / /, all_charges();
    for my $method (qw(sbdt adassp adassp_logistic dp_tr dp_tr_ih dp_tr_batch dp_ebm dp_rf dp_pr feverless))
    {
        my $small = $method =~ /adassp/ ? '"rounds": 10' : '"trees": 10';
        my $task = $method =~ /logistic/ ? ', "task": "classification", "positive": 10' : '';
        like($hub->safe_psql('hub', "SELECT dpboost_train_across('$method', 'cardio', 'los', epsilon => 0.1, options => '{\"method\": \"$method\", $small$task}')"),
            qr/"method": "$method"/, $method);
    }
    like($hub->safe_psql('hub', "SELECT dpboost_train_across('filter', 'cardio', 'los', epsilon => 0.1, options => '{\"method\": \"sbdt\", \"trees\": 10, \"extra_rounds\": 5}')"),
        qr/"method": "sbdt"/, 'sbdt with a filter');
    at($_, 'ALTER TABLE visits ADD dose float8; UPDATE visits SET dose = id') for @names;
    like($hub->safe_psql('hub', "SELECT dpboost_train_across('found', 'cardio', 'los', epsilon => 0.1, options => '{\"bounds\": \"private\"}')"),
        qr/"features": 3/, 'ranges that are found');
    at($_, 'ALTER TABLE visits DROP dose') for @names;
    $_ += 12 for @charged;
    is(all_charges(), "@charged", 'each charged once');
};

subtest 'a party whose persons have accounts' => sub {
    my $part = sub { at('ukb', "SELECT (dpboost_unit_budget('visits', '7') ->> 'part_spent')::float8") };
    at('ukb', q{SELECT dpboost_protect('visits', 100, 1e-5, privacy_unit => 'id', accounting => 'unit', accept_earlier => true)});
    my $start = $part->();
    my $before = all_charges();
    like($hub->safe_psql('hub', $train), qr/"parties"/, 'a training');
    my $whole = $part->();
    cmp_ok($whole, '>', $start, 'a person pays the whole training');
    my $sbdt = $train =~ s/\)$/, options => '{"method": "sbdt", "trees": 20, "gradient_clip": 10}')/r;
    like($hub->safe_psql('hub', $sbdt), qr/"parties"/, 'by rounds');
    my $settled = $part->();
    cmp_ok($settled, '>', $whole, 'a person pays for what trees have learned from it');

    # The same training by hand, broken off when all have paid: what was reserved stays.
    my ($call, $plan) = announced();
    my %s = map { $_ => session($_) } @names;
    my @openings = map { open_at($s{$_}, $call, $plan) } @names;
    is(join_at($s{$_}, @openings), '', "$_ joins") for @names;
    ask($s{$_}, 'SELECT dpboost_party.charge()') for @names;
    finish(values %s);
    my $reserved = $part->();
    cmp_ok($reserved - $settled, '>', 1.5 * ($settled - $whole), 'settled at the end of a session, else reserved');
    note("$start $whole $settled $reserved");
    is(all_charges(), join(' ', map { $_ + 3 } split / /, $before), 'ledgers count releases as before');
};

subtest 'a restored dump has no key, and a new one is not the pinned one' => sub {
    my $dump = $node{ukb}->backup_dir . '.sql';
    command_ok([ 'pg_dump', '-f', $dump, '-d', $node{ukb}->connstr('postgres') ], 'dump');
    is(slurp_file($dump) =~ /COPY dpboost.party_key/, '', 'without the key');
    $node{ukb}->safe_psql('postgres', 'CREATE DATABASE restored');
    $node{ukb}->command_ok([ 'psql', '-Xq', '-f', $dump, '-d', $node{ukb}->connstr('restored') ], 'restore');
    $hub->safe_psql('hub', "ALTER SERVER ukb OPTIONS (SET dbname 'restored')");
    refused('a restored party', qr/this database has no key/);
    $node{ukb}->safe_psql('restored', 'SELECT dpboost_party_key()');
    refused('one with a new key', qr/is not this server's/);
    $hub->safe_psql('hub', "ALTER SERVER ukb OPTIONS (SET dbname 'postgres')");
    $node{ukb}->safe_psql('postgres', 'DROP DATABASE restored');
};

done_testing();
