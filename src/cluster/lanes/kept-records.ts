/**
 * What a lane was acknowledged, as long as there is room: it is sent again when the log has lost it (`kept-sender.ts`).
 *
 *   acknowledged ─► │ segment 7 │ segment 8      │ segment 9 … │      messages as they were sent: nothing is copied or encoded
 *                     ▲ goes first, as a whole: records rely on those before them in their segment
 */
import type { WriterId } from "../../base/units.ts";
import { decodeMessage } from "../log-message/log-message.ts";
import type { RecordOrigin } from "../../storage/memtable/record-origin.ts";
import type { KeptBytes } from "./lane-parts.ts";
import type { Shipment } from "./shipment.ts";

/** Records of one segment of one writer, from the first one on. */
export interface KeptSegment {
  readonly writer: WriterId;
  /** Of its first record; those behind it are numbered on. */
  readonly number: number;
  readonly records: readonly Uint8Array[];
}

interface KeptMessage {
  readonly origins: readonly RecordOrigin[];
  readonly bytes: number;
  records(): readonly Uint8Array[];
}

/** See the file header. Oldest first; numbers of a writer rise without holes. */
export class KeptRecords {
  private readonly bytesMax: number;
  private readonly all: KeptBytes;
  private messages: KeptMessage[] = [];
  /** Messages at the front of the list that were let go. */
  private gone = 0;
  private held = 0;
  /** The segment whose beginning was let go: its records are of no use. */
  private broken: Pick<RecordOrigin, "writer" | "segment"> | undefined;

  /** @param bytesMax of messages; beyond it the oldest go. @param all counts those of all lanes */
  constructor(bytesMax: number, all: KeptBytes = { bytes: 0 }) {
    this.bytesMax = bytesMax;
    this.all = all;
  }

  get bytes(): number {
    return this.held;
  }

  /** Keeps records that were acknowledged. */
  keep(shipment: Shipment): void {
    const message = keptOf(shipment);
    const isUseless = this.isEmpty && message.origins.every((origin) => this.isBroken(origin));
    if (isUseless || message.bytes > this.bytesMax) return this.forget(message.origins.at(-1));
    this.messages.push(message);
    this.count(message.bytes);
    while (this.held > this.bytesMax) this.letGo();
  }

  /** Lets all of it go. @param broken the segment that may go on and cannot be kept */
  forget(broken: Pick<RecordOrigin, "writer" | "segment"> | undefined = this.messages.at(-1)?.origins.at(-1) ?? this.broken): void {
    this.messages = [];
    this.gone = 0;
    this.count(-this.held);
    this.broken = broken;
  }

  /** Whether anything of a writer is there. */
  has(writer: number): boolean {
    return this.messages.some(({ origins }) => origins.some((origin) => origin.writer === writer));
  }

  /** What is there, in order; read it while nothing is kept or let go. */
  *segments(): Generator<KeptSegment> {
    let current: { readonly origin: RecordOrigin; readonly records: Uint8Array[] } | undefined;
    for (let i = this.gone; i < this.messages.length; i++) {
      const message = this.messages[i] as KeptMessage;
      const records = message.records();
      for (const [place, origin] of message.origins.entries()) {
        if (this.isBroken(origin)) continue;
        if (current === undefined || !isSameSegment(current.origin, origin)) {
          if (current !== undefined) yield segmentOf(current);
          current = { origin, records: [] };
        }
        current.records.push(records[place] as Uint8Array);
      }
    }
    if (current !== undefined) yield segmentOf(current);
  }

  private count(bytes: number): void {
    this.held += bytes;
    this.all.bytes += bytes;
  }

  private get isEmpty(): boolean {
    return this.gone === this.messages.length;
  }

  private isBroken(origin: RecordOrigin): boolean {
    return this.broken !== undefined && isSameSegment(this.broken, origin);
  }

  /** Lets the oldest segment go. */
  private letGo(): void {
    do {
      const message = this.messages[this.gone] as KeptMessage;
      this.broken = message.origins.at(-1);
      this.messages[this.gone] = NONE;
      this.count(-message.bytes);
      this.gone++;
    } while (this.messages[this.gone]?.origins.every((origin) => this.isBroken(origin)) === true);
    if (this.gone * 2 < this.messages.length) return;
    this.messages = this.messages.slice(this.gone);
    this.gone = 0;
  }
}

const NONE: KeptMessage = { origins: [], bytes: 0, records: () => [] };

function keptOf({ records, messages, isCut }: Shipment): KeptMessage {
  const origins = records.map(({ origin }) => origin);
  if (isCut) {
    const pieces = records.map((record) => record.pieces());
    return { origins, bytes: records[0]?.byteLength ?? 0, records: () => pieces.map((record) => Buffer.concat(record)) };
  }
  const [message] = messages as readonly Uint8Array[];
  if (message === undefined) return NONE;
  return {
    origins,
    bytes: message.length,
    records: () => {
      const read = decodeMessage(message);
      return typeof read !== "string" && read.kind === "records" ? read.records : [];
    },
  };
}

function segmentOf({ origin, records }: { readonly origin: RecordOrigin; readonly records: readonly Uint8Array[] }): KeptSegment {
  return { writer: origin.writer, number: origin.number, records };
}

function isSameSegment(one: Pick<RecordOrigin, "writer" | "segment">, other: Pick<RecordOrigin, "writer" | "segment">): boolean {
  return one.writer === other.writer && one.segment === other.segment;
}
