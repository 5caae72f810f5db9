/**
 * Who may ask a node: whoever knows the shared secret, and shows a certificate where TLS asks for one; with neither, this machine alone.
 *
 * | secret | certificates | who is let in                                          |
 * |--------|--------------|--------------------------------------------------------|
 * | –      | –            | peers on loopback addresses                            |
 * | set    | –            | who sends it                                           |
 * | –      | asked for    | who has one of the authority: the handshake sees to it |
 * | set    | asked for    | both                                                   |
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { isLoopback } from "../../base/text/network-address.ts";

/** What peers have to show. */
export interface AccessRules {
  /** Not empty. Absent: none is asked for. */
  readonly secret?: string | undefined;
  /** Whether the handshake asks for certificates, and lets nobody in without. */
  readonly asksCertificate: boolean;
}

/** Why a request is not let in. */
export type Refusal = "no secret" | "wrong secret" | "not this machine";

/** See the file header. */
export class Access {
  private readonly secretHash: Buffer | undefined;
  private readonly asksCertificate: boolean;

  constructor({ secret, asksCertificate }: AccessRules) {
    this.secretHash = secret === undefined ? undefined : hashOf(secret);
    this.asksCertificate = asksCertificate;
  }

  /** Why a request is not let in; undefined: it is. @param authorization the header @param address of the peer; undefined: it is gone */
  refusal(authorization: string | null, address: string | undefined): Refusal | undefined {
    if (this.secretHash !== undefined) {
      const given = /^Bearer +(.+)$/i.exec(authorization ?? "")?.[1];
      if (given === undefined) return "no secret";
      // Of hashes: they are of one length, whatever was sent.
      return timingSafeEqual(hashOf(given), this.secretHash) ? undefined : "wrong secret";
    }
    if (this.asksCertificate) return undefined;
    return address !== undefined && isLoopback(address) ? undefined : "not this machine";
  }
}

function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
