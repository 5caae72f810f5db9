/** What a message of stream `LEASE` says, as JSON: `{"holder": identity, "value": text}`, or `{"holder": identity}` once it is released. */

/** In place of a value: the lease is free. */
export const RELEASED: unique symbol = Symbol("released");

/** Header of what a server puts where a message ended. */
export const MARKER_HEADER = "Nats-Marker-Reason";

/** Who holds a lease. */
export interface HeldMessage {
  readonly holder: string;
  readonly value: string;
}

/** Bytes of a message. */
export function leaseMessage(holder: string, value: string | typeof RELEASED): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value === RELEASED ? { holder } : { holder, value }));
}

/** Who holds a lease by its last message, which is no marker; undefined where it was released, or says nothing that is known. */
export function heldBy(bytes: Uint8Array): HeldMessage | undefined {
  try {
    const { holder, value } = JSON.parse(new TextDecoder().decode(bytes)) as Partial<HeldMessage>;
    return typeof holder === "string" && typeof value === "string" ? { holder, value } : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
