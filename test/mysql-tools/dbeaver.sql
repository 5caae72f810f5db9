-- DBeaver: what it sends when it connects, and while its tree is opened. Each has its name in a comment before it.
--- connect
/* ApplicationName=DBeaver 24.1.0 - Main */ SET SESSION net_write_timeout=600000
--- select limit
/* ApplicationName=DBeaver 24.1.0 - Main */ SET SQL_SELECT_LIMIT=DEFAULT
--- engines
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW ENGINES
--- charsets
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW CHARSET
--- collations
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW COLLATION
--- server charset
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SELECT @@GLOBAL.character_set_server,@@GLOBAL.collation_server
--- plugins
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW PLUGINS
--- lower_case
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW VARIABLES LIKE 'lower_case_table_names'
--- version
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SELECT VERSION()
--- active database
/* ApplicationName=DBeaver 24.1.0 - Main */ SELECT DATABASE()
--- databases
/* ApplicationName=DBeaver 24.1.0 - Metadata */ show databases
--- does information_schema have checks
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SELECT * FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = 'information_schema' AND t.TABLE_NAME = 'CHECK_CONSTRAINTS'
--- tables
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW FULL TABLES FROM `public`
--- table status
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW TABLE STATUS FROM `public`
--- one table
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW FULL TABLES FROM `public` LIKE 'cpu'
--- columns
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA='public' AND TABLE_NAME='cpu' ORDER BY ORDINAL_POSITION
--- keys
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SELECT * FROM INFORMATION_SCHEMA.STATISTICS WHERE TABLE_SCHEMA='public' AND TABLE_NAME='cpu' ORDER BY INDEX_NAME,SEQ_IN_INDEX
--- constraints
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SELECT kc.CONSTRAINT_NAME,kc.TABLE_NAME,kc.COLUMN_NAME,kc.ORDINAL_POSITION FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE kc WHERE kc.TABLE_SCHEMA='public' AND kc.REFERENCED_TABLE_NAME IS NULL AND kc.TABLE_NAME='cpu' ORDER BY kc.CONSTRAINT_NAME,kc.ORDINAL_POSITION
--- check constraints
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SELECT cc.CONSTRAINT_NAME, cc.CHECK_CLAUSE, tc.TABLE_NAME FROM (SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM INFORMATION_SCHEMA.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA='public' ORDER BY CONSTRAINT_NAME) cc, (SELECT TABLE_NAME, CONSTRAINT_NAME from INFORMATION_SCHEMA.TABLE_CONSTRAINTS where TABLE_SCHEMA='public' AND TABLE_NAME='cpu') tc WHERE cc.CONSTRAINT_NAME = tc.CONSTRAINT_NAME
--- triggers
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW FULL TRIGGERS FROM `public`
--- procedures
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SELECT * FROM INFORMATION_SCHEMA.ROUTINES WHERE ROUTINE_SCHEMA='public' AND ROUTINE_TYPE IN ('PROCEDURE','FUNCTION') ORDER BY ROUTINE_NAME
--- events
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SELECT * FROM information_schema.EVENTS WHERE EVENT_SCHEMA='public'
--- partitions
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SELECT * FROM INFORMATION_SCHEMA.PARTITIONS WHERE TABLE_SCHEMA='public' AND TABLE_NAME='cpu' ORDER BY PARTITION_ORDINAL_POSITION,SUBPARTITION_ORDINAL_POSITION
--- ddl
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW CREATE TABLE `public`.cpu
--- rows
/* ApplicationName=DBeaver 24.1.0 - SQLEditor */ SELECT * FROM public.cpu LIMIT 0, 200
--- rows of the data editor
/* ApplicationName=DBeaver 24.1.0 - Main */ SELECT c.host, c.ts, c.usage_user FROM public.cpu c LIMIT 0, 200
--- warnings
/* ApplicationName=DBeaver 24.1.0 - SQLEditor */ SHOW WARNINGS
--- sessions
/* ApplicationName=DBeaver 24.1.0 - Sessions */ SHOW FULL PROCESSLIST
--- session status
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW STATUS
--- global status
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW GLOBAL STATUS
--- all variables
/* ApplicationName=DBeaver 24.1.0 - Metadata */ SHOW VARIABLES
