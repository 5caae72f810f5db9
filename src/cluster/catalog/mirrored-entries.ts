/** The entries of the catalogue in memory. */
import { compareText } from "../../storage/series/series-ranks.ts";
import type { MetaChange, MetaStore, MetaValue } from "../../storage/meta-store/meta-store.ts";

/** See the file header. Values are shared with whoever reads them: nobody changes one. */
export class MirroredEntries implements Pick<MetaStore, "get" | "list"> {
  private readonly values: Map<string, MetaValue>;

  constructor(entries: Iterable<readonly [key: string, value: MetaValue]>) {
    this.values = new Map(entries);
  }

  get(key: string): MetaValue | undefined {
    return this.values.get(key);
  }

  list(prefix: string): readonly { readonly key: string; readonly value: MetaValue }[] {
    const found: { readonly key: string; readonly value: MetaValue }[] = [];
    for (const [key, value] of this.values) if (key.startsWith(prefix)) found.push({ key, value });
    return found.sort((a, b) => compareText(a.key, b.key));
  }

  /** All of them as they are now, in any order. */
  all(): readonly (readonly [key: string, value: MetaValue])[] {
    return [...this.values];
  }

  apply(changes: readonly MetaChange[]): void {
    for (const { key, value } of changes) {
      if (value === undefined) this.values.delete(key);
      else this.values.set(key, value);
    }
  }
}
