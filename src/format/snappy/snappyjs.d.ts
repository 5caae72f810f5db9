/** What is used of the package, which brings no types of its own. */
declare module "snappyjs" {
  /** Packs bytes into one block. */
  export function compress(uncompressed: Uint8Array): Uint8Array;
}
