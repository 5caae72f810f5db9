/** The system's C library, for the few calls that the runtime does not offer. */

/** Its names, with glibc and with musl. */
const NAMES: readonly string[] = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** What `open` makes of the library; undefined where it is not there, or the system is not Linux. @param open is given its name */
export function openCLibrary<T>(open: (name: string) => T): T | undefined {
  if (process.platform !== "linux") return undefined;
  for (const name of NAMES) {
    try {
      return open(name);
    } catch (error) {
      if (!(error instanceof Error)) throw error; // It is not there: the next one.
    }
  }
  return undefined;
}
