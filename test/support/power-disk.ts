/**
 * A disk that loses power: a real folder beside a memory of what was synced. Everything that the log and the file store change goes
 * through it, so that it knows, for each file and folder, what is durable and which changes no sync has covered.
 *
 *   file:    durable bytes + writes and cuts since the last sync          folder:  durable entries + names added, moved, removed since
 *
 * What a power loss leaves of that is in `power-loss.ts`. A sync of a file says nothing of its name.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  writeSync,
  ftruncateSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { Random } from "../../bench/macro/random.ts";
import type { FileDisk } from "../../src/storage/file-store/file-disk.ts";
import type { LogDisk } from "../../src/storage/wal/log-disk.ts";
import { applied, type FileNode, type FolderNode, moveEntry, type Node, writeLeft } from "./power-loss.ts";

/** The calls of one process. They stop for ever when it dies. */
export interface AttachedDisk {
  readonly log: LogDisk;
  readonly files: FileDisk;
  /** Resolves when the process dies. */
  readonly died: Promise<void>;
  readonly isDead: boolean;
  /** What it did to a file that was not open, if anything. */
  readonly misuse: string | undefined;
  /** The process dies after so many more calls that change something, or now. */
  dieAfter(calls: number): void;
  /** After `after` more calls that change something the next `count` of them fail. A failed sync may have worked. */
  failSome(after: number, count: number, random: Random): void;
  /** The next `count` calls that change something take so many milliseconds at most. */
  slowSome(count: number, millisMax: number, random: Random): void;
  /** Counts as a call that changes something, by which the process may die. Returns whether it lives on. */
  step(): boolean;
}

/** See the file header. */
export class PowerDisk {
  readonly root: string;
  private readonly top: FolderNode;

  /** Everything that is in `root` now counts as durable. */
  constructor(root: string) {
    this.root = resolve(root);
    this.top = folderFrom(this.root);
  }

  /** The disk as a new process sees it. What an earlier one wrote is there, synced or not. */
  attach(): AttachedDisk {
    return new Attached(this);
  }

  /** Loses power, and puts what is left into the folder `to`, which must not exist. */
  losePower(to: string, random: Random): PowerDisk {
    writeLeft(this.top, to, random);
    return new PowerDisk(to);
  }

  /** What is at a path. */
  find(path: string): Node | undefined {
    let node: Node | undefined = this.top;
    for (const name of relative(this.root, resolve(path)).split("/").filter(Boolean)) {
      node = node?.kind === "folder" ? node.entries.get(name) : undefined;
    }
    return node;
  }

  /** The folder at a path. @throws Error when there is none */
  folder(path: string): FolderNode {
    const node = this.find(path);
    if (node?.kind !== "folder") throw missing(path);
    return node;
  }

  /** The file at a path. @throws Error when there is none */
  file(path: string): FileNode {
    const node = this.find(path);
    if (node?.kind !== "file") throw missing(path);
    return node;
  }

  add(path: string, node: Node): void {
    const folder = this.folder(dirname(path));
    folder.entries.set(basename(path), node);
    folder.changes.push({ kind: "add", name: basename(path), node });
  }

  remove(path: string): void {
    const folder = this.find(dirname(path));
    if (folder?.kind !== "folder") return;
    if (folder.entries.delete(basename(path))) folder.changes.push({ kind: "remove", name: basename(path) });
  }

  move(from: string, to: string): void {
    const folder = this.folder(dirname(from));
    if (dirname(from) !== dirname(to)) throw new Error(`cannot move ${from} to ${to}: files are moved within their folder only`);
    moveEntry(folder.entries, basename(from), basename(to));
    folder.changes.push({ kind: "move", from: basename(from), to: basename(to) });
  }
}

/** A file that a process has open: the system's number, and what the disk has. */
interface OpenFile {
  readonly fd: number;
  readonly node: FileNode;
}

let lastDescriptor = 1000;

/** One process's view. Real files change at once; calls end a turn later, so that others come between. */
class Attached implements AttachedDisk {
  private readonly disk: PowerDisk;
  /** By a number that never comes again, so that a call on a file that is closed is seen though the system's number is another's by now. */
  private readonly open: Map<number, OpenFile> = new Map();
  private readonly death: PromiseWithResolvers<void> = Promise.withResolvers();
  private callsLeft = Number.POSITIVE_INFINITY;
  private slowness: { count: number; readonly millisMax: number; readonly random: Random } | undefined;
  misuse: string | undefined;
  private failure: { after: number; count: number; readonly random: Random } | undefined;
  isDead = false;

  constructor(disk: PowerDisk) {
    this.disk = disk;
  }

  get died(): Promise<void> {
    return this.death.promise;
  }

  dieAfter(calls: number): void {
    this.callsLeft = calls;
    if (calls <= 0) this.die();
  }

  failSome(after: number, count: number, random: Random): void {
    this.failure = { after, count, random };
  }

  slowSome(count: number, millisMax: number, random: Random): void {
    this.slowness = { count, millisMax, random };
  }

  /** A turn, or as long as this call is to take. */
  private async pass(): Promise<void> {
    const { slowness } = this;
    if (slowness !== undefined && slowness.count-- > 0) await Bun.sleep(1 + slowness.random.below(slowness.millisMax));
    else await new Promise((resolve) => setImmediate(resolve));
  }

  /** @throws Error when this call is to fail */
  private checkFailure(): void {
    const { failure } = this;
    if (failure === undefined || failure.after-- > 0) return;
    if (failure.count-- > 0) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    this.failure = undefined;
  }

  step(): boolean {
    if (!this.isDead && this.callsLeft-- <= 0) this.die();
    return !this.isDead;
  }

  private die(): void {
    this.isDead = true;
    for (const { fd } of this.open.values()) closeSync(fd);
    this.open.clear();
    this.death.resolve();
  }

  /** Runs a call that answers later: never, once the process is dead. */
  private async later<T>(work: () => T): Promise<T> {
    if (!this.step()) return await never();
    this.checkFailure();
    const result = work();
    await this.pass();
    return this.isDead ? await never() : result;
  }

  /** As `later`, for a call that never fails. */
  private async laterSurely(work: () => void): Promise<void> {
    if (!this.step()) return await never();
    work();
    await this.pass();
    return this.isDead ? await never() : undefined;
  }

  /** Runs a call that answers at once. A dead process does not come back from it. */
  private now<T>(work: () => T): T {
    if (!this.step()) throw new Error("the process is dead");
    this.checkFailure();
    return work();
  }

  private make(path: string, flags: "wx" | "w"): number {
    const fd = openSync(path, flags);
    const node: FileNode = { kind: "file", durable: new Uint8Array(0), changes: [] };
    this.disk.remove(path);
    this.disk.add(path, node);
    return this.opened(fd, node);
  }

  private opened(fd: number, node: FileNode): number {
    const descriptor = ++lastDescriptor;
    this.open.set(descriptor, { fd, node });
    return descriptor;
  }

  private write(descriptor: number, parts: readonly Uint8Array[], at: number): number {
    const bytes = new Uint8Array(Buffer.concat(parts));
    const { fd, node } = this.fileOf(descriptor);
    writeSync(fd, bytes, 0, bytes.length, at);
    node.changes.push({ kind: "write", at, bytes });
    return bytes.length;
  }

  /** What is written while a sync runs may or may not be covered: here it is not. */
  private async sync(fd: number): Promise<void> {
    if (this.isDead) return await never();
    const { node } = this.fileOf(fd);
    const covered = new Set(node.changes);
    const { failure } = this;
    try {
      await this.later(() => undefined);
    } catch (error) {
      // The system takes what it could not write for written: a later sync does not write it again.
      const kept = node.changes.filter((change) => covered.has(change) && (failure?.random.below(2) ?? 0) > 0);
      node.durable = applied(node.durable, kept);
      node.changes = node.changes.filter((change) => !covered.has(change));
      throw error;
    }
    node.durable = applied(
      node.durable,
      node.changes.filter((change) => covered.has(change)),
    );
    node.changes = node.changes.filter((change) => !covered.has(change));
  }

  private syncFolder(path: string): void {
    if (!isWithin(this.disk.root, path)) return; // Above the disk: the test's own business.
    const folder = this.disk.folder(path);
    folder.durable = new Map(folder.entries);
    folder.changes = [];
  }

  private delete(path: string): void {
    rmSync(path, { force: true });
    this.disk.remove(path);
  }

  private close(descriptor: number): void {
    const { fd } = this.fileOf(descriptor);
    this.open.delete(descriptor);
    closeSync(fd);
  }

  private fileOf(descriptor: number): OpenFile {
    const file = this.open.get(descriptor);
    if (file !== undefined) return file;
    const why = `file ${descriptor} is used and not open`;
    if (!this.isDead) this.misuse ??= why;
    throw new Error(why);
  }

  private makeFolder(path: string): string | undefined {
    const missingFolders: string[] = [];
    for (let at = resolve(path); isWithin(this.disk.root, at) && this.disk.find(at) === undefined; at = dirname(at))
      missingFolders.unshift(at);
    for (const folder of missingFolders) {
      mkdirSync(folder);
      this.disk.add(folder, { kind: "folder", entries: new Map(), durable: new Map(), changes: [] });
    }
    return missingFolders[0];
  }

  readonly log: LogDisk = {
    list: async (path) => readdirSync(path),
    size: async (path) => statSync(path).size,
    read: async (path, into, position) => {
      const bytes = readFileSync(path).subarray(position, position + into.length);
      into.set(bytes);
      return bytes.length;
    },
    open: (path) =>
      this.later(() => {
        const node = this.disk.file(path);
        return this.opened(openSync(path, "r+"), node);
      }),
    create: (path) => this.later(() => this.make(path, "wx")),
    write: (fd, parts, position) => this.later(() => this.write(fd, parts, position)),
    truncate: (fd, length) =>
      this.later(() => {
        const file = this.fileOf(fd);
        ftruncateSync(file.fd, length);
        file.node.changes.push({ kind: "cut", length });
      }),
    sync: (fd) => this.sync(fd),
    syncFolder: (path) => this.later(() => this.syncFolder(path)),
    close: (fd) => this.laterSurely(() => this.close(fd)),
    delete: (path) => this.later(() => this.delete(path)),
  };

  private readonly ends: Map<number, number> = new Map();

  readonly files: FileDisk = {
    makeFolder: (path) => this.now(() => this.makeFolder(path)),
    syncFolder: (path) => this.later(() => this.syncFolder(path)),
    create: (path) =>
      this.now(() => {
        const fd = this.make(path, "w");
        this.ends.set(fd, 0);
        return fd;
      }),
    write: (fd, bytes, offset) =>
      this.now(() => {
        const at = this.ends.get(fd) ?? 0;
        const count = this.write(fd, [bytes.subarray(offset)], at);
        this.ends.set(fd, at + count);
        return count;
      }),
    sync: (fd) => this.sync(fd),
    close: (fd) => {
      if (this.step()) this.close(fd);
    },
    rename: (from, to) =>
      this.later(() => {
        renameSync(from, to);
        this.disk.move(from, to);
      }),
    delete: (path) => this.later(() => this.delete(path)),
    deleteFolder: (path) =>
      this.later(() => {
        rmSync(path, { recursive: true, force: true });
        this.disk.remove(path);
      }),
    deleteEmptyFolder: (path) =>
      this.later(() => {
        rmdirSync(path);
        this.disk.remove(path);
      }),
  };
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

function missing(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ENOENT: no such file or directory, '${path}'`), { code: "ENOENT" });
}

function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

function folderFrom(path: string): FolderNode {
  const entries = new Map<string, Node>();
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    entries.set(entry.name, entry.isDirectory() ? folderFrom(inner) : { kind: "file", durable: readFileSync(inner), changes: [] });
  }
  return { kind: "folder", entries, durable: new Map(entries), changes: [] };
}
