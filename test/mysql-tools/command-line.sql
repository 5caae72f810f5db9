-- The command-line clients of MySQL and MariaDB, and their dump programs.
--- connect
select @@version_comment limit 1
--- names to complete
show databases
--- tables to complete
show tables
--- status
select DATABASE(), USER() limit 1
--- status: who
select CURRENT_USER(), USER()
--- status: charsets
select @@character_set_client, @@character_set_connection, @@character_set_server, @@character_set_database limit 1
--- safe updates
select @@sql_safe_updates
--- dump: session
/*!40100 SET @@SQL_MODE='' */
--- dump: zone
/*!40103 SET TIME_ZONE='+00:00' */
--- dump: quotes
/*!40101 SET SQL_QUOTE_SHOW_CREATE=1 */
--- dump: wait
SET SESSION NET_READ_TIMEOUT= 86400, SESSION NET_WRITE_TIMEOUT= 86400
--- dump: tablespaces
SELECT LOGFILE_GROUP_NAME, FILE_NAME, TOTAL_EXTENTS, INITIAL_SIZE, ENGINE, EXTRA FROM INFORMATION_SCHEMA.FILES WHERE ENGINE = 'ndbcluster' AND FILE_TYPE = 'UNDO LOG' AND FILE_NAME IS NOT NULL GROUP BY LOGFILE_GROUP_NAME, FILE_NAME, ENGINE, TOTAL_EXTENTS, INITIAL_SIZE, EXTRA ORDER BY LOGFILE_GROUP_NAME
--- dump: data files
SELECT DISTINCT TABLESPACE_NAME, FILE_NAME, LOGFILE_GROUP_NAME, EXTENT_SIZE, INITIAL_SIZE, ENGINE FROM INFORMATION_SCHEMA.FILES WHERE FILE_TYPE = 'DATAFILE' ORDER BY TABLESPACE_NAME, LOGFILE_GROUP_NAME
--- dump: tables
SHOW TABLES LIKE 'cpu'
--- dump: locks
LOCK TABLES `cpu` READ
--- dump: status
show table status like 'cpu'
--- dump: table
show create table `cpu`
--- dump: columns
show fields from `cpu`
--- dump: rows
SELECT /*!40001 SQL_NO_CACHE */ `host`, `ts`, `usage_user` FROM `cpu`
--- dump: triggers
SHOW TRIGGERS LIKE 'cpu'
--- dump: end
UNLOCK TABLES
