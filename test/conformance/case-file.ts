/** Files of SQL cases: one JSON object a line, one statement each, in order; see `README.md` for the keys. */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What a statement shall answer. */
export interface Expectation {
  readonly affected?: number;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  /** The header is among the sorted rows. */
  readonly header_in_rows?: boolean;
  /** Text of an error; `code` is its number. */
  readonly error?: string;
  readonly code?: number;
  /** The printed answer after replacements. */
  readonly text?: string;
}

/** One statement. */
export interface Case {
  readonly line: number;
  readonly sql: string;
  readonly expect: Expectation;
  readonly skip?: string;
  readonly nocompare?: string;
  readonly sort?: boolean;
  readonly replace?: readonly (readonly [string, string])[];
  readonly protocol?: "mysql" | "postgres";
  readonly sleep?: string;
  readonly restart?: boolean;
}

/** A file with its cases. */
export interface CaseFile {
  /** Path from the folder. */
  readonly path: string;
  /** Folder of the file: what its cases are about. */
  readonly topic: string;
  readonly cases: readonly Case[];
  /** Its statements name the public database, so that they run in it. */
  readonly isPublic: boolean;
}

/** All case files below a folder, by name; `filter` is part of a path. @throws Error when there are none */
export async function readCaseFiles(folder: string, filter: RegExp = /./): Promise<readonly CaseFile[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith(".jsonl") && filter.test(path)).sort();
  if (paths.length === 0) throw new Error(`no .jsonl files in ${folder}`);
  const publicFiles = await filesInPublic(folder);
  return await Promise.all(
    paths.map(async (path) => {
      const lines = (await Bun.file(join(folder, path)).text()).split("\n").filter((line) => line.trim() !== "");
      return { path, topic: dirname(path), cases: lines.map((line) => JSON.parse(line) as Case), isPublic: publicFiles.has(path) };
    }),
  );
}

/** Files that the folder's index flags as running in the public database. */
async function filesInPublic(folder: string): Promise<ReadonlySet<string>> {
  const index = Bun.file(join(folder, "index.json"));
  if (!(await index.exists())) return new Set();
  const entries = (await index.json()) as readonly { readonly file: string; readonly flags?: readonly string[] }[];
  return new Set(entries.filter(({ flags }) => flags?.includes("public") === true).map(({ file }) => file));
}
