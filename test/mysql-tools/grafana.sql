-- Grafana's MySQL data source: the editor's browsing, and queries with its macros expanded.
--- databases
SELECT DISTINCT TABLE_SCHEMA from information_schema.TABLES where TABLE_TYPE != 'SYSTEM VIEW' ORDER BY TABLE_SCHEMA
--- tables
SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name
--- tables of the current database
SELECT table_name FROM information_schema.tables WHERE table_schema = database() ORDER BY table_name
--- columns of a table
SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'cpu' ORDER BY column_name
--- columns of a table by its database
SELECT column_name as text, data_type as value FROM information_schema.columns WHERE table_schema = database() AND table_name = 'cpu'
--- columns with a time
SELECT column_name FROM information_schema.columns WHERE table_name = 'cpu' AND table_schema = 'public' AND data_type IN ('timestamp','datetime','bigint','int','double','float') ORDER BY column_name
--- $__timeFilter
SELECT ts AS time, usage_user FROM cpu WHERE ts BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1704070800) ORDER BY ts
--- $__timeFrom and $__timeTo
SELECT count(*) FROM cpu WHERE ts >= FROM_UNIXTIME(1704067200) AND ts <= FROM_UNIXTIME(1704070800)
--- $__timeGroup
SELECT UNIX_TIMESTAMP(ts) DIV 300 * 300 AS time, avg(usage_user) AS value, host AS metric FROM cpu WHERE ts BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1704070800) GROUP BY 1, host ORDER BY 1
--- $__timeGroupAlias
SELECT UNIX_TIMESTAMP(ts) DIV 60 * 60 AS "time", max(usage_user) AS "max", min(usage_user) FROM cpu GROUP BY UNIX_TIMESTAMP(ts) DIV 60 * 60 ORDER BY UNIX_TIMESTAMP(ts) DIV 60 * 60
--- $__unixEpochFilter and $__unixEpochGroup
SELECT (UNIX_TIMESTAMP(ts)) DIV 600 * 600 AS time, count(*) AS n FROM cpu WHERE UNIX_TIMESTAMP(ts) >= 1704067200 AND UNIX_TIMESTAMP(ts) <= 1704070800 GROUP BY time ORDER BY time
--- $__time
SELECT UNIX_TIMESTAMP(ts) as time_sec, usage_user AS value FROM cpu ORDER BY ts LIMIT 50
--- a variable
SELECT DISTINCT host FROM cpu WHERE host LIKE 'h%' ORDER BY host
--- health
SELECT 1
--- session variables of the plugin
SHOW VARIABLES LIKE 'max_allowed_packet'
--- several values of a variable
SELECT ts AS time, usage_user FROM cpu WHERE host REGEXP '^(h1|h2)$' AND host NOT RLIKE 'h3' ORDER BY ts
--- $__timeGroup of days, filled
SELECT UNIX_TIMESTAMP(ts) DIV 86400.000 * 86400.000 AS time, count(*) AS n FROM cpu GROUP BY time ORDER BY time
