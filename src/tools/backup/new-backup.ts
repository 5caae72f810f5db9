/**
 * A backup that is being taken: its files are copied in any order, its manifest comes last. What is interrupted has none, and what was
 * copied of it is deleted again.
 */
import { errorText } from "../../base/error.ts";
import { ByteProgress } from "../common/byte-progress.ts";
import type { ToolIo } from "../tool.ts";
import { SummedPieces } from "./copy-file.ts";
import { type BackupFile, encodeManifest, findBackups, inPieces, type Manifest, type ManifestHead, manifestName } from "./manifest.ts";
import type { BackupTarget } from "./target.ts";

/** What a backup came to. */
export interface TakenBackup {
  readonly manifest: Manifest;
  /** Files and bytes that were copied; the others an earlier backup had. */
  readonly copiedFiles: number;
  readonly copiedBytes: number;
}

/** Files of the newest backup of a target that is whole, by path. */
export async function latestFiles(target: BackupTarget): Promise<ReadonlyMap<string, BackupFile>> {
  const whole = (await findBackups(target)).findLast((found) => found.kind === "whole");
  return new Map(whole?.kind === "whole" ? whole.manifest.files.map((file) => [file.path, file]) : []);
}

/** What a data file is known by. */
export interface KnownFile {
  readonly byteLength: number;
  readonly crc?: number;
}

/** See the file header. */
export class NewBackup {
  readonly id: string;
  /** Why it cannot go on: the next piece says so. */
  failed: unknown;
  private readonly target: BackupTarget;
  private readonly earlier: ReadonlyMap<string, BackupFile>;
  private readonly io: ToolIo;
  private readonly files = new Map<string, BackupFile>();
  private readonly made = new Set<string>();
  private progress: ByteProgress | undefined;

  /** @param earlier of the newest backup that is whole, by path */
  constructor(target: BackupTarget, id: string, earlier: ReadonlyMap<string, BackupFile>, io: ToolIo) {
    this.target = target;
    this.id = id;
    this.earlier = earlier;
    this.io = io;
  }

  /** Shows how far it is from now on: so many bytes are to be copied. */
  show(bytes: number): void {
    this.hide();
    this.progress = new ByteProgress(this.io, "copying", bytes);
  }

  hide(): void {
    this.progress?.clear();
    this.progress = undefined;
  }

  has(path: string): boolean {
    return this.files.has(path);
  }

  /** Paths that it has so far. */
  get paths(): readonly string[] {
    return [...this.files.keys()];
  }

  /**
   * Takes over what the newest backup has of a data file. Names are used once in a store, and a target may be of several stores, or of one
   * that was restored: bytes are the same where length and checksum are. Files whose entries have no checksum are copied each time.
   */
  reuse(path: string, { byteLength, crc }: KnownFile): boolean {
    const known = this.earlier.get(path);
    if (known === undefined || crc === undefined || known.crc !== crc || known.byteLength !== byteLength) return false;
    this.files.set(path, known);
    return true;
  }

  /**
   * Copies a file, in the place of one of that path.
   *
   * @param known what it must be; absent: anything
   */
  async copy(path: string, pieces: AsyncIterable<Uint8Array>, known?: KnownFile): Promise<void> {
    const object = `${this.id}/${path}`;
    this.made.add(object);
    const summed = new SummedPieces(pieces, (byteLength) => this.check(byteLength));
    await this.target.write(object, summed);
    const { byteLength, sha256, crc } = summed.sums();
    if (known?.crc !== undefined && crc !== known.crc) throw damaged(path, "it does not match the checksum of its entry");
    if (known !== undefined && byteLength !== known.byteLength) {
      throw damaged(path, `it has ${byteLength} bytes, its entry says ${known.byteLength}`);
    }
    this.files.set(path, { path, object, byteLength, sha256, ...(known?.crc === undefined ? {} : { crc }) });
  }

  /** Leaves out a file. */
  async drop(path: string): Promise<void> {
    const object = `${this.id}/${path}`;
    this.files.delete(path);
    if (!this.made.delete(object)) return;
    await this.target.delete(object);
  }

  /** Writes the manifest: from then on it is a backup. */
  async finish(head: ManifestHead): Promise<TakenBackup> {
    const files = [...this.files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
    const manifest: Manifest = { ...head, files };
    const copied = files.filter(({ object }) => this.made.has(object));
    this.check(0);
    this.made.add(manifestName(this.id));
    await this.target.write(manifestName(this.id), inPieces(encodeManifest(manifest)));
    this.hide();
    return { manifest, copiedFiles: copied.length, copiedBytes: copied.reduce((sum, { byteLength }) => sum + byteLength, 0) };
  }

  /** Deletes what was copied, the manifest first. */
  async undo(): Promise<void> {
    this.hide();
    try {
      for (const object of [...this.made].toReversed()) await this.target.delete(object);
    } catch (error) {
      this.io.err(`varve backup: warning: cannot delete what was copied of ${this.id}: ${errorText(error)}\n`);
    }
  }

  /** @throws Error when the backup must not go on */
  check(byteLength: number): void {
    if (this.failed !== undefined) throw new Error(`the backup was lost: ${errorText(this.failed)}`, { cause: this.failed });
    if (this.io.interrupted.aborted) throw new Error("interrupted; nothing of this backup stays");
    this.progress?.add(byteLength);
  }
}

function damaged(file: string, why: string): Error {
  return new Error(`cannot back up ${file}: ${why}; see varve check`);
}
