-- Grafana's PostgreSQL data source: version check, browsing, queries with its macros expanded.
--- version check
SELECT current_setting('server_version_num')::int/100 as version;
--- has timescaledb
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'
--- tables
select quote_ident(table_name) as "table" from information_schema.tables
      where quote_ident(table_schema) not in ('information_schema', 'pg_catalog', '_timescaledb_cache', '_timescaledb_catalog', '_timescaledb_internal', '_timescaledb_config', 'timescaledb_information', 'timescaledb_experimental')
      and quote_ident(table_schema) IN (
          SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
          FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1), array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
          string_to_array(current_setting('search_path'),',') s
      )
--- tables of all schemas
SELECT
    CASE WHEN
          quote_ident(table_schema) IN (
          SELECT
            CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
          FROM
            generate_series(
              array_lower(string_to_array(current_setting('search_path'),','),1),
              array_upper(string_to_array(current_setting('search_path'),','),1)
            ) as i,
            string_to_array(current_setting('search_path'),',') s
          )
      THEN quote_ident(table_name)
      ELSE quote_ident(table_schema) || '.' || quote_ident(table_name)
    END AS "table"
    FROM information_schema.tables
    WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog')
--- columns of a table
select quote_ident(column_name) as "column", data_type as "type"
    from information_schema.columns
    where
      case
        when array_length(parse_ident('cpu'),1) = 2
          then quote_ident(table_schema) = (parse_ident('cpu'))[1]
            and quote_ident(table_name) = (parse_ident('cpu'))[2]
          else quote_ident(table_name) = 'cpu'
            and quote_ident(table_schema) IN (
              SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
              FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1), array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
              string_to_array(current_setting('search_path'),',') s
            )
      end
--- time filter
SELECT "ts" AS "time", v FROM cpu WHERE "ts" BETWEEN '2024-01-01T00:00:00Z' AND '2024-01-02T00:00:00Z' ORDER BY 1
--- time group
SELECT floor(extract(epoch from ts)/300)*300 AS "time", host, avg(v) AS "v" FROM cpu WHERE ts BETWEEN '2024-01-01T00:00:00Z' AND '2024-01-02T00:00:00Z' GROUP BY 1, 2 ORDER BY 1, 2
--- time group by date_bin
SELECT date_bin('300s'::interval, ts, '1970-01-01T00:00:00Z') AS "time", avg(v) AS "v" FROM cpu GROUP BY "time" ORDER BY "time"
--- epoch filter
SELECT extract(epoch from ts) AS "time", v FROM cpu WHERE extract(epoch from ts) >= 1704067200 AND extract(epoch from ts) <= 1704153600 ORDER BY 1
--- epoch group
SELECT floor((extract(epoch from ts)::bigint)/60)*60 AS "time", count(*) FROM cpu GROUP BY 1 ORDER BY 1
--- a variable
SELECT DISTINCT host AS __text, host AS __value FROM cpu ORDER BY 1
--- preview
SELECT * FROM cpu LIMIT 50
