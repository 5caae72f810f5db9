/** The table of `bun bench grpc`: a line a case, medians over runs, targets beside. */
import { table } from "../report.ts";
import { median, spread } from "../statistics.ts";
import type { GrpcResult } from "./grpc-bench.ts";

const MIB = 2 ** 20;
const MICROS = 1e6;
/** What gRPC shall reach of the same over HTTP, and what the server may hold. */
const HTTP_SHARE_TARGET = 0.7;
const RSS_MIB_TARGET = 1024;
const NONE = "–";

const HEAD = [
  "workload",
  "connections",
  "runs",
  "rows/s",
  "target",
  "of it",
  "of the transport",
  "of HTTP",
  "MB/s",
  "ack ms p50",
  "p99",
  "server CPU us/row",
  "main thread",
  "load CPU us/row",
  "peak RSS MiB",
];

const rate = ({ rows, seconds }: GrpcResult): number => rows / seconds;
const speed = ({ bytes, seconds }: GrpcResult): number => bytes / seconds / 1e6;

/** Ratios inside each run, of what another case of that run had. */
function ratios(own: readonly GrpcResult[], all: readonly GrpcResult[], name: string | undefined, of: (result: GrpcResult) => number) {
  return own.flatMap((result) => {
    const other = all.find((each) => each.run === result.run && each.of.name === name);
    return other === undefined ? [] : [of(result) / of(other)];
  });
}

function ratioText(values: readonly number[]): string {
  return values.length === 0 ? NONE : median(values).toFixed(2);
}

function line(own: readonly GrpcResult[], all: readonly GrpcResult[]): readonly string[] {
  const [first] = own;
  if (first === undefined) return [];
  const { of } = first;
  const middle = (value: (result: GrpcResult) => number): number => median(own.map(value));
  const rates = own.map(rate);
  const target = of.besideHttp === undefined ? of.target : undefined;
  const isUpload = of.load !== "doget" && !of.load.endsWith("-http");
  return [
    of.name,
    String(of.connections),
    own.length === 1 ? "1" : `${own.length}, ±${(spread(rates) * 100).toFixed(0)} %`,
    Math.round(median(rates)).toLocaleString("en"),
    of.besideHttp === undefined ? (target?.toLocaleString("en") ?? NONE) : `${HTTP_SHARE_TARGET} of HTTP`,
    target === undefined ? NONE : (median(rates) / target).toFixed(2),
    ratioText(isUpload ? ratios(own, all, "transport", speed) : []),
    ratioText(ratios(own, all, of.besideHttp, rate)),
    middle(speed).toFixed(0),
    middle(({ ackMsP50 }) => ackMsP50).toFixed(1),
    middle(({ ackMsP99 }) => ackMsP99).toFixed(1),
    middle(({ serverCpuSeconds, rows }) => (serverCpuSeconds / rows) * MICROS).toFixed(2),
    middle(({ mainCpuSeconds, rows }) => (mainCpuSeconds / rows) * MICROS).toFixed(2),
    middle(({ loaderCpuSeconds, rows }) => (loaderCpuSeconds / rows) * MICROS).toFixed(2),
    middle(({ serverRssBytesPeak }) => serverRssBytesPeak / MIB).toFixed(0),
  ];
}

/** Medians of every case. */
export function grpcText(results: readonly GrpcResult[], durability: string): string {
  const keyOf = ({ of }: GrpcResult): string => `${of.name}|${of.connections}`;
  const keys = [...new Set(results.map(keyOf))];
  const lines = keys.map((key) =>
    line(
      results.filter((result) => keyOf(result) === key),
      results,
    ),
  );
  const most = Math.max(...results.map(({ serverRssBytesPeak }) => serverRssBytesPeak)) / MIB;
  return `## gRPC

Rows of 10 columns, 1,000 in a message; doput and doget: the cpu rows of 10 tags and 10 integers, 65,536 in a batch, 5 columns for doget; \
OTLP: 1,000 in a message. Writes acknowledged once in: ${durability}. Every row was counted. "Of the transport": bytes a second, of those \
of rows to a method that stores nothing; "of HTTP": rows a second, of those of the same messages over HTTP/1.1; both in the same run. The \
clock starts once both sides are warm. Processor time is that of all threads of the server, flushes that began meanwhile included; "main \
thread" is what one of them had, which has all connections.

${table(HEAD, lines)}
Most resident memory: ${most.toFixed(0)} MiB, of ${RSS_MIB_TARGET} that are the target.
`;
}
