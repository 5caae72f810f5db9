/** The log's disk with a memory for what was synced, so that tests can hold it, let a call fail, and take the power away. */
import { closeSync, rmSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { type LogDisk, systemLogDisk } from "../../src/storage/wal/log-disk.ts";

interface TrackedFile {
  readonly path: string;
  written: number;
  synced: number;
  isNamed: boolean;
  /** True: nothing of it is left but an open descriptor. */
  isDeleted?: boolean;
}

/** Names of the calls that can be made to fail. */
export type LogDiskCall = keyof LogDisk;

/** Files that a log made, over the real disk. */
export class FaultyLogDisk implements LogDisk {
  /** Calls in the order in which they were made, each with what it did; sizes of writes as bytes. */
  readonly calls: string[] = [];
  private readonly files: Map<number, TrackedFile> = new Map();
  private readonly closedFiles: TrackedFile[] = [];
  private readonly failures: Map<LogDiskCall, { readonly error: Error; readonly bytesTaken: number; after: number }> = new Map();
  private readonly lasting: Map<LogDiskCall, string> = new Map();
  private gate: PromiseWithResolvers<void> | undefined;
  /** Longest write that finds room on the disk, in bytes. */
  largestWrite: number = Number.POSITIVE_INFINITY;
  /** Whether `losePower` was not called yet. */
  isPowered = true;

  /** Bytes of open files that a power loss would take. */
  get unsyncedBytes(): number {
    let bytes = 0;
    for (const file of this.files.values()) bytes += Math.max(0, file.written - file.synced);
    return bytes;
  }

  /** The next call of this name fails, once `after` of them have passed; a failing write takes `bytesTaken` bytes first. */
  fail(call: LogDiskCall, why: string, bytesTaken = 0, after = 0): void {
    this.failures.set(call, { error: new Error(why), bytesTaken, after });
  }

  /** All calls of these names fail until `heal`. */
  failUntilHealed(why: string, ...calls: readonly LogDiskCall[]): void {
    for (const call of calls) this.lasting.set(call, why);
  }

  /** From now on nothing fails. */
  heal(): void {
    this.lasting.clear();
    this.failures.clear();
  }

  /** From now on no call ends until `release`. */
  hold(): void {
    this.gate ??= Promise.withResolvers<void>();
  }

  release(): void {
    this.gate?.resolve();
    this.gate = undefined;
  }

  /** Takes everything away that no sync has covered. Calls under way never end; those that come later neither. */
  losePower(): void {
    this.isPowered = false;
    for (const fd of this.files.keys()) closeSync(fd);
    for (const file of [...this.files.values(), ...this.closedFiles]) {
      if (file.isDeleted === true) continue;
      if (!file.isNamed) rmSync(file.path, { force: true });
      else if (file.written > file.synced) truncateSync(file.path, file.synced);
    }
    this.files.clear();
  }

  async list(path: string): Promise<readonly string[]> {
    await this.pass("list");
    return systemLogDisk.list(path);
  }

  async read(path: string): Promise<Uint8Array> {
    await this.pass("read");
    return systemLogDisk.read(path);
  }

  /** What is there when a file is opened is durable. */
  async open(path: string): Promise<number> {
    await this.pass("open");
    const fd = await systemLogDisk.open(path);
    const { size } = statSync(path);
    this.files.set(fd, { path, written: size, synced: size, isNamed: true });
    return fd;
  }

  async create(path: string): Promise<number> {
    await this.pass("create");
    const fd = await systemLogDisk.create(path);
    this.files.set(fd, { path, written: 0, synced: 0, isNamed: false });
    return fd;
  }

  async write(fd: number, parts: readonly Uint8Array[], position: number): Promise<number> {
    const failure = this.failures.get("write");
    if (failure !== undefined && failure.after === 0 && failure.bytesTaken > 0) {
      const all = Buffer.concat(parts).subarray(0, failure.bytesTaken);
      await this.track(fd, position, await systemLogDisk.write(fd, [all], position));
    }
    await this.pass("write");
    if (parts.reduce((sum, part) => sum + part.length, 0) > this.largestWrite) throw new Error("ENOSPC: no space left on device");
    return this.track(fd, position, await systemLogDisk.write(fd, parts, position));
  }

  async truncate(fd: number, length: number): Promise<void> {
    await this.pass("truncate");
    await systemLogDisk.truncate(fd, length);
    this.files.get(fd)!.written = length;
  }

  async sync(fd: number): Promise<void> {
    await this.pass("sync");
    const file = this.files.get(fd)!;
    const { written } = file;
    await systemLogDisk.sync(fd);
    file.synced = written;
  }

  async syncFolder(path: string): Promise<void> {
    await this.pass("syncFolder");
    await systemLogDisk.syncFolder(path);
    for (const file of [...this.files.values(), ...this.closedFiles]) if (dirname(file.path) === path) file.isNamed = true;
  }

  async close(fd: number): Promise<void> {
    await this.pass("close");
    const file = this.files.get(fd)!;
    this.files.delete(fd); // First: another file may get the number as soon as it is closed.
    this.closedFiles.push(file);
    await systemLogDisk.close(fd);
  }

  async delete(path: string): Promise<void> {
    await this.pass("delete");
    await systemLogDisk.delete(path);
    for (const [index, file] of this.closedFiles.entries()) if (file.path === path) this.closedFiles.splice(index, 1);
    for (const file of this.files.values()) if (file.path === path) file.isDeleted = true; // Still open.
  }

  private async track(fd: number, position: number, count: number): Promise<number> {
    this.calls.push(`${count} B at ${position}`);
    const file = this.files.get(fd)!;
    file.written = Math.max(file.written, position + count);
    return count;
  }

  private async pass(call: LogDiskCall): Promise<void> {
    while (this.gate !== undefined) await this.gate.promise;
    if (!this.isPowered) await new Promise<never>(() => undefined);
    if (call !== "write") this.calls.push(call);
    const lasting = this.lasting.get(call);
    if (lasting !== undefined) throw new Error(lasting);
    const failure = this.failures.get(call);
    if (failure === undefined || failure.after-- > 0) return;
    this.failures.delete(call);
    throw failure.error;
  }
}
