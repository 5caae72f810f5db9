import { readdir } from "node:fs/promises";

/** How many files below a directory end with `suffix`. */
export async function countFiles(directory: string, suffix: string): Promise<number> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => name.endsWith(suffix)).length;
}
