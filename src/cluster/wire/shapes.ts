/** Values of requests and answers as shapes of the plan format: whoever reads checks every field. */
import type { ErrorDetails } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { ToldError } from "../../base/told-error.ts";
import { tableId as tableIdOf, type TableId } from "../../base/units.ts";
import type { NodeMetrics } from "../../query/operator/contract/node-metrics.ts";
import { timeRange } from "../../query/operator/node-parts/time-shapes.ts";
import { absent, bigint, bool, float, list, oneOf, optional, record, type Shape, text, whole } from "../../query/plan-format/shape.ts";
import type { TableFile, TableStatistics } from "../../table/catalog.ts";
import type { ScanMetrics } from "../../table/scan.ts";
import type { FragmentRequest, ShardAnswers, ShardCall, ShardFacts } from "./shard-request.ts";

/** A value that is no more than there. */
const nothing: Shape<null> = {
  write: (_, to) => to.plain(undefined),
  read: (from) => (from.scalar(from.tag()) === undefined ? null : from.fail("nothing is wanted")),
};

/** Bytes, owned by whoever reads them. */
export const bytes: Shape<Uint8Array<ArrayBuffer>> = {
  write: (value, to) => to.bytes(value),
  read: (from) => {
    const value = from.scalar(from.tag());
    return value instanceof Uint8Array ? new Uint8Array(value) : from.fail("bytes are wanted");
  },
};

const idOfTable = whole(1, 2 ** 31 - 1);

/** Ids of tables. */
export const tableId: Shape<TableId> = { write: idOfTable.write, read: (from) => tableIdOf(idOfTable.read(from)) };

/** Values of tags; undefined is NULL. */
export const tagValues: Shape<readonly (string | undefined)[]> = list<string | undefined>({
  write: (value, to) => to.plain(value),
  read: (from) => {
    const value = from.scalar(from.tag());
    return value === undefined || typeof value === "string" ? value : from.fail("a value of a tag is wanted");
  },
});

type Environment = FragmentRequest["environment"];

/** What expressions of a plan may read: neither what only the frontend has, nor values that the plan holds. */
export const environment: Shape<Environment> = record<SentEnvironment>({
  now: bigint,
  timeZone: text,
  database: text,
  isPostgres: absent(bool),
  isMysql: absent(bool),
  client: absent(record<NonNullable<Environment["client"]>>({ id: absent(whole(0)), user: absent(text) })),
});

type SentEnvironment = Pick<Environment, "now" | "timeZone" | "database"> & {
  readonly isPostgres?: boolean;
  readonly isMysql?: boolean;
  readonly client?: NonNullable<Environment["client"]>;
};

const CODES: ReadonlySet<number> = new Set(Object.values(StatusCode));

const statusCode: Shape<StatusCode> = {
  write: (value, to) => to.number(value),
  read: (from) => {
    const value = whole(0).read(from);
    return CODES.has(value) ? (value as StatusCode) : StatusCode.Unknown; // A newer server has more of them.
  },
};

const details: Shape<ErrorDetails> = record<ErrorDetails>({
  corruption: absent(
    record<NonNullable<ErrorDetails["corruption"]>>({
      file: text,
      offset: optional(float),
      kind: oneOf("checksum", "length", "structure", "version", "missing"),
    }),
  ),
  position: absent(record<NonNullable<ErrorDetails["position"]>>({ line: whole(0), column: whole(0) })),
  reason: absent(text),
});

/** Errors. */
export const toldError: Shape<ToldError> = record<ToldError>({
  code: statusCode,
  message: text,
  retryAfterSeconds: optional(float),
  details,
  stack: optional(text),
});

const scanMetrics: Shape<ScanMetrics> = record<ScanMetrics>({
  rowsReturned: float,
  bytesRead: float,
  filesRead: float,
  filesSkipped: float,
  filesSkippedByTags: float,
  pagesRead: float,
  pagesSkipped: float,
  pagesSummarised: float,
  pagesSkippedByIndex: float,
});

const nodeMetrics: Shape<NodeMetrics> = record<NodeMetrics>({
  rows: float,
  batches: float,
  bytes: float,
  elapsedMs: float,
  spilledBytes: float,
  scan: optional(scanMetrics),
  parts: absent(float),
  partMs: absent(float),
  held: absent(oneOf("left", "right")),
});

/** The end of a fragment. */
export interface FragmentEnd {
  readonly workMs: number;
  readonly metrics: readonly NodeMetrics[] | undefined;
}

/** See `FragmentEnd`. */
export const fragmentEnd: Shape<FragmentEnd> = record<FragmentEnd>({ workMs: float, metrics: optional(list(nodeMetrics)) });

const facts: Shape<ShardFacts> = record<ShardFacts>({
  tableId,
  statistics: record<TableStatistics>({
    rowCount: whole(0),
    memoryBytes: float,
    fileBytes: float,
    fileCount: whole(0),
    seriesCount: whole(0),
  }),
  timeBounds: optional(timeRange),
});

const file: Shape<TableFile> = record<TableFile>({
  id: whole(0),
  name: text,
  rowCount: whole(0),
  byteLength: whole(0),
  minTime: bigint,
  maxTime: bigint,
  sequence: whole(0),
});

/** Answers to calls, by their kind. */
export const ANSWERS: { readonly [K in ShardCall["kind"]]: Shape<ShardAnswers[K]> } = {
  flush: nothing,
  compact: nothing,
  "build-indexes": nothing,
  truncate: nothing,
  delete: whole(0),
  "delete-keys": nothing,
  facts: list(facts),
  files: list(file),
};
