/** What tests expect of refusals and of the bank's books. */
import assert from "node:assert/strict";
import { Refused } from "@tollgate/client";
import type { World } from "./world.ts";

/** The request is refused with this code of the catalogue. */
export async function assertRefused(asked: Promise<unknown>, code: number): Promise<void> {
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof Refused, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  });
}

/** What the bank has booked for an order, in its order: kind and minor units. */
export function bookedFor(
  { bank }: World,
  status: { readonly "processor-rrn"?: string | undefined },
): readonly string[] {
  return bank.ledger(status["processor-rrn"]).map(({ kind, amount }) => `${kind} ${amount}`);
}

/** Messages of one type that the bank has received. */
export function received({ bank }: World, mti: string): number {
  const all = bank.messages();
  return all.filter((each) => each.mti === mti && each.direction === "received").length;
}
