/** An answer as it comes: an Arrow IPC stream of which batches are given as soon as their last byte is there. Memory is one batch. */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { DataType } from "../../column/data-type.ts";
import { ArrowReader, envelopeOf } from "../../format/arrow/reading/arrow-reader.ts";
import { Refusal } from "./refusal.ts";

const CONTINUATION = 0xffff_ffff;
/** Longest metadata of a message. Reason: a length that no server sends must not take all memory. */
const METADATA_BYTES_MAX: number = 64 * 1024 * 1024;
/** Longest body of a message. Reason: as above. */
const BODY_BYTES_MAX: number = 1024 * 1024 * 1024;

/** Rows with their columns. */
export interface AnsweredRows {
  readonly headers: readonly ColumnHeader[];
  readonly batches: AsyncGenerator<Batch>;
}

/** The rows of an answer; undefined: it is that of a statement that gives none. @throws Refusal; DbError for bytes that are no Arrow */
export async function arrowRows(body: AsyncIterator<Uint8Array>): Promise<AnsweredRows | undefined> {
  const bytes = new IncomingBytes(body);
  const reader = new ArrowReader();
  const first = await nextMessage(bytes, reader);
  if (first === undefined) return undefined;
  if (first.kind !== "schema") throw cutOff();
  const headers = first.headers.map(({ name, type, marks }) => ({ name, type: ownType(type, marks?.get("type")) }));
  return { headers, batches: batchesOf(bytes, reader) };
}

async function* batchesOf(bytes: IncomingBytes, reader: ArrowReader): AsyncGenerator<Batch> {
  try {
    for (;;) {
      const message = await nextMessage(bytes, reader);
      if (message === undefined) {
        if (bytes.ended) return;
        throw cutOff();
      }
      if (message.kind === "batch") yield message.batch;
    }
  } finally {
    await bytes.leave();
  }
}

/** The next message; undefined behind the mark of the end, and before the first byte of an empty answer. */
async function nextMessage(bytes: IncomingBytes, reader: ArrowReader): Promise<ReturnType<ArrowReader["read"]> | undefined> {
  const head = await bytes.take(8, true);
  if (head === undefined) return undefined;
  const view = new DataView(head.buffer, head.byteOffset, 8);
  const length = view.getUint32(4, true);
  if (view.getUint32(0, true) !== CONTINUATION || length > METADATA_BYTES_MAX) throw cutOff();
  if (length === 0) {
    bytes.ended = true;
    return undefined;
  }
  const metadata = await bytes.take(length, false);
  const { bodyBytes } = envelopeOf(metadata);
  if (bodyBytes > BODY_BYTES_MAX) throw cutOff();
  return reader.read(metadata, await bytes.take(bodyBytes, false));
}

const cutOff = (): Refusal => new Refusal("the answer was cut off: the server failed while it sent it; its log says why", { status: 0 });

/** The type of a column of which Arrow has only the form; the server marks it. */
function ownType(type: DataType, mark: string | undefined): DataType {
  const lower = mark?.toLowerCase();
  if (lower === undefined) return type;
  if (type.kind === "string" && lower === "json") return { kind: "json" };
  if (type.kind === "string" && lower === "json2") return { kind: "json", structured: true };
  if (type.kind === "string" && lower === "interval") return { kind: "interval" };
  const dimension = type.kind === "binary" ? /^vector\((\d{1,6})\)$/.exec(lower)?.[1] : undefined;
  return dimension === undefined ? type : { kind: "vector", dimension: Number(dimension) };
}

/** Bytes that come in pieces, taken in lengths. A piece is copied once. */
class IncomingBytes {
  /** Whether the mark of the end was read. */
  ended = false;
  private readonly source: AsyncIterator<Uint8Array>;
  private piece: Uint8Array = new Uint8Array(0);
  private at = 0;

  constructor(source: AsyncIterator<Uint8Array>) {
    this.source = source;
  }

  take(length: number, mayEnd: false): Promise<Uint8Array>;
  take(length: number, mayEnd: boolean): Promise<Uint8Array | undefined>;
  /** The next `length` bytes, the caller's own. @param mayEnd whether there may be none, which is undefined @throws Refusal */
  async take(length: number, mayEnd: boolean): Promise<Uint8Array | undefined> {
    const out = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      if (this.at === this.piece.length) {
        const next = await this.source.next();
        if (next.done === true) {
          if (mayEnd && filled === 0) return undefined;
          throw cutOff();
        }
        this.piece = next.value;
        this.at = 0;
      }
      const part = this.piece.subarray(this.at, this.at + length - filled);
      out.set(part, filled);
      filled += part.length;
      this.at += part.length;
    }
    return out;
  }

  /** Wants no more: the connection is closed unless all was read, which ends the statement. */
  async leave(): Promise<void> {
    await this.source.return?.();
  }
}
