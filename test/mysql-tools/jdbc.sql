-- MySQL's and MariaDB's JDBC drivers, which DBeaver, Metabase, JetBrains and Spark speak through: connecting, and their metadata.
--- Connector/J connects
/* mysql-connector-j-9.3.0 (Revision: x) */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout
--- Connector/J sets the results' charset
SET character_set_results = NULL
--- Connector/J's autocommit
SET autocommit=1
--- Connector/J's isolation
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
--- Connector/J reads it back
SELECT @@session.transaction_isolation
--- Connector/J asks whether it may write
select @@session.transaction_read_only
--- the MariaDB driver connects
SELECT @@max_allowed_packet, @@system_time_zone, @@time_zone, @@auto_increment_increment
--- the MariaDB driver's session
set autocommit=1
--- tables
SELECT TABLE_SCHEMA TABLE_CAT, NULL TABLE_SCHEM, TABLE_NAME, IF(TABLE_TYPE='BASE TABLE' or TABLE_TYPE = 'SYSTEM VERSIONED', 'TABLE', IF(TABLE_TYPE='TEMPORARY', 'LOCAL TEMPORARY', TABLE_TYPE)) as TABLE_TYPE, TABLE_COMMENT REMARKS, NULL TYPE_CAT, NULL TYPE_SCHEM, NULL TYPE_NAME, NULL SELF_REFERENCING_COL_NAME, NULL REF_GENERATION FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'public' ORDER BY TABLE_TYPE, TABLE_SCHEMA, TABLE_NAME
--- a size as text
SELECT UPPER(CASE WHEN UPPER(DATA_TYPE)='TIME' THEN IF(DATETIME_PRECISION = 0, 8, 9 + DATETIME_PRECISION) WHEN UPPER(DATA_TYPE)='INT' THEN 10 ELSE CHARACTER_MAXIMUM_LENGTH END) AS COLUMN_SIZE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA LIKE 'public' AND TABLE_NAME LIKE 'cpu'
--- digits as numbers
SELECT CONVERT(IF(DATA_TYPE IN ('double', 'int'), 10, NUMERIC_SCALE), UNSIGNED INTEGER) DECIMAL_DIGITS FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'cpu'
--- nothing from DUAL
SELECT '' TABLE_SCHEM, '' TABLE_CATALOG FROM DUAL WHERE 1=0
--- one row from DUAL
SELECT 1 AS one FROM dual
--- primary keys
SELECT TABLE_SCHEMA AS TABLE_CAT, NULL AS TABLE_SCHEM, TABLE_NAME, COLUMN_NAME, SEQ_IN_INDEX AS KEY_SEQ, 'PRIMARY' AS PK_NAME FROM INFORMATION_SCHEMA.STATISTICS WHERE TABLE_SCHEMA = 'public' AND TABLE_NAME = 'cpu' AND INDEX_NAME='PRIMARY' ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX
--- foreign keys
SELECT DISTINCT A.REFERENCED_TABLE_SCHEMA AS PKTABLE_CAT, A.REFERENCED_TABLE_NAME AS PKTABLE_NAME, A.REFERENCED_COLUMN_NAME AS PKCOLUMN_NAME, A.TABLE_SCHEMA AS FKTABLE_CAT, A.TABLE_NAME AS FKTABLE_NAME, A.COLUMN_NAME AS FKCOLUMN_NAME, A.ORDINAL_POSITION AS KEY_SEQ, A.CONSTRAINT_NAME AS FK_NAME FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE A JOIN INFORMATION_SCHEMA.TABLE_CONSTRAINTS B USING (TABLE_SCHEMA, CONSTRAINT_NAME, TABLE_NAME) WHERE B.CONSTRAINT_TYPE = 'FOREIGN KEY' AND A.TABLE_SCHEMA LIKE 'public' AND A.TABLE_NAME='cpu' AND A.REFERENCED_TABLE_SCHEMA IS NOT NULL ORDER BY A.REFERENCED_TABLE_SCHEMA, A.REFERENCED_TABLE_NAME, A.ORDINAL_POSITION
--- procedures
SELECT ROUTINE_SCHEMA AS PROCEDURE_CAT, ROUTINE_NAME AS PROCEDURE_NAME, ROUTINE_COMMENT AS REMARKS, CASE WHEN ROUTINE_TYPE = 'PROCEDURE' THEN 1 WHEN ROUTINE_TYPE='FUNCTION' THEN 2 ELSE 0 END AS PROCEDURE_TYPE FROM INFORMATION_SCHEMA.ROUTINES WHERE ROUTINE_SCHEMA = 'public' ORDER BY ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE
--- its columns
SHOW FULL COLUMNS FROM `cpu` FROM `public` LIKE '%'
--- its keys
SHOW KEYS FROM `cpu` FROM `public`
--- is it there
/* ping */ SELECT 1
--- columns of all tables, as kysely asks
select `columns`.`COLUMN_NAME`, `columns`.`COLUMN_DEFAULT`, `tables`.`TABLE_TYPE`, `columns`.`DATA_TYPE` from `information_schema`.`columns` as `columns` inner join `information_schema`.`tables` as `tables` on `columns`.`TABLE_CATALOG` = `tables`.`TABLE_CATALOG` and `columns`.`TABLE_SCHEMA` = `tables`.`TABLE_SCHEMA` and `columns`.`TABLE_NAME` = `tables`.`TABLE_NAME` where `columns`.`TABLE_SCHEMA` = database() order by `columns`.`TABLE_NAME`, `columns`.`ORDINAL_POSITION`
--- columns of a table, as TypeORM asks
SELECT * FROM `INFORMATION_SCHEMA`.`COLUMNS` WHERE `TABLE_SCHEMA` = 'public' AND `TABLE_NAME` = 'cpu'
--- keys, as TypeORM asks
SELECT `s`.* FROM `INFORMATION_SCHEMA`.`STATISTICS` `s` LEFT JOIN ( SELECT * FROM `INFORMATION_SCHEMA`.`REFERENTIAL_CONSTRAINTS` ) `rc` ON `s`.`INDEX_NAME` = `rc`.`CONSTRAINT_NAME` AND `s`.`TABLE_SCHEMA` = `rc`.`CONSTRAINT_SCHEMA` WHERE `s`.`TABLE_SCHEMA` = 'public' AND `s`.`TABLE_NAME` = 'cpu' AND `s`.`INDEX_NAME` != 'PRIMARY' AND `rc`.`CONSTRAINT_NAME` IS NULL
--- how many columns a table has
SELECT `TABLE_NAME`, count(*) AS n FROM `information_schema`.`COLUMNS` WHERE `TABLE_SCHEMA` = 'public' GROUP BY `TABLE_NAME` HAVING count(*) > 1 ORDER BY `TABLE_NAME`
