/**
 * Who signs tokens of walleta: the kept leaf, and those that are made when they are first asked
 * for, because few runs of the bank need an RSA key or a certificate that is not to be trusted.
 */
import { createPrivateKey, KeyObject } from "node:crypto";
import { mkdir } from "node:fs/promises";
import type { Signer, Version } from "@tollgate/protocols/walleta";
import { type Issued, readIssued, writeCertificate } from "../certificates/certificate.ts";
import { openFamily } from "../certificates/open-family.ts";
import { issueAuthorities, issueLeaf, makeWalletAFamily, walletAFiles } from "./walleta-family.ts";

/** The bank's own; under a root that nobody trusts; without the mark of a signer. */
export type SignerKind = "own" | "foreign" | "unmarked";

export class WalletASigners {
  /** It issues to merchants. */
  readonly intermediate: Issued;
  readonly #made = new Map<string, Promise<Signer>>();

  private constructor(intermediate: Issued, own: Signer) {
    this.intermediate = intermediate;
    this.#made.set("own EC_v1", Promise.resolve(own));
  }

  static async open(folder: string, nowMs: number): Promise<WalletASigners> {
    await mkdir(folder, { recursive: true });
    const texts = await openFamily(folder, nowMs, makeWalletAFamily(nowMs));
    const read = (file: string) => texts.get(file) ?? "";
    const { intermediate, intermediateKey, leaf, leafKey } = walletAFiles;
    const own: Signer = {
      privateKey: createPrivateKey(read(leafKey)),
      certificate: read(leaf),
      others: [read(intermediate)],
    };
    return new WalletASigners(await readIssued(read(intermediate), read(intermediateKey)), own);
  }

  find(kind: SignerKind, version: Version, nowMs: number): Promise<Signer> {
    const name = `${kind} ${version}`;
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const made = this.#make(kind, version, nowMs);
    this.#made.set(name, made);
    return made;
  }

  async #make(kind: SignerKind, version: Version, nowMs: number): Promise<Signer> {
    const intermediate =
      kind === "foreign" ? (await issueAuthorities(nowMs)).intermediate : this.intermediate;
    const marks = kind === "unmarked" ? [] : undefined;
    const leaf = await issueLeaf(intermediate, version, nowMs, marks);
    return {
      privateKey: KeyObject.from(leaf.keys.privateKey),
      certificate: writeCertificate(leaf),
      others: [writeCertificate(intermediate)],
    };
  }
}
