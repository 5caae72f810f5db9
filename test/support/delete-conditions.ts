/** Conditions with sub-queries, for whoever deletes or updates by them: over a table `m` and another one. */

/** Makes the other table. */
export const BESIDE = `
  CREATE TABLE r (ts TIMESTAMP(3) TIME INDEX, h STRING, d INT, v DOUBLE, big BIGINT, n STRING);
  INSERT INTO r VALUES (1, 'h1', 0, 3, 3, 'n1'), (2, 'h1', 1, 5, 5, 'n2'), (3, 'h3', 1, 7, NULL, NULL), (4, NULL, 1, 1.5, 9, 'n4')`;

/** Over `m (host STRING, dc INT, ts TIMESTAMP(3), cpu DOUBLE, note STRING)` with tags `host` and `dc`. */
export const SUB_QUERY_CONDITIONS: readonly string[] = [
  "host IN (SELECT h FROM r)",
  "host NOT IN (SELECT h FROM r)",
  "host NOT IN (SELECT h FROM r WHERE h IS NOT NULL)",
  "NOT (host IN (SELECT h FROM r WHERE h IS NOT NULL))",
  "host IN (SELECT h FROM r WHERE v > 100)",
  "host NOT IN (SELECT h FROM r WHERE v > 100)",
  "host IN (SELECT h FROM r WHERE h IS NULL)",
  "dc IN (SELECT big FROM r)",
  "dc NOT IN (SELECT d + 1 FROM r)",
  "cpu IN (SELECT big FROM r) OR note IN (SELECT n FROM r)",
  "cpu > (SELECT avg(v) FROM r)",
  "cpu > (SELECT avg(v) FROM r WHERE v > 100)",
  "ts >= (SELECT max(ts) - INTERVAL '1 minute' FROM m)",
  "ts IN (SELECT ts FROM m ORDER BY ts LIMIT 3)",
  "ts < (SELECT max(ts) FROM m) AND host = (SELECT min(h) FROM r)",
  "(host, cpu) IN (SELECT h, v FROM r)",
  "(host, cpu) NOT IN (SELECT h, v FROM r)",
  "(host, cpu) NOT IN (SELECT h, v FROM r WHERE h IS NOT NULL)",
  "(host, ts) IN (SELECT host, ts FROM m WHERE cpu = 3)",
  "(host, dc, cpu) IN (SELECT h, d, v FROM r) AND note IS NOT NULL",
  "(note, cpu) NOT IN (SELECT n, v FROM r)",
  "cpu < ANY (SELECT v FROM r)",
  "cpu >= ALL (SELECT v FROM r)",
  "cpu < ALL (SELECT big FROM r)",
  "cpu > ANY (SELECT big FROM r)",
  "cpu = ALL (SELECT v FROM r WHERE v = 3)",
  "cpu <> ANY (SELECT v FROM r WHERE v = 3)",
  "cpu <> ANY (SELECT v FROM r)",
  "cpu = ALL (SELECT v FROM r)",
  "cpu < ALL (SELECT v FROM r WHERE v > 100)",
  "cpu > ANY (SELECT big FROM r WHERE big IS NULL)",
  "EXISTS (SELECT 1 FROM r WHERE v > 6) AND cpu = 1",
  "NOT EXISTS (SELECT 1 FROM r WHERE v > 6)",
  "EXISTS (SELECT 1 FROM r WHERE r.h = m.host)",
  "NOT EXISTS (SELECT 1 FROM r WHERE r.h = m.host AND r.v = m.cpu)",
  "cpu = 2 OR EXISTS (SELECT 1 FROM r WHERE r.n = m.note AND r.v > 2)",
  "cpu IN (SELECT v FROM r WHERE r.h = m.host)",
  "host IN (SELECT h FROM r WHERE v = (SELECT max(v) FROM r))",
  "(SELECT count(*) FROM r) = 4 AND dc = 1",
  "CASE WHEN cpu > (SELECT min(v) FROM r) THEN dc = 1 ELSE host = 'h2' END",
];
