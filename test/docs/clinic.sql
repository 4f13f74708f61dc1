-- What the pages of doc/ take for granted: a clinic with patients and their visits, analyst Ana, an application; and a
-- shop. Runs as superuser in a fresh database with the extension; the clinic owns the tables and nobody else may read them.
\o /dev/null
CREATE ROLE clinic LOGIN;
CREATE ROLE analysts;
CREATE ROLE ana LOGIN IN ROLE analysts;
CREATE ROLE app LOGIN;
GRANT CREATE ON SCHEMA public TO clinic;
SET ROLE clinic;
SELECT setseed(0.42);

CREATE TABLE patients (
    patient_id     int PRIMARY KEY,
    age            int     CHECK (age BETWEEN 18 AND 100),
    sex            text    CHECK (sex IN ('F', 'M')),
    smoker         boolean,
    ward           text,
    blood_pressure float8,
    stroke         boolean
);
INSERT INTO patients
SELECT id, age, sex, smoker, ward, pressure, random() < 1 / (1 + exp(9.4 - 0.075 * age - 0.9 * smoker::int - 0.018 * pressure))
FROM (SELECT id, age, sex, smoker, ward, 90 + age * 0.45 + random() * 30 AS pressure
      FROM (SELECT id, 18 + (random() * 77)::int AS age, CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex,
                   random() < 0.25 AS smoker, CASE WHEN random() < 0.6 THEN 'north' ELSE 'south' END AS ward
            FROM generate_series(1, 20000) id) a) b;

-- Two visits of each; and the ones that came today, which the analyst and the application may see.
CREATE TABLE visits AS
    SELECT row_number() OVER () AS visit_id, patient_id, date '2024-01-01' + (random() * 500)::int AS day,
           blood_pressure + (random() - 0.5) * 20 AS blood_pressure, stroke
    FROM patients, generate_series(1, 2);
CREATE TABLE new_patients AS SELECT patient_id + 20000 AS patient_id, age, sex, smoker, ward, blood_pressure FROM patients WHERE patient_id <= 5;
GRANT SELECT ON new_patients TO ana, app;

CREATE TABLE customers AS
    SELECT CASE WHEN random() < 0.5 THEN 'east' ELSE 'west' END AS region, age, visits, random() < (age + visits) / 150.0 AS bought
    FROM (SELECT 18 + random() * 60 AS age, random() * 40 AS visits FROM generate_series(1, 5000)) c;
RESET ROLE;
\o
