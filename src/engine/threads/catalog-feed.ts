/**
 * The latest changes of the catalog, for threads that mirror it: each change has a version, and a thread asks what came after the one it
 * has. One that is far behind gets everything there is instead.
 */
import type { CatalogChange, CatalogNews } from "./messages.ts";
import type { SharedState } from "./shared-state.ts";

/** Changes that are kept. A thread that writes asks before each request, so it is seldom more than a few behind. */
const CHANGES_MAX = 1024;

/** See the file header. */
export class CatalogFeed {
  private readonly shared: SharedState;
  private readonly everything: () => CatalogChange[];
  private readonly durable: () => Promise<void>;
  /** The change of version `first + i` is at `i`. */
  private changes: CatalogChange[] = [];
  private first = 1;

  /**
   * @param everything changes that make the whole catalog
   * @param durable resolves once all changes until now are durable
   */
  constructor(shared: SharedState, everything: () => CatalogChange[], durable: () => Promise<void>) {
    this.shared = shared;
    this.everything = everything;
    this.durable = durable;
  }

  /** Tells of a change that is in force. Threads see it with their next request. */
  push(change: CatalogChange): void {
    if (this.shared.threads === 0) return;
    if (this.changes.length >= CHANGES_MAX) {
      this.changes = this.changes.slice(CHANGES_MAX / 2);
      this.first += CHANGES_MAX / 2;
    }
    this.changes.push(change);
    const version = this.shared.version + 1;
    this.shared.version = version;
    this.durable().then(
      () => {
        if (version > this.shared.durableVersion) this.shared.durableVersion = version;
      },
      () => undefined, // Whoever waits for it asks again, and hears the reason then.
    );
  }

  /** What came after a version. */
  since(version: number): CatalogNews {
    const now = this.shared.version;
    if (version + 1 < this.first) return { version: now, isWhole: true, changes: this.everything() };
    return { version: now, isWhole: false, changes: this.changes.slice(version + 1 - this.first) };
  }

  /** Everything there is. */
  whole(): CatalogNews {
    return { version: this.shared.version, isWhole: true, changes: this.everything() };
  }
}
