/** Receipts as merchants give their addresses out, and a bank that is away for a while. */
import assert from "node:assert/strict";
import type { Acknowledged } from "./merchant.ts";
import type { World } from "./world.ts";

/** From what the status tells, as documented. */
export async function receiptLinkOf(
  world: World,
  order: Acknowledged,
  endpoint = "plain",
): Promise<string> {
  const { "receipt-id": receiptId } = await world.merchant(endpoint).status(order);
  assert.ok(receiptId !== undefined, "there is no receipt");
  return `${world.gateway.url}/gw/view-receipt/${world.set.endpoints[endpoint]}/${receiptId}/`;
}

export async function loseHost(world: World): Promise<void> {
  await world.bank.setSwitches({ hostDown: true });
  await world.linksDown();
}

export async function findHost(world: World): Promise<void> {
  await world.bank.setSwitches({ hostDown: false });
  await world.linksUp();
}
