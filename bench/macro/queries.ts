/**
 * The fifteen query types of the Time Series Benchmark Suite over the `cpu` table, with parameters drawn for a data set.
 * Windows start at random whole seconds, include their start and exclude their end, so that first and last buckets are partial.
 * A window longer than the data begins at the data's start.
 */
import { type Dataset, FIELDS, TABLE, TAGS, timeRange } from "./dataset.ts";
import { type Random, seededRandom } from "./random.ts";

/** The time column of a table made by line protocol. */
const TIME = "greptime_timestamp";

/** One query to run. */
export interface Query {
  readonly type: string;
  readonly sql: string;
  /** The same in InfluxQL. */
  readonly influxQl: string;
  /** True when the order of the rows is part of the answer. */
  readonly isOrdered: boolean;
}

/** One query in both languages. */
interface Texts {
  readonly sql: string;
  readonly influxQl: string;
}

type Build = (random: Random, dataset: Dataset) => Texts;

const BUILDERS: readonly (readonly [type: string, build: Build])[] = [
  ["single-groupby-1-1-1", singleGroupBy(1, 1, 1)],
  ["single-groupby-1-1-12", singleGroupBy(1, 1, 12)],
  ["single-groupby-1-8-1", singleGroupBy(1, 8, 1)],
  ["single-groupby-5-1-1", singleGroupBy(5, 1, 1)],
  ["single-groupby-5-1-12", singleGroupBy(5, 1, 12)],
  ["single-groupby-5-8-1", singleGroupBy(5, 8, 1)],
  ["cpu-max-all-1", cpuMaxAll(1)],
  ["cpu-max-all-8", cpuMaxAll(8)],
  ["double-groupby-1", doubleGroupBy(1)],
  ["double-groupby-5", doubleGroupBy(5)],
  ["double-groupby-all", doubleGroupBy(FIELDS.length)],
  ["high-cpu-1", highCpu(1)],
  ["high-cpu-all", highCpu(0)],
  ["lastpoint", lastPoint],
  ["groupby-orderby-limit", newestMinutes],
];

/** Names of the types. */
export const QUERY_TYPES: readonly string[] = BUILDERS.map(([type]) => type);

/** The types of some queries, in their order. */
export function queryTypesOf(queries: readonly Query[]): readonly string[] {
  return [...new Set(queries.map((query) => query.type))];
}

/** `count` queries of each type, always the same for the same data set. */
export function queriesFor(dataset: Dataset, count: number): readonly Query[] {
  return BUILDERS.flatMap(([type, build], index) => {
    const random = seededRandom(dataset.seed + 1000 * (index + 1));
    return Array.from({ length: count }, () => ({ type, ...build(random, dataset), isOrdered: type === "groupby-orderby-limit" }));
  });
}

function singleGroupBy(fields: number, hosts: number, hours: number): Build {
  return (random, dataset) => {
    const filter = hostFilter(random, dataset, hosts);
    const window = windowFilter(random, dataset, hours);
    return {
      sql:
        `SELECT ${calls("max", fields, ", ")}, date_trunc('minute', ${TIME}) from ${TABLE} where (${filter}) ` +
        `and ${window(TIME)} group by date_trunc('minute', ${TIME})`,
      influxQl: `SELECT ${calls("max", fields, ", ")} FROM ${TABLE} WHERE (${filter}) AND ${window("time")} GROUP BY time(1m)`,
    };
  };
}

function cpuMaxAll(hosts: number): Build {
  return (random, dataset) => {
    const filter = hostFilter(random, dataset, hosts);
    const window = windowFilter(random, dataset, 8);
    return {
      sql:
        `SELECT ${calls("max", FIELDS.length, ",")}, date_trunc('hour', ${TIME}) from ${TABLE} where (${filter}) ` +
        `and ${window(TIME)} group by date_trunc('hour', ${TIME})`,
      influxQl: `SELECT ${calls("max", FIELDS.length, ",")} FROM ${TABLE} WHERE (${filter}) AND ${window("time")} GROUP BY time(1h)`,
    };
  };
}

function doubleGroupBy(fields: number): Build {
  return (random, dataset) => {
    const window = windowFilter(random, dataset, 12);
    return {
      sql:
        `SELECT ${calls("avg", fields, ", ")}, date_trunc('hour', ${TIME}) from ${TABLE} where ${window(TIME)} ` +
        `group by date_trunc('hour', ${TIME}),hostname`,
      influxQl: `SELECT ${calls("mean", fields, ", ")} FROM ${TABLE} WHERE ${window("time")} GROUP BY time(1h), hostname`,
    };
  };
}

/** `hosts` = 0: all of them. */
function highCpu(hosts: number): Build {
  return (random, dataset) => {
    const filter = hosts === 0 ? "" : `and (${hostFilter(random, dataset, hosts)})`;
    const window = windowFilter(random, dataset, 12);
    const text = (time: string): string => `SELECT * from ${TABLE} where ${FIELDS[0]} > 90.0 ${filter} and ${window(time)}`;
    return { sql: text(TIME), influxQl: text("time") };
  };
}

function lastPoint(): Texts {
  const values = [...TAGS, ...FIELDS].map((column) => `last_value(${column} order by ${TIME})`);
  return {
    sql: `select ${values.join(", ")} from ${TABLE} group by hostname`,
    influxQl: `SELECT * FROM ${TABLE} GROUP BY hostname ORDER BY time DESC LIMIT 1`,
  };
}

function newestMinutes(random: Random, dataset: Dataset): Texts {
  const { start, end } = timeRange(dataset);
  const before = Math.min(end, start + 3600 + random.below(Math.max(1, end - start - 3600)));
  return {
    sql:
      `SELECT max(${FIELDS[0]}), date_trunc('minute', ${TIME}) from ${TABLE} WHERE ${TIME} < '${timeText(before)}' ` +
      `group by date_trunc('minute', ${TIME}) order by date_trunc('minute', ${TIME}) desc limit 5`,
    influxQl: `SELECT max(${FIELDS[0]}) FROM ${TABLE} WHERE time < '${timeText(before)}' GROUP BY time(1m) ORDER BY time DESC LIMIT 5`,
  };
}

function calls(name: string, fields: number, separator: string): string {
  return FIELDS.slice(0, fields)
    .map((field) => `${name}(${field})`)
    .join(separator);
}

function hostFilter(random: Random, dataset: Dataset, count: number): string {
  return random
    .sample(count, dataset.hosts)
    .map((host) => `hostname = 'host_${host}'`)
    .join(" or ");
}

/** A condition on the time column of a name. */
function windowFilter(random: Random, dataset: Dataset, hours: number): (time: string) => string {
  const { start, end } = timeRange(dataset);
  const from = start + random.below(Math.max(1, end - start - hours * 3600));
  return (time) => `${time} >= '${timeText(from)}' and ${time} < '${timeText(from + hours * 3600)}'`;
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}
