# A backend keeps the models it has parsed. What it keeps must never stand in for another model, also when an administrator
# makes numbers start again under its feet.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use servers ();

my $node = PostgreSQL::Test::Cluster->new('model_cache');
$node->init;
$node->start;

# One model learns yes, another no.
sub train
{
    my ($name, $answer) = @_;
    return qq{SELECT dpboost_train('$name', '{"epsilon": 20, "bounds": [0, 1]}', $answer, 0.5::float8) ->> 'version' FROM generate_series(1, 200);\n};
}
my $number  = "SELECT model_id FROM dpboost.model WHERE name = 'm';\n";
my $predict = "SELECT CASE WHEN dpboost_predict('m', 0.5) > 0.5 THEN 'yes' ELSE 'no' END;\n";

is( $node->safe_psql('postgres', "CREATE EXTENSION dpboost;\n" . train('m', 'true') . $number . $predict
          . "DROP EXTENSION dpboost;\nCREATE EXTENSION dpboost;\n" . train('m', 'false') . $number . $predict),
    "1\n1\nyes\n1\n1\nno", 'the extension was dropped and created: the same number, another model');

is( $node->safe_psql('postgres', train('other', 'true') . $predict
          . "UPDATE dpboost.model SET content = (SELECT content FROM dpboost.model WHERE name = 'other') WHERE name = 'm';\n" . $predict),
    "1\nno\nyes", 'a row was replaced');

is( $node->safe_psql('postgres', "CREATE TEMP TABLE kept AS SELECT * FROM dpboost.model;\n" . $predict
          . "UPDATE kept SET content = (SELECT content FROM kept WHERE name = 'm') WHERE name = 'other';\n"
          . "TRUNCATE dpboost.model;\n" . train('m', 'false')
          . "INSERT INTO dpboost.model SELECT * FROM kept WHERE name = 'other';\n"
          . "DELETE FROM dpboost.model WHERE name = 'm';\nUPDATE dpboost.model SET name_id = 1, name = 'm', model_id = 1;\n" . $predict),
    "yes\n2\nyes", 'the table was filled again');

# In one statement, with the call's own state: a procedure that goes on while all is made anew.
is( $node->safe_psql('postgres', q{
        CREATE PROCEDURE anew() LANGUAGE plpgsql AS $$
        DECLARE answers text := '';
        BEGIN
            FOR i IN 1..2 LOOP
                EXECUTE 'CREATE EXTENSION dpboost'; COMMIT;
                EXECUTE format($q$SELECT dpboost_train('m', '{"epsilon": 20, "bounds": [0, 1]}', %L::boolean, 0.5::float8) FROM generate_series(1, 200)$q$, i = 1);
                EXECUTE 'SELECT $1 || dpboost_predict(''m'', 0.5)::int' INTO answers USING answers;
                EXECUTE 'DROP EXTENSION dpboost'; COMMIT;
            END LOOP;
            CREATE TABLE answer AS SELECT answers;
        END $$;
        DROP EXTENSION dpboost;
        CALL anew();
        SELECT * FROM answer;}),
    '10', 'all in one call');

$node->stop;
done_testing();
