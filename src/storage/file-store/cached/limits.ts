/** The bounds of local copies. */

/**
 * Largest part of the cache that one file takes. A larger file is read by ranges, each time from the store: it would push out everything
 * else. Files of 1 GiB and a cache of the default size are below it.
 */
export const FILE_PART_MAX: number = 1 / 4;

/**
 * Longest file that whoever opens it waits for. A longer one is read by ranges until its copy is there, which is made beside. Measured with
 * versitygw on a busy machine of two cores and one disk: whole files of 4, 64 and 256 MiB 0.1, 1.2 and 5.9 s, the sync of the copy
 * included; 1 MiB of any of them 5 to 13 ms, 4 MiB 10 to 22 ms.
 */
export const WAITED_BYTES_MAX: number = 64 * 1024 * 1024;

/** Files that are uploaded at once, and fetched at once. Reason: each holds up to 16 MiB in memory besides its requests' bodies. */
export const FILES_AT_ONCE = 4;

/** Files after which a start lets others run while it looks at what is in the folder. Reason: a look takes 2 µs or more. */
export const LOOKS_PER_TURN = 512;

/** How often a copy that went before it was used is fetched again. Reason: a cache that is too small must not do so for ever. */
export const PIN_TRIES_MAX = 3;

/** Most files that could not be deleted and are remembered. Reason: memory; the next start deletes the others. */
export const UNWANTED_MAX = 65_536;
