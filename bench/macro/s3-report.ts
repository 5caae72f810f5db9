/** The table of queries over an S3 store. */
import { ms, table } from "./report.ts";
import type { S3QueryResult, S3Result } from "./s3-bench.ts";

const MIB = 2 ** 20;

/** See the file header. */
export function s3Text({ rows, dataBytes, smallCacheBytes, types }: S3Result): string {
  const ratio = (value: number, { localWarmMsP50 }: S3QueryResult): string => (value / localWarmMsP50).toFixed(2);
  const lines = types.map((each) => [
    each.type,
    ms(each.localWarmMsP50),
    ms(each.warmMsP50),
    ratio(each.warmMsP50, each),
    ms(each.coldFirstMs),
    ms(each.localFirstMs),
    ms(each.smallCacheWarmMsP50),
    ratio(each.smallCacheWarmMsP50, each),
  ]);
  const head = [
    "type",
    "local warm p50 ms",
    "S3 warm p50 ms",
    "ratio",
    "S3 cold first ms",
    "local first ms",
    "small cache warm p50 ms",
    "ratio",
  ];
  return `## Queries over an S3 store

${rows.toLocaleString("en-US")} rows, flushed and merged, ${mib(dataBytes)} MiB of files; versitygw on the same machine.
A process of its own for each type and column; "S3 cold first" is the very first query of a process whose cache of files was emptied,
while the system's cache may have the store's; "small cache" is one of ${mib(smallCacheBytes)} MiB. All answers are those of local files.

${table(head, lines)}`;
}

const mib = (bytes: number): string => (bytes / MIB).toFixed(bytes < 10 * MIB ? 1 : 0);
