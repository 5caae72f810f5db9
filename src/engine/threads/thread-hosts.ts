/**
 * All ingest threads of a process, for the owner of the tables. With one thread there are none, and every call here does nothing.
 */
import type { TableId } from "../../base/units.ts";
import type { LocalStream } from "../log/log-stream.ts";
import { ThreadHost, type ThreadOwner } from "./thread-host.ts";
import type { OwnerLink } from "./thread-link.ts";

/** See the file header. */
export class ThreadHosts {
  private readonly owner: ThreadOwner;
  private hosts: readonly ThreadHost[] = [];
  /** Ends when no thread is held back any more. */
  private held: PromiseWithResolvers<void> | undefined;
  private holders = 0;

  constructor(owner: ThreadOwner) {
    this.owner = owner;
  }

  /** Whether rows may be under way that this thread knows nothing of. */
  get isShared(): boolean {
    return this.hosts.length > 0;
  }

  /** Takes a thread in, before it takes its first write. */
  add(id: number, link: OwnerLink, before: Pick<LocalStream, "ledger" | "head" | "newestKnown">): ThreadHost {
    const known = { ledger: before.ledger, head: before.head(), newest: before.newestKnown() };
    const host = new ThreadHost(id, this.owner, link, known);
    this.hosts = [...this.hosts, host];
    return host;
  }

  /** Says that a thread is gone without having been closed. */
  died(id: number, why: string): void {
    this.hosts.find((host) => host.id === id)?.died(why);
  }

  /** Makes every row visible that was acknowledged before the call. */
  drain(): void {
    for (let i = 0; i < this.hosts.length; i++) this.hosts[i]?.drain();
  }

  /**
   * Does a step at a moment when every record that a thread has numbered is told of or failed: threads begin no write from the call until
   * the step is done.
   */
  async whileQuiet<T>(tableIds: readonly TableId[], step: () => T): Promise<T> {
    if (this.hosts.length === 0) return step();
    this.holders++;
    this.held ??= Promise.withResolvers<void>();
    this.owner.shared.addHolder(1);
    try {
      await Promise.all(tableIds.map((tableId) => this.barrier(tableId)));
      this.drain();
      return step();
    } finally {
      this.owner.shared.addHolder(-1);
      if (--this.holders === 0) {
        this.held.resolve();
        this.held = undefined;
      }
    }
  }

  /** Resolves when every thread has told of all records that it had begun, of any table; they may go on beside it. */
  async settled(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.settled()));
  }

  /** Resolves when threads may begin writes. */
  async released(): Promise<void> {
    while (this.held !== undefined) await this.held.promise;
  }

  /** Has all threads begin anew with the series of a table. A thread that ends meanwhile has none any more. */
  async renew(tableId: TableId): Promise<void> {
    await Promise.allSettled(this.hosts.map((host) => host.renew(tableId)));
  }

  /** Bytes that are held to know what the threads' series numbers mean. */
  get seriesBytes(): number {
    let bytes = 0;
    for (const { seriesBytes } of this.hosts) bytes += seriesBytes;
    return bytes;
  }

  /** Resolves when every thread has told of all records that it had begun. */
  async barrier(tableId: TableId): Promise<void> {
    if (this.hosts.length > 0) await Promise.all(this.hosts.map((host) => host.barrier(tableId)));
  }
}
