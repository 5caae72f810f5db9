/**
 * The load generator of the soak: a process of its own that posts the same batches again and again, stamped with the time at which each
 * is sent, until its time is up. Every ten seconds it prints one JSON line.
 *
 * Line protocol of the file must end its lines with a time of 19 digits. The first 13 become the milliseconds of the send, the last 6 are
 * fixed for each connection and row, so that no two rows are equal and a patch writes 13 bytes a row.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { parseArgs } from "node:util";
import { findBatches } from "./batches.ts";
import { percentile } from "./statistics.ts";

/** Seconds that one line of the report covers. */
export const WINDOW_SECONDS = 10;

/** Rows sent in one window, printed once all its requests were answered. */
export interface SoakWindow {
  /** The window in seconds since 1970, `[start, start + WINDOW_SECONDS)`. */
  readonly start: number;
  readonly rows: number;
  readonly requests: number;
  readonly ackMsP50: number;
  readonly ackMsP99: number;
  readonly ackMsMax: number;
  /** Requests refused with 429: sent again later, nothing of them is stored. */
  readonly refused: number;
  /** Any other answer that is not 204, and broken connections. */
  readonly bad: number;
  readonly firstBad: string | undefined;
}

interface OpenWindow {
  rows: number;
  waiting: number;
  refused: number;
  bad: number;
  firstBad: string | undefined;
  readonly ackMs: number[];
}

/** A batch whose times can be rewritten. */
interface Template {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where the time of each row starts. */
  readonly times: Uint32Array;
}

const TIME_DIGITS = 19;
const MILLISECOND_DIGITS = 13;
const LINE_FEED = 0x0a;
const ZERO = 0x30;
const TEMPLATES_PER_CONNECTION = 4;
const REFUSED_PAUSE_MS = 200;

/** What the loader sends. */
export interface SoakLoadOptions {
  readonly url: string;
  readonly file: string;
  readonly rowsPerBatch: number;
  readonly connections: number;
  readonly seconds: number;
}

/** Sends until the time is up; `report` gets each window when it is complete. */
export async function soakLoad(options: SoakLoadOptions, report: (window: SoakWindow) => void): Promise<void> {
  const windows = new Map<number, OpenWindow>();
  const end = Date.now() + options.seconds * 1000;
  const reportComplete = (now: number): void => {
    for (const [start, window] of windows) {
      if (window.waiting > 0 || (start + WINDOW_SECONDS) * 1000 > now) continue;
      windows.delete(start);
      report(closed(start, window));
    }
  };
  const connection = async (index: number): Promise<void> => {
    const templates = readTemplates(options, index);
    for (let turn = 0; Date.now() < end; turn++) {
      const template = templates[turn % templates.length]!;
      const now = Date.now();
      stamp(template, now);
      const window = windowOf(windows, now);
      window.waiting++;
      await send(options.url, template, window);
      window.waiting--;
      reportComplete(Date.now());
    }
  };
  await Promise.all(Array.from({ length: options.connections }, (_, index) => connection(index)));
  reportComplete(Number.POSITIVE_INFINITY);
}

async function send(url: string, template: Template, window: OpenWindow): Promise<void> {
  const started = performance.now();
  try {
    const response = await fetch(url, { method: "POST", body: template.bytes });
    const answer = await response.text();
    if (response.status === 204) {
      window.rows += template.times.length;
      window.ackMs.push(performance.now() - started);
    } else if (response.status === 429) {
      window.refused++;
      await Bun.sleep(REFUSED_PAUSE_MS);
    } else {
      window.bad++;
      window.firstBad ??= `${response.status} ${answer.slice(0, 300)}`;
    }
  } catch (error) {
    window.bad++;
    window.firstBad ??= String(error);
    await Bun.sleep(REFUSED_PAUSE_MS);
  }
}

function windowOf(windows: Map<number, OpenWindow>, nowMs: number): OpenWindow {
  const start = Math.floor(nowMs / 1000 / WINDOW_SECONDS) * WINDOW_SECONDS;
  let window = windows.get(start);
  if (window === undefined) {
    window = { rows: 0, waiting: 0, refused: 0, bad: 0, firstBad: undefined, ackMs: [] };
    windows.set(start, window);
  }
  return window;
}

function closed(start: number, window: OpenWindow): SoakWindow {
  const { rows, refused, bad, firstBad, ackMs } = window;
  return {
    start,
    rows,
    requests: ackMs.length + refused + bad,
    ackMsP50: percentile(ackMs, 0.5),
    ackMsP99: percentile(ackMs, 0.99),
    ackMsMax: percentile(ackMs, 1),
    refused,
    bad,
    firstBad,
  };
}

/** Reads the batches of one connection: each has its own, since a body must not change while it is sent. */
function readTemplates(options: SoakLoadOptions, connection: number): Template[] {
  const { offsets } = findBatches(options.file, options.rowsPerBatch);
  const count = offsets.length - 1;
  const file = openSync(options.file, "r");
  try {
    return Array.from({ length: TEMPLATES_PER_CONNECTION }, (_, i) => {
      const batch = (connection * TEMPLATES_PER_CONNECTION + i) % count;
      const start = offsets[batch]!;
      const bytes = new Uint8Array(offsets[batch + 1]! - start);
      for (let done = 0; done < bytes.length; ) done += readSync(file, bytes, done, bytes.length - done, start + done);
      return templateOf(bytes, connection * options.rowsPerBatch);
    });
  } finally {
    closeSync(file);
  }
}

/** Finds the times and gives each row its last six digits, counting from `first`. */
export function templateOf(bytes: Uint8Array<ArrayBuffer>, first: number): Template {
  const times: number[] = [];
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) times.push(at - TIME_DIGITS);
  for (const [row, start] of times.entries()) {
    const suffix = (first + row) % 1_000_000;
    writeDigits(bytes, start + MILLISECOND_DIGITS, TIME_DIGITS - MILLISECOND_DIGITS, suffix);
  }
  return { bytes, times: Uint32Array.from(times) };
}

/** Writes the milliseconds since 1970 into the time of every row. */
export function stamp({ bytes, times }: Template, milliseconds: number): void {
  const digits = new Uint8Array(MILLISECOND_DIGITS);
  writeDigits(digits, 0, MILLISECOND_DIGITS, milliseconds);
  for (let row = 0; row < times.length; row++) {
    const start = times[row]!;
    for (let i = 0; i < MILLISECOND_DIGITS; i++) bytes[start + i] = digits[i]!;
  }
}

function writeDigits(bytes: Uint8Array, start: number, count: number, value: number): void {
  let rest = value;
  for (let i = count - 1; i >= 0; i--) {
    bytes[start + i] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      url: { type: "string" },
      file: { type: "string" },
      batch: { type: "string", default: "10000" },
      connections: { type: "string", default: "4" },
      seconds: { type: "string", default: "60" },
    },
  });
  if (values.url === undefined || values.file === undefined) throw new Error("cannot load: --url and --file are needed");
  const options: SoakLoadOptions = {
    url: values.url,
    file: values.file,
    rowsPerBatch: Number(values.batch),
    connections: Number(values.connections),
    seconds: Number(values.seconds),
  };
  await soakLoad(options, (window) => process.stdout.write(`${JSON.stringify(window)}\n`));
}
