/**
 * Folders that are for the server's own user alone. Files and folders that the process makes are so by its umask (`main.ts`); this is for
 * folders that were there before, made by an earlier version or by hand.
 */
import { chmod, stat } from "node:fs/promises";
import { errorText } from "../base/error.ts";
import type { Logger } from "../base/log.ts";

/** The umask of the process: what it makes is readable and writable for its own user alone. */
export const PRIVATE_UMASK = 0o077;

const PRIVATE_MODE = 0o700;
/** Of folders such as /tmp, which many share. */
const STICKY = 0o1000;

/**
 * Takes a folder's rights from group and others, and says so. One that is not this user's, or that many share, stays as it is, with a
 * warning: what lies in it is then as safe as its own rights make it.
 */
export async function keepPrivate(folder: string, logger: Logger): Promise<void> {
  try {
    const { mode, uid } = await stat(folder);
    const rights = `0${(mode & 0o777).toString(8)}`;
    if ((mode & PRIVATE_UMASK) === 0) return;
    if ((mode & STICKY) !== 0 || uid !== process.getuid?.()) {
      logger.warn({ folder, rights }, "a folder is open to other users and not ours to close");
      return;
    }
    await chmod(folder, PRIVATE_MODE);
    logger.info({ folder, rights }, "a folder was open to other users; it is closed to them now");
  } catch (error) {
    logger.warn({ folder, error: errorText(error) }, "cannot close a folder to other users");
  }
}
