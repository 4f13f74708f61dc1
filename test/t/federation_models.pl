# Three hospitals evaluate and update the model that they have trained together, with the checks of a training; and trainings with
# weights and with several classes.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use hospitals;
use servers qw(start_psql);

start_hospitals();
sub hub { my ($sql) = @_; return $hub->safe_psql('hub', $sql) }
sub raised { my ($before, $by) = @_; return join(' ', map { $_ + $by } split / /, $before) }

# Runs a statement that must fail, and says how; checks that it charged nobody.
sub refused
{
    my ($what, $sql, $expected) = @_;
    my $before = all_charges();
    my $ledger = hub('SELECT count(*) FROM dpboost_ledger');
    like(error_of($hub, 'hub', $sql), $expected, $what);
    is(all_charges(), $before, "$what: nothing is charged");
    is(hub('SELECT count(*) FROM dpboost_ledger'), $ledger, "$what: nor noted here");
}

# A figure of a result: its value and the ends of its interval.
sub figure
{
    my ($result, $name) = @_;
    my ($numbers) = $result =~ /"$name": \[([^\]]*)\]/ or die "no $name in $result";
    return split /, /, $numbers;
}

my $evaluate = "SELECT dpboost_evaluate_across('los', 'cardio', 'los', epsilon => 1)";
my $update = "SELECT dpboost_update_across('los', 'cardio', epsilon => 1)";
hub("SET ROLE ana; $train");

subtest 'an evaluation' => sub {
    my $before = all_charges();
    my $result = hub("SET ROLE ana; SELECT dpboost_evaluate_across('los', 'cardio', 'los', epsilon => 4)");
    like($result, qr/"parties": \["charite", "lmu", "ukb"\]/, 'all parties took part');
    # Bounds are six standard deviations of the noise, which is public: less than one run in 10^8 fails by chance.
    my ($rows, $least, $most) = figure($result, 'rows');
    my $sd = ($most - $least) / 3.92;
    cmp_ok($sd, '<', 5, 'noise as for epsilon 4 and three parties of which one may collude');
    cmp_ok(abs($rows - 6000), '<', 6 * $sd, 'it counts the rows of all');
    # Squares of errors are 30^2 of a label's in [-1, 1]. Up to .75 of that they are in one sum, and what is above it in another, which is
    # nothing here but counts where noise makes it evident. $sd is a sum's, these are the mean's.
    my ($within, $beyond) = map { 30**2 * $_ * $sd / 6000 } .75**2 * sqrt(.5), 1 / .7;
    my ($rmse) = figure($result, 'rmse');
    my $exact = hub(q{SET ROLE ana; SELECT sqrt(avg((dpboost_predict('los', i * 37 % 101, 'w' || i % 3) - i * 37 % 101 / 2.0) ^ 2))
        FROM (VALUES (3000), (1500), (1500)) party(people), generate_series(1, people) i});
    cmp_ok($rmse**2 - $exact**2, '>', -6 * $within, 'and measures as one who sees all rows');
    cmp_ok($rmse**2 - $exact**2, '<', 6 * ($within + $beyond), 'and not worse');
    note("rows $rows (sd $sd), RMSE $rmse, exact $exact");
    is(all_charges(), raised($before, 1), 'each party is charged once');
    my $newest = "FROM dpboost_ledger ORDER BY release_id DESC LIMIT 1";
    is(at($_, "SELECT kind || ' ' || method || ' ' || role || ' ' || model || ' ' || epsilon $newest"), 'evaluation evaluate study los 4', "ledger of $_") for @names;
    my %sessions = map { at($_, "SELECT federation ->> 'session' $newest") => 1 } @names;
    $sessions{ hub("SELECT federation ->> 'session' $newest") } = 1;
    is(scalar(keys %sessions), 1, 'one session in all ledgers');
    is(hub("SELECT kind || ' ' || model || ' ' || version || ' ' || delivered $newest"), 'evaluation los 1 true', 'ledger of the coordinator');
    is(hub("SET ROLE ana; SELECT count(*) FROM dpboost_evaluations WHERE model = 'los' AND metrics ? 'rmse'"), '1', 'the result is kept');
    is(at('ukb', 'SELECT count(*) FROM dpboost_evaluations'), '0', 'and nowhere else');
};

subtest 'an update' => sub {
    my $before = all_charges();
    like(hub("SET ROLE ana; $update"), qr/"updates": 1.*"version": 2|"version": 2.*"updates": 1/, 'the next version');
    is(all_charges(), raised($before, 1), 'each party is charged once');
    is(at($_, "SELECT kind || ' ' || method || ' ' || model FROM dpboost_ledger ORDER BY release_id DESC LIMIT 1"), 'training auto los', "ledger of $_") for @names;
    my $rmse = hub("SET ROLE ana; SELECT sqrt(avg((dpboost_predict('los', age, 'w0') - age / 2.0) ^ 2)) FROM generate_series(0, 100) age");
    cmp_ok($rmse, '<', 5, 'it predicts');
    like(hub("SET ROLE ana; SELECT dpboost_update_across('los\@1', 'cardio', epsilon => 0.5)"), qr/"updates": 1/, 'from a version by name');
    is(hub("SELECT options -> 'update' ->> 'version' FROM dpboost_models WHERE model = 'los' AND version = 3"), '1', 'which its options say');
    hub(q{SET ROLE ana; SELECT dpboost_train_across('trees', 'cardio', 'los', epsilon => 0.5, options => '{"method": "sbdt", "trees": 20}')});
    like(hub(q{SET ROLE ana; SELECT dpboost_update_across('trees', 'cardio', epsilon => 0.5, options => '{"trees": 10}')}), qr/"version": 2/, 'of trees');
};

subtest 'what is refused' => sub {
    refused('a model that is not there', "SET ROLE ana; SELECT dpboost_evaluate_across('nothing', 'cardio', 'los', epsilon => 1)", qr/42704: model "nothing" does not exist/);
    refused('a target that is not there', "SET ROLE ana; SELECT dpboost_evaluate_across('los', 'cardio', 'nothing', epsilon => 1)", qr/42703: .*CONTEXT:.*party/s);
    refused('a target that is a feature', "SET ROLE ana; SELECT dpboost_evaluate_across('los', 'cardio', 'ward', epsilon => 1)", qr/22023: the target "ward" cannot be a feature/);
    refused('an update by who does not own it', "CREATE ROLE eve; SET ROLE eve; SELECT dpboost_update_across('ana.los', 'cardio', epsilon => 1)", qr/42501: |42704: /);
    refused('an option that the model has fixed', q{SET ROLE ana; SELECT dpboost_update_across('los', 'cardio', epsilon => 1, options => '{"bins": 8}')}, qr/is fixed by the model/);
    at('ukb', "SELECT dpboost_set_budget('visits', 'study', 0.5, 1e-5)");
    for my $call ($evaluate, $update)
    {
        refused('a budget used up at one party', "SET ROLE ana; $call", qr/ERROR:  53400: .*budget.*CONTEXT:.*party "ukb"/s);
    }
    at('ukb', "SELECT dpboost_set_budget('visits', 'study', 30, 1e-5)");
    hub("ALTER USER MAPPING FOR ana SERVER lmu OPTIONS (SET user 'stranger')");
    refused('a role without a budget', "SET ROLE ana; $evaluate", qr/ERROR:  42501: .*CONTEXT:.*party "lmu"/s);
    hub("ALTER USER MAPPING FOR ana SERVER lmu OPTIONS (SET user 'study')");
    refused('in a read-only transaction', "SET ROLE ana; BEGIN READ ONLY; $evaluate", qr/25006/);
};

# ---- a coordinator who is a party's enemy -----------------------------------------------------------------------------------

subtest 'an evaluation by hand' => sub {
    hub("SET ROLE ana; $evaluate");
    my ($call, $plan) = announced();
    my $before = all_charges();
    my %s = map { $_ => session($_) } @names;
    my @openings = map { ask($s{$_}, "SELECT dpboost_party.open('cardio', '$call', '$plan')") } @names;
    my $all = "ARRAY['" . join("', '", @openings) . "']::bytea[]";
    is(ask($s{$_}, "SELECT dpboost_party.join($all)"), '', "$_ joins") for @names;
    like(ask($s{ukb}, 'SAVEPOINT s; SELECT dpboost_party.round(1, NULL); ROLLBACK TO s'), qr/out of order/, 'no answer before the charge');
    is(all_charges(), $before, 'nothing is charged so far');
    ask($s{$_}, 'SELECT dpboost_party.charge()') for @names;
    is(all_charges(), raised($before, 1), 'charged before the first answer');
    my @first = map { ask($s{$_}, 'SELECT dpboost_party.round(1, NULL)') } @names;
    like(ask($s{ukb}, 'SAVEPOINT s; SELECT dpboost_party.round(1, NULL); ROLLBACK TO s'), qr/Each event is answered once/, 'once');
    finish(values %s);
    # Another model in the call is another agreement; what is no model is refused.
    my $raw = pack('H*', substr($call, 2));
    (my $forged = $raw) =~ s/auto/sbdt/;
    isnt($forged, $raw, 'a forged call');
    my $s = session('ukb');
    my $opening = ask($s, "SELECT dpboost_party.open('cardio', '\\x" . unpack('H*', $forged) . "', '$plan')");
    like($opening, qr/^\\x|ERROR/, 'opens for itself alone, or not at all');
    my %t = map { $_ => session($_) } qw(charite lmu);
    my @others = map { ask($t{$_}, "SELECT dpboost_party.open('cardio', '$call', '$plan')") } qw(charite lmu);
    like(ask($t{lmu}, "SELECT dpboost_party.join(ARRAY['" . join("', '", @others, $opening) . "']::bytea[])"), qr/ERROR/, 'and nobody joins it') if $opening =~ /^\\x/;
    finish($s, values %t);
    for my $cut (5, 60, length($raw) / 2, length($raw) - 1)
    {
        my $broken = session('ukb');
        like(ask($broken, "SELECT dpboost_party.open('cardio', '\\x" . unpack('H*', substr($raw, 0, $cut)) . "', '$plan')"), qr/ERROR/, 'a call that is cut off');
        finish($broken);
    }
    my $changed = $raw;
    substr($changed, length($raw) / 3, 1) ^= "\x15";
    my $broken = session('ukb');
    ask($broken, "SELECT dpboost_party.open('cardio', '\\x" . unpack('H*', $changed) . "', '$plan')");
    finish($broken);
    is(at('ukb', 'SELECT 1'), '1', 'no server has gone');
    is(all_charges(), raised($before, 1), 'nothing more is charged');
};

subtest 'connections are kept for the next call' => sub {
    my $there = sub { at('ukb', "SELECT string_agg(pid || ' ' || state, ', ') FROM pg_stat_activity WHERE application_name = 'dpboost'") };
    my $s = start_psql($hub, "\\c hub\nSET ROLE ana;\n", timeout => 300);
    my $call = "SELECT dpboost_evaluate_across('los', 'cardio', 'los', epsilon => 0.2)";
    like(ask($s, $call), qr/"parties"/, 'a call');
    my $first = $there->();
    like($first, qr/^\d+ idle$/, 'leaves an idle session');
    like(ask($s, $call), qr/"parties"/, 'another call');
    is($there->(), $first, 'uses it again');
    at('ukb', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dpboost'");
    $node{ukb}->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'dpboost'");
    like(ask($s, $call), qr/"parties"/, 'one that has gone is made anew');
    isnt($there->(), $first, 'as another session');
    hub("ALTER USER MAPPING FOR ana SERVER ukb OPTIONS (SET user 'stranger')");
    like(ask($s, $call), qr/ERROR/, 'another user of the mapping is another connection');
    hub("ALTER USER MAPPING FOR ana SERVER ukb OPTIONS (SET user 'study')");
    like(ask($s, $call), qr/"parties"/, 'and back');
    finish($s);
    ok($node{ukb}->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'dpboost'"), 'none outlives its session');
};

subtest 'persons with accounts' => sub {
    at('ukb', q{SELECT dpboost_protect('visits', 100, 1e-5, privacy_unit => 'id', accounting => 'unit', accept_earlier => true)});
    my $part = sub { at('ukb', "SELECT (dpboost_unit_budget('visits', '7') ->> 'part_spent')::float8") };
    my $start = $part->();
    hub("SET ROLE ana; $evaluate");
    my $evaluated = $part->();
    cmp_ok($evaluated, '>', $start, 'a person pays the evaluation');
    hub("SET ROLE ana; $update");
    my $updated = $part->();
    cmp_ok($updated, '>', $evaluated, 'and the update');
    hub(q{SET ROLE ana; SELECT dpboost_update_across('trees', 'cardio', epsilon => 0.5, options => '{"trees": 10}')});
    cmp_ok($part->(), '>', $updated, 'by rounds, too');
    note("$start $evaluated $updated " . $part->());
};

subtest 'classifiers, classes, weights' => sub {
    at($_, q{ALTER TABLE visits ADD weight float8 CHECK (weight BETWEEN 0 AND 4), ADD long boolean; UPDATE visits SET weight = id % 4, long = los > 25}) for @names;
    like(hub(q{SET ROLE ana; SELECT dpboost_train_across('long', 'cardio', 'long', epsilon => 1, features => '{age,ward}')}), qr/"task": "classification"/, 'a classifier');
    my ($auc) = hub(q{SET ROLE ana; SELECT dpboost_evaluate_across('long', 'cardio', 'long', epsilon => 1)}) =~ /"auc": \[([0-9.]+)/;
    cmp_ok($auc, '>', 0.9, 'and its evaluation');
    like(hub(q{SET ROLE ana; SELECT dpboost_update_across('long', 'cardio', epsilon => 1)}), qr/"version": 2/, 'and its update');
    my $wards = q{SET ROLE ana; SELECT dpboost_train_across('ward', 'cardio', 'ward', epsilon => 2, features => '{age,los}')};
    like(hub($wards), qr/"task": "classes"|"task": "classification"/, 'several classes');
    like(hub(q{SET ROLE ana; SELECT dpboost_evaluate_across('ward', 'cardio', 'ward', epsilon => 1)}), qr/"accuracy"/, 'and their evaluation');
    for my $features ('NULL', q{'{age,ward}'}, q{'{age,ward,weight}'})
    {
        my $weighted = hub(qq{SET ROLE ana; SELECT dpboost_train_across('weighted', 'cardio', 'los', epsilon => 1, features => $features, options => '{"weight": "weight"}')});
        like($weighted, qr/"parties"/, "weights, features $features");
    }
    my $rmse = hub("SET ROLE ana; SELECT sqrt(avg((dpboost_predict('weighted', age, 'w0') - age / 2.0) ^ 2)) FROM generate_series(0, 100) age");
    cmp_ok($rmse, '<', 8, 'which predicts');
    note("AUC $auc, RMSE $rmse");
};

done_testing();
