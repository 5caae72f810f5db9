/**
 * The journal of the meta store (`meta.db-wal`), which SQLite reads without a word until the first damaged frame: every frame is looked at
 * here, by the checksums that run through all of them.
 *
 *   header: magic, version, page size, checkpoint, two salts, checksum (8)      32 bytes
 *   frame:  page, pages after a commit or 0, the salts, checksum (8), the page  24 bytes + page
 *
 * Source: https://www.sqlite.org/fileformat2.html, section 4
 */
import { piecesOf } from "../backup/folder-target.ts";
import type { CheckSink } from "./finding.ts";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC = 0x377f0682;
const VERSION = 3_007_000;
/** Journals before this one whose frames may still lie behind its own. */
const EARLIER_MAX = 1_000_000;
const MEANS = "SQLite drops this commit and all after it: files or tables of them are unknown, or deleted ones come back";
const ADVICE =
  "restore meta.db and meta.db-wal, or the whole store, from a backup; if the machine lost power just now, a last commit that was not " +
  "acknowledged may lie here, and a start drops it";

/** A running checksum of big- or little-endian pairs of words. */
interface Sums {
  low: number;
  high: number;
}

/** Checks a journal. Gives where in it the pages lie that its commits changed, by page. @param path as it is shown */
export async function checkJournal(file: string, path: string, sink: CheckSink): Promise<ReadonlyMap<number, number>> {
  const frames = new Frames(path, sink);
  let length = 0;
  let isOver = false;
  for await (const piece of piecesOf(file)) {
    sink.read(piece.length);
    length += piece.length;
    isOver ||= !frames.take(piece);
  }
  frames.end(length);
  return frames.pages;
}

class Frames {
  private readonly path: string;
  private readonly sink: CheckSink;
  private readonly sums: Sums = { low: 0, high: 0 };
  private held = new Uint8Array(0);
  private at = 0;
  private pageBytes = 0;
  private salts = "";
  private isLittle = true;
  /** Pages of frames since the last commit. */
  private readonly open: Map<number, number> = new Map();
  /** Where pages are as of the last commit. */
  readonly pages: Map<number, number> = new Map();
  private state: "reading" | "damaged" | "earlier" = "reading";

  constructor(path: string, sink: CheckSink) {
    this.path = path;
    this.sink = sink;
  }

  /** Returns false when what follows cannot be told apart. */
  take(piece: Uint8Array): boolean {
    if (this.state !== "reading") return false;
    const bytes = new Uint8Array(this.held.length + piece.length);
    bytes.set(this.held);
    bytes.set(piece, this.held.length);
    let from = 0;
    for (;;) {
      const want = this.at === 0 ? HEADER_BYTES : FRAME_HEADER_BYTES + this.pageBytes;
      if (bytes.length - from < want) break;
      const part = bytes.subarray(from, from + want);
      if (!(this.at === 0 ? this.header(part) : this.frame(part))) return false;
      from += want;
      this.at += want;
    }
    this.held = bytes.slice(from);
    return true;
  }

  /** @param length bytes of the journal */
  end(length: number): void {
    const { path: file, at: from, state } = this;
    if (state === "earlier") this.sink.unused({ file, from, to: length, why: "frames of an earlier journal, which SQLite writes over" });
    if (state !== "reading") return;
    if (this.held.length > 0) this.say(`${this.held.length} bytes at its end are no whole frame`);
    else if (this.open.size > 0) this.say("its last frames belong to no commit");
  }

  private header(bytes: Uint8Array): boolean {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const magic = view.getUint32(0);
    this.isLittle = (magic & 1) === 0;
    this.pageBytes = view.getUint32(8);
    this.salts = saltsOf(bytes, 16);
    sum(bytes.subarray(0, 24), this.isLittle, this.sums);
    const isRight = (magic | 1) >>> 0 === (MAGIC | 1) >>> 0 && view.getUint32(4) === VERSION && this.matches(view, 24);
    return isRight || this.say("its header is not as it was written");
  }

  private frame(bytes: Uint8Array): boolean {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    sum(bytes.subarray(0, 8), this.isLittle, this.sums);
    sum(bytes.subarray(FRAME_HEADER_BYTES), this.isLittle, this.sums);
    const isNext = this.matches(view, 16);
    if (saltsOf(bytes, 8) !== this.salts) {
      // A journal that began anew writes over the frames of those before, whose first salts are lower: one more each time.
      const age = (Number.parseInt(this.salts.slice(0, 8), 16) - view.getUint32(8)) >>> 0;
      const isEarlier = !isNext && this.open.size === 0 && age >= 1 && age <= EARLIER_MAX;
      if (!isEarlier) return this.say("a frame of another journal");
      this.state = "earlier";
      return false;
    }
    if (!isNext) return this.say("a frame does not match its checksum");
    this.open.set(view.getUint32(0), this.at + FRAME_HEADER_BYTES);
    if (view.getUint32(4) === 0) return true;
    for (const [page, at] of this.open) this.pages.set(page, at);
    this.open.clear();
    return true;
  }

  private matches(view: DataView, offset: number): boolean {
    return view.getUint32(offset) === this.sums.low && view.getUint32(offset + 4) === this.sums.high;
  }

  private say(what: string): false {
    this.state = "damaged";
    this.sink.finding({ file: this.path, offset: this.at, what, means: MEANS, advice: ADVICE });
    return false;
  }
}

function saltsOf(bytes: Uint8Array, offset: number): string {
  return Buffer.from(bytes.subarray(offset, offset + 8)).toString("hex");
}

/** Adds bytes, a multiple of eight, to running sums. */
function sum(bytes: Uint8Array, isLittle: boolean, sums: Sums): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let { low, high } = sums;
  for (let at = 0; at < bytes.length; at += 8) {
    low = (low + view.getUint32(at, isLittle) + high) >>> 0;
    high = (high + view.getUint32(at + 4, isLittle) + low) >>> 0;
  }
  sums.low = low;
  sums.high = high;
}
