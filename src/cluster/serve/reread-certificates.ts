/**
 * Certificates between the parts of a cluster: read again when the operator asks (SIGHUP), and with `cluster.tls.watch` when the files
 * changed. Connections made from then on have the new ones, those to others as well as those of others. Files that cannot be used, or do
 * not belong together, leave the last good ones in force, which a warning tells once.
 */
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";

/** How often files are read that are watched, milliseconds. They are a few kilobytes. */
const POLL_MILLIS = 2000;

/** Certificates as PEM, each where there is one. */
export interface InternalPems {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** What they are read by. */
export interface CertificateParts {
  /** As they were read at the start. */
  readonly pems: InternalPems;
  /** Reads the files. @throws Error that says which cannot be read */
  readonly read: () => InternalPems;
  readonly watch: boolean;
  readonly logger: Logger;
  /** Called with why when nobody listens any more. */
  readonly onOver: (why: string) => void;
  /** Default: 2 s. */
  readonly pollMillis?: number;
}

/** Takes other certificates. @throws DbError InvalidArguments: the last ones stay; StorageUnavailable: it has ended */
type Renew = (pems: InternalPems) => void;

/** See the file header. */
export class RereadCertificates {
  private readonly parts: CertificateParts;
  private readonly users: Renew[] = [];
  private readonly poll: ReturnType<typeof setInterval> | undefined;
  private pems: InternalPems;
  private problem: string | undefined;

  constructor(parts: CertificateParts) {
    this.parts = parts;
    this.pems = parts.pems;
    if (!parts.watch) return;
    this.poll = setInterval(() => this.look(false), parts.pollMillis ?? POLL_MILLIS);
    this.poll.unref();
  }

  /** Who is to have new ones, from now on. */
  use(renew: Renew): void {
    this.users.push(renew);
  }

  /** Reads the files, and says what it finds whatever it said before. @returns whether what they hold is in force */
  reload(): boolean {
    this.problem = undefined;
    return this.look(true);
  }

  close(): void {
    clearInterval(this.poll);
  }

  /** @param isAsked the operator waits for a word */
  private look(isAsked: boolean): boolean {
    const { read, logger, onOver } = this.parts;
    try {
      const pems = read();
      if (isSame(pems, this.pems)) {
        this.problem = undefined;
        if (isAsked) logger.info(factsOf(pems), "the cluster's certificate is as it was");
        return true;
      }
      createSecureContext(pems);
      const facts = factsOf(pems);
      for (const renew of this.users) renew(pems);
      this.pems = pems;
      this.problem = undefined;
      logger.info(facts, "new connections within the cluster have the new certificate");
      return true;
    } catch (thrown) {
      if (thrown instanceof DbError && thrown.code === StatusCode.StorageUnavailable) onOver(thrown.message);
      const problem = errorText(thrown);
      if (problem !== this.problem) logger.warn({ error: problem }, "cannot use the cluster's new certificate: the last one stays");
      this.problem = problem;
      return false;
    }
  }
}

function isSame(one: InternalPems, other: InternalPems): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}

/** What the log may say of a certificate; of a part that has none, of whose it takes. @throws for what is none */
function factsOf({ cert, ca }: InternalPems): Readonly<Record<string, string>> {
  const pem = cert ?? ca;
  if (pem === undefined) return {};
  const { validTo, fingerprint256, subject } = new X509Certificate(pem);
  return { subject, validTo, fingerprint256 };
}
