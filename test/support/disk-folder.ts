import { tmpdir } from "node:os";

/** The gate says here where the disk is when the system's temporary folder is in memory. */
export const DISK_VARIABLE = "VARVE_TEST_DISK";

/** A folder for files that shall lie on a disk: those of servers that run as processes. */
export function diskFolder(): string {
  return process.env[DISK_VARIABLE] ?? tmpdir();
}
