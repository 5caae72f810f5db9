import { Database } from "bun:sqlite";
import { compareText } from "../series/series-ranks.ts";
import type { MetaStore, MetaValue } from "./meta-store.ts";
import { entryCrc, makeLayout, readSeal, resealed } from "./sqlite-layout.ts";

/** A meta store in memory, for tests and rehearsals. */
export function memoryMetaStore(): MetaStore {
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
      const database = new Database(path, { create: true, strict: true });
      try {
        makeLayout(database);
        const put = database.query("INSERT INTO meta (key, value, crc) VALUES (?, ?, ?)");
        let seal = readSeal(database);
        for (const [key, text] of entries) {
          const crc = entryCrc(key, text);
          put.run(key, text, crc);
          seal = resealed(seal, undefined, crc);
        }
        database.query("UPDATE seal SET entries = ?, sum = ? WHERE id = 0").run(seal.entries, seal.sum);
      } finally {
        database.close();
      }
    },
    close: () => undefined,
  };
}
