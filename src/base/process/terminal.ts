import { closeSync, openSync } from "node:fs";

/**
 * Whether the terminal that this process was started from is closed: SIGHUP then says that nobody looks any more. Without one it is a word
 * of the operator.
 *
 * @param hadTerminal whether there was one at the start
 */
export function isTerminalGone(hadTerminal: boolean): boolean {
  if (!hadTerminal) return false;
  try {
    closeSync(openSync("/dev/tty", "r")); // ENXIO once it is hung up: tty(4).
    return false;
  } catch (error) {
    if (error instanceof Error && "code" in error) return true;
    throw error;
  }
}
