/**
 * The log's disk with a memory for what was synced, so that tests can hold it, let a call fail, and take the power away.
 *
 * It also knows which descriptors are open. Each is a number of its own that never comes again, unlike the system's, so that a call on a
 * file that is closed is seen even when another file has the system's number by now. Such a call, a close beneath a call that is under way
 * and a second sync beside one fail the test that runs, whatever the log makes of the error.
 */
import { closeSync, rmSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { type LogDisk, systemLogDisk } from "../../src/storage/wal/log-disk.ts";

interface TrackedFile {
  /** The system's number. */
  readonly fd: number;
  readonly path: string;
  written: number;
  synced: number;
  isNamed: boolean;
  /** Calls under way, and whether one is a sync. */
  calls: number;
  isSyncing: boolean;
  /** True: nothing of it is left but an open descriptor. */
  isDeleted?: boolean;
}

/** Names of the calls that can be made to fail. */
export type LogDiskCall = keyof LogDisk;

const ALL_CALLS: readonly LogDiskCall[] = [
  "list",
  "size",
  "read",
  "open",
  "create",
  "write",
  "truncate",
  "sync",
  "syncFolder",
  "close",
  "delete",
];

/** Where calls wait, and the promise that one does. */
interface Gate {
  readonly opens: PromiseWithResolvers<void>;
  readonly reached: PromiseWithResolvers<void>;
}

/** Descriptors of all disks: each is given out once. */
let lastDescriptor = 1000;

/** Files that a log made, over the real disk. */
export class FaultyLogDisk implements LogDisk {
  /** Calls in the order in which they were made, each with what it did; sizes of writes as bytes. */
  readonly calls: string[] = [];
  private readonly files: Map<number, TrackedFile> = new Map();
  private readonly closedFiles: TrackedFile[] = [];
  private readonly failures: Map<LogDiskCall, { readonly error: Error; readonly bytesTaken: number; after: number }> = new Map();
  private readonly lasting: Map<LogDiskCall, string> = new Map();
  private readonly gates: Map<LogDiskCall, Gate> = new Map();
  private anyGate: Gate | undefined;
  private callsToGate = 0;
  private readonly onMisuse: (error: Error) => void;
  /** Longest write that finds room on the disk, in bytes. */
  largestWrite: number = Number.POSITIVE_INFINITY;
  /** Whether `losePower` was not called yet. */
  isPowered = true;

  /** @param onMisuse hears of each misused descriptor; by default the test that runs fails */
  constructor(onMisuse: (error: Error) => void = failTest) {
    this.onMisuse = onMisuse;
  }

  /** Bytes of open files that a power loss would take. */
  get unsyncedBytes(): number {
    let bytes = 0;
    for (const file of this.files.values()) bytes += Math.max(0, file.written - file.synced);
    return bytes;
  }

  /** Files that are open. */
  get openFiles(): readonly string[] {
    return [...this.files.values()].map(({ path }) => path);
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

  /** From now on no call of these names, default any, ends until `release`. Resolves when the first of them waits. */
  async hold(...calls: readonly LogDiskCall[]): Promise<void> {
    const names = calls.length === 0 ? ALL_CALLS : calls;
    const reached = names.map((call) => {
      const gate = this.gates.get(call) ?? newGate();
      this.gates.set(call, gate);
      return gate.reached.promise;
    });
    await Promise.race(reached);
  }

  /** The call that comes after `count - 1` others waits until `release`. Resolves when it does. */
  holdNth(count: number): Promise<void> {
    this.callsToGate = count;
    this.anyGate = newGate();
    return this.anyGate.reached.promise;
  }

  /** Lets calls of these names end, default all. */
  release(...calls: readonly LogDiskCall[]): void {
    if (calls.length === 0) {
      this.callsToGate = 0;
      this.anyGate?.opens.resolve();
    }
    for (const call of calls.length === 0 ? ALL_CALLS : calls) {
      this.gates.get(call)?.opens.resolve();
      this.gates.delete(call);
    }
  }

  /** Takes everything away that no sync has covered. Calls under way never end; those that come later neither. */
  losePower(): void {
    this.isPowered = false;
    for (const { fd } of this.files.values()) closeSync(fd);
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

  async size(path: string): Promise<number> {
    await this.pass("size");
    return systemLogDisk.size(path);
  }

  async read(path: string, into: Uint8Array, position: number): Promise<number> {
    await this.pass("read");
    return systemLogDisk.read(path, into, position);
  }

  /** What is there when a file is opened is durable. */
  async open(path: string): Promise<number> {
    await this.pass("open");
    const fd = await systemLogDisk.open(path);
    const { size } = statSync(path);
    return this.opened({ fd, path, written: size, synced: size, isNamed: true });
  }

  async create(path: string): Promise<number> {
    await this.pass("create");
    const fd = await systemLogDisk.create(path);
    return this.opened({ fd, path, written: 0, synced: 0, isNamed: false });
  }

  write(descriptor: number, parts: readonly Uint8Array[], position: number): Promise<number> {
    return this.on(descriptor, "write", async (file) => {
      const failure = this.failures.get("write");
      if (failure !== undefined && failure.after === 0 && failure.bytesTaken > 0) {
        const all = Buffer.concat(parts).subarray(0, failure.bytesTaken);
        this.track(file, position, await systemLogDisk.write(file.fd, [all], position));
      }
      await this.pass("write");
      if (parts.reduce((sum, part) => sum + part.length, 0) > this.largestWrite) throw new Error("ENOSPC: no space left on device");
      return this.track(file, position, await systemLogDisk.write(file.fd, parts, position));
    });
  }

  truncate(descriptor: number, length: number): Promise<void> {
    return this.on(descriptor, "truncate", async (file) => {
      await this.pass("truncate");
      await systemLogDisk.truncate(file.fd, length);
      file.written = length;
    });
  }

  sync(descriptor: number): Promise<void> {
    return this.on(descriptor, "sync", async (file) => {
      if (file.isSyncing) throw this.misused(`second sync at once of ${file.path}`);
      file.isSyncing = true;
      try {
        await this.pass("sync");
        const { written } = file;
        await systemLogDisk.sync(file.fd);
        file.synced = written;
      } finally {
        file.isSyncing = false;
      }
    });
  }

  async syncFolder(path: string): Promise<void> {
    await this.pass("syncFolder");
    await systemLogDisk.syncFolder(path);
    for (const file of [...this.files.values(), ...this.closedFiles]) if (dirname(file.path) === path) file.isNamed = true;
  }

  close(descriptor: number): Promise<void> {
    return this.on(descriptor, "close", async (file) => {
      if (file.calls > 1) throw this.misused(`close of ${file.path} beneath a call that is under way`);
      try {
        await this.pass("close");
      } finally {
        // A close that fails has closed the file all the same.
        this.files.delete(descriptor);
        this.closedFiles.push(file);
        await systemLogDisk.close(file.fd);
      }
    });
  }

  async delete(path: string): Promise<void> {
    await this.pass("delete");
    await systemLogDisk.delete(path);
    for (const [index, file] of this.closedFiles.entries()) if (file.path === path) this.closedFiles.splice(index, 1);
    for (const file of this.files.values()) if (file.path === path) file.isDeleted = true; // Still open.
  }

  private opened(file: Omit<TrackedFile, "calls" | "isSyncing">): number {
    const descriptor = ++lastDescriptor;
    this.files.set(descriptor, { ...file, calls: 0, isSyncing: false });
    return descriptor;
  }

  /** Runs a call on the file of a descriptor, which must be open from its begin to its end. */
  private async on<T>(descriptor: number, call: LogDiskCall, work: (file: TrackedFile) => Promise<T>): Promise<T> {
    if (!this.isPowered) return await new Promise<never>(() => undefined);
    const file = this.files.get(descriptor);
    if (file === undefined) throw this.misused(`${call} on descriptor ${descriptor}, which is not open`);
    file.calls++;
    try {
      return await work(file);
    } finally {
      file.calls--;
    }
  }

  private misused(what: string): Error {
    const error = new Error(`the log misuses its disk: ${what}`);
    this.onMisuse(error);
    return error;
  }

  private track(file: TrackedFile, position: number, count: number): number {
    this.calls.push(`${count} B at ${position}`);
    file.written = Math.max(file.written, position + count);
    return count;
  }

  private async pass(call: LogDiskCall): Promise<void> {
    const gate = this.callsToGate > 0 && --this.callsToGate === 0 ? this.anyGate : this.gates.get(call);
    gate?.reached.resolve();
    await gate?.opens.promise;
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

function newGate(): Gate {
  return { opens: Promise.withResolvers(), reached: Promise.withResolvers() };
}

/** An error that nobody can catch: the test runner charges it to the test that runs. */
function failTest(error: Error): void {
  queueMicrotask(() => {
    throw error;
  });
}
