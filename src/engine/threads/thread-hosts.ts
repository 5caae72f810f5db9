/**
 * All ingest threads of a process, for the owner of the tables. With one thread there are none, and every call here does nothing.
 */
import type { LocalStream } from "../log-stream.ts";
import { ThreadHost, type ThreadOwner } from "./thread-host.ts";
import type { OwnerLink } from "./thread-link.ts";

/** See the file header. */
export class ThreadHosts {
  private readonly owner: ThreadOwner;
  private hosts: readonly ThreadHost[] = [];

  constructor(owner: ThreadOwner) {
    this.owner = owner;
  }

  /** Whether rows may be under way that this thread knows nothing of. */
  get isShared(): boolean {
    return this.hosts.length > 0;
  }

  /** Takes a thread in, before it takes its first write. */
  add(id: number, link: OwnerLink, before: Pick<LocalStream, "ledger" | "head">): ThreadHost {
    const host = new ThreadHost(id, this.owner, link, { ledger: before.ledger, head: before.head() });
    this.hosts = [...this.hosts, host];
    return host;
  }

  /** Makes every row visible that was acknowledged before the call. */
  drain(): void {
    for (let i = 0; i < this.hosts.length; i++) this.hosts[i]?.drain();
  }

  /** Resolves when every thread has told of all records that it had begun. */
  async barrier(tableId: number): Promise<void> {
    if (this.hosts.length > 0) await Promise.all(this.hosts.map((host) => host.barrier(tableId)));
  }
}
