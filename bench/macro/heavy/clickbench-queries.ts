/**
 * The 43 queries of ClickBench (https://github.com/ClickHouse/ClickBench), which are facts of that benchmark, in the words of Varve and of
 * DuckDB. Thresholds of counts are those for 100M rows, scaled. Names are their numbers, from 0.
 */
import type { HeavyQuery } from "./heavy-query.ts";

/** Values that single queries look for; the generated rows hold them. */
export const CONSTANTS = {
  userId: "435090932899640449",
  refererHash: "3594120000172545465",
  urlHash: "2868770270353813622",
} as const;

/** Rows of the real table. */
const REAL_ROWS = 100_000_000;
const REAL_HAVING = 100_000;
/** Columns that one query sums up, each with another number added. */
const SUMS = 90;

type Entry = readonly [sql: string, compares?: HeavyQuery["compares"]];

/** The queries, for some rows. */
export function clickbenchQueries(rows: number): readonly HeavyQuery[] {
  const having = Math.max(1, Math.floor((REAL_HAVING * rows) / REAL_ROWS));
  const entries = [...counts(), ...groups(), ...finds(), ...patterns(having), ...wideGroups(), ...pageViews()];
  return entries.map(([sql, compares], number) => ({
    name: `q${String(number).padStart(2, "0")}`,
    sql,
    ...(compares === undefined ? {} : { compares }),
  }));
}

/** 0 to 7. */
function counts(): readonly Entry[] {
  return [
    ["SELECT COUNT(*) FROM hits"],
    ["SELECT COUNT(*) FROM hits WHERE AdvEngineID <> 0"],
    ["SELECT SUM(AdvEngineID), COUNT(*), AVG(ResolutionWidth) FROM hits"],
    ["SELECT AVG(UserID) FROM hits"],
    ["SELECT COUNT(DISTINCT UserID) FROM hits"],
    ["SELECT COUNT(DISTINCT SearchPhrase) FROM hits"],
    ["SELECT MIN(EventDate), MAX(EventDate) FROM hits"],
    ["SELECT AdvEngineID, COUNT(*) FROM hits WHERE AdvEngineID <> 0 GROUP BY AdvEngineID ORDER BY COUNT(*) DESC"],
  ];
}

/** 8 to 18. */
function groups(): readonly Entry[] {
  const top = (keys: string, from: string, by = keys): string =>
    `SELECT ${keys}, COUNT(*) FROM hits${from} GROUP BY ${by} ORDER BY COUNT(*) DESC LIMIT 10`;
  const model = "FROM hits WHERE MobilePhoneModel <> ''";
  const search = "FROM hits WHERE SearchPhrase <> ''";
  return [
    ["SELECT RegionID, COUNT(DISTINCT UserID) AS u FROM hits GROUP BY RegionID ORDER BY u DESC LIMIT 10", ["u"]],
    [
      `SELECT RegionID, SUM(AdvEngineID), COUNT(*) AS c, AVG(ResolutionWidth), COUNT(DISTINCT UserID) FROM hits
      GROUP BY RegionID ORDER BY c DESC LIMIT 10`,
      ["c"],
    ],
    [`SELECT MobilePhoneModel, COUNT(DISTINCT UserID) AS u ${model} GROUP BY MobilePhoneModel ORDER BY u DESC LIMIT 10`, ["u"]],
    [
      `SELECT MobilePhone, MobilePhoneModel, COUNT(DISTINCT UserID) AS u ${model}
      GROUP BY MobilePhone, MobilePhoneModel ORDER BY u DESC LIMIT 10`,
      ["u"],
    ],
    [`SELECT SearchPhrase, COUNT(*) AS c ${search} GROUP BY SearchPhrase ORDER BY c DESC LIMIT 10`, ["c"]],
    [`SELECT SearchPhrase, COUNT(DISTINCT UserID) AS u ${search} GROUP BY SearchPhrase ORDER BY u DESC LIMIT 10`, ["u"]],
    [`SELECT SearchEngineID, SearchPhrase, COUNT(*) AS c ${search} GROUP BY SearchEngineID, SearchPhrase ORDER BY c DESC LIMIT 10`, ["c"]],
    [top("UserID", ""), [1]],
    [top("UserID, SearchPhrase", ""), [2]],
    ["SELECT UserID, SearchPhrase, COUNT(*) FROM hits GROUP BY UserID, SearchPhrase LIMIT 10", []],
    [top("UserID, extract(minute FROM EventTime) AS m, SearchPhrase", "", "UserID, m, SearchPhrase"), [3]],
  ];
}

/** 19 to 26. */
function finds(): readonly Entry[] {
  const google = "FROM hits WHERE URL LIKE '%google%'";
  const search = "SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY";
  return [
    [`SELECT UserID FROM hits WHERE UserID = ${CONSTANTS.userId}`],
    [`SELECT COUNT(*) ${google}`],
    [`SELECT SearchPhrase, MIN(URL), COUNT(*) AS c ${google} AND SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY c DESC LIMIT 10`, ["c"]],
    [
      `SELECT SearchPhrase, MIN(URL), MIN(Title), COUNT(*) AS c, COUNT(DISTINCT UserID) FROM hits WHERE Title LIKE '%Google%'
      AND URL NOT LIKE '%.google.%' AND SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY c DESC LIMIT 10`,
      ["c"],
    ],
    [`SELECT * ${google} ORDER BY EventTime LIMIT 10`, ["eventtime"]],
    [`${search} EventTime LIMIT 10`, []],
    [`${search} SearchPhrase LIMIT 10`, "all"],
    [`${search} EventTime, SearchPhrase LIMIT 10`, "all"],
  ];
}

/** 27 to 29. */
function patterns(having: number): readonly Entry[] {
  const sums = Array.from({ length: SUMS }, (_, n) => (n === 0 ? "SUM(ResolutionWidth)" : `SUM(ResolutionWidth + ${n})`));
  return [
    [
      `SELECT CounterID, AVG(length(URL)) AS l, COUNT(*) AS c FROM hits WHERE URL <> '' GROUP BY CounterID
      HAVING COUNT(*) > ${having} ORDER BY l DESC LIMIT 25`,
      ["l"],
    ],
    [
      `SELECT REGEXP_REPLACE(Referer, '^https?://(?:www\\.)?([^/]+)/.*$', '\\1') AS k, AVG(length(Referer)) AS l, COUNT(*) AS c,
      MIN(Referer) FROM hits WHERE Referer <> '' GROUP BY k HAVING COUNT(*) > ${having} ORDER BY l DESC LIMIT 25`,
      ["l", "c"],
    ],
    [`SELECT ${sums.join(", ")} FROM hits`],
  ];
}

/** 30 to 35. */
function wideGroups(): readonly Entry[] {
  const watched = (key: string, where: string): Entry => [
    `SELECT ${key}, ClientIP, COUNT(*) AS c, SUM(IsRefresh), AVG(ResolutionWidth) FROM hits${where} GROUP BY ${key}, ClientIP
    ORDER BY c DESC LIMIT 10`,
    ["c"],
  ];
  const addresses = "ClientIP, ClientIP - 1, ClientIP - 2, ClientIP - 3";
  return [
    watched("SearchEngineID", " WHERE SearchPhrase <> ''"),
    watched("WatchID", " WHERE SearchPhrase <> ''"),
    watched("WatchID", ""),
    ["SELECT URL, COUNT(*) AS c FROM hits GROUP BY URL ORDER BY c DESC LIMIT 10", ["c"]],
    ["SELECT 1, URL, COUNT(*) AS c FROM hits GROUP BY 1, URL ORDER BY c DESC LIMIT 10", ["c"]],
    [`SELECT ${addresses}, COUNT(*) AS c FROM hits GROUP BY ${addresses} ORDER BY c DESC LIMIT 10`, ["c"]],
  ];
}

/** 36 to 42: one site. */
function pageViews(): readonly Entry[] {
  const site = (from = "2013-07-01", to = "2013-07-31"): string =>
    `FROM hits WHERE CounterID = 62 AND EventDate >= '${from}' AND EventDate <= '${to}' AND IsRefresh = 0`;
  const viewed = (keys: string, where: string, end: string, by = keys): Entry => [
    `SELECT ${keys}, COUNT(*) AS PageViews ${site()}${where} GROUP BY ${by} ORDER BY PageViews DESC LIMIT 10${end}`,
    ["pageviews"],
  ];
  const source = "CASE WHEN (SearchEngineID = 0 AND AdvEngineID = 0) THEN Referer ELSE '' END AS Src";
  return [
    viewed("URL", " AND DontCountHits = 0 AND URL <> ''", ""),
    viewed("Title", " AND DontCountHits = 0 AND Title <> ''", ""),
    viewed("URL", " AND IsLink <> 0 AND IsDownload = 0", " OFFSET 1000"),
    viewed(
      `TraficSourceID, SearchEngineID, AdvEngineID, ${source}, URL AS Dst`,
      "",
      " OFFSET 1000",
      "TraficSourceID, SearchEngineID, AdvEngineID, Src, Dst",
    ),
    viewed("URLHash, EventDate", ` AND TraficSourceID IN (-1, 6) AND RefererHash = ${CONSTANTS.refererHash}`, " OFFSET 100"),
    viewed("WindowClientWidth, WindowClientHeight", ` AND DontCountHits = 0 AND URLHash = ${CONSTANTS.urlHash}`, " OFFSET 10000"),
    [
      `SELECT DATE_TRUNC('minute', EventTime) AS M, COUNT(*) AS PageViews ${site("2013-07-14", "2013-07-15")} AND DontCountHits = 0
      GROUP BY DATE_TRUNC('minute', EventTime) ORDER BY DATE_TRUNC('minute', EventTime) LIMIT 10 OFFSET 1000`,
      "all",
    ],
  ];
}
