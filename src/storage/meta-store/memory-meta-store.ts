import { compareText } from "../series/series-ranks.ts";
import type { LocalMetaStore, MetaValue } from "./meta-store.ts";
import { writeCopy } from "./sqlite-layout.ts";

/** A meta store in memory, for tests and rehearsals. */
export function memoryMetaStore(): LocalMetaStore {
  const entries = new Map<string, string>();
  return {
    get: (key) => {
      const text = entries.get(key);
      return text === undefined ? undefined : (JSON.parse(text) as MetaValue);
    },
    list: (prefix) =>
      [...entries.keys()]
        .filter((key) => key.startsWith(prefix))
        .sort(compareText)
        .map((key) => ({ key, value: JSON.parse(entries.get(key) as string) as MetaValue })),
    commit(changes) {
      // All texts first: a value that has none must not leave half a commit.
      const texts = changes.map(({ key, value }) => ({ key, text: value === undefined ? undefined : JSON.stringify(value) }));
      for (const { key, text } of texts) {
        if (text === undefined) entries.delete(key);
        else entries.set(key, text);
      }
    },
    settled: () => Promise.resolve(),
    secure: () => undefined,
    async copyTo(path) {
      writeCopy(path, entries);
    },
    close: () => undefined,
  };
}
