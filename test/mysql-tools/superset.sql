-- Superset, and what else speaks by SQLAlchemy: PyMySQL or mysqlclient below.
--- names
SET NAMES utf8mb4
--- autocommit
SET AUTOCOMMIT = 0
--- version
SELECT VERSION()
--- database
SELECT DATABASE()
--- case
SELECT @@lower_case_table_names
--- isolation
SELECT @@transaction_isolation
--- sql_mode
SELECT @@sql_mode
--- texts
SELECT CAST('test plain returns' AS CHAR(60)) AS anon_1
--- variables
SHOW VARIABLES LIKE 'sql_mode'
--- variables of names
SHOW VARIABLES LIKE 'lower_case_table_names'
--- schemas
SHOW schemas
--- tables
SHOW FULL TABLES FROM `public`
--- a table
SHOW CREATE TABLE `cpu`
--- a table, described
DESCRIBE `public`.`cpu`
--- is it there
SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'public' AND table_name = 'cpu'
--- buckets of a day
SELECT DATE(ts) AS ts, count(*) AS `count` FROM public.cpu GROUP BY DATE(ts) LIMIT 1000
--- rollback
ROLLBACK
--- seconds
SELECT DATE_ADD(DATE(ts), INTERVAL (HOUR(ts)*60*60 + MINUTE(ts)*60 + SECOND(ts)) SECOND) AS ts, count(*) FROM cpu GROUP BY 1
--- minutes
SELECT DATE_ADD(DATE(ts), INTERVAL (HOUR(ts)*60 + MINUTE(ts)) MINUTE) AS ts, AVG(usage_user) AS `AVG(usage_user)` FROM cpu WHERE ts >= STR_TO_DATE('2024-01-01 00:00:00.000000', '%Y-%m-%d %H:%i:%s.%f') GROUP BY DATE_ADD(DATE(ts), INTERVAL (HOUR(ts)*60 + MINUTE(ts)) MINUTE) ORDER BY 1 LIMIT 1000
--- hours
SELECT DATE_ADD(DATE(ts), INTERVAL HOUR(ts) HOUR) AS ts, count(*) FROM cpu GROUP BY DATE_ADD(DATE(ts), INTERVAL HOUR(ts) HOUR) ORDER BY 1
--- weeks
SELECT DATE(DATE_SUB(ts, INTERVAL DAYOFWEEK(ts) - 1 DAY)) AS ts, count(*) FROM cpu GROUP BY 1
--- weeks from Monday on
SELECT DATE(DATE_SUB(ts, INTERVAL DAYOFWEEK(DATE_SUB(ts, INTERVAL 1 DAY)) - 1 DAY)) AS ts, count(*) FROM cpu GROUP BY 1
--- months
SELECT DATE(DATE_SUB(ts, INTERVAL DAYOFMONTH(ts) - 1 DAY)) AS ts, count(*) FROM cpu GROUP BY 1
--- quarters
SELECT MAKEDATE(YEAR(ts), 1) + INTERVAL QUARTER(ts) QUARTER - INTERVAL 1 QUARTER AS ts, count(*) FROM cpu GROUP BY 1
--- years
SELECT DATE(DATE_SUB(ts, INTERVAL DAYOFYEAR(ts) - 1 DAY)) AS ts, count(*) FROM cpu GROUP BY 1
