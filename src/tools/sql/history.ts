/** What was typed before: $XDG_STATE_HOME/varve/history, a statement a line, readable by its user alone. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isSecretKey } from "../../query/sql/print/secret-text.ts";

/** Statements that are kept. */
export const HISTORY_MAX = 1000;
/** Longest statement that is kept. Reason: a pasted INSERT of megabytes would be read at each start. */
const STATEMENT_CHARACTERS_MAX = 10_000;
/** Rights of the file and of a folder that is made for it. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** A statement as it is kept: on one line; undefined: it is not, as it may hold a password. */
export function keptLine(statement: string): string | undefined {
  if (statement.length > STATEMENT_CHARACTERS_MAX || isSecretKey(statement) || /\bidentified\b|:\/\/[^\s/]*@/i.test(statement))
    return undefined;
  const line = statement
    .split("\n")
    .map((part) => part.trim())
    .join(" ")
    .trim();
  if (line === "") return undefined;
  // A comment up to the end of its line would swallow what comes behind it.
  return statement.includes("\n") && statement.includes("--") ? undefined : line;
}

/** Lines of earlier sessions, the oldest first; none where there is no file. */
export async function readHistory(path: string): Promise<string[]> {
  try {
    const text = await readFile(path, "utf8");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .slice(-HISTORY_MAX);
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return [];
    throw thrown;
  }
}

/** Adds lines to the file: what another session wrote meanwhile stays. */
export async function addHistory(path: string, added: readonly string[]): Promise<void> {
  if (added.length === 0) return;
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const lines = [...(await readHistory(path)), ...added].slice(-HISTORY_MAX);
  await writeFile(path, `${lines.join("\n")}\n`, { mode: FILE_MODE });
}
