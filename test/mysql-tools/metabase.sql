-- Metabase: it connects by the MariaDB driver, looks through databases and tables, and asks by buckets of time.
--- session zone
SET @@session.time_zone = '+00:00'
--- databases
SHOW DATABASES
--- tables
select t.table_name as `name`, null as `schema`, t.table_comment as `description` from information_schema.tables as t where t.table_schema = 'public' and t.table_type in ('BASE TABLE', 'VIEW') order by t.table_name
--- fields
select c.column_name as `name`, c.ordinal_position - 1 as `database-position`, c.table_name as `table-name`, upper(c.data_type) as `database-type`, c.is_nullable = 'NO' as `required`, c.column_key = 'PRI' as `pk?`, nullif(c.column_comment, '') as `field-comment` from information_schema.columns as c where c.table_schema not in ('information_schema', 'sys', 'mysql') and c.table_schema = 'public' order by c.table_name, c.ordinal_position
--- foreign keys
SELECT A.table_name AS `fk-table-name`, A.column_name AS `fk-column-name`, A.referenced_table_name AS `pk-table-name` FROM information_schema.key_column_usage A WHERE A.constraint_schema = 'public' AND A.referenced_table_name IS NOT NULL
--- sample
SELECT `cpu`.`host` AS `host`, `cpu`.`ts` AS `ts`, `cpu`.`usage_user` AS `usage_user` FROM `cpu` LIMIT 10000
--- fingerprint
SELECT SUBSTRING(`cpu`.`host`, 1, 1234) AS `substring1` FROM `cpu` LIMIT 10
--- by day
SELECT DATE(`source`.`ts`) AS `ts`, COUNT(*) AS `count` FROM `cpu` AS `source` GROUP BY DATE(`source`.`ts`) ORDER BY DATE(`source`.`ts`) ASC
--- by hour
SELECT STR_TO_DATE(DATE_FORMAT(`cpu`.`ts`, '%Y-%m-%d %H'), '%Y-%m-%d %H') AS `ts`, COUNT(*) AS `count` FROM `cpu` GROUP BY STR_TO_DATE(DATE_FORMAT(`cpu`.`ts`, '%Y-%m-%d %H'), '%Y-%m-%d %H') ORDER BY `ts`
--- by minute
SELECT STR_TO_DATE(DATE_FORMAT(`cpu`.`ts`, '%Y-%m-%d %H:%i'), '%Y-%m-%d %H:%i') AS `ts`, SUM(`cpu`.`usage_user`) AS `sum` FROM `cpu` WHERE (`cpu`.`ts` >= DATE_ADD(NOW(), INTERVAL -30 day)) OR `cpu`.`host` = 'h1' GROUP BY 1 ORDER BY 1 ASC
--- by month
SELECT STR_TO_DATE(CONCAT(DATE_FORMAT(`cpu`.`ts`, '%Y-%m'), '-01'), '%Y-%m-%d') AS `ts`, AVG(`cpu`.`usage_user`) AS `avg` FROM `cpu` GROUP BY 1 ORDER BY 1 ASC
--- weeks
SELECT DATE_ADD(DATE(`cpu`.`ts`), INTERVAL ((DAYOFWEEK(`cpu`.`ts`) - 1) * -1) DAY) AS `ts`, COUNT(*) AS `count` FROM `cpu` GROUP BY DATE_ADD(DATE(`cpu`.`ts`), INTERVAL ((DAYOFWEEK(`cpu`.`ts`) - 1) * -1) DAY) ORDER BY 1 ASC
--- quarters
SELECT STR_TO_DATE(CONCAT(YEAR(`cpu`.`ts`), '-', ((QUARTER(`cpu`.`ts`) * 3) - 2), '-01'), '%Y-%m-%d') AS `ts`, COUNT(*) AS `count` FROM `cpu` GROUP BY 1 ORDER BY 1 ASC
--- the last 30 days
SELECT COUNT(*) AS `count` FROM `cpu` WHERE `cpu`.`ts` >= DATE(DATE_ADD(NOW(6), INTERVAL -30 DAY)) AND `cpu`.`ts` < DATE(NOW(6))
