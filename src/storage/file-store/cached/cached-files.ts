/**
 * Which files have a copy in the local folder, in the order of their last use, bounded by bytes. A file that is pinned, or that the store
 * does not have yet, stays; so the bound can be passed by what is in use at once, and by no more.
 *
 *   absent ── add ──► here ── room is needed, nobody needs it ──► evicted    its local file goes
 *                       '──── deleted in the store ─────────────► deleted    those who have it open read on
 */
import { assert } from "../../../base/assert.ts";
import type { FileReader } from "../file-store.ts";

/** A file with a copy here, or one that had one. Only `CachedFiles` changes it. */
export interface CachedFile {
  readonly name: string;
  readonly byteLength: number;
  state: "here" | "evicted" | "deleted";
  /** Whether the store has it as well. */
  isUploaded: boolean;
  /** Those who need the local file where it is. */
  pins: number;
  /** Those who have it open. */
  users: number;
  /** Reads the local file. */
  reader: FileReader | undefined;
}

/** See the file header. */
export class CachedFiles {
  readonly bytesMax: number;
  private readonly onEvicted: (name: string) => void;
  /** Least recently used first. */
  private readonly files: Map<string, CachedFile> = new Map();
  /** Of files that are here or on their way. */
  private bytesNow = 0;

  /** @param onEvicted has to delete the local file */
  constructor(bytesMax: number, onEvicted: (name: string) => void) {
    this.bytesMax = bytesMax;
    this.onEvicted = onEvicted;
  }

  get bytes(): number {
    return this.bytesNow;
  }

  get count(): number {
    return this.files.size;
  }

  /** The file, which counts as just used. */
  use(name: string): CachedFile | undefined {
    const file = this.files.get(name);
    if (file === undefined) return undefined;
    this.files.delete(name);
    this.files.set(name, file);
    return file;
  }

  /** Takes room for a file on its way, or says that there is none. Give it back, or `add` the file as one that has its room. */
  reserve(byteLength: number): boolean {
    if (!this.canHave(byteLength)) return false; // Nothing goes for a file that has no room anyway.
    this.evictDownTo(this.bytesMax - byteLength);
    this.bytesNow += byteLength;
    return true;
  }

  giveBack(byteLength: number): void {
    this.bytesNow -= byteLength;
    assert(this.bytesNow >= 0, "room is given back once");
  }

  /** A file that is in the folder now. @param hasRoom it was reserved */
  add(name: string, byteLength: number, isUploaded: boolean, hasRoom: boolean): CachedFile {
    assert(!this.files.has(name), `file ${name} is new here`);
    const file: CachedFile = { name, byteLength, state: "here", isUploaded, pins: 0, users: 0, reader: undefined };
    this.files.set(name, file);
    if (!hasRoom) this.bytesNow += byteLength;
    this.trim();
    return file;
  }

  /** The store has it now. */
  markUploaded(file: CachedFile): void {
    file.isUploaded = true;
    this.trim();
  }

  unpin(file: CachedFile): void {
    file.pins--;
    assert(file.pins >= 0, `file ${file.name} is unpinned once`);
    this.trim();
  }

  /** Forgets a file whose local copy is gone, or goes with it in the store. */
  drop(file: CachedFile, state: "evicted" | "deleted"): void {
    if (file.state !== "here") return;
    file.state = state;
    this.files.delete(file.name);
    this.giveBack(file.byteLength);
    if (state === "evicted" || file.users === 0) closeReader(file);
  }

  /** Those that the store does not have. */
  notUploaded(): CachedFile[] {
    return [...this.files.values()].filter(({ isUploaded }) => !isUploaded);
  }

  below(folder: string): CachedFile[] {
    return [...this.files.values()].filter(({ name }) => name.startsWith(`${folder}/`));
  }

  private canHave(byteLength: number): boolean {
    let bytes = this.bytesNow + byteLength;
    if (bytes <= this.bytesMax) return true;
    for (const file of this.files.values()) {
      if (isMovable(file)) bytes -= file.byteLength;
      if (bytes <= this.bytesMax) return true;
    }
    return false;
  }

  private trim(): void {
    this.evictDownTo(this.bytesMax);
  }

  private evictDownTo(bytes: number): void {
    if (this.bytesNow <= bytes) return;
    for (const file of this.files.values()) {
      if (this.bytesNow <= bytes) return;
      if (!isMovable(file)) continue;
      this.drop(file, "evicted");
      this.onEvicted(file.name);
    }
  }
}

function isMovable(file: CachedFile): boolean {
  return file.pins === 0 && file.isUploaded;
}

/** Closes what reads the local file. */
export function closeReader(file: CachedFile): void {
  file.reader?.close();
  file.reader = undefined;
}
