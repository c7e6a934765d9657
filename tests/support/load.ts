/**
 * Merchants who pay again and again through the published client. Like every careful merchant they
 * send the very same request again until it is answered, wherever the gateway is by then.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Acknowledgement, type ControlOptions, makeClient } from "@tollgate/client";
import type { MerchantSet } from "@tollgate/gateway/merchant-set";
import { atEnd, type Test } from "./clean-up.ts";
import { saleFields } from "./merchant.ts";

export type Sale = { readonly fields: ReturnType<typeof saleFields>; reply?: Acknowledgement };
export type Load = {
  /** Every sale that was sent at least once. */
  readonly sales: readonly Sale[];
  readonly acknowledged: number;
  /** No new sales; resolves when all that were begun are answered. */
  finish(): Promise<void>;
  /** The merchants go away: no new sales, and what is unanswered is not asked again. */
  leave(): Promise<void>;
};

type LoadOptions = {
  readonly set: MerchantSet;
  /** Where the gateway is now; asked for each try. */
  readonly url: () => string;
  readonly clients: number;
  /** Without it, sales go on until the load is finished. */
  readonly sales?: number;
};

const placeholder = "http://gateway.invalid";
/** Long enough for a restart in between, short enough that a test which hangs has an end. */
const triesMax = 3_000;
const gapMaxMs = 100;

export type Merchants = Pick<LoadOptions, "set" | "url">;

/** How such a merchant calls. */
export const patience = {
  tries: triesMax,
  timeoutMs: 60_000,
  timing: {
    now: () => performance.now(),
    random: () => Math.random(),
    pause: async (durationMs: number, signal?: AbortSignal) => {
      await pause(Math.min(durationMs, gapMaxMs), undefined, { signal });
    },
  },
};

/** A careful merchant in the place of the plain client. */
export const makePatientClient = ((options: ControlOptions) =>
  makeClient({ ...options, ...patience })) as typeof makeClient;

export function makeLoadClient({ set, url }: Merchants) {
  const client = makeClient({
    baseUrl: placeholder,
    login: set.login,
    controlKey: set.controlKey,
    ...patience,
    fetch: (address, request) => fetch(address.replace(placeholder, url()), request),
  });
  return client.endpoint(set.endpoints["plain"] ?? "");
}

export function startLoad(t: Test, options: LoadOptions): Load {
  const endpoint = makeLoadClient(options);
  const salesMax = options.sales ?? Number.POSITIVE_INFINITY;
  const sales: Sale[] = [];
  const gone = new AbortController();
  let finishing = false;

  async function pay(): Promise<void> {
    while (!finishing && sales.length < salesMax) {
      const sale: Sale = { fields: saleFields() };
      sales.push(sale);
      sale.reply = await endpoint.sale(sale.fields, { signal: gone.signal });
    }
  }

  async function leave(): Promise<void> {
    finishing = true;
    gone.abort();
    await paying;
  }

  // Also when the test fails: no merchant goes on paying after it.
  atEnd(t, leave);
  const paying = Promise.allSettled(Array.from({ length: options.clients }, pay));
  return {
    sales,
    get acknowledged() {
      return sales.filter(({ reply }) => reply !== undefined).length;
    },
    async finish() {
      // A load of a given size goes on until it is through.
      finishing = options.sales === undefined;
      for (const ended of await paying) if (ended.status === "rejected") throw ended.reason;
    },
    leave,
  };
}
