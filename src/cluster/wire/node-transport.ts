/** How bytes get to a node and back, whatever carries them. */

/** What a node is asked. */
export interface NodeRequest {
  /** "host:port" of its internal listener. */
  readonly address: string;
  readonly path: "/v1/shard/fragment" | "/v1/shard/call" | "/v1/statements/list" | "/v1/statements/kill";
  readonly body: Uint8Array<ArrayBuffer>;
  /** Whether the request may be sent over a connection that was used before: one that has died since leaves open whether it arrived. */
  readonly mayReuse: boolean;
}

/** See the file header. */
export interface NodeTransport {
  /**
   * Sends a request; gives the bytes of the answer as they come, valid until the next ones are asked for. Leaving the loop ends the
   * request there, and so does the signal.
   *
   * @throws NotAnswered when there is no answer, or not all of one; Cancelled when the signal fires
   */
  ask(request: NodeRequest, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** A node did not answer, or not to the end. */
export class NotAnswered extends Error {
  override readonly name = "NotAnswered";
  /** Whether it may have begun what it was asked. */
  readonly mayHaveBegun: boolean;

  /** @param why "node 10.0.0.3:3001 said nothing for 10 s" */
  constructor(why: string, mayHaveBegun: boolean, cause?: unknown) {
    super(why, { cause });
    this.mayHaveBegun = mayHaveBegun;
  }
}
