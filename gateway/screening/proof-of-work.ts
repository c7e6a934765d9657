/**
 * Proofs of work for the payment page (decision 0056): the page's script searches a number whose
 * hash with the challenge begins with enough zero bits. The gateway stores nothing of a challenge
 * until its proof is used. Its signature covers the page, the difficulty and the expiry.
 */
import { hash, randomBytes } from "node:crypto";
import type { MerchantId } from "../values/ids.ts";
import { asInstant, type Clock, type Instant, later, minutes } from "../values/time.ts";

/** The longest time that a cardholder may take to type a card. */
export const challengeLifetimeMs = minutes(30);
/** Twelve bytes in base64url. */
const nonceLength = 16;
const form = /^(\d{1,2})\.([0-9a-z]{1,9})\.([\w-]{16})([\w-]{24})$/;
/** The hash's input, with the nonce and the signature, then fits one block of SHA-256. */
const solutionForm = /^\d{1,15}$/;
/** The page's script looks at the first 32 bits of the hash. */
export const proofBitsMax = 30;

type Dependencies = {
  readonly tokenOf: (text: string) => string;
  readonly isToken: (text: string, token: string) => boolean;
  /** False when the nonce was used before, at any node. */
  readonly takeNonce: (nonce: {
    readonly merchantId: MerchantId;
    readonly nonce: string;
    readonly signedAt: Instant;
  }) => Promise<boolean>;
  readonly clock: Pick<Clock, "now">;
};

/** `page` names the shown page, or the order, that the proof is for. */
export type ProvenPage = { readonly merchantId: MerchantId; readonly page: string };

export type Proofs = ReturnType<typeof makeProofs>;

export function makeProofs({ tokenOf, isToken, takeNonce, clock }: Dependencies) {
  return {
    issue(page: ProvenPage, bits: number): string {
      const expiry = Math.ceil(later(clock.now(), challengeLifetimeMs) / 1000).toString(36);
      const nonce = randomBytes(12).toString("base64url");
      const signature = tokenOf(signedText(page, String(bits), expiry, nonce));
      return `${bits}.${expiry}.${nonce}${signature}`;
    },

    /**
     * Whether the proof, a challenge and its solution, is good and hard enough; it is then used
     * up. An easier challenge may have been issued before more work was wanted.
     */
    async use(page: ProvenPage, proof: string, bitsMin: number): Promise<boolean> {
      const [challenge = "", solution = ""] = proof.split(":");
      const [, bits = "", expiry = "", nonce = "", signature = ""] = form.exec(challenge) ?? [];
      if (nonce === "" || !solutionForm.test(solution) || Number(bits) < bitsMin) return false;
      const expiresAt = asInstant(Number.parseInt(expiry, 36) * 1000);
      if (expiresAt <= clock.now()) return false;
      if (!isToken(signedText(page, bits, expiry, nonce), signature)) return false;
      if (countZeroBits(nonce + signature + solution) < Number(bits)) return false;
      // Nonces are deleted some time after the moment they were signed at.
      return takeNonce({
        merchantId: page.merchantId,
        nonce: `proof/${nonce}`,
        signedAt: expiresAt,
      });
    },
  };
}

function signedText(
  { merchantId, page }: ProvenPage,
  bits: string,
  expiry: string,
  nonce: string,
): string {
  return `proof/${merchantId}/${page}/${bits}.${expiry}.${nonce}`;
}

/** At the start of the text's SHA-256. */
export function countZeroBits(text: string): number {
  const digest = hash("sha256", text, "buffer");
  const whole = digest.findIndex((byte) => byte !== 0);
  if (whole < 0) return digest.length * 8;
  return whole * 8 + Math.clz32(digest[whole] ?? 0) - 24;
}

/** How hard a challenge is. */
export function bitsOf(challenge: string): number {
  return Number(challenge.split(".")[0]);
}

/** What is hashed before the solution. */
export function seedOf(challenge: string): string {
  return challenge.slice(-nonceLength - 24);
}
