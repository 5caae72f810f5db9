/**
 * SCRAM-SHA-256 as a server: what client and server say to each other, and the check of it. Source: RFC 5802, RFC 7677; contract http.md
 * 5.6 (no channel binding).
 *
 *   client-first   n,,n=,r=<client nonce>          server-first   r=<both nonces>,s=<salt>,i=<iterations>
 *   client-final   c=biws,r=<both nonces>,p=<proof>   server-final   v=<server signature>
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { ScramSecret, User } from "../../db/auth/user.ts";
import { hmac } from "../../db/auth/verifier.ts";

/** The mechanism's name. */
export const SCRAM_SHA_256 = "SCRAM-SHA-256";

const NONCE_BYTES = 18;
const KEY_BYTES = 32;

/** What a client says first; undefined for what is none. */
export interface ClientFirst {
  /** `n,,` or `y,,`: what the proof is bound to. */
  readonly header: string;
  /** Without the header. */
  readonly bare: string;
  readonly nonce: string;
}

/** Reads it. The name in it does not count: the start-up message had one. Undefined when it asks for what is not offered. */
export function readClientFirst(text: string): ClientFirst | undefined {
  const [, header, bare, nonce] = /^([ny],,)(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]{1,512}))(?:,.*)?$/s.exec(text) ?? [];
  if (header === undefined || bare === undefined || nonce === undefined) return undefined;
  return { header, bare: text.slice(header.length), nonce };
}

/** What the server answers, with random bytes of its own. */
export function serverFirst({ nonce }: ClientFirst, { salt, iterations }: ScramSecret): string {
  return `r=${nonce}${randomBytes(NONCE_BYTES).toString("base64")},s=${Buffer.from(salt).toString("base64")},i=${iterations}`;
}

/** Who it is and what the server proves itself by, or undefined for a proof that is none. */
export function checkClientFinal(
  text: string,
  first: ClientFirst,
  answer: string,
  secret: ScramSecret,
): { readonly user: User; readonly serverFinal: string } | undefined {
  const [, withoutProof, binding, nonce, proofText] = /^(c=([^,]*),r=([^,]*)(?:,[^p][^,]*)*),p=([A-Za-z0-9+/=]*)$/.exec(text) ?? [];
  if (withoutProof === undefined || proofText === undefined) return undefined;
  const isBound = binding === Buffer.from(first.header).toString("base64") && answer.startsWith(`r=${nonce},`);
  const proof = Buffer.from(proofText, "base64");
  const message = `${first.bare},${answer},${withoutProof}`;
  const signature = hmac(secret.storedKey, message);
  if (proof.length !== KEY_BYTES) return undefined;
  const clientKey = proof.map((byte, i) => byte ^ (signature[i] ?? 0));
  const matches = timingSafeEqual(createHash("sha256").update(clientKey).digest(), secret.storedKey);
  if (!matches || !isBound || secret.user === undefined) return undefined;
  return { user: secret.user, serverFinal: `v=${hmac(secret.serverKey, message).toString("base64")}` };
}
