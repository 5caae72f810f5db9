/**
 * Line protocol, plain or packed, and exports of InfluxDB 1.x, which are line protocol with remarks:
 *
 *   # DDL
 *   CREATE DATABASE telegraf WITH NAME autogen
 *   # DML
 *   # CONTEXT-DATABASE:telegraf
 *   # CONTEXT-RETENTION-POLICY:autogen
 *   cpu,host=a usage=1 1700000000000000000
 *
 * Source: `influx_inspect export` and `influx -import` of InfluxDB 1.8 (docs.influxdata.com/influxdb/v1/tools). Retention policies are no
 * part of a database here: rows of all go into the database of the context.
 *
 * Bytes are cut at ends of lines, never copied unless a line lacks its time: it gets the time at which the import began, so that a piece
 * that is sent again has the same rows. Cutting takes 0.1 µs a line of 347 bytes without quotes, 0.4 with some (Bun 1.4.5).
 */
import type { Pace } from "../../base/scheduler/pace.ts";
import type { OpenFile } from "../../table/file-access.ts";
import { bytesFrom, packingOf } from "./bytes-from.ts";
import { hasTime, lineEnd, measurementOf, textEnd } from "./line-end.ts";
import type { Piece, Source, SourceContext, Start } from "./source.ts";

/** Longest line. Reason: it lies in memory whole; a quote that nothing closes would make one of the rest of the file. */
const LINE_BYTES_MAX: number = 16 * 1024 * 1024;

/** Nanoseconds of a precision of line protocol. */
export const PRECISION_NANOS: Readonly<Record<string, bigint>> = { ns: 1n, us: 1_000n, ms: 1_000_000n, s: 1_000_000_000n };

/** How a text is read. */
export interface LineOptions {
  readonly database: string;
  /** Of times, as the server's parameter has it. */
  readonly precision: string;
  readonly rowsMax: number;
  readonly bytesMax: number;
  /** Time of lines without one. */
  readonly nanos: bigint;
  /** Whether remarks of an export mean something, and whether they choose the database. */
  readonly isExport: boolean;
  readonly isDatabaseFixed: boolean;
  /** Called before the first piece of a database that a remark names. */
  readonly onDatabase: (name: string) => Promise<void>;
}

/** The lines of a file. */
export async function lineSource(file: OpenFile, identity: string, options: LineOptions, pace: Pace): Promise<Source> {
  const packing = await packingOf(file);
  let readBytes = 0;
  const isPlain = packing === "none";
  return {
    name: file.location,
    identity,
    size: file.byteLength,
    ...(isPlain ? {} : { progressOf: () => readBytes }), // Places count what is unpacked.
    pieces: (start) =>
      piecesOf(
        bytesFrom(file, start.at, pace, (at) => (readBytes = at)),
        start,
        options,
      ),
    close: () => file.close(),
  };
}

/** Cuts bytes into pieces. */
export async function* piecesOf(bytes: AsyncIterable<Uint8Array>, start: Start, options: LineOptions): AsyncGenerator<Piece> {
  const cutter = new Cutter(start, options);
  for await (const piece of bytes) {
    cutter.push(piece);
    yield* cutter.pieces(false);
  }
  yield* cutter.pieces(true);
}

/** What remarks of an export said last. */
interface Remarks {
  readonly database: string;
  readonly isDefinitions: boolean;
}

class Cutter {
  private readonly options: LineOptions;
  private held: Uint8Array = new Uint8Array(0);
  /** Place in the source of the first held byte. */
  private at: number;
  /** Where the last piece ended; what lies between, remarks and blank lines, belongs to the next one. */
  private ended: number;
  private line: number;
  private remarks: Remarks;
  private readonly made: Set<string> = new Set();

  constructor(start: Start, options: LineOptions) {
    this.options = options;
    this.at = start.at;
    this.ended = start.at;
    this.line = Number(start.context["line"] ?? 1);
    this.remarks = { database: start.context["database"] ?? options.database, isDefinitions: start.context["isDefinitions"] === "true" };
  }

  push(bytes: Uint8Array): void {
    this.held = this.held.length === 0 ? bytes : Buffer.concat([this.held, bytes]);
  }

  /** Pieces that are there as a whole. */
  async *pieces(isLast: boolean): AsyncGenerator<Piece> {
    const { rowsMax, bytesMax } = this.options;
    let isWhole = isLast || this.held.length >= bytesMax;
    while (isWhole && this.held.length > 0) {
      const found = this.next(isLast, rowsMax, bytesMax);
      if (found === undefined) return;
      const { piece, said } = found;
      if (said !== undefined) await this.hear(said);
      else if (piece !== undefined) {
        await this.make(piece.database);
        yield piece;
      }
      isWhole = isLast || this.held.length >= bytesMax;
    }
  }

  /** The next piece, or a remark or definition that stands before one; undefined: more bytes are needed. */
  private next(isLast: boolean, rowsMax: number, bytesMax: number): { readonly piece?: Piece; readonly said?: string } | undefined {
    const { held, options } = this;
    const hasQuotes = held.includes(0x22);
    const timeless: number[] = [];
    let rows = 0;
    let lines = 0;
    let end = 0;
    while (end < held.length && rows < rowsMax && end < bytesMax) {
      const next = hasQuotes ? lineEnd(held, end, held.length, isLast) : plainEnd(held, end, isLast);
      if (next < 0) {
        // Where pieces end never depends on how much has come: a later run has to find the same ones.
        if (held.length - end < LINE_BYTES_MAX) return undefined;
        throw new Error(`line ${this.line}: it does not end within ${LINE_BYTES_MAX} bytes; a quote may not be closed`);
      }
      const isRemark = options.isExport && (held[end] === 0x23 || this.remarks.isDefinitions);
      if (isRemark && end > 0) break;
      if (isRemark) {
        const said = Buffer.from(held.subarray(0, textEnd(held, 0, next))).toString("utf8");
        this.drop(next, 1);
        return { said };
      }
      const first = held[end];
      const isRow = first !== 0x23 && textEnd(held, end, next) > end;
      if (isRow) {
        rows++;
        if (!hasTime(held, end, next)) timeless.push(textEnd(held, end, next));
      }
      lines++;
      end = next;
    }
    const piece = rows === 0 ? undefined : this.piece(held.subarray(0, end), rows, timeless, lines);
    this.drop(end, lines);
    if (piece === undefined) return {};
    this.ended = piece.to;
    return { piece };
  }

  private piece(bytes: Uint8Array, rowCount: number, timeless: readonly number[], lines: number): Piece {
    const { precision, nanos } = this.options;
    const from = this.ended;
    const body = timeless.length === 0 ? bytes.slice() : withTimes(bytes, timeless, ` ${nanos / (PRECISION_NANOS[precision] ?? 1n)}`);
    return {
      from,
      to: this.at + bytes.length,
      rowCount,
      database: this.remarks.database,
      path: `/v1/influxdb/write?precision=${precision}`,
      body,
      headers: {},
      place: `line ${this.line}`,
      context: this.context(this.line + lines),
      tables: () => measurements(body),
    };
  }

  private context(line: number): SourceContext {
    const { database, isDefinitions } = this.remarks;
    return { line: String(line), database, isDefinitions: String(isDefinitions) };
  }

  private drop(length: number, lines: number): void {
    this.held = this.held.subarray(length);
    this.at += length;
    this.line += lines;
  }

  /** A remark, or a definition. */
  private async hear(said: string): Promise<void> {
    const { options, remarks } = this;
    const section = /^#\s*(DDL|DML)\s*$/.exec(said)?.[1];
    if (section !== undefined) this.remarks = { ...remarks, isDefinitions: section === "DDL" };
    const database = /^#\s*CONTEXT-DATABASE:\s*(.*?)\s*$/.exec(said)?.[1];
    if (database !== undefined && !options.isDatabaseFixed) this.remarks = { ...this.remarks, database };
    const created = remarks.isDefinitions ? /^CREATE DATABASE (?:"((?:[^"\\]|\\.)*)"|(\S+))/i.exec(said) : null;
    const name = created?.[1]?.replace(/\\(.)/g, "$1") ?? created?.[2];
    if (name !== undefined && !options.isDatabaseFixed) await this.make(name);
  }

  private async make(database: string): Promise<void> {
    if (!this.options.isExport || this.made.has(database)) return;
    this.made.add(database);
    await this.options.onDatabase(database);
  }
}

function plainEnd(bytes: Uint8Array, start: number, isLast: boolean): number {
  const newline = bytes.indexOf(0x0a, start);
  if (newline >= 0) return newline + 1;
  return isLast ? bytes.length : -1;
}

/** Lines with a text at the ends of some. */
function withTimes(bytes: Uint8Array, ends: readonly number[], text: string): Uint8Array {
  const added = Buffer.from(text);
  const out = new Uint8Array(bytes.length + added.length * ends.length);
  let from = 0;
  let at = 0;
  for (const end of ends) {
    out.set(bytes.subarray(from, end), at);
    at += end - from;
    out.set(added, at);
    at += added.length;
    from = end;
  }
  out.set(bytes.subarray(from), at);
  return out;
}

function measurements(body: Uint8Array): ReadonlySet<string> {
  const found = new Set<string>();
  for (let at = 0; at < body.length; ) {
    const end = lineEnd(body, at, body.length, true);
    const name = measurementOf(body, at, end);
    if (name !== undefined) found.add(name);
    at = end;
  }
  return found;
}
