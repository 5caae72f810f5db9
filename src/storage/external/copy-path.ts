/**
 * Which local paths COPY may touch: those below one folder, the copy root. `..` is refused before anything is looked up, and symbolic
 * links are followed and must end inside as well.
 */
import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import { type DbError, invalidArguments } from "../../base/error.ts";

/** The error of a path outside the root, in the words of the contract (query.md 1.10). */
function outside(path: string, why: string): DbError {
  const advice = "use a path relative to the copy root or use S3, OSS, GCS, or AzBlob";
  return invalidArguments(`Local filesystem path '${path}' is outside the configured copy root or is unsafe: ${why}; ${advice}`);
}

/**
 * The absolute path that a location means.
 *
 * @param root absolute
 * @throws DbError InvalidArguments for a path outside the root
 */
export async function copyPath(root: string, location: string): Promise<string> {
  const path = location.startsWith("file://") ? location.slice("file://".length) : location;
  if (path.trim() === "") throw invalidArguments("cannot copy: the path is empty");
  if (path.includes("\0")) throw outside(path.replaceAll("\0", "\\0"), "it holds a NUL character");
  if (path.split(/[/\\]/).includes("..")) throw outside(location, "'..' path components are not allowed");
  const whole = normalize(isAbsolute(path) ? path : join(root, path));
  if (!isInside(root, whole)) throw outside(location, `absolute paths must lie in ${root}`);
  const real = await realPath(whole, location);
  if (!isInside(await realAncestor(root), real)) throw outside(location, "a symbolic link on the way leads out of it");
  return whole;
}

function isInside(root: string, path: string): boolean {
  const folder = root.endsWith(sep) ? root : root + sep;
  return path === root || path.startsWith(folder);
}

/** @throws DbError InvalidArguments for a path that the system does not take */
async function realPath(path: string, location: string): Promise<string> {
  try {
    return await realAncestor(path);
  } catch (thrown) {
    throw refusedName(location, thrown) ?? thrown;
  }
}

/** What the system has against a name or what it stands for; the client can choose another. */
const NAME_FLAWS: ReadonlyMap<unknown, string> = new Map([
  ["ENAMETOOLONG", "its name is too long"],
  ["ELOOP", "its symbolic links go in a circle"],
  ["EISDIR", "it is a folder"],
  ["ENOTEMPTY", "it is a folder"],
  ["ENOTDIR", "a part of its path is no folder"],
  ["EEXIST", "a part of its path is no folder"],
  ["EINVAL", "the system takes no such name"],
  ["EILSEQ", "the system takes no such name"],
]);

/** The error of a name that the system does not take; undefined for any other failure. */
export function refusedName(location: string, thrown: unknown): DbError | undefined {
  const flaw = NAME_FLAWS.get(thrown instanceof Error && "code" in thrown ? thrown.code : undefined);
  if (flaw === undefined) return undefined;
  const shown = location.length > SHOWN_MAX ? `${location.slice(0, SHOWN_MAX)}…` : location;
  return invalidArguments(`cannot use '${shown}': ${flaw}`, thrown);
}

/** Characters of a name that an error shows. */
const SHOWN_MAX = 200;

/** The path with links followed as far as it exists. */
async function realAncestor(path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing);
    } catch (thrown) {
      if (!isMissing(thrown) || dirname(at) === at) throw thrown;
      missing.unshift(at.slice(dirname(at).length).replace(/^[/\\]/, ""));
    }
  }
}

/** Whether an error of the system says that there is nothing of that name. */
export function isMissing(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
