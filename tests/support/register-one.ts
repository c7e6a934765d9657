/** A card that was paid with once and registered: what recurrent payments start from. */
import type { World } from "./world.ts";

export async function registerOne(world: World, card = "4111111111111111"): Promise<string> {
  const merchant = world.merchant();
  const first = await merchant.sale({ credit_card_number: card, amount: "1.00" });
  await world.settle();
  return (await merchant.register(first))["card-ref-id"] ?? "";
}
