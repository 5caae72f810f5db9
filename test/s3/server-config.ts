import type { TestStore } from "./store-process.ts";

/** Text of a configuration file: data files in the store below `root`, with further keys of `[storage]` and further sections. */
export function configOf(store: TestStore, root: string, changes: Readonly<Record<string, string>> = {}, sections = ""): string {
  const { endpoint, bucket, keys } = store.place;
  const all = { type: "S3", bucket, root, endpoint, access_key_id: keys.id, secret_access_key: keys.secret, ...changes };
  const lines = Object.entries(all).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
  return `[storage]\n${lines.join("")}\n${sections}`;
}
