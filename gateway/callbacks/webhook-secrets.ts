/**
 * Which secrets an endpoint's forms are signed with. They are derived by name; a renewal counts the
 * name up, and for a day forms are signed with the one before too, so that a merchant can change
 * over without missing any.
 */
import type { Endpoint, EndpointSettings } from "../orders/merchant.ts";
import { hours, type Instant } from "../values/time.ts";

type Signing = Pick<Endpoint, "id" | "settings">;
type Renewed = NonNullable<EndpointSettings["webhookSecret"]>;

const overlapMs = hours(24);

/** The names of the secrets that count now, the newest first. */
export function secretNames({ id, settings }: Signing, now: Instant): readonly string[] {
  const { generation } = generationOf(settings);
  const isBoth = now < (oldSecretUntil(settings) ?? 0);
  return (isBoth ? [generation, generation - 1] : [generation]).map((each) =>
    // The first one was there before there was a second.
    each === 0 ? `webhook/${id}` : `webhook/${id}/${each}`,
  );
}

export function renewSecret(settings: EndpointSettings, now: Instant): EndpointSettings {
  const generation = generationOf(settings).generation + 1;
  return { ...settings, webhookSecret: { generation, renewedAt: now } };
}

/** From now on only the newest counts. */
export function retireOldSecret(settings: EndpointSettings): EndpointSettings {
  const { generation } = generationOf(settings);
  return { ...settings, webhookSecret: { generation } };
}

/** Nothing when there is no old one any more. */
export function oldSecretUntil(settings: EndpointSettings): number | undefined {
  const { renewedAt } = generationOf(settings);
  return renewedAt === undefined ? undefined : renewedAt + overlapMs;
}

function generationOf({ webhookSecret }: EndpointSettings): Renewed {
  return webhookSecret ?? { generation: 0 };
}
