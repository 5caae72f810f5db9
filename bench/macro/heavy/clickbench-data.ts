/**
 * A table with the columns of ClickBench's `hits` (https://github.com/ClickHouse/ClickBench), whose values are made up with skews like
 * those of the real ones: most pages and searches are rare, few are everywhere; most hits have no search; one visitor returns often.
 *
 * Hashes of the row's number stand for chance. `u(i, k)` is the k-th even number in [0, 1) of row i, `skew(u, n, s)` a whole number below n
 * whose small values come often, the more so the larger s.
 */
import { CONSTANTS } from "./clickbench-queries.ts";
import type { HeavyTable } from "./heavy-data.ts";

type Column = readonly [name: string, type: "BIGINT" | "INTEGER" | "SMALLINT" | "TEXT" | "DATE" | "TIMESTAMP", value: string];

const JULY_2013 = "TIMESTAMP '2013-07-01 00:00:00'";
const JULY_SECONDS = 31 * 86_400;

/** Below `bound`, most of it near 0. */
function skew(salt: number, bound: number, strength: number): string {
  return `CAST(floor(${bound} * pow(u(i, ${salt}), ${strength})) AS BIGINT)`;
}

/** `value` in a share of rows, else another. */
function sometimes(salt: number, share: number, value: string, otherwise: string): string {
  return `CASE WHEN u(i, ${salt}) < ${share} THEN ${value} ELSE ${otherwise} END`;
}

/** The whole 64 bits. */
function wide(expression: string): string {
  return `CAST(hash(${expression}) >> 1 AS BIGINT)`;
}

const WORDS = [
  "продажа",
  "квартир",
  "москва",
  "погода",
  "карта",
  "google",
  "видео",
  "смотреть",
  "онлайн",
  "купить",
  "авто",
  "форум",
  "игры",
];
const HOSTS = ["auto.example.ru", "kinopoisk.example.ru", "www.google.example", "irr.example.ru", "news.example.com", "mail.example.net"];

/** A text of the list, by a number. */
function word(list: readonly string[], number: string): string {
  return `list_value(${list.map((text) => `'${text}'`).join(", ")})[CAST((${number}) % ${list.length} AS INTEGER) + 1]`;
}

function phrase(number: string, words: number): string {
  const parts = Array.from({ length: words }, (_, w) => word(WORDS, `hash(${number}, ${w})`));
  return `concat_ws(' ', ${parts.join(", ")}, ${number})`;
}

function address(number: string): string {
  const host = word(HOSTS, `hash(${number}, 7) % 16`);
  return `concat('http://', ${host}, '/', ${word(["search", "catalog", "news", "page"], `hash(${number}, 8)`)}, '/', ${number},
    '/index.html?from=', hash(${number}, 9) % 100000, '&lr=', hash(${number}, 10) % 300)`;
}

/** Columns that are made before the others, which name them. */
function drawn(rows: number): string {
  const pages = Math.max(1000, Math.floor(rows / 4));
  return `SELECT i, ${skew(1, pages, 3)} AS page, ${skew(2, pages, 4)} AS referring, ${skew(3, Math.max(1000, rows / 3), 5)} AS visitor,
    ${skew(4, Math.max(500, Math.floor(rows / 8)), 4)} AS searched, u(i, 5) < 0.13 AS searches, u(i, 6) < 0.06 AS is62
    FROM range(${rows}) r(i)`;
}

const VISITOR = `CASE WHEN visitor = 3 THEN ${CONSTANTS.userId} ELSE ${wide("visitor, 11")} END`;
const URL = sometimes(12, 0.1, `concat(${address("page")}, '&session=', i)`, address("page"));
const REFERER = sometimes(13, 0.2, "''", address("referring"));

/** Columns that hold what the queries read. */
const READ: readonly Column[] = [
  ["watchid", "BIGINT", wide("i, 14")],
  ["title", "TEXT", sometimes(15, 0.12, "''", phrase("page // 3", 6))],
  ["eventtime", "TIMESTAMP", `${JULY_2013} + to_seconds(CAST(floor(i * ${JULY_SECONDS}.0 / ROWS) AS BIGINT))`],
  ["eventdate", "DATE", `CAST(${JULY_2013} + to_seconds(CAST(floor(i * ${JULY_SECONDS}.0 / ROWS) AS BIGINT)) AS DATE)`],
  ["counterid", "INTEGER", `CASE WHEN is62 THEN 62 ELSE 100 + ${skew(16, 6000, 4)} END`],
  ["clientip", "INTEGER", "CAST(hash(visitor, 17) % 4294967296 AS BIGINT) - 2147483648"],
  ["regionid", "INTEGER", skew(18, 9000, 6)],
  ["userid", "BIGINT", VISITOR],
  ["url", "TEXT", URL],
  ["referer", "TEXT", REFERER],
  ["isrefresh", "SMALLINT", sometimes(19, 0.15, "1", "0")],
  ["resolutionwidth", "SMALLINT", `${word(["1366", "1280", "1920", "1024", "1440", "0"], "hash(visitor, 20) % 11")}`],
  ["mobilephone", "SMALLINT", sometimes(21, 0.05, `1 + ${skew(22, 90, 3)}`, "0")],
  ["mobilephonemodel", "TEXT", sometimes(21, 0.05, `concat('model ', ${skew(23, 160, 3)})`, "''")],
  ["traficsourceid", "SMALLINT", `${skew(24, 12, 2)} - 1`],
  ["searchengineid", "SMALLINT", `CASE WHEN searches THEN 1 + ${skew(25, 40, 4)} ELSE 0 END`],
  ["searchphrase", "TEXT", `CASE WHEN searches THEN ${phrase("searched", 3)} ELSE '' END`],
  ["advengineid", "SMALLINT", sometimes(26, 0.006, `1 + ${skew(27, 25, 2)}`, "0")],
  ["windowclientwidth", "SMALLINT", `${skew(28, 2000, 0.5)}`],
  ["windowclientheight", "SMALLINT", `${skew(29, 1200, 0.5)}`],
  ["islink", "SMALLINT", sometimes(30, 0.1, "1", "0")],
  ["isdownload", "SMALLINT", sometimes(31, 0.01, "1", "0")],
  ["dontcounthits", "SMALLINT", sometimes(32, 0.2, "1", "0")],
  ["refererhash", "BIGINT", `CASE WHEN referring < 40 THEN ${CONSTANTS.refererHash} ELSE ${wide("referring, 33")} END`],
  ["urlhash", "BIGINT", `CASE WHEN page < 40 THEN ${CONSTANTS.urlHash} ELSE ${wide("page, 34")} END`],
];

/** Whole numbers of few values, which only `SELECT *` reads, with how many values they have. */
const SMALL: Readonly<Record<string, number>> = {
  javaenable: 2,
  goodevent: 1,
  counterclass: 3,
  os: 90,
  useragent: 80,
  referercategoryid: 900,
  urlcategoryid: 900,
  resolutionheight: 1200,
  resolutiondepth: 33,
  flashmajor: 12,
  flashminor: 10,
  netmajor: 5,
  netminor: 9,
  useragentmajor: 40,
  cookieenable: 2,
  javascriptenable: 2,
  ismobile: 2,
  isartifical: 2,
  clienttimezone: 900,
  silverlightversion1: 6,
  silverlightversion2: 3,
  silverlightversion4: 2,
  isnotbounce: 2,
  isoldcounter: 1,
  isevent: 2,
  isparameter: 2,
  withhash: 2,
  age: 60,
  sex: 3,
  income: 4,
  interests: 16_000,
  robotness: 5,
  historylength: 30,
  httperror: 1,
  socialsourcenetworkid: 3,
  paramcurrencyid: 1,
  hasgclid: 2,
};

/** The same of 32 bits. */
const MEDIUM: Readonly<Record<string, number>> = {
  refererregionid: 5000,
  urlregionid: 5000,
  ipnetworkid: 4_000_000,
  silverlightversion3: 60_000,
  codeversion: 2000,
  hid: 1_000_000_000,
  remoteip: 2_000_000_000,
  windowname: 10_000,
  openername: 5000,
  sendtiming: 30_000,
  dnstiming: 1000,
  connecttiming: 1000,
  responsestarttiming: 5000,
  responseendtiming: 5000,
  fetchtiming: 8000,
  clid: 100,
};

/** Texts that are mostly empty, as shares of rows that have one. */
const TEXTS: Readonly<Record<string, number>> = {
  flashminor2: 0.7,
  useragentminor: 0.9,
  params: 0.01,
  pagecharset: 0.95,
  originalurl: 0.3,
  hitcolor: 1,
  browserlanguage: 1,
  browsercountry: 1,
  socialnetwork: 0.005,
  socialaction: 0.005,
  socialsourcepage: 0.02,
  paramorderid: 0,
  paramcurrency: 1,
  openstatservicename: 0.01,
  openstatcampaignid: 0.01,
  openstatadid: 0.01,
  openstatsourceid: 0.01,
  utmsource: 0.05,
  utmmedium: 0.05,
  utmcampaign: 0.05,
  utmcontent: 0.03,
  utmterm: 0.03,
  fromtag: 0.02,
};

/** All 105 columns. */
function columns(): readonly Column[] {
  const small = Object.entries(SMALL).map(([name, bound], c): Column => [name, "SMALLINT", skew(100 + c, bound, 3)]);
  const medium = Object.entries(MEDIUM).map(([name, bound], c): Column => [name, "INTEGER", skew(200 + c, bound, 2)]);
  const texts = Object.entries(TEXTS).map(([name, share], c): Column => {
    const text = name === "originalurl" ? address("page") : `concat('${name.slice(0, 2)}', ${skew(300 + c, 50, 3)})`;
    return [name, "TEXT", sometimes(400 + c, share, text, "''")];
  });
  return [
    ...READ,
    ...small,
    ...medium,
    ...texts,
    ["clienteventtime", "TIMESTAMP", `${JULY_2013} + to_seconds(${skew(50, JULY_SECONDS, 1)})`],
    ["localeventtime", "TIMESTAMP", `${JULY_2013} + to_seconds(${skew(51, JULY_SECONDS, 1)})`],
    ["funiqid", "BIGINT", wide("visitor, 52")],
    ["paramprice", "BIGINT", "0"],
  ];
}

/** The table, of some rows. */
export function clickbenchTables(rows: number): readonly HeavyTable[] {
  const all = columns();
  const list = all.map(([name, type, value]) => {
    const cast = type === "TEXT" ? "VARCHAR" : type === "TIMESTAMP" ? "TIMESTAMP_S" : type;
    return `CAST(${value.replaceAll("ROWS", String(rows))} AS ${cast}) AS ${name}`;
  });
  const varveTypes = { TEXT: "STRING", TIMESTAMP: "TIMESTAMP(0)", BIGINT: "BIGINT", INTEGER: "INT", SMALLINT: "SMALLINT", DATE: "DATE" };
  const parts = all.map(([name, type]) => `${name} ${varveTypes[type]}${name === "eventtime" ? " TIME INDEX" : ""}`);
  return [
    {
      name: "hits",
      rows,
      fill: [
        "CREATE OR REPLACE MACRO u(i, k) AS (hash(i, k) >> 11)::DOUBLE / 9007199254740992.0",
        `CREATE OR REPLACE TABLE hits AS SELECT ${list.join(", ")} FROM (${drawn(rows)})`,
      ],
      create: `CREATE TABLE hits (${parts.join(", ")}) WITH (append_mode = 'true')`,
    },
  ];
}
