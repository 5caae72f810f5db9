/**
 * Ever-new series, as a fleet makes them whose pods and builds come and go: each second some series begin, each has a row a second for a
 * few seconds and never again. Half of them come by line protocol, half by Prometheus remote write.
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { compress } from "snappyjs";
import { remoteHeaders } from "./remote-write-body.ts";

/** Table that the line protocol writes to, and the metric of remote write. */
export const CHURN_TABLE = "pods";
const CHURN_METRIC = "pod_usage";

/** Rows that a series has, one a second. */
const ROWS_PER_SERIES = 5;

const BYTES = 2;
const DOUBLE = 1;
const VARINT = 0;

/** Tag values of series `number`; two of three are its own. */
function labelsOf(number: number): readonly (readonly [string, string])[] {
  const region = `region-${number % 5}`;
  return [
    ["build", `b${Math.floor(number / 100)}`],
    ["container", `c-${(number * 2_654_435_761) % 4_294_967_296}`],
    ["pod", `pod-${number}`],
    ["region", region],
  ];
}

/** Series `[from, to)` with a row each, all of one time. */
function churnLines(from: number, to: number, timeMs: number): string {
  const lines: string[] = [];
  for (let number = from; number < to; number++) {
    const tags = labelsOf(number).map(([name, value]) => `,${name}=${value}`);
    lines.push(`${CHURN_TABLE}${tags.join("")} usage=${(number % 1000) / 10} ${timeMs}000000`);
  }
  return lines.join("\n");
}

/** The same as a body of remote write 1.0. */
function churnSamples(from: number, to: number, timeMs: number): Uint8Array<ArrayBuffer> {
  const body = new BinaryWriter();
  for (let number = from; number < to; number++) {
    const series = new BinaryWriter();
    for (const [name, value] of [["__name__", CHURN_METRIC] as const, ...labelsOf(number)]) {
      series.tag(1, BYTES).bytes(new BinaryWriter().tag(1, BYTES).string(name).tag(2, BYTES).string(value).finish());
    }
    const sample = new BinaryWriter()
      .tag(1, DOUBLE)
      .double((number % 1000) / 10)
      .tag(2, VARINT)
      .int64(timeMs)
      .finish();
    body.tag(1, BYTES).bytes(series.tag(2, BYTES).bytes(sample).finish());
  }
  return new Uint8Array(compress(body.finish()));
}

/** What a load has done so far. */
export interface ChurnTotals {
  /** Series that began. */
  series: number;
  /** Requests that were refused with 429, and sent no more. */
  refused: number;
  bad: number;
  firstBad: string | undefined;
  /** Rows acknowledged by line protocol, by the second of their time. */
  readonly rowsOfSecond: Map<number, number>;
  /** Times of requests that are not answered yet, the oldest first: their rows may be there already. */
  readonly inFlight: Set<number>;
}

/** Sends until `seconds` have passed; `seriesPerSecond` new ones, spread over `connections` requests a second and protocol. */
export async function churn(
  baseUrl: string,
  load: { readonly seriesPerSecond: number; readonly connections: number; readonly seconds: number },
  totals: ChurnTotals,
): Promise<void> {
  const perProtocol = Math.max(1, Math.round(load.seriesPerSecond / 2));
  const part = Math.ceil(perProtocol / load.connections);
  const end = Date.now() + load.seconds * 1000;
  for (let second = 0, due = Date.now(); due < end; second++, due += 1000) {
    await Bun.sleep(Math.max(0, due - Date.now()));
    totals.series += 2 * perProtocol;
    const timeMs = Date.now(); // Not when it was due: on a busy machine those rows would have expired.
    const requests: Promise<void>[] = [];
    for (let age = 0; age < Math.min(ROWS_PER_SERIES, second + 1); age++) {
      const first = (second - age) * perProtocol;
      for (let from = first; from < first + perProtocol; from += part) {
        const to = Math.min(first + perProtocol, from + part);
        requests.push(post(`${baseUrl}/v1/influxdb/write?db=public`, churnLines(from, to, timeMs), {}, totals, timeMs, to - from));
        requests.push(post(`${baseUrl}/v1/prometheus/write?db=public`, churnSamples(from, to, timeMs), remoteHeaders(1), totals, 0, 0));
      }
    }
    totals.inFlight.add(timeMs);
    await Promise.all(requests);
    totals.inFlight.delete(timeMs);
  }
}

async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
  totals: ChurnTotals,
  timeMs: number,
  rows: number,
): Promise<void> {
  try {
    const response = await fetch(url, { method: "POST", body, headers });
    const answer = await response.text();
    if (response.status === 204) {
      const second = Math.floor(timeMs / 1000);
      if (rows > 0) totals.rowsOfSecond.set(second, (totals.rowsOfSecond.get(second) ?? 0) + rows);
    } else if (response.status === 429) totals.refused++;
    else {
      totals.bad++;
      totals.firstBad ??= `${response.status} ${answer.slice(0, 300)}`;
    }
  } catch (error) {
    totals.bad++;
    totals.firstBad ??= String(error);
  }
}
