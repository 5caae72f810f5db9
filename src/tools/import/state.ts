/**
 * What an import has done, so that it goes on after Ctrl-C, a crash, a kill: a file in $XDG_STATE_HOME/varve/import, one for each source
 * and target. It is replaced as a whole (written under another name, renamed) whenever a piece is begun or acknowledged, and removed at
 * the end.
 *
 *   ├── acknowledged, in order ──┤ … later pieces: acknowledged, or sent and in doubt │ not sent
 *                               at
 *
 * A piece that was sent and not acknowledged may be on the server or not. Sent again it is no second row, since a row of the same series
 * and time takes the place of the first; except in tables that keep every row, for which `import.ts` asks what to do.
 */
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { errorText } from "../../base/error.ts";
import type { Piece, SourceContext, Start } from "./source.ts";

/** A piece `[from, to)`. */
export type Range = readonly [from: number, to: number];

/** What the file holds. */
interface Saved {
  readonly version: 1;
  readonly source: string;
  readonly identity: string;
  /** Sizes of pieces: others would have other borders. */
  readonly settings: string;
  /** Time of rows without one, in nanoseconds since 1970. */
  readonly nanos: string;
  readonly at: number;
  readonly context: SourceContext;
  readonly rowCount: number;
  readonly done: readonly Range[];
  readonly doubt: readonly Range[];
  readonly isFinished?: boolean;
}

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** What a state begins from. */
export interface StateParts {
  readonly source: string;
  readonly identity: string;
  readonly settings: string;
  readonly nanos: bigint;
}

/** See the file header. */
export class ImportState {
  /** Up to where all is acknowledged, and what the reader has to know there. */
  start: Start;
  /** Rows that were acknowledged, in this run and before. */
  rowCount: number;
  private readonly path: string;
  private readonly saved: Saved;
  /** Acknowledged pieces beyond `start.at`, by where they begin. */
  private readonly done: Map<number, { readonly to: number; readonly context: SourceContext | undefined }> = new Map();
  private readonly doubt: Map<number, number> = new Map();
  private writing: Promise<void> = Promise.resolve();
  private isDirty = false;
  private finished: boolean;

  private constructor(path: string, saved: Saved) {
    this.path = path;
    this.saved = saved;
    this.start = { at: saved.at, context: saved.context };
    this.rowCount = saved.rowCount;
    this.finished = saved.isFinished === true;
    for (const [from, to] of saved.done) this.done.set(from, { to, context: undefined });
    for (const [from, to] of saved.doubt) this.doubt.set(from, to);
  }

  /** The time of rows without one that an earlier run had, or that of now. @throws Error as `open` */
  static async nanosAt(path: string, now: bigint): Promise<bigint> {
    const found = await savedAt(path);
    return found === undefined ? now : BigInt(found.nanos);
  }

  /**
   * The state of an import, or a new one.
   *
   * @param isFresh whether what is there is forgotten
   * @throws Error for one of another source or of other sizes of pieces, and for a file that is there and cannot be read
   */
  static async open(
    path: string,
    parts: StateParts,
    isFresh: boolean,
  ): Promise<{ readonly state: ImportState; readonly isResumed: boolean }> {
    const found = isFresh ? undefined : await savedAt(path);
    if (found !== undefined && found.identity !== parts.identity) {
      throw new Error(`cannot go on: ${parts.source} is not what it was when its import began; --restart begins anew`);
    }
    if (found !== undefined && found.settings !== parts.settings) {
      throw new Error(
        `cannot go on: the unfinished import of ${parts.source} had other flags; use the same ones, or --restart to begin anew`,
      );
    }
    const fresh: Saved = { version: 1, ...parts, nanos: String(parts.nanos), at: 0, context: {}, rowCount: 0, done: [], doubt: [] };
    return { state: new ImportState(path, found ?? fresh), isResumed: found !== undefined };
  }

  /** Pieces that may be on the server or not. */
  get doubts(): readonly Range[] {
    return [...this.doubt];
  }

  /** Whether a piece was acknowledged before. */
  isDone(piece: Piece): boolean {
    return this.done.get(piece.from)?.to === piece.to;
  }

  /** Says that a piece is about to be sent. @param isSynced whether the disk has it before this resolves */
  async begin(piece: Piece, isSynced: boolean): Promise<void> {
    this.doubt.set(piece.from, piece.to);
    await this.save(isSynced);
  }

  /** Says that a piece was refused as a whole. */
  async refuse(piece: Piece): Promise<void> {
    this.doubt.delete(piece.from);
    await this.save(false);
  }

  /** Says that a piece is on the server. @param rowCount how many rows it added, 0 for one that was done before */
  async finish(piece: Piece, rowCount: number): Promise<void> {
    this.doubt.delete(piece.from);
    this.done.set(piece.from, { to: piece.to, context: piece.context });
    this.rowCount += rowCount;
    for (let next = this.done.get(this.start.at); next?.context !== undefined; next = this.done.get(this.start.at)) {
      this.done.delete(this.start.at);
      this.start = { at: next.to, context: next.context };
    }
    await this.save(false);
  }

  /** Whether all was sent, by this run or an earlier one of the same command. */
  get isFinished(): boolean {
    return this.finished;
  }

  /** Says that all is done. The file stays until `remove`. */
  async end(): Promise<void> {
    this.finished = true;
    await this.save(false);
  }

  /** Removes the file. */
  async remove(): Promise<void> {
    await this.writing;
    await rm(this.path, { force: true });
  }

  /** Writes the file. Changes that come while it is written are written together. */
  async save(isSynced: boolean): Promise<void> {
    this.isDirty = true;
    const before = this.writing;
    this.writing = (async () => {
      await before;
      if (this.isDirty || isSynced) await this.write(isSynced);
    })();
    await this.writing;
  }

  private async write(isSynced: boolean): Promise<void> {
    this.isDirty = false;
    const done = [...this.done].map(([from, { to }]): Range => [from, to]);
    const { at, context } = this.start;
    const saved: Saved = { ...this.saved, at, context, rowCount: this.rowCount, done, doubt: this.doubts, isFinished: this.finished };
    await mkdir(dirname(this.path), { recursive: true, mode: FOLDER_MODE });
    const draft = `${this.path}.new`;
    const file = await open(draft, "w", FILE_MODE);
    try {
      await file.writeFile(JSON.stringify(saved));
      if (isSynced) await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, this.path);
  }
}

async function savedAt(path: string): Promise<Saved | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
  try {
    const saved = JSON.parse(text) as Saved;
    if (saved.version === 1 && Number.isFinite(saved.at) && Array.isArray(saved.done) && Array.isArray(saved.doubt)) return saved;
  } catch (thrown) {
    const why = errorText(thrown);
    throw new Error(`cannot go on: ${path} is damaged (${why}); --restart begins anew`, { cause: thrown });
  }
  throw new Error(`cannot go on: ${path} is of another version; --restart begins anew`);
}
