/** Which file or folder a path led to: a running server that holds one open does not see that its name is gone, or another's by now. */
import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { errorText } from "../base/error.ts";

/** Tells a file or folder from any other that takes its name. */
export interface FileIdentity {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/** @throws the system's error */
export function identityOf(path: string): FileIdentity {
  return identity(path, statSync(path, { bigint: true }));
}

/** Why the path leads there no more; undefined while it does. */
export function lostNow(was: FileIdentity): string | undefined {
  const now = statSync(was.path, { bigint: true, throwIfNoEntry: false });
  return now === undefined ? DELETED : replacedBy(was, identity(was.path, now));
}

/** As `lostNow`, without holding up the thread. Never rejects: what cannot be looked at counts as lost. */
export async function lostLater(was: FileIdentity): Promise<string | undefined> {
  try {
    return replacedBy(was, identity(was.path, await stat(was.path, { bigint: true })));
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
    return isGone ? DELETED : `it cannot be looked at: ${errorText(error)}`;
  }
}

const DELETED = "it was deleted or moved away while the server runs";

function replacedBy(was: FileIdentity, now: FileIdentity): string | undefined {
  return now.inode === was.inode && now.device === was.device ? undefined : "another was put in its place while the server runs";
}

function identity(path: string, { dev, ino }: BigIntStats): FileIdentity {
  return { path, device: dev, inode: ino };
}
