/** A catalogue that several machines of one test have: a list of changes, taken at once or a turn later, told to all in the same turn. */
import type { CatalogAnswer, CatalogPort, CatalogueElsewhere } from "../../src/engine/schema/catalog-port.ts";
import { memoryMetaStore } from "../../src/storage/meta-store/memory-meta-store.ts";
import type { LocalMetaStore, MetaChange } from "../../src/storage/meta-store/meta-store.ts";

type Follow = (changes: readonly MetaChange[]) => void;

/** See the file header. */
export class SharedCatalogue {
  readonly entries: LocalMetaStore = memoryMetaStore();
  version = 0;
  private readonly told = new Set<{ follow: Follow }>();

  /** One machine's. */
  forOne(): CatalogueElsewhere {
    const { entries } = this;
    const one = { follow: (() => undefined) as Follow };
    const port: CatalogPort = {
      commit: async (changes, version): Promise<CatalogAnswer> => {
        await new Promise<void>((resolve) => setImmediate(resolve));
        if (version !== this.version) return "outdated";
        this.take(changes);
        return "taken";
      },
      listen: (follow) => {
        one.follow = follow;
        this.told.add(one);
      },
      close: async () => {
        this.told.delete(one);
      },
    };
    const version = (): number => this.version;
    return {
      entries,
      port,
      get version() {
        return version();
      },
    };
  }

  /** Makes a change as another process does. */
  take(changes: readonly MetaChange[]): void {
    this.entries.commit(changes);
    this.version++;
    for (const { follow } of this.told) follow(changes);
  }
}
