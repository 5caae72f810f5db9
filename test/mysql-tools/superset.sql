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
