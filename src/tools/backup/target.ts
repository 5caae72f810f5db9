/** Where backups lie: objects by name, with `/`; each is there as a whole or not at all. */
/** Bytes of a piece that is read or written at once. */
export const PIECE_BYTES: number = 1024 * 1024;

/** An object and its length. */
export interface TargetObject {
  readonly name: string;
  readonly byteLength: number;
}

/** See the file header. Errors say which object, and never a credential. */
export interface BackupTarget {
  /** As a person calls it. */
  readonly text: string;
  /** Where it lies on this machine's disks; undefined elsewhere. */
  readonly folder?: string;
  /** All objects. None when there is no such folder. */
  list(): Promise<readonly TargetObject[]>;
  /** Pieces of an object; each is valid until the next is asked for. @throws Error when it is not there */
  read(name: string): AsyncIterable<Uint8Array>;
  /** Makes an object; it is durable when the promise resolves. Pieces are borrowed until the next is asked for. */
  write(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /** Deletes an object; one that is not there is no error. */
  delete(name: string): Promise<void>;
}
